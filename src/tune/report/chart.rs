//! Curves as SVG, drawn by hand: a frame, a few ticks at round numbers, lines, bands, and the
//! name of each line at its end. Colours come from the page's style sheet, so that one drawing
//! serves on light and dark paper.

use crate::terminal::escaped;
use std::fmt::Write as _;

/// A line, perhaps with a band of so much to either side.
pub struct Series {
    pub label: String,
    /// Class of the style sheet: `c1` to `c6`.
    pub class: String,
    pub points: Vec<(f64, f64)>,
    pub band: Vec<f64>,
}

pub struct Chart<'a> {
    pub width: f64,
    pub height: f64,
    pub series: &'a [Series],
    /// How values on the left axis are written.
    pub format: &'a dyn Fn(f64) -> String,
    /// Names at the ends of the lines and below the frame; a small chart has none.
    pub labelled: bool,
    /// What the axis below counts.
    pub across: &'a str,
}

struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    fn across(&self, x: f64) -> f64 {
        let share = (x - self.x.0) / (self.x.1 - self.x.0);
        self.left + share * (self.right - self.left)
    }

    fn up(&self, y: f64) -> f64 {
        let share = (y - self.y.0) / (self.y.1 - self.y.0);
        self.bottom - share * (self.bottom - self.top)
    }
}

impl Chart<'_> {
    pub fn svg(&self) -> String {
        let frame = self.frame();
        let mut svg = format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\">",
            self.width, self.height
        );
        self.draw_axes(&frame, &mut svg);
        for series in self.series {
            draw_band(series, &frame, &mut svg);
        }
        for series in self.series {
            let path = path(&frame, series.points.iter().copied());
            let class = &series.class;
            let _ = write!(svg, "<path class=\"line {class}\" d=\"{path}\"/>");
        }
        if self.labelled {
            self.draw_labels(&frame, &mut svg);
        }
        svg.push_str("</svg>");
        svg
    }

    fn frame(&self) -> Frame {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let banded = self.series.iter().flat_map(|series| {
            let bands = series.points.iter().zip(&series.band);
            bands.flat_map(|((_, y), band)| [y - band, y + band])
        });
        let x = extent(points().map(|point| point.0));
        let y = extent(points().map(|point| point.1).chain(banded));
        let margin = (y.1 - y.0) * 0.06;
        let longest = self
            .series
            .iter()
            .map(|series| series.label.chars().count());
        let names = 20.0 + 7.5 * longest.max().unwrap_or(0) as f64;
        let (left, right) = if self.labelled {
            (58.0, names)
        } else {
            (42.0, 14.0)
        };
        Frame {
            left,
            right: self.width - right,
            top: 10.0,
            bottom: self.height - if self.labelled { 36.0 } else { 18.0 },
            x,
            y: (y.0 - margin, y.1 + margin),
        }
    }

    fn draw_axes(&self, frame: &Frame, svg: &mut String) {
        let count = if self.labelled { 6.0 } else { 3.0 };
        for value in ticks(frame.y, count) {
            let y = frame.up(value);
            let text = (self.format)(value);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{:.1} {y:.1}H{:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                frame.left,
                frame.right,
                frame.left - 6.0,
                y + 4.0
            );
        }
        for value in ticks(frame.x, if self.labelled { 10.0 } else { 2.0 }) {
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
                frame.across(value),
                frame.bottom + 15.0
            );
        }
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{:.1} {:.1}H{:.1}\"/>",
            frame.left, frame.bottom, frame.right
        );
        if self.labelled {
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                (frame.left + frame.right) / 2.0,
                frame.bottom + 31.0,
                escaped(self.across)
            );
        }
    }

    /// Names beside the last points, moved apart where they would overlap.
    fn draw_labels(&self, frame: &Frame, svg: &mut String) {
        let mut labels: Vec<_> = self
            .series
            .iter()
            .filter(|series| !series.label.is_empty())
            .filter_map(|series| Some((frame.up(series.points.last()?.1), series)))
            .collect();
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut lowest = f64::NEG_INFINITY;
        for (y, series) in labels {
            let y = y.max(lowest + 15.0);
            lowest = y;
            let _ = write!(
                svg,
                "<text class=\"name {}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                series.class,
                frame.right + 7.0,
                y + 4.0,
                escaped(&series.label)
            );
        }
    }
}

fn draw_band(series: &Series, frame: &Frame, svg: &mut String) {
    if series.band.is_empty() {
        return;
    }
    let pairs = || series.points.iter().zip(&series.band);
    let above = pairs().map(|((x, y), band)| (*x, y + band));
    let below = pairs().rev().map(|((x, y), band)| (*x, y - band));
    let _ = write!(
        svg,
        "<path class=\"band {}\" d=\"{}Z\"/>",
        series.class,
        path(frame, above.chain(below))
    );
}

fn path(frame: &Frame, points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut text = String::new();
    for (place, (x, y)) in points.enumerate() {
        let command = if place == 0 { 'M' } else { 'L' };
        let _ = write!(text, "{command}{:.1} {:.1}", frame.across(x), frame.up(y));
    }
    text
}

/// Smallest and largest, never the same.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold(start, |(low, high), value| {
            (low.min(value), high.max(value))
        });
    match (low, high) {
        (low, high) if low > high => (0.0, 1.0),
        (low, high) if high - low < 1e-9 => (low - 0.5, high + 0.5),
        extent => extent,
    }
}

/// Round numbers within an interval, about `count` of them.
fn ticks((low, high): (f64, f64), count: f64) -> Vec<f64> {
    let rough = (high - low) / count;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        // Rather a few ticks too many than half as many as wanted.
        .find(|step| *step * 1.5 >= rough)
        .unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    // Dividing by the reciprocal keeps 0.3 from becoming 0.30000000000000004.
    let number = |place: i64| match step {
        step if step < 1.0 => place as f64 / (1.0 / step).round(),
        step => place as f64 * step,
    };
    (first..=last).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            ticks((0.0, 200.0), 10.0),
            (0..=10).map(|n| f64::from(n) * 20.0).collect::<Vec<_>>()
        );
        assert_eq!(
            ticks((0.21, 0.34), 6.0),
            [0.22, 0.24, 0.26, 0.28, 0.3, 0.32, 0.34][..]
        );
    }
}
