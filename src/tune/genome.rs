//! The genome: which weights are free, and how a vector of genes becomes an evaluation.
//!
//! A gene is a real number within bounds. It sets one or several weights (a table whose entries
//! are tied, both phases of an untapered term). What the evaluation gets is rounded to its own
//! hundredths of a centipawn before anything is measured, so an individual plays exactly as
//! the file it is saved to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::settings::SettingError;
use crate::eval::{Family, Packed, TERMS, Term, TermInfo, Value, Weights};

/// The table `[genome]` of a preset.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct GenomeSettings {
    /// Where weights that are not named come from: "none", "default" or a weights file.
    pub base: String,
    pub start: Start,
    /// Centipawns in a unit of this table: 100 when a paper counts in pawns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<f64>,
    /// Families all of whose terms are free within their own bounds, both phases apart.
    pub free: Vec<String>,
    /// Named weights: a number or a list of them is fixed, bounds are free.
    pub weights: BTreeMap<String, WeightSettings>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Uniform within each gene's bounds, or its `start` where one is given.
    #[default]
    Random,
    /// The values of `base`: one individual is exactly that, the others are its variations.
    Base,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "a number or a list of numbers (fixed), or a table of low, high and perhaps start, tapered, tied, multiple, entries (free)"
)]
pub enum WeightSettings {
    Fixed(f64),
    /// Each entry of a table.
    FixedEntries(Vec<f64>),
    Free(FreeSettings),
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FreeSettings {
    pub low: f64,
    pub high: f64,
    /// Interval of the random start, if it is not the bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<[f64; 2]>,
    /// One gene for each phase of the game.
    #[serde(default)]
    pub tapered: bool,
    /// One gene for all entries of a table.
    #[serde(default)]
    pub tied: bool,
    /// One gene for all entries of a table: entry N weighs N times as much, entry 0 keeps its
    /// base.
    #[serde(default)]
    pub multiple: bool,
    /// First and last entry of a table that are free; the others keep their base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<[usize; 2]>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Gene {
    pub name: String,
    pub low: f64,
    pub high: f64,
    /// What the evaluation itself allows; moving boundaries stop here.
    pub floor: f64,
    pub ceiling: f64,
    /// Interval of the random start.
    pub start: [f64; 2],
    places: Vec<Place>,
}

impl Gene {
    pub fn range(&self) -> f64 {
        self.high - self.low
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    term: Term,
    phases: Phases,
    /// How many times the gene it weighs.
    factor: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phases {
    Both,
    Midgame,
    Endgame,
}

impl Phases {
    fn midgame(self) -> bool {
        self != Phases::Endgame
    }
    fn endgame(self) -> bool {
        self != Phases::Midgame
    }
}

/// Terms that one gene or pair of genes sets together: their counts can be added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Any of the terms; all have the same value.
    pub term: Term,
    pub midgame: Option<usize>,
    pub endgame: Option<usize>,
    /// How many times the gene they weigh.
    pub factor: u16,
}

impl Column {
    /// What changes of the two phases' totals mean for the genes that set them.
    pub fn share_out(&self, midgame: f64, endgame: f64, gradient: &mut [f64]) {
        for (gene, share) in [(self.midgame, midgame), (self.endgame, endgame)] {
            if let Some(gene) = gene {
                gradient[gene] += f64::from(self.factor) * share;
            }
        }
    }
}

pub struct Genome {
    pub genes: Vec<Gene>,
    pub start: Start,
    /// Centipawns in a unit of a gene.
    unit: f64,
    base: Weights,
    columns: Vec<Column>,
    /// For each term its column, if it has one.
    column_of: Vec<Option<u16>>,
    /// The part of each term that no gene sets.
    fixed: Vec<Packed>,
    /// Whether the fixed parts alone ask for endgame scales.
    always_scaled: bool,
}

/// An individual's values, by column: all that what is counted by columns need be multiplied
/// with.
pub struct ColumnValues {
    pub columns: Vec<Packed>,
    /// Whether endgame scales count.
    pub scaled: bool,
}

impl Genome {
    pub fn new(settings: &GenomeSettings, base: Weights) -> Result<Genome, SettingError> {
        let mut base = base;
        let mut genes = Vec::new();
        let unit = settings.unit.unwrap_or(1.0);
        if !(unit > 0.0 && unit.is_finite()) || unit != 1.0 && !settings.free.is_empty() {
            let problem = "not a positive number, or not 1 with whole families free";
            return Err(SettingError::new("unit", problem));
        }
        for name in &settings.free {
            let family = Family::ALL.iter().find(|family| family.key() == name);
            let unknown = || SettingError::new("free", format!("no family {name}"));
            let family = *family.ok_or_else(unknown)?;
            for info in TERMS.iter().filter(|info| info.family == family) {
                if !settings.weights.contains_key(info.name) {
                    genes.extend(info.terms().flat_map(|term| own_genes(term, info)));
                }
            }
        }
        for (name, weight) in &settings.weights {
            let fail = |problem| SettingError::new(format!("weights.{name}"), problem);
            let info = TermInfo::named(name).ok_or_else(|| fail("no such term".to_owned()))?;
            match weight {
                WeightSettings::Fixed(value) => {
                    let entries = vec![*value; info.length];
                    fix(&mut base, info, &entries, unit).map_err(fail)?;
                }
                WeightSettings::FixedEntries(entries) => {
                    fix(&mut base, info, entries, unit).map_err(fail)?;
                }
                WeightSettings::Free(free) => {
                    genes.extend(named_genes(info, free, unit).map_err(fail)?);
                }
            }
        }
        if genes.is_empty() {
            return Err(SettingError::new("weights", "no weight is free"));
        }
        genes.sort_by_key(|gene| gene.places[0].term);
        Ok(Genome::assemble(genes, settings.start, unit, base))
    }

