//! How much is done for one answer.

use crate::Undecided;

/// Steps that are left for an answer. Steps are counted and not timed, so that an answer is the same on every machine.
pub(crate) struct Work {
    what: &'static str,
    limit: u64,
    left: u64,
}

impl Work {
    /// A step is some ten nanoseconds.
    pub(crate) const LIMIT: u64 = 1 << 19;

    pub(crate) fn new(what: &'static str) -> Self {
        Work { what, limit: Work::LIMIT, left: Work::LIMIT }
    }

    pub(crate) fn step(&mut self) -> Result<(), Undecided> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Undecided { what: self.what, limit: self.limit }),
        }
    }
}
