//! How much a decision may cost.

/// How much searching is left before a decision is given up.
///
/// Deciding a pair of views from a real program takes a few dozen units; only input crafted for it comes near the
/// limit. Units are counted and not seconds, so that the answer to a question is the same on every machine.
pub(crate) struct Work(pub(super) u32);

/// The work limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfWork;

impl Work {
    /// A limit of some tenths of a second.
    pub(crate) fn new() -> Work {
        Work(300_000)
    }

    /// A limit of some tenths of a second for a stack of so many views: a unit of work goes through the equations of all.
    pub(crate) fn for_stack(views: usize) -> Work {
        Work(900_000 / u32::try_from(views.max(3)).unwrap_or(u32::MAX))
    }

    /// A limit of some hundredths of a second, for a question that looking at elements did not answer.
    pub(crate) fn for_a_question() -> Work {
        Work(20_000)
    }

    /// A limit of a few milliseconds.
    pub(crate) fn a_little() -> Work {
        Work(2_000)
    }

    /// A limit of a few milliseconds, and of what is left of some work; of that it is taken away.
    pub(crate) fn a_little_of(left: &mut u64) -> Work {
        let most = Work::a_little().0.min(u32::try_from(*left).unwrap_or(u32::MAX));
        *left -= u64::from(most);
        Work(most)
    }

    /// Gives back to some work what was not used.
    pub(crate) fn give_back(self, left: &mut u64) {
        *left = left.saturating_add(self.0.into());
    }

    pub(crate) fn tick(&mut self) -> Result<(), OutOfWork> {
        self.0 = self.0.checked_sub(1).ok_or(OutOfWork)?;
        Ok(())
    }
}
