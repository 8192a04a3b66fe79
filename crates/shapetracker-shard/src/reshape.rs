//! Which placements of a new shape say what the devices hold?

use crate::cut::{Cut, ceil};
use crate::digits;
use crate::lists::{List, lists};
use crate::word::Word;
use crate::work::Work;
use crate::{Placement, Sharded, Undecided};

/// The placements of a shape, with as many elements, that say what the devices hold; `None` where there are none.
///
/// The devices that hold an element are a product: along a mesh axis that shards one coordinate, along any other all. So
/// placements say the same if and only if they shard along the same mesh axes, and give every element the same coordinate
/// along each. (That each device has its elements in the same order follows: both orders are that of the positions.) The mesh
/// axes are decided one after the other, which misses nothing: a coordinate that is not 0 everywhere depends on the index
/// along one axis of the new shape, so that the axis is determined, and with the axis what each device is left with of it. A
/// coordinate that is 0 everywhere leaves the first device everything of any axis, and all others nothing.
pub(crate) fn placements(before: &Sharded, shape: &[i64]) -> Result<Option<Vec<Placement>>, Undecided> {
    if let Some(digits) = digits::digits(before) {
        return Ok(digits::place(&digits, before, shape));
    }
    let mut work = Work::new("looking for placements");
    let mut found: Vec<Placement> = Vec::with_capacity(before.mesh().rank());
    for (mesh_axis, placement) in before.placements().iter().enumerate() {
        let next = match placement.axis() {
            Some(_) if before.mesh().sizes()[mesh_axis] > 1 && before.numel() > 0 => {
                let word =
                    coordinates(before.shape(), before.mesh().sizes(), &before.placements()[..=mesh_axis], &mut work)?;
                match find(&word, before.mesh().sizes(), shape, &found, &mut work)? {
                    Some(placement) => placement,
                    None => return Ok(None),
                }
            }
            _ => digits::trivial(before, mesh_axis, shape),
        };
        found.push(next);
    }
    Ok(Some(found))
}

/// The coordinates of all elements along the mesh axis of the last placement, which shards.
pub(crate) fn coordinates(
    shape: &[i64],
    mesh: &[i64],
    placements: &[Placement],
    work: &mut Work,
) -> Result<Word, Undecided> {
    let axis = placements.last().and_then(|placement| placement.axis()).unwrap_or(0);
    let cuts = cuts(axis, mesh, placements);
    let weight: i64 = shape[axis + 1..].iter().product();
    let outer: i64 = shape[..axis].iter().product();
    Ok(Word::of_axis(&cuts, shape[axis], weight, work)?.repeated(outer))
}

/// The cuts of an axis.
pub(crate) fn cuts(axis: usize, mesh: &[i64], placements: &[Placement]) -> Vec<Cut> {
    let of_axis = |(placement, &parts): (&Placement, &i64)| {
        placement.cut().filter(|cut| cut.0 == axis).map(|(_, pieces)| Cut { pieces, parts })
    };
    placements.iter().zip(mesh).filter_map(of_axis).collect()
}

/// The placement along the next mesh axis that gives the elements these coordinates.
pub(crate) fn find(
    word: &Word,
    mesh: &[i64],
    shape: &[i64],
    found: &[Placement],
    work: &mut Work,
) -> Result<Option<Placement>, Undecided> {
    let mut candidates: Vec<(i64, usize)> = Vec::new();
    let parts = mesh[found.len()];
    let start = word.first_change();
    let mut weight = 1;
    for (axis, &size) in shape.iter().enumerate().rev() {
        // The first change is between two places of the axis, in its first repetition.
        let fits = start.is_none_or(|position| position % weight == 0 && position / weight < size);
        if fits {
            let lists = lists(&cuts(axis, mesh, found), size, work)?;
            if let Some(pieces) = pieces(word, &lists, weight, work)?
                && !lists.iter().any(|list| differs(list, Cut { pieces, parts }, word, weight))
            {
                candidates.push((pieces, axis));
            }
        }
        weight *= size;
    }
    candidates.sort();
    for (pieces, axis) in candidates {
        let placement = Placement::of_pieces(axis, pieces);
        // Pieces of one place each, or lists of one place, leave everything to the first device.
        if word.is_zero() {
            return Ok(Some(placement));
        }
        let placements: Vec<Placement> = found.iter().copied().chain([placement]).collect();
        let says = coordinates(shape, mesh, &placements, work)?;
        if says.difference(word, work)?.is_none() {
            return Ok(Some(placement));
        }
    }
    Ok(None)
}

