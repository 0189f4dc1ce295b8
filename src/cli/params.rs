//! `finch params`: the constants of the search, as a tuner wants them.

use crate::search::params::ALL;

pub fn print() {
    for param in ALL {
        println!("{}", param.openbench());
    }
}
