//! An evolve run on the ranks of an MPI job. Rank 0 tells the others before each stage what it plays
//! and sends them the weights; they need no folder in common. Training stays on rank 0: gradients
//! would fill a network line.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::constants::ConstantsRun;
use super::plan::StagePlan;
use super::{CONFIG, EvolveError, EvolveSettings, EvolveStage, failed};
use crate::tune::run::{Session, SilentObserver};
use crate::work;

/// What rank 0 announces. The contents of the files follow.
#[derive(Deserialize, Serialize)]
struct StageMessage {
    /// As TOML, which keeps every number as it is.
    settings: String,
    generation: u64,
    stage: EvolveStage,
    /// Names below the folder of the run, and lengths.
    files: Vec<(PathBuf, usize)>,
}

/// Tells the other ranks of a stage that they can help with.
pub fn announce(plan: &StagePlan<'_>, stage: EvolveStage) -> Result<(), EvolveError> {
    let mut weights = vec![plan.champion_path()];
    match stage {
        EvolveStage::SelfPlay | EvolveStage::Search | EvolveStage::Anchors => {}
        EvolveStage::Challenge => weights.push(plan.challenger_path()),
        EvolveStage::Training | EvolveStage::Succession | EvolveStage::Closing => return Ok(()),
    }
    if !work::has_helpers() {
        return Ok(());
    }
    let mut message = StageMessage {
        settings: plan.settings.to_toml(),
        generation: plan.generation,
        stage,
        files: Vec::new(),
    };
    let mut contents = Vec::new();
    for path in weights
        .iter()
        .flat_map(|path| [path.clone(), path.with_extension("net")])
    {
        if !path.exists() {
            continue;
        }
        let content = fs::read(&path).map_err(failed(&path))?;
        let name = path.strip_prefix(plan.folder).unwrap_or(&path);
        message.files.push((name.to_owned(), content.len()));
        contents.extend(content);
    }
    // Numbers and texts always make JSON.
    let head = serde_json::to_vec(&message).unwrap_or_default();
    let length = (head.len() as u64).to_le_bytes();
    work::announce(|| [&length[..], &head, &contents].concat());
    Ok(())
}

/// Works for rank 0 until it leaves.
pub fn serve(threads: usize) -> Result<(), EvolveError> {
    let threads = match threads {
        0 => rayon::current_num_threads(),
        threads => threads,
    };
    while let Some(message) = work::next_service() {
        let folder = TempDir::new().map_err(failed(&std::env::temp_dir()))?;
        // Another version of Finch on this host would have failed before.
        if let Some(message) = unpack(&message, folder.path())? {
            serve_stage(&message, folder.path(), threads)?;
        }
    }
    Ok(())
}

/// Reads a message and writes its files.
fn unpack(message: &[u8], folder: &Path) -> Result<Option<StageMessage>, EvolveError> {
    let Some((length, rest)) = message.split_first_chunk::<8>() else {
        return Ok(None);
    };
    let Some((head, mut contents)) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)
    else {
        return Ok(None);
    };
    let Ok(message) = serde_json::from_slice::<StageMessage>(head) else {
        return Ok(None);
    };
    for (name, length) in &message.files {
        let Some((content, rest)) = contents.split_at_checked(*length) else {
            return Ok(None);
        };
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(failed(parent))?;
        fs::write(&path, content).map_err(failed(&path))?;
        contents = rest;
    }
    Ok(Some(message))
}

fn serve_stage(message: &StageMessage, folder: &Path, threads: usize) -> Result<(), EvolveError> {
    let settings = EvolveSettings::parse(&message.settings, CONFIG)?;
    let plan = StagePlan {
        settings: &settings,
        generation: message.generation,
        folder,
        threads,
    };
    match message.stage {
        EvolveStage::SelfPlay => plan.self_play()?.serve()?,
        EvolveStage::Challenge => plan.challenge()?.serve(),
        EvolveStage::Anchors => plan.anchors()?.serve(),
        EvolveStage::Search => {
            let run = ConstantsRun {
                settings: &settings,
                generation: message.generation,
                champion: &plan.champion_path(),
                threads,
                folder,
            };
            let (mut silent, never) = (SilentObserver, AtomicBool::new(false));
            let mut session = Session::new(plan.champion()?, &mut silent, &never);
            session.serve(&run.experiment()?)?;
        }
        EvolveStage::Training | EvolveStage::Succession | EvolveStage::Closing => {}
    }
    Ok(())
}
