//! Curves as SVG: a frame, a few ticks at round numbers, lines, bands, dashed lines for what a
//! paper reports, and the name of each line at its end.
//!
//! A chart is drawn twice, for wide and for narrow windows, and the style sheet shows one: letters
//! keep their size. Colours come from the style sheet too. Behind each chart stands the table of
//! its values, from which the page's script also shows the values under the pointer.

use std::fmt::Write as _;

use crate::terminal::escaped;

/// More points than this make no finer line.
const MOST_POINTS: usize = 250;

/// A line, perhaps with a band of so much to either side.
pub struct Series {
    pub label: String,
    /// Class of the style sheet: `c1` to `c6`.
    pub class: String,
    pub points: Vec<(f64, f64)>,
    pub band: Vec<f64>,
}

impl Series {
    pub fn new(label: &str, class: &str, points: Vec<(f64, f64)>) -> Series {
        Series {
            label: label.to_owned(),
            class: class.to_owned(),
            points,
            band: Vec::new(),
        }
    }

    fn at(&self, x: f64) -> Option<f64> {
        let place = self.points.binary_search_by(|point| point.0.total_cmp(&x));
        place.ok().map(|place| self.points[place].1)
    }
}

/// A dashed line across the chart: a value to compare with.
pub struct Level {
    pub label: String,
    pub class: &'static str,
    pub value: f64,
}

pub struct Chart<'a> {
    /// What the chart shows, for readers that do not see it and for the name of a saved file.
    pub title: &'a str,
    pub series: &'a [Series],
    pub levels: &'a [Level],
    /// How values are written.
    pub format: &'a dyn Fn(f64) -> String,
    /// What the axes count; the left one with its unit and direction.
    pub across: &'a str,
    pub up: &'a str,
}

/// The size of a drawing and what it has room for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Wide,
    Narrow,
    Small,
}

impl Layout {
    fn size(self) -> (f64, f64) {
        match self {
            Layout::Wide => (880.0, 330.0),
            Layout::Narrow => (400.0, 260.0),
            Layout::Small => (320.0, 130.0),
        }
    }

    fn class(self) -> &'static str {
        match self {
            Layout::Wide => "wide-only",
            Layout::Narrow => "narrow-only",
            Layout::Small => "small-chart",
        }
    }

    /// About how many ticks the axes have, across and up.
    fn ticks(self) -> (f64, f64) {
        match self {
            Layout::Wide => (10.0, 6.0),
            Layout::Narrow => (5.0, 5.0),
            Layout::Small => (4.0, 3.0),
        }
    }
}

/// Letters are about this wide.
const LETTER: f64 = 7.0;

struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: (f64, f64),
    y: (f64, f64),
    /// Ticks of the left axis with their labels.
    ticks: Vec<(f64, String)>,
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
    /// The chart with its legend and its table.
    pub fn figure(&self) -> String {
        let xs = self.xs();
        if xs.is_empty() {
            return String::new();
        }
        format!(
            "<figure class=\"chart\" data-name=\"{}\"><p class=\"axis-name\">{}</p>{}{}{}{}</figure>",
            escaped(self.title),
            escaped(self.up),
            self.legend(),
            self.svg(Layout::Wide, &xs),
            self.svg(Layout::Narrow, &xs),
            self.table(&xs)
        )
    }

    /// A small chart of one series; the values stand in its attributes.
    pub fn small(&self) -> String {
        let xs = self.xs();
        let Some(series) = self.series.first().filter(|_| !xs.is_empty()) else {
            return String::new();
        };
        let values = xs.iter().map(|&x| {
            let value = series.at(x).map_or("-".to_owned(), self.format);
            format!("{} {x}: {value}", self.across)
        });
        let values: Vec<String> = values.collect();
        let svg = self.svg(Layout::Small, &xs);
        let attributes = format!(" data-values=\"{}\"", escaped(&values.join("|")));
        svg.replacen("<svg", &format!("<svg{attributes}"), 1)
    }

    /// The places across at which any line has a point, thinned out where they are many.
    fn xs(&self) -> Vec<f64> {
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut xs: Vec<f64> = points.map(|point| point.0).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let last = xs.len().saturating_sub(1);
        let step = xs.len().div_ceil(MOST_POINTS).max(1);
        let kept = xs.iter().enumerate();
        let kept = kept.filter(|(place, _)| place % step == 0 || *place == last);
        kept.map(|(_, x)| *x).collect()
    }

    fn svg(&self, layout: Layout, xs: &[f64]) -> String {
        let frame = self.frame(layout);
        let (width, height) = layout.size();
        let mut svg = format!(
            "<svg class=\"{}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
            layout.class(),
            escaped(self.title)
        );
        self.draw_axes(layout, &frame, &mut svg);
        for series in self.series {
            draw_band(series, xs, &frame, &mut svg);
        }
        for level in self.levels {
            let y = frame.up(level.value);
            let _ = write!(
                svg,
                "<path class=\"level {}\" d=\"M{:.1} {y:.1}H{:.1}\"/>",
                level.class, frame.left, frame.right
            );
        }
        for series in self.series {
            draw_line(series, xs, &frame, &mut svg);
        }
        if layout == Layout::Wide {
            self.draw_labels(&frame, &mut svg);
        }
        svg.push_str("</svg>");
        svg
    }

    fn frame(&self, layout: Layout) -> Frame {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let banded = self.series.iter().flat_map(|series| {
            let bands = series.points.iter().zip(&series.band);
            bands.flat_map(|((_, y), band)| [y - band, y + band])
        });
        let levels = self.levels.iter().map(|level| level.value);
        let x = extent_across(points().map(|point| point.0));
        let y = extent(points().map(|point| point.1).chain(banded).chain(levels));
        let margin = (y.1 - y.0) * 0.06;
        let y = (y.0 - margin, y.1 + margin);
        let (values, labels) = self.labelled_ticks(y, layout.ticks().1);
        let letters = |texts: &mut dyn Iterator<Item = &String>| {
            let lengths = texts.map(|text| text.chars().count());
            LETTER * lengths.max().unwrap_or(0) as f64
        };
        let mut names = self.names().into_iter().map(|(_, name, _)| name);
        let (width, height) = layout.size();
        let right = match layout {
            Layout::Wide => 18.0 + 1.08 * letters(&mut names),
            _ => 14.0,
        };
        Frame {
            left: 14.0 + letters(&mut labels.iter()),
            right: width - right,
            top: 10.0,
            bottom: height - if layout == Layout::Small { 20.0 } else { 38.0 },
            x,
            y,
            ticks: values.into_iter().zip(labels).collect(),
        }
    }

    /// Ticks of the left axis with their labels: fewer where several would read the same.
    fn labelled_ticks(&self, y: (f64, f64), most: f64) -> (Vec<f64>, Vec<String>) {
        let mut count = most;
        loop {
            let values = ticks(y, count, 0.0);
            let labels = values.iter().map(|value| (self.format)(*value));
            let labels: Vec<String> = labels.collect();
            // "-0" and "0" read the same too.
            let bare = |label: &str| label.trim_start_matches(['+', '-']).to_owned();
            let mut neighbours = labels.windows(2);
            let differ = neighbours.all(|two| bare(&two[0]) != bare(&two[1]));
            if differ || count < 2.0 {
                return (values, shortened(labels));
            }
            count -= 1.0;
        }
    }

    fn draw_axes(&self, layout: Layout, frame: &Frame, svg: &mut String) {
        let (left, right, bottom) = (frame.left, frame.right, frame.bottom);
        for (value, label) in &frame.ticks {
            let y = frame.up(*value);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                y + 4.0,
                escaped(label)
            );
        }
        let finest = if self.counts_across() { 1.0 } else { 0.0 };
        for value in ticks(frame.x, layout.ticks().0, finest) {
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
                frame.across(value),
                bottom + 15.0
            );
        }
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>"
        );
        if layout != Layout::Small {
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                (left + right) / 2.0,
                bottom + 32.0,
                escaped(self.across)
            );
        }
    }

    /// Whether the axis below counts whole things, such as generations.
    fn counts_across(&self) -> bool {
        let mut points = self.series.iter().flat_map(|series| &series.points);
        points.all(|point| point.0.fract() == 0.0)
    }

    /// The value, name and class of each named line.
    fn names(&self) -> Vec<(f64, &String, &str)> {
        let lines = self.series.iter().filter_map(|series| {
            let last = series.points.last()?.1;
            Some((last, &series.label, series.class.as_str()))
        });
        let levels = self.levels.iter();
        let levels = levels.map(|level| (level.value, &level.label, level.class));
        let named = lines.chain(levels);
        named.filter(|(_, label, _)| !label.is_empty()).collect()
    }

    /// Names beside the last points, moved apart where they would overlap.
    fn draw_labels(&self, frame: &Frame, svg: &mut String) {
        let mut labels = self.names();
        labels.sort_by(|a, b| b.0.total_cmp(&a.0));
        let heights = apart(
            labels.iter().map(|label| frame.up(label.0)).collect(),
            15.0,
            frame.bottom,
        );
        for ((_, label, class), y) in labels.into_iter().zip(heights) {
            let _ = write!(
                svg,
                "<text class=\"name {class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                frame.right + 7.0,
                y + 4.0,
                escaped(label)
            );
        }
    }

    /// The names of the lines, for drawings without room for them.
    fn legend(&self) -> String {
        let name = |(_, label, class): (f64, &String, &str)| {
            format!("<span class=\"{class}\">{}</span>", escaped(label))
        };
        let names: String = self.names().into_iter().map(name).collect();
        format!("<p class=\"legend narrow-only\">{names}</p>")
    }

    fn table(&self, xs: &[f64]) -> String {
        let mut text = format!(
            "<details class=\"data\"><summary>Table</summary><div class=\"scroll\"><table><tr><th>{}</th>",
            escaped(self.across)
        );
        for series in self.series {
            let name = match series.label.as_str() {
                "" => self.title,
                label => label,
            };
            let _ = write!(text, "<th>{}</th>", escaped(name));
        }
        text.push_str("</tr>");
        for &x in xs {
            let _ = write!(text, "<tr><td>{x}</td>");
            for series in self.series {
                let value = series.at(x).map_or(String::new(), self.format);
                let _ = write!(text, "<td>{}</td>", escaped(&value));
            }
            text.push_str("</tr>");
        }
        text + "</table></div></details>"
    }
}

