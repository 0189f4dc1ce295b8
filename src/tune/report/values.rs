//! Values before and after: each from the first generation to the result, beside the paper's;
//! piece-square tables as boards; the average of every gene by generation.

use std::fmt::Write as _;

use super::chart::Chart;
use super::evolution::EvolutionRun;
use crate::eval::{TERMS, TaperedValue, TermInfo, Weights};
use crate::terminal::escaped;
use crate::tune::genome::Candidate;
use crate::tune::run::{BEST, GenerationFigures, RunError, START};

/// Of the weights of a large genome, so many that changed most.
const MOST_CHANGED: usize = 40;

/// A value before and after; places are shares of the track.
struct Row {
    name: String,
    meaning: &'static str,
    first: f64,
    last: f64,
    paper: Option<f64>,
    /// The ends of the track.
    ends: (f64, f64),
}

pub fn section(run: &EvolutionRun) -> Result<String, RunError> {
    let mut text = if run.genes.is_empty() {
        String::new()
    } else {
        gene_section(run)
    };
    if let (Some(first), Some(last)) = (weights(run, START)?, weights(run, BEST)?) {
        if run.genes.is_empty() {
            text += &changed_section(&first, &last);
        }
        text += &boards(&first, &last);
    }
    Ok(text + &small_charts(run))
}

fn weights(run: &EvolutionRun, file: &str) -> Result<Option<Weights>, RunError> {
    if !run.folder.has(file) {
        return Ok(None);
    }
    let candidate = Candidate::load(&run.folder.path().join(file))?;
    Ok(candidate.weights().cloned())
}

/// The values of all genes within their bounds, and the table.
fn gene_section(run: &EvolutionRun) -> String {
    let printed = run.preset.paper_values();
    let bounds = run.preset.genome.draft().ok();
    let row = |(place, name): (usize, &String)| {
        let (first, last) = (run.rows[0].genes.get(place)?, run.last().genes.get(place)?);
        let paper = printed.get(name).copied();
        let gene = bounds.as_ref().and_then(|genome| {
            let index = genome.gene_index(name)?;
            Some(&genome.genes[index])
        });
        let values = [Some(first.mean), Some(last.best), paper];
        let ends = gene.map(|gene| [gene.low, gene.high]).unwrap_or_default();
        let all = || values.into_iter().flatten().chain(ends);
        Some(Row {
            name: name.clone(),
            meaning: meaning(name),
            first: first.mean,
            last: last.best,
            paper,
            ends: (
                all().fold(f64::INFINITY, f64::min),
                all().fold(f64::NEG_INFINITY, f64::max),
            ),
        })
    };
    let rows: Vec<Row> = run.genes.iter().enumerate().filter_map(row).collect();
    let words = "From the mean of the first population (ring) to the best individual (dot), \
                 within the bounds of the search";
    let paper = match printed.is_empty() {
        true => "",
        false => "; the diamond is the paper's value",
    };
    format!(
        "<h2>Values</h2><figure class=\"chart\" data-name=\"values\"><p class=\"axis-name\">{words}{paper}.</p>{}{}</figure>",
        dot_plots(&rows),
        table(run, !printed.is_empty())
    )
}

/// The first sentence that the evaluation has for a gene's term.
fn meaning(gene: &str) -> &'static str {
    let end = gene.find([' ', '[']).unwrap_or(gene.len());
    TermInfo::named(&gene[..end]).map_or("", |info| info.meaning.trim())
}

/// The weights that changed most, by how much.
fn changed_section(first: &Weights, last: &Weights) -> String {
    let mut rows = Vec::new();
    for info in TERMS.iter().filter(|info| !is_board(info)) {
        for term in info.terms() {
            let (before, after) = (first.get(term), last.get(term));
            for (phase, value) in PHASES {
                if value(before) != value(after) {
                    rows.push(Row {
                        name: format!("{} {phase}", term.label()),
                        meaning: info.meaning.trim(),
                        first: value(before),
                        last: value(after),
                        paper: None,
                        ends: (0.0, 0.0),
                    });
                }
            }
        }
    }
    let change = |row: &Row| (row.last - row.first).abs();
    rows.sort_by(|a, b| change(b).total_cmp(&change(a)));
    let count = rows.len();
    rows.truncate(MOST_CHANGED);
    let Some(most) = rows.first().map(change) else {
        return String::new();
    };
    for row in &mut rows {
        row.ends = (row.first - most, row.first + most);
    }
    format!(
        "<h2>Values</h2><figure class=\"chart\" data-name=\"values\"><p class=\"axis-name\">The {} of {count} changed weights that changed most: from the start (ring) to the result (dot), at most {most:.1} centipawns.</p>{}</figure>",
        rows.len(),
        dot_plots(&rows)
    )
}

