//! The seam in a build without the feature `cluster`: this process is alone.

use std::sync::atomic::AtomicBool;

use super::{JobError, TaskQueue, processes};

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

pub(super) fn share(
    _: &TaskQueue,
    _: &AtomicBool,
    _: impl Fn(usize) -> Vec<u8>,
    _: impl FnMut(usize, &[u8]),
) {
}

/// Does tasks for rank 0; without a job there are none.
pub fn serve<S>(
    _threads: usize,
    _prepare: impl Fn() -> S + Sync,
    _work: impl Fn(&mut S, &[u8], &AtomicBool) -> Option<Vec<u8>> + Sync,
) {
}

/// Lets the helpers go on with what they were started for.
pub fn dismiss() {}
