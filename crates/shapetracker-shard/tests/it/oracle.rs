//! What the words of a placement mean, by lists: every device's elements written out, one by one.
//!
//! Everything here is from the definitions and shares no code with the crate. An axis of a tensor is a list of its
//! indices; the words of a placement cut that list, in the order of the mesh axes; what a device holds is the product
//! of its lists, read in row-major order.

use std::collections::{BTreeSet, HashMap};

/// What one mesh axis does to a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Word {
    Replicate,
    /// Cuts this axis into one part for each device.
    Shard(usize),
    /// Cuts this axis into so many pieces, and each piece into one part for each device.
    Strided(usize, i64),
}

/// Part number `at` of a list cut into `parts` by ceiling division: all parts have the same length until the list
/// ends, so that the last ones may be shorter or empty.
fn part(list: &[i64], parts: i64, at: i64) -> &[i64] {
    let len = list.len() as i64;
    let each = if len % parts == 0 { len / parts } else { len / parts + 1 };
    let (begin, end) = ((at * each).min(len), ((at + 1) * each).min(len));
    &list[begin as usize..end as usize]
}

/// The indices along each axis that a device holds, in its order.
pub(crate) fn axes(shape: &[i64], mesh: &[i64], words: &[Word], device: &[i64]) -> Vec<Vec<i64>> {
    let mut axes: Vec<Vec<i64>> = shape.iter().map(|&size| (0..size).collect()).collect();
    for ((&size, &word), &at) in mesh.iter().zip(words).zip(device) {
        match word {
            Word::Replicate => {}
            Word::Shard(axis) => axes[axis] = part(&axes[axis], size, at).to_vec(),
            Word::Strided(axis, pieces) => {
                let list = &axes[axis];
                axes[axis] = (0..pieces).flat_map(|piece| part(part(list, pieces, piece), size, at)).copied().collect();
            }
        }
    }
    axes
}

/// The product of lists of indices as row-major positions.
pub(crate) fn positions(shape: &[i64], axes: &[Vec<i64>]) -> Vec<i64> {
    let mut positions = vec![0];
    for (&size, list) in shape.iter().zip(axes) {
        positions = positions.iter().flat_map(|&outer| list.iter().map(move |index| outer * size + index)).collect();
    }
    positions
}

/// The coordinates of every device of a mesh, the last axis fastest.
pub(crate) fn devices(mesh: &[i64]) -> Vec<Vec<i64>> {
    let mut devices = vec![vec![]];
    for &size in mesh {
        devices = devices
            .iter()
            .flat_map(|outer| (0..size).map(move |at| outer.iter().copied().chain([at]).collect::<Vec<i64>>()))
            .collect();
    }
    devices
}

/// What every device holds: the global row-major positions of its elements, in the order of its memory.
pub(crate) fn held(shape: &[i64], mesh: &[i64], words: &[Word]) -> Vec<Vec<i64>> {
    devices(mesh).iter().map(|device| positions(shape, &axes(shape, mesh, words, device))).collect()
}

/// The words that say something of an axis of a shape: replicated, or cut along each axis in every way.
pub(crate) fn words(shape: &[i64], strided: bool) -> Vec<Word> {
    let mut words = vec![Word::Replicate];
    for (axis, &size) in shape.iter().enumerate() {
        words.push(Word::Shard(axis));
        if strided {
            words.extend((2..=size).map(|pieces| Word::Strided(axis, pieces)));
        }
    }
    words
}

/// One word for each axis of a mesh, in every way.
pub(crate) fn sentences(shape: &[i64], mesh: &[i64], strided: bool) -> Vec<Vec<Word>> {
    let each = words(shape, strided);
    let mut sentences = vec![vec![]];
    for _ in mesh {
        sentences = sentences
            .iter()
            .flat_map(|outer: &Vec<Word>| each.iter().map(move |&word| outer.iter().copied().chain([word]).collect()))
            .collect();
    }
    sentences
}

/// Every ordered factoring of a number into 1 .. `most` factors, none of which is 1.
pub(crate) fn factorings(number: i64, most: usize) -> Vec<Vec<i64>> {
    if most == 0 {
        return vec![];
    }
    let mut all = vec![vec![number]];
    for first in (2..number).filter(|first| number % first == 0) {
        for rest in factorings(number / first, most - 1) {
            all.push([&[first][..], &rest].concat());
        }
    }
    all
}

/// For one shape and mesh, the sentences by what they say: those with equal contents on every device.
pub(crate) fn by_contents(shape: &[i64], mesh: &[i64]) -> HashMap<Vec<Vec<i64>>, Vec<Vec<Word>>> {
    let mut found: HashMap<Vec<Vec<i64>>, Vec<Vec<Word>>> = HashMap::new();
    for words in sentences(shape, mesh, true) {
        found.entry(held(shape, mesh, &words)).or_default().push(words);
    }
    found
}

/// The index of a position along each axis.
pub(crate) fn index(shape: &[i64], mut position: i64) -> Vec<i64> {
    let mut index = vec![0; shape.len()];
    for (at, &size) in index.iter_mut().zip(shape).rev() {
        *at = position % size;
        position /= size;
    }
    index
}

/// Whether a set of positions is the product of a set of indices along each axis.
pub(crate) fn is_product(shape: &[i64], held: &[i64]) -> bool {
    let mut axes: Vec<BTreeSet<i64>> = vec![BTreeSet::new(); shape.len()];
    for &position in held {
        for (axis, at) in axes.iter_mut().zip(index(shape, position)) {
            axis.insert(at);
        }
    }
    axes.iter().map(BTreeSet::len).product::<usize>() == held.len() || held.is_empty()
}
