//! One placement on one axis: which places of a list each device gets.

/// A list of places is cut into `pieces`, each of `ceil(n / pieces)` but perhaps the last, and each piece into `parts`, in
/// the same way: device `j` has part `j` of every piece, in their order. Both numbers are at least 1.
///
/// Every function takes the length `n >= 0` of the list. Places are 0 .. n - 1, and so are ranks among a device's places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) pieces: i64,
    pub(crate) parts: i64,
}

/// `ceil(n / by)` for `n >= 0` and `by >= 1`.
pub(crate) fn ceil(n: i64, by: i64) -> i64 {
    n / by + i64::from(n % by != 0)
}

impl Cut {
    /// The length of a piece, all but the last of them; at least 1.
    pub(crate) fn piece(self, n: i64) -> i64 {
        ceil(n, self.pieces).max(1)
    }

    /// Where part `j` of a piece of this length begins, which may be past its end, and how long the part is.
    fn part(self, piece: i64, j: i64) -> (i64, i64) {
        let width = ceil(piece, self.parts);
        let begin = width.saturating_mul(j);
        (begin, (piece - begin.min(piece)).min(width))
    }

    /// How many places device `j` has.
    // Proved: `below_counts` in `proofs/Shards.v`.
    pub(crate) fn len(self, n: i64, j: i64) -> i64 {
        let piece = self.piece(n);
        n / piece * self.part(piece, j).1 + self.part(n % piece, j).1
    }

    /// Representatives: every device has as many places as one of them.
    ///
    /// Along a piece the parts are full up to some device, then there may be a shorter one, and then nothing; that of the
    /// last piece happens at another device.
    pub(crate) fn kinds(self, n: i64) -> impl Iterator<Item = i64> {
        let piece = self.piece(n);
        let ends = [piece, n % piece].map(|length| if length == 0 { 0 } else { length / ceil(length, self.parts) });
        let kinds = [0, ends[0], ends[0] + 1, ends[1], ends[1] + 1];
        (0..5).filter(move |&i| kinds[i] < self.parts && !kinds[..i].contains(&kinds[i])).map(move |i| kinds[i])
    }

    /// The place with this rank among those of device `j`; the rank must be below [`Cut::len`].
    // Proved: `place_exact` in `proofs/Shards.v`.
    pub(crate) fn place(self, n: i64, j: i64, rank: i64) -> i64 {
        let piece = self.piece(n);
        let (begin, part) = self.part(piece, j);
        let full = n / piece;
        if part > 0 && rank / part < full {
            return rank / part * piece + begin + rank % part;
        }
        full * piece + self.part(n % piece, j).0 + (rank - full * part)
    }

    /// The device that has a place.
    pub(crate) fn owner(self, n: i64, place: i64) -> i64 {
        let piece = self.piece(n);
        let length = piece.min(n - place / piece * piece);
        place % piece / ceil(length, self.parts)
    }

    /// How many places, from this one on, lie next to each other in one part.
    pub(crate) fn run(self, n: i64, place: i64) -> i64 {
        let piece = self.piece(n);
        let length = piece.min(n - place / piece * piece);
        let width = ceil(length, self.parts);
        let inside = place % piece;
        (width - inside % width).min(length - inside)
    }

    /// How many of the places of device `j` are below this one, which may be `n`.
    // Proved: `below_counts`, and where pieces and parts are even `rank_of_place`, in `proofs/Shards.v`.
    pub(crate) fn below(self, n: i64, j: i64, place: i64) -> i64 {
        let piece = self.piece(n);
        let before = place / piece;
        let length = piece.min(n - before * piece);
        let (begin, part) = self.part(length, j);
        before * self.part(piece, j).1 + (place % piece - begin.min(piece)).clamp(0, part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, by lists.
    fn lists(places: &[i64], cut: Cut) -> Vec<Vec<i64>> {
        let chunks = |list: &[i64], count: i64| -> Vec<Vec<i64>> {
            let width = (list.len() as i64 + count - 1) / count;
            let bound = |i: i64| (i * width).min(list.len() as i64) as usize;
            (0..count).map(|i| list[bound(i)..bound(i + 1)].to_vec()).collect()
        };
        let pieces = chunks(places, cut.pieces);
        let part = |j: i64| pieces.iter().flat_map(|piece| chunks(piece, cut.parts)[j as usize].clone()).collect();
        (0..cut.parts).map(part).collect()
    }

    #[test]
    fn places_are_those_of_the_definition() {
        for n in 0..14 {
            for (pieces, parts) in (1..=n + 2).flat_map(|f| (1..6).map(move |m| (f, m))) {
                let cut = Cut { pieces, parts };
                let all: Vec<i64> = (0..n).collect();
                let kinds: Vec<i64> = cut.kinds(n).map(|j| cut.len(n, j)).collect();
                for (j, list) in (0..).zip(lists(&all, cut)) {
                    assert!(kinds.contains(&(list.len() as i64)));
                    assert_eq!(cut.len(n, j), list.len() as i64);
                    let placed: Vec<i64> = (0..cut.len(n, j)).map(|rank| cut.place(n, j, rank)).collect();
                    assert_eq!(placed, list, "{n} {cut:?} {j}");
                    assert!(list.iter().all(|&place| cut.owner(n, place) == j));
                    for &place in &list {
                        // Parts of different pieces may lie next to each other, which a run need not know.
                        assert!((place..place + cut.run(n, place)).all(|next| list.contains(&next)));
                    }
                    for place in 0..=n {
                        let below = list.iter().filter(|&&held| held < place).count();
                        assert_eq!(cut.below(n, j, place), below as i64, "{n} {cut:?} {j} {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let cut = Cut { pieces: 3, parts: i64::MAX };
        assert_eq!(cut.len(i64::MAX, i64::MAX - 1), 0);
        let owner = cut.owner(i64::MAX, i64::MAX - 1);
        assert_eq!(cut.len(i64::MAX, owner), 3);
        assert_eq!(cut.place(i64::MAX, owner, 2), i64::MAX - 1);
        assert_eq!(cut.below(i64::MAX, i64::MAX - 1, i64::MAX), 0);
    }
}
