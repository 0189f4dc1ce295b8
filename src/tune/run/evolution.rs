//! The learner of an evolution run: a method moves a population, and the best individual ever
//! seen is kept.

use serde::{Deserialize, Serialize};

use super::checkpoint::{EvolutionState, check_genes};
use super::generation::{columns, figures};
use super::journal::Figures;
use super::{Learner, Problem};
use crate::eval::Weights;
use crate::tune::fitness::{Arena, Fitness as _, SharedFitness};
use crate::tune::genome::{Candidate, Gene};
use crate::tune::methods::{GenerationContext, Individual, Method};
use crate::tune::preset::Preset;
use crate::tune::statistics::mean_and_deviation;

/// How many genes a line of progress names.
const NAMED_GENES: usize = 8;

/// The best individual so far and the generation it appeared in.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct BestSoFar {
    pub generation: u64,
    pub individual: Individual,
}

pub struct Evolution<'a> {
    preset: &'a Preset,
    problem: &'a Problem,
    method: Box<dyn Method>,
    best: Option<BestSoFar>,
    /// Fitness of the best on the validation cases.
    validation: Option<f64>,
}

impl<'a> Evolution<'a> {
    pub fn new(preset: &'a Preset, problem: &'a Problem) -> Evolution<'a> {
        Evolution {
            preset,
            problem,
            method: preset.method.method(),
            best: None,
            validation: None,
        }
    }
}

impl Evolution<'_> {
    /// Where individuals only meet each other their scores stay around one half; the values of
    /// the population show how far the run has come.
    fn describe_genes(&self) -> String {
        let genes = &self.problem.genome.genes;
        let average = |(place, gene): (usize, &Gene)| {
            let values = self.method.population().iter().map(|one| one.genes[place]);
            let (mean, _) = mean_and_deviation(&values.collect::<Vec<_>>());
            format!("{} {mean:.2}", gene.name)
        };
        let shown = genes.iter().enumerate().take(NAMED_GENES).map(average);
        let more = (genes.len() > NAMED_GENES).then(|| "…".to_owned());
        shown.chain(more).collect::<Vec<_>>().join("  ")
    }
}

impl Learner for Evolution<'_> {
    fn columns(&self) -> Vec<String> {
        columns(&self.problem.genome)
    }

    fn advance(&mut self, generation: u64) -> Figures {
        let fitness = &SharedFitness(self.problem.fitness());
        let context = GenerationContext {
            genome: &self.problem.genome,
            fitness,
            ancestors: &self.problem.ancestors,
            seed: self.preset.run.seed,
            generation,
            generations: self.preset.run.generations,
        };
        if generation == 0 {
            self.method.initialise(&context);
        } else {
            self.method.next_generation(&context);
        }
        let champion = self.method.champion();
        // Values measured on other cases cannot be compared.
        let before = self.best.take();
        let kept = before.filter(|old| {
            fitness.is_fixed() && old.individual.fitness_or_lowest() >= champion.fitness_or_lowest()
        });
        let best = kept.unwrap_or(BestSoFar {
            generation,
            individual: champion,
        });
        if best.generation == generation {
            self.validation = fitness.validate(&best.individual.genes);
        }
        let figures = figures(
            &self.problem.genome,
            self.method.population(),
            &best.individual,
            self.validation,
            fitness.arena().and_then(Arena::take_draws),
        );
        self.best = Some(best);
        figures
    }

    fn best_generation(&self) -> u64 {
        self.best.as_ref().map_or(0, |best| best.generation)
    }

    /// The best individual as a player that says where it comes from.
    fn best(&self) -> Candidate {
        let Some(best) = &self.best else {
            return Candidate::Weights(Weights::zero("none"));
        };
        let (preset, problem) = (self.preset, self.problem);
        let shown = match best.individual.fitness {
            Some(fitness) if preset.measures_fitness() => {
                format!(" {}", problem.fitness().config().format(fitness))
            }
            _ => String::new(),
        };
        let entries = [
            ("preset", preset.name.clone()),
            ("method", preset.method.name().to_owned()),
            ("data", problem.description.clone()),
            ("seed", preset.run.seed.to_string()),
            ("generation", best.generation.to_string()),
            ("fitness", format!("{}{shown}", problem.fitness_name)),
            ("version", format!("Finch {}", env!("CARGO_PKG_VERSION"))),
            ("date", preset.run.started.clone()),
        ];
        let provenance = entries.map(|(key, value)| (key.to_owned(), value)).into();
        let name = format!("{}, seed {}", preset.name, preset.run.seed);
        let mut candidate = problem.genome.candidate(&best.individual.genes);
        candidate.set_origin(name, provenance);
        candidate
    }

    fn describe(&self, figures: &Figures) -> String {
        if let Some(progress) = self.method.progress(&self.problem.genome) {
            return progress;
        }
        if self.preset.method.selects_by_games() {
            return self.describe_genes();
        }
        let fitness = self.problem.fitness().config();
        let [_, Some(mean), _, Some(record), validation] = figures[..5] else {
            return String::new();
        };
        let validation = validation.map_or(String::new(), |value| {
            format!("  validation {}", fitness.format_validation(value))
        });
        let (best, mean) = (fitness.format(record), fitness.format(mean));
        format!("best {best}  mean {mean}{validation}")
    }

    fn save(&self) -> Result<Vec<u8>, String> {
        let method = self.method.save().map_err(|error| error.to_string())?;
        let best = self.best.clone().ok_or("no generation yet")?;
        let text = toml::to_string(&EvolutionState { best, method });
        Ok(text.map_err(|error| error.to_string())?.into_bytes())
    }

    fn restore(&mut self, state: &[u8], last: &dyn Fn(&str) -> Option<f64>) -> Result<(), String> {
        let state = EvolutionState::parse(state)?;
        self.method
            .restore(state.method)
            .map_err(|error| error.message().to_owned())?;
        check_genes(self.method.population(), &self.problem.genome)?;
        self.validation = last("validation");
        self.best = Some(state.best);
        Ok(())
    }
}
