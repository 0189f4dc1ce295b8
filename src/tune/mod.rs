//! Tuning: genome × fitness × method.
//!
//! - [`genome`]: which weights are free; genes to weights and back
//! - [`fitness`]: what makes an individual good, measured on cases from [`data`](crate::data)
//! - [`methods`]: how a population becomes better, with the [`operators`] they share
//! - [`network`]: training a network by gradients
//! - [`preset`]: an experiment as a TOML file; [`experiment`]: one of either kind
//! - [`settings`]: tables of a preset, and the lists of methods and fitnesses
//! - [`run`]: an experiment under way: folder, journal, checkpoint, resume, closing match
//! - [`report`]: the result as a page with curves; [`statistics`]: means and deviations
//! - [`evolve`]: self-play, training and SPRT in turn, for hours
//! - [`recognition`]: which of several players' clones made the moves of a game

pub mod evolve;
pub mod experiment;
pub mod fitness;
pub mod genome;
pub mod methods;
pub mod network;
pub mod operators;
pub mod preset;
pub mod recognition;
pub mod report;
pub mod run;
pub mod settings;
pub mod statistics;