type Phase = (&'static str, fn(TaperedValue) -> f64);

const PHASES: [Phase; 2] = [
    ("midgame", |value| value.midgame),
    ("endgame", |value| value.endgame),
];

fn dot_plots(rows: &[Row]) -> String {
    dot_plot(rows, true) + &dot_plot(rows, false)
}

/// A line for each value: its name, its track, its figures. In a narrow window the track stands
/// below the rest.
fn dot_plot(rows: &[Row], is_wide: bool) -> String {
    let (class, width, height) = match is_wide {
        true => ("wide-only", 880.0, 24.0),
        false => ("narrow-only", 400.0, 42.0),
    };
    let mut svg = format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {}\" role=\"img\" aria-label=\"Values before and after\">",
        height * rows.len() as f64
    );
    for (place, row) in rows.iter().enumerate() {
        let top = height * place as f64;
        let (track, middle) = match is_wide {
            true => ((240.0, 620.0), top + 12.0),
            false => ((8.0, width - 8.0), top + 29.0),
        };
        let paper = row
            .paper
            .map_or(String::new(), |paper| format!(", paper {}", short(paper)));
        let figures = format!("{} → {}{paper}", short(row.first), short(row.last));
        let _ = write!(
            svg,
            "<g class=\"row\"><title>{}: {} ({} to {})</title><rect class=\"hit\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/><text class=\"label\" x=\"0\" y=\"{:.0}\">{}</text><text class=\"tick\" x=\"{width}\" y=\"{:.0}\" text-anchor=\"end\">{figures}</text>",
            escaped(&row.name),
            escaped(row.meaning),
            short(row.ends.0),
            short(row.ends.1),
            top + 16.0,
            escaped(&row.name),
            top + 16.0,
        );
        draw_track(row, track, middle, &mut svg);
        svg.push_str("</g>");
    }
    svg + "</svg>"
}

fn draw_track(row: &Row, (left, right): (f64, f64), y: f64, svg: &mut String) {
    let span = (row.ends.1 - row.ends.0).max(f64::MIN_POSITIVE);
    let x = |value: f64| left + (right - left) * ((value - row.ends.0) / span).clamp(0.0, 1.0);
    let (first, last) = (x(row.first), x(row.last));
    let _ = write!(
        svg,
        "<path class=\"grid\" d=\"M{left} {y}H{right}\"/><path class=\"moved c1\" d=\"M{first:.1} {y}H{last:.1}\"/>"
    );
    if let Some(paper) = row.paper.map(x) {
        let _ = write!(
            svg,
            "<path class=\"diamond c2\" d=\"M{paper:.1} {:.1}l6 6l-6 6l-6 -6Z\"/>",
            y - 6.0
        );
    }
    let _ = write!(
        svg,
        "<circle class=\"ring c1\" cx=\"{first:.1}\" cy=\"{y}\" r=\"4\"/><circle class=\"dot c1\" cx=\"{last:.1}\" cy=\"{y}\" r=\"4.5\"/>"
    );
}

/// Fewer digits for larger numbers.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn table(run: &EvolutionRun, with_paper: bool) -> String {
    let printed = run.preset.paper_values();
    let mut text = "<details class=\"data\"><summary>Table</summary><div class=\"scroll\"><table><tr><th>gene</th><th>best</th><th>mean</th><th>deviation</th><th>first mean</th><th>first deviation</th>".to_owned();
    if with_paper {
        text.push_str("<th>paper</th>");
    }
    text.push_str("</tr>");
    for (place, name) in run.genes.iter().enumerate() {
        let figures = |row: &GenerationFigures| row.genes.get(place).copied();
        let (Some(first), Some(last)) = (figures(&run.rows[0]), figures(run.last())) else {
            continue;
        };
        let _ = write!(
            text,
            "<tr><td title=\"{}\">{}</td><td>{:.2}</td><td>{:.2}</td><td>{:.2}</td><td>{:.2}</td><td>{:.2}</td>",
            escaped(meaning(name)),
            escaped(name),
            last.best,
            last.mean,
            last.deviation,
            first.mean,
            first.deviation
        );
        if with_paper {
            let value = printed.get(name).map_or(String::new(), f64::to_string);
            let _ = write!(text, "<td>{value}</td>");
        }
        text.push_str("</tr>");
    }
    text + "</table></div></details>"
}

/// Whether a term's table is a piece-square table, which a board shows best.
fn is_board(info: &TermInfo) -> bool {
    info.name.ends_with("_square") && matches!(info.length, 32 | 64)
}

/// The piece-square tables that changed.
fn boards(first: &Weights, last: &Weights) -> String {
    let mut text = String::new();
    for info in TERMS.iter().filter(|info| is_board(info)) {
        for (phase, value) in PHASES {
            let values = |weights: &Weights| -> Vec<f64> {
                let terms = info.terms();
                terms.map(|term| value(weights.get(term))).collect()
            };
            let (before, after) = (values(first), values(last));
            if before != after {
                text += &board(info, phase, &before, &after);
            }
        }
    }
    if text.is_empty() {
        return text;
    }
    let words = "The result in centipawns, seen from the piece's own side: green is good for it, \
                 red is bad. The board is mirrored so that the own king stands on the files e to h.";
    format!("<h2>Piece-square tables</h2><p>{words}</p><div class=\"boards\">{text}</div>")
}

