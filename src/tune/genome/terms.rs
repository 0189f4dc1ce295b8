//! Genome `terms`: weights of the evaluation's terms.
//!
//! A gene sets one or several weights (a table whose entries are tied, both phases of an untapered
//! term). Weights are rounded to the evaluation's hundredths of a centipawn before anything is
//! measured, so an individual plays exactly as its saved file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Decoder, Gene, Genome, GenomeConfig, InitialPopulation};
use crate::eval::{Family, PackedScore, TERMS, TaperedValue, Term, TermInfo, Weights};
use crate::tune::fitness::named_weights;
use crate::tune::settings::{NamedSettings, SettingError};

/// The table `[genome]` of a preset that says `kind = "terms"`, or no kind.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TermsGenome {
    pub kind: String,
    /// Source of the weights that are not named: "none", "default" or a weights file.
    pub base: String,
    pub start: InitialPopulation,
    /// Centipawns in a unit of this table: 100 if a paper counts in pawns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<f64>,
    /// Families whose terms are all free within their own bounds, each phase separately.
    pub free: Vec<String>,
    /// Named weights: a number or a list of numbers is fixed, bounds are free.
    pub weights: BTreeMap<String, WeightSettings>,
}

impl Default for TermsGenome {
    fn default() -> TermsGenome {
        TermsGenome {
            kind: Self::NAME.to_owned(),
            base: String::new(),
            start: InitialPopulation::Random,
            unit: None,
            free: Vec::new(),
            weights: BTreeMap::new(),
        }
    }
}

impl NamedSettings for TermsGenome {
    const NAME: &'static str = "terms";
}

impl GenomeConfig for TermsGenome {
    /// Which weights are free does not depend on where the others come from.
    fn draft(&self) -> Result<Genome, SettingError> {
        self.with_base(Weights::zero("none"))
    }

    fn build(&self) -> Result<Genome, SettingError> {
        let base = named_weights(&self.base);
        self.with_base(base.map_err(|error| SettingError::new("base", error.to_string()))?)
    }

    fn sets_terms(&self) -> bool {
        true
    }

    fn unit(&self) -> f64 {
        self.unit.unwrap_or(1.0)
    }
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
    /// One gene for all entries of a table: entry N is N times the gene, entry 0 keeps its base.
    #[serde(default)]
    pub multiple: bool,
    /// First and last entry of a table that are free; the others keep their base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<[usize; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct GeneTarget {
    term: Term,
    phases: Phases,
    /// The weight is the gene times this.
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

/// Terms that the same gene or pair of genes sets: their counts can be added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneColumn {
    /// Any of the terms; all have the same value.
    pub term: Term,
    pub midgame: Option<usize>,
    pub endgame: Option<usize>,
    /// The weights are the gene times this.
    pub factor: u16,
}

impl GeneColumn {
    /// Adds the derivatives by the two phases to the genes that set them.
    pub fn add_to_genes(&self, midgame: f64, endgame: f64, gradient: &mut [f64]) {
        for (gene, share) in [(self.midgame, midgame), (self.endgame, endgame)] {
            if let Some(gene) = gene {
                gradient[gene] += f64::from(self.factor) * share;
            }
        }
    }
}

/// How genes become weights of terms.
pub(super) struct TermDecoder {
    /// Centipawns in a unit of a gene.
    unit: f64,
    base: Weights,
    /// What each gene sets.
    targets: Vec<Vec<GeneTarget>>,
    columns: Vec<GeneColumn>,
    /// For each term its column, if it has one.
    column_of: Vec<Option<u16>>,
    /// The part of each term that no gene sets.
    fixed: Vec<PackedScore>,
    /// Whether the fixed parts alone enable endgame scales.
    always_scaled: bool,
}

/// An individual's weights by column.
#[derive(Default)]
pub struct ColumnValues {
    pub columns: Vec<PackedScore>,
    /// Whether endgame scales apply.
    pub scaled: bool,
}

/// A gene with the weights it sets.
type TargetedGene = (Gene, Vec<GeneTarget>);

