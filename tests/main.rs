//! Behaviour, seen from outside: one file per subject, one program for all of them, because each
//! further program would be optimised as a whole once more.

mod book;
mod cli;
mod cluster;
mod common;
mod data;
mod docs;
mod engine;
mod eval;
mod evolve;
#[cfg(unix)]
mod faults;
mod fitness;
mod fuzz;
mod games;
mod genomes;
mod hostile;
mod json;
mod label;
mod matches;
#[cfg(unix)]
mod mentors;
mod network;
mod openbench;
mod papers;
mod perft;
mod rating;
mod recognition;
mod report;
mod rooms;
mod solve;
mod support;
mod tablebase;
mod terms;
mod tune;
mod uci;
mod weights;