fn board(info: &TermInfo, phase: &str, before: &[f64], after: &[f64]) -> String {
    const CELL: f64 = 34.0;
    let columns = info.length / 8;
    let most = after
        .iter()
        .fold(1.0, |most: f64, value| most.max(value.abs()));
    let name = info.name.trim_end_matches("_square");
    let mut text = format!(
        "<figure class=\"chart\" data-name=\"{name} {phase}\"><figcaption>{name}, {phase}</figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{name} {phase} by square\">",
        CELL * 8.0 + 16.0,
        CELL * 8.0 + 18.0
    );
    let first_file = 8 - columns;
    for (place, (was, is)) in before.iter().zip(after).enumerate() {
        let (row, file) = (place / columns, place % columns + first_file);
        let (x, y) = (16.0 + CELL * file as f64, CELL * row as f64);
        let square = format!("{}{}", char::from(b'a' + file as u8), 8 - row);
        let class = if *is < 0.0 { "c6" } else { "c3" };
        let _ = write!(
            text,
            "<g class=\"{class}\"><title>{square}: {is:.1}, at first {was:.1}</title><rect class=\"shade\" x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill-opacity=\"{:.2}\"/><text class=\"cell\" x=\"{}\" y=\"{}\">{is:.0}</text></g>",
            0.75 * is.abs() / most,
            x + CELL / 2.0,
            y + CELL / 2.0 + 4.0
        );
    }
    for line in 0..8_usize {
        let along = CELL * line as f64 + CELL / 2.0;
        let _ = write!(
            text,
            "<text class=\"cell faint\" x=\"6\" y=\"{}\">{}</text>",
            along + 4.0,
            8 - line
        );
        if line >= first_file {
            let _ = write!(
                text,
                "<text class=\"cell faint\" x=\"{}\" y=\"{}\">{}</text>",
                along + 16.0,
                CELL * 8.0 + 14.0,
                char::from(b'a' + line as u8)
            );
        }
    }
    text + "</svg></figure>"
}

/// The average of every gene by generation, with its deviation.
fn small_charts(run: &EvolutionRun) -> String {
    if run.genes.is_empty() || run.rows.len() < 2 {
        return String::new();
    }
    let mut text = "<h2>Each value by generation</h2><p>Average of the population in the unit of the preset, with one standard deviation to either side.</p><div class=\"small\">".to_owned();
    for (place, name) in run.genes.iter().enumerate() {
        let mut series = [run.curve("", "c1", |row| Some(row.genes.get(place)?.mean))];
        let genes = run.rows.iter().filter_map(|row| row.genes.get(place));
        series[0].band = genes.map(|gene| gene.deviation).collect();
        let chart = Chart {
            title: name,
            series: &series,
            levels: &[],
            format: &|value| format!("{value:.2}"),
            across: "generation",
            up: "",
        };
        let last = run.last().genes.get(place).map_or(0.0, |gene| gene.mean);
        let _ = write!(
            text,
            "<figure class=\"chart\" data-name=\"{0}\"><figcaption><span title=\"{1}\">{0}</span><b>{last:.1}</b></figcaption>{2}</figure>",
            escaped(name),
            escaped(meaning(name)),
            chart.small()
        );
    }
    text + "</div>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_their_size_deserves() {
        assert_eq!(short(921.3), "921");
        assert_eq!(short(27.80), "27.8");
        assert_eq!(short(-0.5), "-0.5");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(100.0), "100");
    }

    #[test]
    fn every_gene_of_a_term_has_a_meaning() {
        assert_eq!(meaning("knight_ring[2]"), meaning("knight_ring"));
        assert!(meaning("bishop_pair endgame").contains("bishops"));
        assert_eq!(meaning("razoring_base"), "");
    }

    #[test]
    fn a_changed_piece_square_table_is_a_board() {
        let first = Weights::zero("first");
        let mut last = Weights::zero("last");
        let info = TermInfo::named("king_square").unwrap();
        let term = info.terms().next().unwrap();
        let value = TaperedValue {
            midgame: -20.0,
            endgame: 0.0,
        };
        last.set(term, value);
        let text = boards(&first, &last);
        assert_eq!(text.matches("<svg").count(), 1, "only the midgame changed");
        // Its first entry is the first of the files it has, on the eighth rank.
        assert!(
            text.contains("<title>e8: -20.0, at first 0.0</title>"),
            "{text}"
        );
        assert_eq!(boards(&last, &last), "");
    }
}