impl TermsGenome {
    fn with_base(&self, mut base: Weights) -> Result<Genome, SettingError> {
        let unit = self.unit();
        if !(unit > 0.0 && unit.is_finite()) || unit != 1.0 && !self.free.is_empty() {
            let problem = "not a positive number, or not 1 with whole families free";
            return Err(SettingError::new("unit", problem));
        }
        let mut genes = self.family_genes()?;
        for (name, weight) in &self.weights {
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
        genes.sort_by_key(|(_, targets)| targets[0].term);
        let (genes, targets): (Vec<Gene>, Vec<_>) = genes.into_iter().unzip();
        let decoder = TermDecoder::new(targets, unit, base);
        let base_genes = decoder.genes_of(&genes, &decoder.base);
        Ok(Genome {
            genes,
            start: self.start,
            base_genes,
            decoder: Decoder::Terms(decoder),
        })
    }

    /// The genes of families that are free as a whole.
    fn family_genes(&self) -> Result<Vec<TargetedGene>, SettingError> {
        let mut genes = Vec::new();
        for name in &self.free {
            let family = Family::ALL.iter().find(|family| family.key() == name);
            let unknown = || SettingError::new("free", format!("no family {name}"));
            let family = *family.ok_or_else(unknown)?;
            for info in TERMS.iter().filter(|info| info.family == family) {
                if !self.weights.contains_key(info.name) {
                    genes.extend(info.terms().flat_map(|term| own_genes(term, info)));
                }
            }
        }
        Ok(genes)
    }
}

/// The genes that set a term in the midgame and in the endgame, and the factor.
type Setters = (Option<usize>, Option<usize>, u16);

/// For each term, which genes set it.
fn setters(targets: &[Vec<GeneTarget>]) -> Vec<Setters> {
    let mut setters = vec![(None, None, 1); crate::eval::WEIGHT_COUNT];
    for (number, targets) in targets.iter().enumerate() {
        for target in targets {
            let setter = &mut setters[target.term.index()];
            if target.phases.midgame() {
                setter.0 = Some(number);
            }
            if target.phases.endgame() {
                setter.1 = Some(number);
            }
            setter.2 = target.factor;
        }
    }
    setters
}

impl TermDecoder {
    fn new(targets: Vec<Vec<GeneTarget>>, unit: f64, base: Weights) -> TermDecoder {
        let count = crate::eval::WEIGHT_COUNT;
        let setters = setters(&targets);
        let mut columns: Vec<GeneColumn> = Vec::new();
        let mut by_setter = BTreeMap::new();
        let mut column_of = vec![None; count];
        let mut fixed = vec![PackedScore::ZERO; count];
        for term in (0..count).filter_map(Term::from_index) {
            let (midgame, endgame, factor) = setters[term.index()];
            let value = base.packed(term);
            let kept = |setter: Option<usize>, value| if setter.is_none() { value } else { 0 };
            fixed[term.index()] = PackedScore::new(
                kept(midgame, value.midgame()),
                kept(endgame, value.endgame()),
            );
            if midgame.is_some() || endgame.is_some() {
                let column = *by_setter.entry(setters[term.index()]).or_insert_with(|| {
                    columns.push(GeneColumn {
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
        TermDecoder {
            always_scaled: scales.any(|term| fixed[term.index()] != PackedScore::ZERO),
            unit,
            base,
            targets,
            columns,
            column_of,
            fixed,
        }
    }

    pub fn unit(&self) -> f64 {
        self.unit
    }

    pub fn columns(&self) -> &[GeneColumn] {
        &self.columns
    }

    pub fn column_of(&self, term: Term) -> (Option<u16>, PackedScore) {
        (self.column_of[term.index()], self.fixed[term.index()])
    }

    /// The families that any individual can use.
    pub fn families(&self) -> Vec<Family> {
        let free = |family| {
            let mut targets = self.targets.iter().flatten();
            targets.any(|target| target.term.info().family == family)
        };
        let used = |family: &Family| self.base.uses(*family) || free(*family);
        Family::ALL.iter().copied().filter(used).collect()
    }

    /// The evaluation that the genes encode.
    pub fn weights(&self, values: &[f64]) -> Weights {
        let mut flat = self.base.genes();
        for (targets, &value) in self.targets.iter().zip(values) {
            let value = value * self.unit;
            for target in targets {
                let index = 2 * target.term.index();
                let value = value * f64::from(target.factor);
                if target.phases.midgame() {
                    flat[index] = value;
                }
                if target.phases.endgame() {
                    flat[index + 1] = value;
                }
            }
        }
        let mut weights = self.base.clone();
        weights.set_genes(&flat);
        weights
    }

    /// The same evaluation by column, without the fixed parts.
    pub fn column_values(&self, values: &[f64]) -> ColumnValues {
        let packed = |column: &GeneColumn| {
            let of = |gene: Option<usize>| {
                gene.map_or(0.0, |gene| {
                    values[gene] * self.unit * f64::from(column.factor)
                })
            };
            let value = TaperedValue {
                midgame: of(column.midgame),
                endgame: of(column.endgame),
            };
            let packed = value.packed(column.term.info());
            // Zero may be outside the bounds of a term; what no gene sets adds nothing here.
            PackedScore::new(
                column.midgame.map_or(0, |_| packed.midgame()),
                column.endgame.map_or(0, |_| packed.endgame()),
            )
        };
        let columns: Vec<PackedScore> = self.columns.iter().map(packed).collect();
        let mut set = self.columns.iter().zip(&columns);
        let scaled = self.always_scaled
            || set.any(|(column, value)| is_scale(&column.term) && *value != PackedScore::ZERO);
        ColumnValues { columns, scaled }
    }

    /// The genes closest to these weights; the first target of each gene decides.
    pub fn genes_of(&self, genes: &[Gene], weights: &Weights) -> Vec<f64> {
        let values = genes.iter().zip(self.printed_genes_of(weights));
        let bounded = values.map(|(gene, value)| value.clamp(gene.low, gene.high));
        bounded.collect()
    }

    /// The same without regard to the bounds.
    pub fn printed_genes_of(&self, weights: &Weights) -> Vec<f64> {
        let value = |targets: &Vec<GeneTarget>| {
            let target = targets[0];
            let value = weights.get(target.term);
            let value = if target.phases.midgame() {
                value.midgame
            } else {
                value.endgame
            };
            value / f64::from(target.factor) / self.unit
        };
        self.targets.iter().map(value).collect()
    }
}

/// Whether a weight of this term enables endgame scales.
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
        base.set(term, TaperedValue::both(value * unit));
    }
    Ok(())
}

/// Both phases of a term within its own bounds.
fn own_genes(term: Term, info: &TermInfo) -> Vec<TargetedGene> {
    let (low, high) = (f64::from(info.low), f64::from(info.high));
    phase_genes(&term.label(), &[term], true)
        .into_iter()
        .map(|(name, targets)| gene(name, targets, info, 1.0, [[low, high]; 2]))
        .collect()
}

fn named_genes(
    info: &TermInfo,
    free: &FreeSettings,
    unit: f64,
) -> Result<Vec<TargetedGene>, String> {
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
        .map(|(name, mut targets)| {
            if free.multiple {
                for (target, entry) in targets.iter_mut().zip(first..) {
                    target.factor = entry as u16;
                }
            }
            gene(name, targets, info, unit, [bounds, start])
        });
    Ok(genes.collect())
}

fn phase_genes(name: &str, terms: &[Term], tapered: bool) -> Vec<(String, Vec<GeneTarget>)> {
    let target = |&term, phases| GeneTarget {
        term,
        phases,
        factor: 1,
    };
    let targets = |phases| terms.iter().map(|term| target(term, phases)).collect();
    if !tapered {
        return vec![(name.to_owned(), targets(Phases::Both))];
    }
    vec![
        (format!("{name} midgame"), targets(Phases::Midgame)),
        (format!("{name} endgame"), targets(Phases::Endgame)),
    ]
}

fn gene(
    name: String,
    targets: Vec<GeneTarget>,
    info: &TermInfo,
    unit: f64,
    [bounds, start]: [[f64; 2]; 2],
) -> TargetedGene {
    let gene = Gene {
        name,
        low: bounds[0],
        high: bounds[1],
        floor: f64::from(info.low) / unit,
        ceiling: f64::from(info.high) / unit,
        start,
        step: None,
        resolution: 0.0,
    };
    (gene, targets)
}
