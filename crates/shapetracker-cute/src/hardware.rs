//! What a multiprocessor has.

/// The threads of a warp.
pub(crate) const LANES: i64 = 32;
/// The bytes of a bank, and of a word.
pub(crate) const WORD: i64 = 4;
/// The banks of shared memory.
pub(crate) const BANKS: i64 = 32;