    fn assemble(genes: Vec<Gene>, start: Start, unit: f64, base: Weights) -> Genome {
        let count = crate::eval::WEIGHT_COUNT;
        let mut setters = vec![(None, None, 1); count];
        for (number, gene) in genes.iter().enumerate() {
            for place in &gene.places {
                let setter = &mut setters[place.term.index()];
                if place.phases.midgame() {
                    setter.0 = Some(number);
                }
                if place.phases.endgame() {
                    setter.1 = Some(number);
                }
                setter.2 = place.factor;
            }
        }
        let mut columns: Vec<Column> = Vec::new();
        let mut by_setter = BTreeMap::new();
        let mut column_of = vec![None; count];
        let mut fixed = vec![Packed::ZERO; count];
        for term in (0..count).filter_map(Term::from_index) {
            let (midgame, endgame, factor) = setters[term.index()];
            let value = base.packed(term);
            let kept = |setter: Option<usize>, value| if setter.is_none() { value } else { 0 };
            fixed[term.index()] = Packed::new(
                kept(midgame, value.midgame()),
                kept(endgame, value.endgame()),
            );
            if midgame.is_some() || endgame.is_some() {
                let column = *by_setter.entry(setters[term.index()]).or_insert_with(|| {
                    columns.push(Column {
                        term,
                        midgame,
                        endgame,
                        factor,
                    });
                    columns.len() as u16 - 1
                });
                column_of[term.index()] = Some(column);
            }
        }
        let mut scales = (0..count).filter_map(Term::from_index).filter(is_scale);
        Genome {
            always_scaled: scales.any(|term| fixed[term.index()] != Packed::ZERO),
            genes,
            start,
            unit,
            base,
            columns,
            column_of,
            fixed,
        }
    }

    /// Whether an individual of one means the same in the other.
    pub fn has_genes_of(&self, other: &Genome) -> bool {
        let names = self.genes.iter().map(|gene| &gene.name);
        self.unit == other.unit && names.eq(other.genes.iter().map(|gene| &gene.name))
    }

