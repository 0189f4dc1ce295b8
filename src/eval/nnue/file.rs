//! Network files.
//!
//! Format 3 has a prefix of 32 bytes, a header in TOML, and the parameters:
//!
//! ```text
//! 0   "finch network 3\n"
//! 16  length of the header: u32, little-endian as everything here
//! 20  zero: u32
//! 24  checksum: u64, the stable hash of all that follows
//! 32  header: architecture, scale, win model and provenance as TOML
//! ..  parameters: feature weights, feature bias, output weights, output bias, padding
//! ```
//!
//! Format 2 had neither scale nor win model nor checksum; it is still read.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Network;
use super::architecture::{
    FEATURES, HIDDEN, KING_BUCKETS, NetworkParameters, OUTPUT_BUCKETS, QA, QB,
};
use crate::eval::score::WinModel;
use crate::hash::stable_hash;

/// How every network file begins; the format's number follows.
const FAMILY: &[u8] = b"finch network ";
const MAGIC: &[u8; 16] = b"finch network 3\n";
const PREFIX: usize = 32;
/// How a file of format 2 begins.
const MAGIC_2: &[u8; 64] = b"finch network 2: 4 x 768 mirrored inputs, 256 sums, 8 outputs   ";

/// Why a network is refused.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum NetworkError {
    #[error("{0}")]
    Unreadable(String),
    #[error("not a network of Finch's")]
    NotANetwork,
    #[error("a network of another format; this version of Finch reads formats 2 and 3")]
    OtherFormat,
    #[error("the file is cut short; copy it again")]
    Truncated,
    #[error("the checksum is wrong: the file is damaged; copy it again")]
    Checksum,
    #[error("header: {0}")]
    Header(String),
    #[error("{field} is {found}; this version of Finch reads networks with {expected}")]
    Architecture {
        field: &'static str,
        found: String,
        expected: String,
    },
    #[error("{found} bytes of parameters where the architecture has {expected}")]
    WrongSize { expected: usize, found: usize },
    #[error("weights, scale or win model are out of range")]
    Unsound,
}

/// What a file says about a network besides its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkHeader {
    /// The internal units that multiply the odds of winning by e: the output of the network is
    /// the logarithm of the odds.
    pub scale: i32,
    pub win_model: WinModel,
    /// Where the network comes from: labels, seed, epochs, date.
    #[serde(default)]
    pub provenance: BTreeMap<String, String>,
}

impl Default for NetworkHeader {
    /// For a new network, until its win model is fitted.
    fn default() -> NetworkHeader {
        NetworkHeader {
            scale: 200,
            win_model: WinModel::default(),
            provenance: BTreeMap::new(),
        }
    }
}

