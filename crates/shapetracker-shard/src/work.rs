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

    /// A step of counting elements is a run of them, which is looked up in both tensors: some hundred nanoseconds.
    pub(crate) const LIMIT_OF_RUNS: u64 = 1 << 17;

    pub(crate) fn new(what: &'static str) -> Self {
        Work { what, limit: Work::LIMIT, left: Work::LIMIT }
    }

    /// For counting elements run by run.
    pub(crate) fn of_runs(what: &'static str) -> Self {
        Work { what, limit: Work::LIMIT_OF_RUNS, left: Work::LIMIT_OF_RUNS }
    }

    /// How many steps were done.
    #[cfg(test)]
    pub(crate) fn done(&self) -> u64 {
        self.limit - self.left
    }

    pub(crate) fn step(&mut self) -> Result<(), Undecided> {
        self.has(1)?;
        self.left -= 1;
        Ok(())
    }

    /// Gives up at once where so many steps, which are known to be needed, are not left.
    pub(crate) fn has(&self, steps: i64) -> Result<(), Undecided> {
        if u64::try_from(steps).is_ok_and(|steps| steps <= self.left) {
            Ok(())
        } else {
            Err(Undecided { what: self.what, limit: self.limit })
        }
    }
}