    pub fn len(&self) -> usize {
        self.genes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.genes.is_empty()
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Where a term's counts go, and what of its weight no gene changes.
    pub fn place_of(&self, term: Term) -> (Option<u16>, Packed) {
        (self.column_of[term.index()], self.fixed[term.index()])
    }

    /// The families that can matter to any individual.
    pub fn families(&self) -> Vec<Family> {
        let free = |family| {
            let mut places = self.genes.iter().flat_map(|gene| &gene.places);
            places.any(|place| place.term.info().family == family)
        };
        let used = |family: &Family| self.base.uses(*family) || free(*family);
        Family::ALL.iter().copied().filter(used).collect()
    }

    /// The evaluation that the genes stand for.
    pub fn weights(&self, values: &[f64]) -> Weights {
        let mut flat = self.base.genes();
        for (gene, &value) in self.genes.iter().zip(values) {
            let value = value * self.unit;
            for place in &gene.places {
                let index = 2 * place.term.index();
                let value = value * f64::from(place.factor);
                if place.phases.midgame() {
                    flat[index] = value;
                }
                if place.phases.endgame() {
                    flat[index + 1] = value;
                }
            }
        }
        let mut weights = self.base.clone();
        weights.set_genes(&flat);
        weights
    }

    /// The same evaluation as far as the genes set it, without the rest.
    pub fn column_values(&self, values: &[f64]) -> ColumnValues {
        let packed = |column: &Column| {
            let of = |gene: Option<usize>| {
                gene.map_or(0.0, |gene| {
                    values[gene] * self.unit * f64::from(column.factor)
                })
            };
            let value = Value {
                midgame: of(column.midgame),
                endgame: of(column.endgame),
            };
            let packed = value.packed(column.term.info());
            // Zero may lie outside the bounds of a term; what no gene sets adds nothing here.
            Packed::new(
                column.midgame.map_or(0, |_| packed.midgame()),
                column.endgame.map_or(0, |_| packed.endgame()),
            )
        };
        let columns: Vec<Packed> = self.columns.iter().map(packed).collect();
        let mut set = self.columns.iter().zip(&columns);
        let scaled = self.always_scaled
            || set.any(|(column, value)| is_scale(&column.term) && *value != Packed::ZERO);
        ColumnValues { columns, scaled }
    }

    /// The genes that come closest to some weights: the first place of each gene decides.
    pub fn genes_of(&self, weights: &Weights) -> Vec<f64> {
        let value = |gene: &Gene| {
            let place = gene.places[0];
            let value = weights.get(place.term);
            let value = if place.phases.midgame() {
                value.midgame
            } else {
                value.endgame
            };
            let value = value / f64::from(place.factor) / self.unit;
            value.clamp(gene.low, gene.high)
        };
        self.genes.iter().map(value).collect()
    }

    pub fn place_named(&self, name: &str) -> Option<usize> {
        self.genes.iter().position(|gene| gene.name == name)
    }

    /// Genes by their names; every one must be there, within its bounds, and nothing else.
    pub fn genes_named(&self, values: &BTreeMap<String, f64>) -> Result<Vec<f64>, String> {
        if let Some(name) = values.keys().find(|name| self.place_named(name).is_none()) {
            return Err(format!("no gene {name}"));
        }
        let value = |gene: &Gene| match values.get(&gene.name) {
            Some(value) if (gene.low..=gene.high).contains(value) => Ok(*value),
            Some(value) => Err(format!("{} {value} is out of bounds", gene.name)),
            None => Err(format!("no value for {}", gene.name)),
        };
        self.genes.iter().map(value).collect()
    }

    /// The genes of the base itself.
    pub fn base_genes(&self) -> Vec<f64> {
        self.genes_of(&self.base)
    }
}

/// Whether endings are scaled as soon as the term weighs something.
fn is_scale(term: &Term) -> bool {
    term.info().family == Family::Endgame
}

fn check_bounds(info: &TermInfo, value: f64) -> Result<(), String> {
    let (low, high) = (info.low, info.high);
    if value >= f64::from(low) && value <= f64::from(high) {
        return Ok(());
    }
    Err(format!(
        "{value} is outside the term's bounds {low}..={high}"
    ))
}

/// Sets all entries of a term, in both phases.
fn fix(base: &mut Weights, info: &TermInfo, entries: &[f64], unit: f64) -> Result<(), String> {
    if entries.len() != info.length {
        return Err(format!("{} values, not {}", info.length, entries.len()));
    }
    for (term, value) in info.terms().zip(entries) {
        check_bounds(info, value * unit)?;
        base.set(term, Value::both(value * unit));
    }
    Ok(())
}

/// Both phases of a term within its own bounds.
fn own_genes(term: Term, info: &TermInfo) -> Vec<Gene> {
    let (low, high) = (f64::from(info.low), f64::from(info.high));
    phase_genes(&term.label(), &[term], true)
        .into_iter()
        .map(|(name, places)| gene(name, places, info, 1.0, [[low, high]; 2]))
        .collect()
}

fn named_genes(info: &TermInfo, free: &FreeSettings, unit: f64) -> Result<Vec<Gene>, String> {
    check_bounds(info, free.low * unit)?;
    check_bounds(info, free.high * unit)?;
    if free.low > free.high {
        return Err(format!("low {} is above high {}", free.low, free.high));
    }
    if free.multiple {
        let most = (info.length - 1) as f64;
        check_bounds(info, most * free.low * unit)?;
        check_bounds(info, most * free.high * unit)?;
    }
    let bounds = [free.low, free.high];
    let start = free.start.unwrap_or(bounds);
    if !(start[0] >= free.low && start[0] <= start[1] && start[1] <= free.high) {
        return Err(format!("start {start:?} is not within {bounds:?}"));
    }
    let lowest = usize::from(free.multiple);
    let [first, last] = free.entries.unwrap_or([lowest, info.length - 1]);
    if first < lowest || first > last || last >= info.length {
        let highest = info.length - 1;
        return Err(format!(
            "entries {first} to {last} are not within {lowest} to {highest}"
        ));
    }
    let terms: Vec<_> = info.terms().skip(first).take(last - first + 1).collect();
    let groups: Vec<_> = if free.tied || free.multiple {
        vec![(info.name.to_owned(), terms)]
    } else {
        let alone = |term: Term| (term.label(), vec![term]);
        terms.into_iter().map(alone).collect()
    };
    let genes = groups
        .iter()
        .flat_map(|(name, terms)| phase_genes(name, terms, free.tapered))
        .map(|(name, mut places)| {
            if free.multiple {
                for (place, entry) in places.iter_mut().zip(first..) {
                    place.factor = entry as u16;
                }
            }
            gene(name, places, info, unit, [bounds, start])
        });
    Ok(genes.collect())
}

fn phase_genes(name: &str, terms: &[Term], tapered: bool) -> Vec<(String, Vec<Place>)> {
    let place = |&term, phases| Place {
        term,
        phases,
        factor: 1,
    };
    let places = |phases| terms.iter().map(|term| place(term, phases)).collect();
    if !tapered {
        return vec![(name.to_owned(), places(Phases::Both))];
    }
    vec![
        (format!("{name} midgame"), places(Phases::Midgame)),
        (format!("{name} endgame"), places(Phases::Endgame)),
    ]
}

fn gene(
    name: String,
    places: Vec<Place>,
    info: &TermInfo,
    unit: f64,
    [bounds, start]: [[f64; 2]; 2],
) -> Gene {
    Gene {
        name,
        low: bounds[0],
        high: bounds[1],
        floor: f64::from(info.low) / unit,
        ceiling: f64::from(info.high) / unit,
        start,
        places,
    }
}