impl NetworkHeader {
    /// What all networks of format 2 were trained for and measured with.
    fn of_format_2() -> NetworkHeader {
        NetworkHeader {
            scale: 182,
            win_model: WinModel {
                midpoint: 199.0,
                slope: 82.0,
            },
            provenance: BTreeMap::new(),
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        let WinModel { midpoint, slope } = self.win_model;
        (1..=10_000).contains(&self.scale) && WinModel::new(midpoint, slope).is_some()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Architecture {
    features: String,
    king_buckets: usize,
    hidden: usize,
    output_buckets: usize,
    activation: String,
    qa: i32,
    qb: i32,
}

impl Architecture {
    /// The one this version computes.
    fn supported() -> Architecture {
        Architecture {
            features: format!("{FEATURES} piece-square, mirrored"),
            king_buckets: KING_BUCKETS,
            hidden: HIDDEN,
            output_buckets: OUTPUT_BUCKETS,
            activation: "screlu".to_owned(),
            qa: QA,
            qb: QB,
        }
    }

    /// Names the first thing that is not supported.
    fn check(&self) -> Result<(), NetworkError> {
        let supported = Architecture::supported().fields();
        for ((field, found), (_, expected)) in self.fields().into_iter().zip(supported) {
            if found != expected {
                return Err(NetworkError::Architecture {
                    field,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }

    fn fields(&self) -> [(&'static str, String); 7] {
        [
            ("features", self.features.clone()),
            ("king_buckets", self.king_buckets.to_string()),
            ("hidden", self.hidden.to_string()),
            ("output_buckets", self.output_buckets.to_string()),
            ("activation", self.activation.clone()),
            ("qa", self.qa.to_string()),
            ("qb", self.qb.to_string()),
        ]
    }
}

#[derive(Serialize, Deserialize)]
struct FileHeader {
    #[serde(flatten)]
    network: NetworkHeader,
    architecture: Architecture,
}

impl Network {
    pub fn load(path: &Path, file: &str) -> Result<Network, NetworkError> {
        let bytes =
            std::fs::read(path).map_err(|error| NetworkError::Unreadable(error.to_string()))?;
        Network::from_bytes(file, &bytes)
    }

    /// Reads a network; `file` is what it is called.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Network, NetworkError> {
        let (header, body) = if let Some(body) = bytes.strip_prefix(MAGIC_2) {
            (NetworkHeader::of_format_2(), body)
        } else if bytes.starts_with(MAGIC) {
            read_format_3(bytes)?
        } else if bytes.starts_with(FAMILY) {
            return Err(NetworkError::OtherFormat);
        } else {
            return Err(NetworkError::NotANetwork);
        };
        let expected = size_of::<NetworkParameters>();
        if body.len() != expected {
            let found = body.len();
            return Err(NetworkError::WrongSize { expected, found });
        }
        let mut parameters = bytemuck::zeroed_box::<NetworkParameters>();
        bytemuck::bytes_of_mut(&mut *parameters).copy_from_slice(body);
        if !parameters.is_sound() || !header.is_sound() {
            return Err(NetworkError::Unsound);
        }
        Ok(Network::new(file, parameters, header))
    }

    /// The network as a file of format 3.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = FileHeader {
            network: self.header.clone(),
            architecture: Architecture::supported(),
        };
        // Strings and numbers always make TOML; if not, the file is refused when it is read.
        let header = toml::to_string(&header).unwrap_or_default();
        let content = [header.as_bytes(), bytemuck::bytes_of(&*self.parameters)].concat();
        let length = header.len() as u32;
        let mut bytes = Vec::with_capacity(PREFIX + content.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&stable_hash(&content).to_le_bytes());
        bytes.extend_from_slice(&content);
        bytes
    }
}

/// Header and parameters of a file whose beginning was recognised.
fn read_format_3(bytes: &[u8]) -> Result<(NetworkHeader, &[u8]), NetworkError> {
    let (prefix, content) = (bytes.split_at_checked(PREFIX)).ok_or(NetworkError::Truncated)?;
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| prefix[at + byte]));
    let checksum = u64::from(word(28)) << 32 | u64::from(word(24));
    let (header, body) =
        (content.split_at_checked(word(16) as usize)).ok_or(NetworkError::Truncated)?;
    if stable_hash(content) != checksum {
        return Err(NetworkError::Checksum);
    }
    let header =
        std::str::from_utf8(header).map_err(|error| NetworkError::Header(error.to_string()))?;
    let header: FileHeader =
        toml::from_str(header).map_err(|error| NetworkError::Header(error.message().to_owned()))?;
    header.architecture.check()?;
    Ok((header.network, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::nnue::accumulator::tests::random_network;

    #[test]
    fn a_network_survives_its_file() {
        let mut network = random_network();
        network.header.scale = 321;
        network.header.win_model.midpoint = 77.5;
        let provenance = &mut network.header.provenance;
        provenance.insert("labels".to_owned(), "a \"mentor\"\nand more".to_owned());
        let again = Network::from_bytes("random", &network.to_bytes());
        assert_eq!(again, Ok(network));
    }

    #[test]
    fn the_default_network_is_as_saving_would_write_it() {
        let bytes = include_bytes!("../../../weights/default.net");
        let network = Network::from_bytes("default.net", bytes).unwrap();
        assert!(network.to_bytes() == bytes);
        assert!(!network.header.provenance.is_empty());
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let bytes = random_network().to_bytes();
        for length in [0, 10, 20, 40, 200, bytes.len() - 1] {
            assert!(Network::from_bytes("cut", &bytes[..length]).is_err());
        }
        for at in [17, 25, 40, 5_000, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Network::from_bytes("damaged", &damaged).is_err(), "{at}");
        }
        assert_eq!(
            Network::from_bytes("other", b"something else"),
            Err(NetworkError::NotANetwork)
        );
        assert_eq!(
            Network::from_bytes("newer", b"finch network 4\n"),
            Err(NetworkError::OtherFormat)
        );
    }

    #[test]
    fn another_architecture_is_named() {
        let bytes = random_network().to_bytes();
        let at = bytes
            .windows(12)
            .position(|text| text == b"hidden = 256")
            .unwrap();
        let mut wider = bytes;
        wider[at..at + 12].copy_from_slice(b"hidden = 512");
        let checksum = stable_hash(&wider[PREFIX..]);
        wider[24..32].copy_from_slice(&checksum.to_le_bytes());
        let error = Network::from_bytes("wider", &wider).unwrap_err();
        assert_eq!(
            error.to_string(),
            "hidden is 512; this version of Finch reads networks with 256"
        );
    }

    #[test]
    fn format_2_is_read_with_the_scale_it_had() {
        let network = random_network();
        let bytes = [MAGIC_2, bytemuck::bytes_of(&*network.parameters)].concat();
        let old = Network::from_bytes("random", &bytes).unwrap();
        assert!(old.parameters == network.parameters);
        assert_eq!(old.header, NetworkHeader::of_format_2());
        let mut overflowing = bytes;
        let end = overflowing.len();
        // The last output bias, before the padding.
        overflowing[end - 36..end - 32].copy_from_slice(&i32::MIN.to_le_bytes());
        let refused = Network::from_bytes("overflowing", &overflowing);
        assert_eq!(refused, Err(NetworkError::Unsound));
    }
}
