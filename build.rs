//! Chooses the network to build in: the file that the environment variable EVALFILE names, or
//! weights/default.net.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How every network file begins.
const MAGIC: &[u8] = b"finch network ";

fn main() {
    println!("cargo::rerun-if-env-changed=EVALFILE");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let named = env::var_os("EVALFILE").filter(|name| !name.is_empty());
    let network = root.join(named.unwrap_or_else(|| "weights/default.net".into()));
    let shown = network.display();
    println!("cargo::rerun-if-changed={shown}");
    println!("cargo::rustc-env=FINCH_NETWORK={shown}");
    match is_network(&network) {
        Ok(true) => {}
        Ok(false) => println!("cargo::error=EVALFILE: {shown} is not a Finch network"),
        Err(error) => println!("cargo::error=EVALFILE: {shown}: {error}"),
    }
}

fn is_network(path: &Path) -> std::io::Result<bool> {
    let mut start = [0; MAGIC.len()];
    match File::open(path)?.read_exact(&mut start) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| start == MAGIC),
    }
}
