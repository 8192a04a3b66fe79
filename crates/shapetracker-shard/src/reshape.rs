//! Which placements of a new shape say what the devices hold?

use crate::cut::{Cut, ceil};
use crate::digits;
use crate::word::{First, Word, run};
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
    let mut start = First::default();
    word.from(0).look(word.len(), &mut start, work)?;
    let mut weight = 1;
    for (axis, &size) in shape.iter().enumerate().rev() {
        // The first change is between two places of the axis, in its first repetition.
        let fits = start.other.is_none_or(|place| place % weight == 0 && place / weight < size);
        if fits && let Some(pieces) = pieces(word, &cuts(axis, mesh, found), size, weight, work)? {
            candidates.push((pieces, axis));
        }
        weight *= size;
    }
    candidates.sort();
    for (pieces, axis) in candidates {
        let placement = Placement::of_pieces(axis, pieces);
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
pub(crate) fn pieces(
    word: &Word,
    cuts: &[Cut],
    size: i64,
    weight: i64,
    work: &mut Work,
) -> Result<Option<i64>, Undecided> {
    let (mut fewest, mut most) = (1, i64::MAX);
    for (n, device) in lists(cuts, size, work)? {
        if n <= 1 {
            continue;
        }
        let seen = first_piece(word, cuts, size, weight, &device, n, work)?;
        let piece = match (seen.other, seen.again) {
            (None, _) => 1,
            (Some(0), _) => return Ok(None),
            (Some(_), None) => n,
            (Some(_), Some(place)) if place % weight == 0 => place / weight,
            (Some(_), Some(_)) => return Ok(None),
        };
        // `ceil(n / pieces) == piece`, which no number of pieces may give.
        fewest = fewest.max(ceil(n, piece));
        if piece > 1 {
            most = most.min(ceil(n, piece - 1) - 1);
        }
    }
    Ok((fewest <= most).then_some(fewest))
}

/// The lengths of the lists that cuts of an axis leave to devices, each with the coordinates of a device that has one.
pub(crate) fn lists(cuts: &[Cut], size: i64, work: &mut Work) -> Result<Vec<(i64, Vec<i64>)>, Undecided> {
    let mut lists = vec![(size, Vec::new())];
    for cut in cuts {
        let mut next: Vec<(i64, Vec<i64>)> = Vec::new();
        for (n, device) in &lists {
            for j in cut.kinds(*n) {
                work.step()?;
                let length = cut.len(*n, j);
                if !next.iter().any(|(known, _)| *known == length) {
                    next.push((length, device.iter().copied().chain([j]).collect()));
                }
            }
        }
        lists = next;
    }
    Ok(lists)
}

/// Looks at the coordinates of a device's list, in its order, until the first device has its turn again.
fn first_piece(
    word: &Word,
    cuts: &[Cut],
    size: i64,
    weight: i64,
    device: &[i64],
    n: i64,
    work: &mut Work,
) -> Result<First, Undecided> {
    // What each cut is of, outermost first.
    let mut left = size;
    let nested: Vec<(Cut, i64, i64)> = cuts
        .iter()
        .zip(device)
        .map(|(&cut, &j)| {
            let list = (cut, left, j);
            left = cut.len(left, j);
            list
        })
        .collect();
    let mut seen = First::default();
    let mut rank = 0;
    while rank < n && seen.again.is_none() {
        work.step()?;
        let place = nested.iter().rev().fold(rank, |place, &(cut, n, j)| cut.place(n, j, place));
        let (_, length) = run(cuts, size, place);
        word.from(place * weight).look(length * weight, &mut seen, work)?;
        rank += length;
    }
    Ok(seen)
}
