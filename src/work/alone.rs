//! The seam in a build without the feature `cluster`: this process is alone.

use std::sync::atomic::AtomicBool;

use super::{JobError, ServiceThreads, TaskSource, processes};

/// Part in an MPI job, which this build cannot take.
pub(super) struct Membership;

impl Membership {
    pub fn join() -> Result<Membership, JobError> {
        match processes() {
            0 | 1 => Ok(Membership),
            several => Err(JobError::NoFeature(several)),
        }
    }
}

/// Whether this process works for rank 0.
pub fn is_helper() -> bool {
    false
}

/// Whether other ranks work for this process.
pub fn has_helpers() -> bool {
    false
}

/// The threads of all helpers together.
pub fn helper_threads() -> usize {
    0
}

pub(super) fn most_helper_threads() -> usize {
    0
}

pub(super) fn share(
    _: &dyn TaskSource,
    _: &AtomicBool,
    _: impl Fn(usize) -> Vec<u8>,
    _: impl FnMut(usize, &[u8]),
) {
}

/// Does tasks for rank 0; without a job there are none.
pub fn serve<S>(
    _threads: impl Into<ServiceThreads>,
    _prepare: impl Fn() -> S + Sync,
    _work: impl Fn(&mut S, &[u8], &AtomicBool) -> Option<Vec<u8>> + Sync,
) {
}

/// Lets the helpers go on with what they were started for.
pub fn dismiss() {}

/// Tells the helpers what comes next.
pub fn announce(_service: impl FnOnce() -> Vec<u8>) {}

/// What rank 0 announced; without a job nothing.
pub fn next_service() -> Option<Vec<u8>> {
    None
}

/// Tells rank 0 why this helper cannot work.
pub fn fail(_reason: &str) {}
