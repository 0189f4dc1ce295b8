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
//! ..  parameters: feature weights, feature bias, output weights, output biases, padding to 64
//! ```
//!
//! Format 2 had neither scale nor win model nor checksum, and one architecture; it is still read.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Network;
use super::architecture::{Architecture, FEATURES, QA, QB, UnsupportedArchitecture};
use super::parameters::NetworkParameters;
use crate::eval::score::WinModel;
use crate::files;
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
    #[error("a network of another architecture: {0}")]
    Architecture(#[from] UnsupportedArchitecture),
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

/// An architecture as a header states it.
#[derive(Serialize, Deserialize)]
struct ArchitectureTable {
    features: String,
    king_buckets: usize,
    /// The width.
    hidden: usize,
    output_buckets: usize,
    activation: String,
    qa: i32,
    qb: i32,
}

impl ArchitectureTable {
    fn of(architecture: Architecture) -> ArchitectureTable {
        ArchitectureTable {
            features: format!("{FEATURES} piece-square, mirrored"),
            king_buckets: architecture.king_buckets(),
            hidden: architecture.width(),
            output_buckets: architecture.output_buckets(),
            activation: "screlu".to_owned(),
            qa: QA,
            qb: QB,
        }
    }

    /// Fails on the first thing that is not supported.
    fn architecture(self) -> Result<Architecture, UnsupportedArchitecture> {
        let architecture = Architecture::new(self.hidden, self.king_buckets, self.output_buckets)?;
        let own = ArchitectureTable::of(architecture);
        UnsupportedArchitecture::check("features", self.features, &[own.features])?;
        UnsupportedArchitecture::check("activation", self.activation, &[own.activation])?;
        UnsupportedArchitecture::check("qa", self.qa, &[own.qa])?;
        UnsupportedArchitecture::check("qb", self.qb, &[own.qb])?;
        Ok(architecture)
    }
}

#[derive(Serialize, Deserialize)]
struct FileHeader {
    #[serde(flatten)]
    network: NetworkHeader,
    architecture: ArchitectureTable,
}

impl Network {
    pub fn load(path: &Path, file: &str) -> Result<Network, NetworkError> {
        let bytes = files::read_file(path, files::NETWORK_LIMIT)
            .map_err(|error| NetworkError::Unreadable(error.to_string()))?;
        Network::from_bytes(file, &bytes)
    }

    /// Reads a network; `file` is what it is called.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Network, NetworkError> {
        let (header, architecture, body) = if let Some(body) = bytes.strip_prefix(MAGIC_2) {
            (NetworkHeader::of_format_2(), Architecture::default(), body)
        } else if bytes.starts_with(MAGIC) {
            read_format_3(bytes)?
        } else if bytes.starts_with(FAMILY) {
            return Err(NetworkError::OtherFormat);
        } else {
            return Err(NetworkError::NotANetwork);
        };
        let found = body.len();
        let parameters = NetworkParameters::from_bytes(architecture, body)
            .map_err(|expected| NetworkError::WrongSize { expected, found })?
            .filter(|_| header.is_sound())
            .ok_or(NetworkError::Unsound)?;
        Ok(Network::new(file, parameters, header))
    }

    /// The network as a file of format 3.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = FileHeader {
            network: self.header.clone(),
            architecture: ArchitectureTable::of(self.architecture()),
        };
        // Strings and numbers always make TOML; if not, the file is refused when it is read.
        let header = toml::to_string(&header).unwrap_or_default();
        let content = [header.as_bytes(), self.parameters.bytes()].concat();
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

/// Header, architecture and parameters of a file whose beginning was recognised.
fn read_format_3(bytes: &[u8]) -> Result<(NetworkHeader, Architecture, &[u8]), NetworkError> {
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
    Ok((header.network, header.architecture.architecture()?, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::nnue::accumulator::tests::random_network;

    #[test]
    fn a_network_survives_its_file() {
        for architecture in Architecture::all() {
            let mut network = random_network(architecture);
            network.header.scale = 321;
            network.header.win_model.midpoint = 77.5;
            let provenance = &mut network.header.provenance;
            provenance.insert("labels".to_owned(), "a \"mentor\"\nand more".to_owned());
            let again = Network::from_bytes("random", &network.to_bytes());
            assert_eq!(again, Ok(network));
        }
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
        let bytes = random_network(Architecture::default()).to_bytes();
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
        let bytes = random_network(Architecture::default()).to_bytes();
        let refused = |from: &str, to: &str| {
            let mut other = bytes.clone();
            let mut places = other.windows(from.len());
            let at = places.position(|text| text == from.as_bytes()).unwrap();
            other[at..at + from.len()].copy_from_slice(to.as_bytes());
            let checksum = stable_hash(&other[PREFIX..]);
            other[24..32].copy_from_slice(&checksum.to_le_bytes());
            Network::from_bytes("other", &other)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused("hidden = 256", "hidden = 384"),
            "a network of another architecture: width is 384; this version of Finch supports 64, \
             128, 256, 512"
        );
        assert!(refused("king_buckets = 4", "king_buckets = 5").contains("king_buckets is 5"));
        assert!(refused("screlu", "crelu2").contains("activation is crelu2"));
        // A supported one that the parameters do not have.
        assert!(refused("hidden = 256", "hidden = 512").contains("bytes of parameters"));
    }

    #[test]
    fn format_2_is_read_with_the_scale_it_had() {
        let network = random_network(Architecture::default());
        let bytes = [MAGIC_2, network.parameters.bytes()].concat();
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
