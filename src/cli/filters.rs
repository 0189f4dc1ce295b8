//! The flags that select games and moves, as the table `[data]` of a preset does.

use clap::Args;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::data::{Date, Outcomes, Selection, Side};

#[derive(Args)]
pub struct Filters {
    /// Games: lowest rating of both players.
    #[arg(long, default_value_t = 0, value_name = "ELO")]
    min_rating: u32,
    /// Games: at least one player is rated below this; 0 is no limit.
    #[arg(long, default_value_t = 0, value_name = "ELO")]
    below: u32,
    /// Games: only this player's moves; part of the name, any case.
    #[arg(long, default_value = "", value_name = "NAME")]
    player: String,
    /// Games: the lowest rating of the player's opponents.
    #[arg(long, default_value_t = 0, value_name = "ELO")]
    min_opponent: u32,
    /// Games: whose moves count: both, white, black or winner.
    #[arg(long, default_value = "both", value_parser = word::<Side>)]
    side: Side,
    /// Games: which results count: any, decisive, draw, white or black.
    #[arg(long, default_value = "any", value_parser = word::<Outcomes>)]
    outcomes: Outcomes,
    /// Games: the first day, such as 1999.02.21 or 1999.
    #[arg(long, default_value = "", value_parser = date, value_name = "DATE")]
    from: Date,
    /// Games: the last day.
    #[arg(long, default_value = "", value_parser = date, value_name = "DATE")]
    to: Date,
    /// Games: read no more than this many, 0 for all.
    #[arg(long, default_value_t = 0, value_name = "N")]
    max_games: usize,
}

impl Filters {
    /// Whether any filter is set.
    pub fn are_set(&self) -> bool {
        self.selection() != unlimited()
    }

    /// The selection; everything else is unlimited.
    pub fn selection(&self) -> Selection {
        Selection {
            min_rating: self.min_rating,
            below: self.below,
            player: self.player.clone(),
            min_opponent: self.min_opponent,
            side: self.side,
            outcomes: self.outcomes,
            from: self.from.clone(),
            to: self.to.clone(),
            max_games: self.max_games,
            ..unlimited()
        }
    }
}

fn unlimited() -> Selection {
    Selection {
        positions: 0,
        validation: 0,
        validation_share: 0.0,
        ..Selection::default()
    }
}

/// A word as presets write it.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let words: StrDeserializer<'_, Error> = text.into_deserializer();
    T::deserialize(words)
}

fn date(text: &str) -> Result<Date, String> {
    let date = Date(text.to_owned());
    match date.is_valid() {
        true => Ok(date),
        false => Err("not a date such as 1999.02.21 or 1999".to_owned()),
    }
}