/// A line through the points; a single one is a dot.
fn draw_line(series: &Series, xs: &[f64], frame: &Frame, svg: &mut String) {
    let class = &series.class;
    let points = drawn(series, xs);
    let _ = write!(
        svg,
        "<path class=\"line {class}\" d=\"{}\"/>",
        path(frame, points.iter().map(|(point, _)| *point))
    );
    if let [((x, y), _)] = points[..] {
        let (x, y) = (frame.across(x), frame.up(y));
        let _ = write!(
            svg,
            "<circle class=\"dot {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"
        );
    }
}

fn draw_band(series: &Series, xs: &[f64], frame: &Frame, svg: &mut String) {
    if series.band.is_empty() {
        return;
    }
    let points = drawn(series, xs);
    let class = &series.class;
    if let [((x, y), band)] = points[..] {
        let (x, low, high) = (frame.across(x), frame.up(y - band), frame.up(y + band));
        let _ = write!(
            svg,
            "<path class=\"whisker {class}\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>"
        );
        return;
    }
    let above = points.iter().map(|((x, y), band)| (*x, y + band));
    let below = points.iter().rev().map(|((x, y), band)| (*x, y - band));
    let _ = write!(
        svg,
        "<path class=\"band {class}\" d=\"{}Z\"/>",
        path(frame, above.chain(below))
    );
}

/// The points that are drawn, each with its band.
fn drawn(series: &Series, xs: &[f64]) -> Vec<((f64, f64), f64)> {
    let points = series.points.iter().enumerate();
    let kept = points.filter(|(_, point)| xs.binary_search_by(|x| x.total_cmp(&point.0)).is_ok());
    let with_band = |(place, point): (usize, &(f64, f64))| {
        (*point, series.band.get(place).copied().unwrap_or(0.0))
    };
    kept.map(with_band).collect()
}

fn path(frame: &Frame, points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut text = String::new();
    for (place, (x, y)) in points.enumerate() {
        let command = if place == 0 { 'M' } else { 'L' };
        let _ = write!(text, "{command}{:.1} {:.1}", frame.across(x), frame.up(y));
    }
    text
}

/// Smallest and largest of the values; equal ones get room to either side.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    match span(values) {
        None => (0.0, 1.0),
        Some((low, high)) if high - low < 1e-9 * high.abs().max(1e-6) => {
            let room = if low == 0.0 { 1.0 } else { 0.05 * low.abs() };
            (low - room, high + room)
        }
        Some(span) => span,
    }
}

/// The same for the axis below: a single point stands at its left end, or at its right end if it
/// is a share of something that began at 0.
fn extent_across(values: impl Iterator<Item = f64>) -> (f64, f64) {
    match span(values) {
        None => (0.0, 1.0),
        Some((low, high)) if low < high => (low, high),
        Some((low, _)) if low.fract() == 0.0 => (low, low + 1.0),
        Some((_, high)) => (high.min(0.0), high.max(0.0)),
    }
}

fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite());
    finite.fold(None, |span, value| match span {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// Round numbers within an interval, about `count` of them, at least `finest` apart.
fn ticks((low, high): (f64, f64), count: f64, finest: f64) -> Vec<f64> {
    let rough = ((high - low) / count).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        // Rather a few ticks too many than half as many as wanted.
        .find(|step| *step * 1.5 >= rough)
        .unwrap_or(10.0 * power)
        .max(finest);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    // Dividing by the reciprocal keeps 0.3 from becoming 0.30000000000000004.
    let number = |place: i64| match step {
        step if step < 1.0 => place as f64 / (1.0 / step).round(),
        step => place as f64 * step,
    };
    (first..=last).map(number).collect()
}

/// Labels of ticks without the zeros that all of them end in.
fn shortened(mut labels: Vec<String>) -> Vec<String> {
    let digits_end = |label: &str| label.rfind(|c: char| c.is_ascii_digit());
    let ends_in_zero = |label: &String| {
        digits_end(label).is_some_and(|end| label[..end].contains('.') && &label[end..=end] == "0")
    };
    while !labels.is_empty() && labels.iter().all(ends_in_zero) {
        for label in &mut labels {
            if let Some(end) = digits_end(label) {
                label.remove(end);
            }
        }
    }
    for label in &mut labels {
        if let Some(point) = label.find('.') {
            let is_last = !label[point + 1..].starts_with(|c: char| c.is_ascii_digit());
            if is_last {
                label.remove(point);
            }
        }
    }
    labels
}

/// Heights in ascending order, moved so that neighbours are this far apart and none is below
/// `lowest`.
fn apart(mut heights: Vec<f64>, distance: f64, lowest: f64) -> Vec<f64> {
    for place in 1..heights.len() {
        heights[place] = heights[place].max(heights[place - 1] + distance);
    }
    let mut limit = lowest;
    for height in heights.iter_mut().rev() {
        *height = height.min(limit);
        limit = *height - distance;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(f64, f64)], inspect: impl Fn(Chart<'_>)) {
        let series = [Series::new("best", "c1", points.to_vec())];
        let levels = [Level {
            label: "paper 53.08%".to_owned(),
            class: "c1",
            value: 0.5308,
        }];
        inspect(Chart {
            title: "Fitness",
            series: &series,
            levels: &levels,
            format: &|value| format!("{:.2}%", 100.0 * value),
            across: "generation",
            up: "moves found, higher is better",
        });
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            ticks((0.0, 200.0), 10.0, 0.0),
            (0..=10).map(|n| f64::from(n) * 20.0).collect::<Vec<_>>()
        );
        assert_eq!(
            ticks((0.21, 0.34), 6.0, 0.0),
            [0.22, 0.24, 0.26, 0.28, 0.3, 0.32, 0.34][..]
        );
        assert_eq!(ticks((0.0, 2.0), 10.0, 1.0), [0.0, 1.0, 2.0]);
    }

    #[test]
    fn labels_lose_their_common_zeros_but_not_their_unit() {
        let labels = |texts: &[&str]| shortened(texts.iter().map(|&text| text.into()).collect());
        assert_eq!(labels(&["20.00%", "25.00%"]), ["20%", "25%"]);
        assert_eq!(labels(&["48.50 cp", "49.00 cp"]), ["48.5 cp", "49.0 cp"]);
        assert_eq!(labels(&["100", "200"]), ["100", "200"]);
    }

    #[test]
    fn labels_are_kept_apart_and_above_the_axis() {
        assert_eq!(
            apart(vec![10.0, 12.0, 98.0, 99.0], 15.0, 100.0),
            [10.0, 25.0, 85.0, 100.0]
        );
    }

    #[test]
    fn a_run_broken_off_at_generation_0_is_a_dot_on_whole_generations() {
        chart(&[(0.0, 0.2)], |chart| {
            let figure = chart.figure();
            assert!(figure.contains("<circle class=\"dot c1\""), "{figure}");
            assert!(!figure.contains(">0.5</text>"), "{figure}");
            assert!(figure.contains(">1</text>"), "{figure}");
        });
    }

    #[test]
    fn the_paper_is_a_dashed_line_and_every_value_is_in_the_table() {
        let points: Vec<_> = (0..1000).map(|n| (f64::from(n), 0.2)).collect();
        chart(&points, |chart| {
            let figure = chart.figure();
            assert!(figure.contains("class=\"level c1\""), "{figure}");
            assert!(figure.contains("paper 53.08%</text>"), "{figure}");
            let rows = figure.matches("<tr><td>").count();
            assert!((200..=MOST_POINTS + 1).contains(&rows), "{rows} rows");
            assert!(
                figure.contains("<tr><td>999</td><td>20.00%</td>"),
                "{figure}"
            );
        });
    }
}
