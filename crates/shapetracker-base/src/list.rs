//! Sorting short lists, in little code.

/// Sorts a list with one entry per loop, axis or term; equal entries stay in their order.
///
/// The standard library's sorts are made for millions of entries: each use of one is five kilobytes, which counts where
/// the library is downloaded, as in a browser. Cost: quadratic, linear for what is sorted already.
///
/// ```
/// let mut list = [(3, 'a'), (1, 'b'), (3, 'c')];
/// shapetracker_base::list::sort_short_by_key(&mut list, |(number, _)| *number);
/// assert_eq!(list, [(1, 'b'), (3, 'a'), (3, 'c')]);
/// ```
pub fn sort_short_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    for end in 1..list.len() {
        for at in (1..=end).rev() {
            if key(&list[at - 1]) <= key(&list[at]) {
                break;
            }
            list.swap(at - 1, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_standard_library() {
        let mut rng = shapetracker_testing::Rng(5);
        for _ in 0..1000 {
            let mut list: Vec<(u64, usize)> = (0..rng.below(20) as usize).map(|at| (rng.below(6), at)).collect();
            let mut expected = list.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort_short_by_key(&mut list, |(key, _)| *key);
            assert_eq!(list, expected);
        }
    }
}
