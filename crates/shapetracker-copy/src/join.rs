//! Joining neighbouring loops: two loops are one where the outer one goes on from where the inner one ends.

use smallvec::SmallVec;

/// Whether a loop of stride `outer` around `count` steps of stride `inner` takes the places of one loop of stride `inner`.
pub(crate) fn continues(outer: i64, count: i64, inner: i64) -> bool {
    count.checked_mul(inner) == Some(outer)
}

/// Loops, outermost first, with neighbours joined as long as `join` says what an outer and an inner one are together.
pub(crate) fn joined<T: Copy>(
    loops: impl IntoIterator<Item = T>,
    join: impl Fn(T, T) -> Option<T>,
) -> SmallVec<[T; 8]> {
    let mut joined: SmallVec<[T; 8]> = SmallVec::new();
    for inner in loops {
        let one = joined.last().and_then(|outer| join(*outer, inner));
        match (one, joined.last_mut()) {
            (Some(one), Some(outer)) => *outer = one,
            _ => joined.push(inner),
        }
    }
    joined
}