/// The fewest pieces into which what earlier cuts leave of an axis can be cut, if any number will do.
///
/// A list of `n` places that is cut into pieces of `p` begins with a piece, and with the next one the first device has its
/// turn again: `p` can be read off the coordinates, unless they are all the same. Then `n` is 1, or `p` is. The numbers of
/// pieces that give `p` are an interval, and they all cut the list alike; there is one list for each length of those that the
/// earlier cuts leave to devices, and each yields an interval.
// Proved: `piece_is_read`, `pieces_interval` in `proofs/Shards.v`.
pub(crate) fn pieces(word: &Word, lists: &[List], weight: i64, work: &mut Work) -> Result<Option<i64>, Undecided> {
    let (mut fewest, mut most) = (1, i64::MAX);
    for list in lists {
        let n = list.len;
        if n <= 1 {
            continue;
        }
        let seen = first_piece(word, list, weight, work)?;
        let piece = match (seen.other, seen.again) {
            (None, _) => 1,
            (Some(0), _) => return Ok(None),
            (Some(_), None) => n,
            (Some(_), Some(rank)) => rank,
        };
        // `ceil(n / pieces) == piece`, which no number of pieces may give.
        fewest = fewest.max(ceil(n, piece));
        if piece > 1 {
            most = most.min(ceil(n, piece - 1) - 1);
        }
    }
    Ok((fewest <= most).then_some(fewest))
}

/// Looks at the coordinates of a device's list, in its order, until the first device has its turn again.
///
/// The steps are those of the coordinates and not of the list: from one place to the first one of the list behind the ramp.
fn first_piece(word: &Word, list: &List, weight: i64, work: &mut Work) -> Result<First, Undecided> {
    let mut seen = First::default();
    let mut rank = 0;
    while rank < list.len && seen.again.is_none() {
        work.step()?;
        let position = list.place(rank) * weight;
        let Some((owner, alike)) = word.from(position).alike() else { break };
        match (owner, seen.other) {
            (0, None) => {}
            (0, Some(_)) => seen.again = Some(rank),
            (_, None) => seen.other = Some(rank),
            (_, Some(_)) => {}
        }
        rank = list.below(ceil(position + alike, weight));
    }
    Ok(seen)
}

/// Whether a cut of the list gives a few places other coordinates than these: those where its parts begin, and the ones
/// before. What is found out here need not be found out place by place.
fn differs(list: &List, cut: Cut, word: &Word, weight: i64) -> bool {
    let piece = cut.piece(list.len);
    let pieces = list.len / piece;
    let part = ceil(piece.min(list.len), cut.parts);
    let ranks = [0, 1, pieces / 2, pieces - 1, pieces].into_iter().flat_map(|t| {
        let parts = [0, 1, 2, cut.parts / 2, cut.parts - 1].into_iter();
        parts.map(move |j| (t * piece).saturating_add(part.saturating_mul(j)))
    });
    ranks.flat_map(|rank| [rank, rank - 1]).filter(|rank| (0..list.len).contains(rank)).any(|rank| {
        word.from(list.place(rank) * weight).alike().is_none_or(|(owner, _)| owner != cut.owner(list.len, rank))
    })
}

/// What has been seen of a list: the first rank that is not on the first device, and the next that is.
#[derive(Clone, Copy, Debug, Default)]
struct First {
    other: Option<i64>,
    again: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::run;

    #[test]
    fn no_run_is_longer_than_the_longest() {
        let cuts: Vec<Cut> = (1..5).flat_map(|pieces| (1..5).map(move |parts| Cut { pieces, parts })).collect();
        let pairs = cuts.iter().flat_map(|&a| cuts.iter().map(move |&b| [a, b]));
        let mut reached = 0;
        for (pair, size) in pairs.flat_map(|pair| [1, 2, 7, 12, 25].map(|size| (pair, size))) {
            for devices in (0..pair[0].parts).flat_map(|a| (0..pair[1].parts).map(move |b| [a, b])) {
                let list = (0..2).fold(List::whole(size), |list, cut| list.cut(pair[cut], devices[cut]));
                let runs = (0..list.len).map(|rank| run(&pair, size, list.place(rank)).1);
                let longest = list.longest_run();
                match runs.max() {
                    Some(most) => {
                        assert!(most <= longest, "{pair:?} {size} {devices:?}");
                        reached += u32::from(most == longest);
                    }
                    None => assert!(longest >= 1),
                }
            }
        }
        assert!(reached > 1000, "the bound is often reached: {reached}");
    }
}
