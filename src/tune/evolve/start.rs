//! The first champion, and the anchors that progress is measured against.

use std::path::Path;

use super::EvolveError;
use super::settings::{EvolveSettings, ZERO};
use crate::eval::{NetworkHeader, TaperedValue, Weights, term};
use crate::play::player_config::{PlayerConfig, distinguish};
use crate::tune::network::random_network;

/// What is not learned from zero, for the weights file and the report.
pub const DISCLOSURE: &str = "The network starts from random weights and judges every position, \
    endings too; there are no other evaluation terms. Exchanges and pruning use fixed textbook \
    piece values (pawn 100, knight and bishop 300, rook 500, queen 900; SEE has its own). The \
    constants of the search start from values that were tuned with another evaluation.";

/// The champion before the first generation.
pub fn first_champion(settings: &EvolveSettings) -> Result<Weights, EvolveError> {
    let from = settings.start.from.as_str();
    let weights = match from {
        ZERO => from_zero(settings),
        name => Weights::named(Path::new(name))?,
    };
    match weights.network {
        Some(_) => Ok(weights),
        None => Err(EvolveError::NoNetwork(from.to_owned())),
    }
}

/// A random network. The terms have textbook piece values, which the search uses, and nothing
/// that judges positions.
fn from_zero(settings: &EvolveSettings) -> Weights {
    let start = &settings.start;
    let mut weights = Weights::zero(&format!("evolve from zero, seed {}, start", start.seed));
    weights.provenance = vec![("note".to_owned(), DISCLOSURE.to_owned())];
    for (term, value) in [
        (term::pawn(), 100.0),
        (term::knight(), 300.0),
        (term::bishop(), 300.0),
        (term::rook(), 500.0),
        (term::queen(), 900.0),
    ] {
        weights.set(term, TaperedValue::both(value));
    }
    // Checked when the settings were read.
    let architecture = settings.architecture().unwrap_or_default();
    let header = NetworkHeader::default();
    weights.network = Some(random_network(architecture, start.seed, header));
    weights
}

/// The anchors as players, with distinct names.
pub fn anchors(settings: &EvolveSettings) -> Result<Vec<PlayerConfig>, EvolveError> {
    let players = settings.anchors.players.iter();
    let mut players = players
        .map(|text| PlayerConfig::parse(text))
        .collect::<Result<Vec<_>, _>>()?;
    distinguish(&mut players);
    Ok(players)
}

/// Anchors of a UCI engine with a limited strength.
pub fn engine_anchors(command: &str) -> impl Iterator<Item = String> {
    [1800, 2100, 2400].into_iter().map(move |elo| {
        let command = command.replace('\'', "");
        format!("'cmd={command}' option.UCI_LimitStrength=true option.UCI_Elo={elo} name=elo-{elo}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Family, evaluate_uncached};
    use crate::position::Position;
    use crate::tune::evolve::StartSettings;

    #[test]
    fn zero_has_no_fitted_terms_and_its_network_judges_endings() {
        let settings = EvolveSettings::new(ZERO);
        let weights = first_champion(&settings).unwrap();
        for family in Family::ALL {
            assert_eq!(weights.uses(*family), *family == Family::Material);
        }
        let other = EvolveSettings {
            start: StartSettings {
                seed: 2,
                ..settings.start.clone()
            },
            ..settings
        };
        let other = first_champion(&other).unwrap();
        // The terms alone would call both the same.
        let ending = Position::from_fen("8/8/4k3/8/8/3QK3/8/8 w - - 0 1").unwrap();
        let scores = [&weights, &other].map(|weights| evaluate_uncached(&ending, weights));
        assert_ne!(scores[0], scores[1]);
    }

    #[test]
    fn anchors_are_built_in_or_players() {
        let mut settings = EvolveSettings::new(ZERO);
        settings.anchors.players.extend(engine_anchors("an-engine"));
        let players = anchors(&settings).unwrap();
        let names: Vec<_> = players.iter().map(|player| player.name.as_str()).collect();
        let expected = [
            "vazquez-2013",
            "david-tabibi-2011",
            "hand-set",
            "elo-1800",
            "elo-2100",
            "elo-2400",
        ];
        assert_eq!(names, expected);
        settings.anchors.players = vec!["nothing.toml".to_owned()];
        assert!(anchors(&settings).is_err());
    }
}
