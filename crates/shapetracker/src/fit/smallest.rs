//! The smallest buffer that a shape can be a view of, by a complete search over strides.
//!
//! Given is the address that each index reads. Strides `t` serve when a buffer can be filled so that the view of it with
//! these strides reads the same: whenever two indices come to lie on one position, they read one address. The buffer
//! then has `1 + sum |t[l]| * (size[l] - 1)` elements, and the search minimizes that.
//!
//! An axis along which nothing changes gets stride 0, which never makes the buffer larger and lets no other two indices
//! meet that did not. Along any other axis two neighbours differ, so that its stride is at least 1 in magnitude.

use std::collections::HashMap;
use std::rc::Rc;

use shapetracker_base::int::gcd;

use crate::Dims;
use crate::shape::{row_major, unravel};

/// How many steps a search may take, one for each index that it looks at: some ten milliseconds.
const WORK: usize = 1 << 21;

/// A position that holds nothing.
const FREE: u32 = u32::MAX;

/// What a search found.
pub(super) struct Smallest {
    /// The stride of each axis, and the number of elements from the first position to the last, where that is smaller
    /// than what was known.
    pub(super) better: Option<(Vec<i64>, i64)>,
    /// Whether the search was complete: nothing smaller serves.
    pub(super) complete: bool,
    /// A number of distinct positions that every strides that serve need.
    pub(super) positions: i64,
}

/// The smallest buffer for these sizes, of which none is 1, and the address that each index reads, in row-major order;
/// `known` is the length of a buffer that serves. Strides may be negative where `negative` says so.
pub(super) fn smallest(sizes: &[i64], addresses: &[i64], known: i64, negative: bool) -> Smallest {
    let mut numbers = HashMap::new();
    let ids: Vec<u32> = addresses.iter().map(|&address| number(&mut numbers, address)).collect();
    let (mut kept, mut axes, mut ids) = (sizes.to_vec(), Vec::new(), ids);
    for axis in (0..sizes.len()).rev() {
        let inner: usize = kept[axis + 1..].iter().product::<i64>() as usize;
        let whole = inner * sizes[axis] as usize;
        if (0..ids.len()).all(|at| ids[at] == ids[at - at % whole + at % inner]) {
            ids = (0..ids.len()).filter(|at| at % whole < inner).map(|at| ids[at]).collect();
            kept[axis] = 1;
        } else {
            axes.insert(0, axis);
        }
    }
    let sizes_left: Vec<i64> = axes.iter().map(|&axis| sizes[axis]).collect();
    let reach = sizes_left.iter().map(|size| size - 1).sum::<i64>();
    // Distinct addresses need distinct positions. And adding an axis to a set of positions adds at least one position
    // for each further index of the axis.
    let mut search = Search {
        positions: (numbers.len() as i64).max(1 + reach),
        types: HashMap::from([((1 << axes.len()) - 1, Rc::new(ids))]),
        silent: Vec::new(),
        fewest: HashMap::new(),
        holes: 0,
        negative,
        strides: vec![0; axes.len()],
        sizes: sizes_left,
        best: known,
        found: None,
        work: WORK,
    };
    let complete = search.run().is_some();
    let spread = |strides: Vec<i64>| {
        let mut all = vec![0; sizes.len()];
        for (&axis, stride) in axes.iter().zip(strides) {
            all[axis] = stride;
        }
        (all, search.best)
    };
    Smallest { better: search.found.take().map(spread), complete, positions: search.positions }
}

/// The number of a key, in the order in which they come.
fn number<K: std::hash::Hash + Eq>(numbers: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(key).or_insert(next)
}

/// The addresses that a view with these strides reads from `start` on, in row-major order.
pub(super) fn walk(sizes: &[i64], strides: &[i64], start: i64) -> impl Iterator<Item = i64> {
    let mut index = Dims::from_elem(0, sizes.len());
    let mut next = start;
    (0..sizes.iter().product()).map(move |_: i64| {
        let address = next;
        for axis in (0..sizes.len()).rev() {
            index[axis] += 1;
            next += strides[axis];
            if index[axis] < sizes[axis] {
                break;
            }
            next -= strides[axis] * index[axis];
            index[axis] = 0;
        }
        address
    })
}

struct Search {
    /// The sizes of the axes along which something changes.
    sizes: Vec<i64>,
    /// For a set of axes, the types of their indices: two have one type when they read the same whatever the other axes
    /// are at. Indices that share a position must be of one type.
    types: HashMap<u32, Rc<Vec<u32>>>,
    /// The differences that two indices on one position may have, see [`Search::silent_differences`].
    silent: Vec<Dims>,
    /// The number of positions that are needed at least, for sets of differences that may be made use of.
    fewest: HashMap<u128, i64>,
    strides: Vec<i64>,
    /// The length of the smallest buffer so far.
    best: i64,
    found: Option<Vec<i64>>,
    /// A lower bound on the number of positions.
    positions: i64,
    /// How many positions between the first and the last may be free.
    holes: i64,
    /// Whether strides may be negative.
    negative: bool,
    work: usize,
}

impl Search {
    /// Searches all strides. `None` when the work limit was met.
    fn run(&mut self) -> Option<()> {
        if self.positions >= self.best {
            return Some(());
        }
        // Most smallest buffers have no holes, and strides that leave none are few: a first search finds these, and needs
        // no silent differences where it attains the bound.
        let later = self.work / 4 * 3;
        self.work -= later;
        let _ = self.extend(0, 0, 1, 0, &[0]);
        self.work += later;
        // A search that ended at its limit leaves strides behind.
        self.strides.fill(0);
        if self.positions >= self.best {
            return Some(());
        }
        self.silent = self.silent_differences()?;
        self.positions = self.positions.max(self.fewest_positions(u128::MAX)?);
        self.holes = i64::MAX;
        self.extend(0, 0, 1, 0, &[0])
    }

    /// The differences, along several axes, that two indices on one position may have, one of each and its negative and
    /// without multiples: wherever two indices differ so, they read the same.
    ///
    /// If `t * d = 0` for the difference `d` of two indices, so it is for `d` divided by the greatest common divisor of
    /// its entries, which is the difference of two indices as well, and of whose steps those of `d` are made. Differences
    /// along one axis do not matter, since no stride is 0.
    fn silent_differences(&mut self) -> Option<Vec<Dims>> {
        let ids = self.types[&((1 << self.sizes.len()) - 1)].clone();
        let widths: Vec<i64> = self.sizes.iter().map(|size| 2 * size - 1).collect();
        let count: i64 = widths.iter().product();
        let weights = row_major(&self.sizes);
        let at = |entries: &[i64]| entries.iter().zip(&weights).map(|(entry, weight)| entry * weight).sum::<i64>();
        let mut silent = Vec::new();
        // Zero lies in the middle, the negatives before it.
        for number in count / 2 + 1..count {
            let mut difference = unravel(number, &widths);
            difference.iter_mut().zip(&self.sizes).for_each(|(entry, size)| *entry -= size - 1);
            self.work = self.work.checked_sub(1)?;
            if difference.iter().filter(|&&entry| entry != 0).count() < 2
                || difference.iter().fold(0, |divisor, &entry| gcd(divisor, entry.into())) != 1
            {
                continue;
            }
            let common: Dims = self.sizes.iter().zip(&difference).map(|(size, entry)| size - entry.abs()).collect();
            let first: Dims = difference.iter().map(|&entry| (-entry).max(0)).collect();
            let (first, step) = (at(&first), at(&difference));
            let differ = walk(&common, &weights, first).position(|at| ids[at as usize] != ids[(at + step) as usize]);
            let looked_at = differ.map_or(common.iter().product::<i64>() as usize, |at| at + 1);
            self.work = self.work.checked_sub(looked_at)?;
            if differ.is_none() {
                silent.push(difference);
            }
        }
        Some(silent)
    }

    /// How many positions are needed when no two indices share one but by steps of the silent differences in a set: the
    /// number of classes that indices fall into. Those that have no bit are in every set.
    fn fewest_positions(&mut self, set: u128) -> Option<i64> {
        if let Some(&known) = self.fewest.get(&set) {
            return Some(known);
        }
        let numel: i64 = self.sizes.iter().product();
        let weights = row_major(&self.sizes);
        let at = |entries: &[i64]| entries.iter().zip(&weights).map(|(entry, weight)| entry * weight).sum::<i64>();
        let mut parent: Vec<u32> = (0..numel as u32).collect();
        let root = |parent: &mut Vec<u32>, mut of: u32| {
            while parent[of as usize] != of {
                parent[of as usize] = parent[parent[of as usize] as usize];
                of = parent[of as usize];
            }
            of
        };
        let mut classes = numel;
        for (_, difference) in self.silent.iter().enumerate().filter(|&(bit, _)| bit >= 128 || set & 1 << bit != 0) {
            let common: Dims = self.sizes.iter().zip(difference).map(|(size, entry)| size - entry.abs()).collect();
            let first: Dims = difference.iter().map(|&entry| (-entry).max(0)).collect();
            let (first, step) = (at(&first), at(difference));
            let pairs: i64 = common.iter().product();
            self.work = self.work.checked_sub(4 * pairs as usize)?;
            for from in walk(&common, &weights, first) {
                let (a, b) = (root(&mut parent, from as u32), root(&mut parent, (from + step) as u32));
                if a != b {
                    parent[a as usize] = b;
                    classes -= 1;
                }
            }
        }
        self.fewest.insert(set, classes);
        Some(classes)
    }

    /// The silent differences that may yet be made use of when the axes in `used` have their strides, and no other will
    /// have a stride less than `least`, or more than `most`.
    fn usable(&self, used: u32, least: i64, most: i64) -> u128 {
        let mut set = 0;
        for (bit, difference) in self.silent.iter().enumerate().take(128) {
            // An axis that is not in `used` has stride 0 so far.
            let moved: i64 = difference.iter().zip(&self.strides).map(|(entry, stride)| entry * stride).sum();
            let mut free = (0..self.sizes.len()).filter(|&axis| used & 1 << axis == 0 && difference[axis] != 0);
            let usable = match (free.next(), free.next()) {
                (None, _) => moved == 0,
                (Some(axis), None) => {
                    moved % difference[axis] == 0 && (least..=most).contains(&(moved / difference[axis]).abs())
                }
                _ => true,
            };
            set |= u128::from(usable) << bit;
        }
        set
    }

    /// Gives the axes that have no stride yet, those not in `used`, all strides that may be better, in order of their
    /// magnitudes: none is less than `least`, which is that of `last`. `span` is the last position of the axes in `used`,
    /// counted from their first one, and `held` is an index at each of the positions, or [`FREE`].
    fn extend(&mut self, used: u32, span: i64, least: i64, last: usize, held: &[u32]) -> Option<()> {
        let all = (1 << self.sizes.len()) - 1;
        if used == all {
            self.best = span + 1;
            self.found = Some(self.strides.clone());
            return Some(());
        }
        let free = |used: u32, axis: usize| used & 1 << axis == 0;
        let reach_left: i64 =
            self.sizes.iter().enumerate().filter(|&(axis, _)| free(used, axis)).map(|(_, size)| size - 1).sum();
        let most = (self.best - 1 - span) / reach_left;
        let mut fewest = self.positions.max(held.iter().filter(|&&held| held != FREE).count() as i64 + reach_left);
        if used != 0 && !self.silent.is_empty() {
            fewest = fewest.max(self.fewest_positions(self.usable(used, least, self.best - 1 - span))?);
        }
        // Positions less than the next stride are those of the axes in `used`, from the first position on, and, as the
        // positions are symmetric, from the last one back. What is free there stays free.
        let mut holes = 0;
        let start = self.start(used);
        for stride in 1..=most {
            holes += i64::from(held.get(stride as usize - 1).is_none_or(|&held| held == FREE));
            if stride < least {
                continue;
            }
            if span + stride * reach_left + 1 >= self.best || holes > self.holes {
                break;
            }
            let sides = if 2 * stride <= span + stride * reach_left + 1 { 2 } else { 1 };
            if fewest + sides * holes >= self.best {
                break;
            }
            for axis in 0..self.sizes.len() {
                // Of axes with equal strides the first comes first.
                if !free(used, axis) || (stride == least && used != 0 && axis < last) {
                    continue;
                }
                // A buffer read backwards is as long: the first stride is positive.
                for sign in [1, -1].into_iter().take(if used != 0 && self.negative { 2 } else { 1 }) {
                    self.work = self.work.checked_sub(1)?;
                    self.strides[axis] = sign * stride;
                    let longer = span + stride * (self.sizes[axis] - 1);
                    if longer + 1 >= self.best {
                        continue;
                    }
                    // Most strides fail where the first step along the axis begins.
                    let meets = held.get((start + sign * stride) as usize).filter(|&&held| held != FREE);
                    if let Some(&meets) = meets
                        && !self.alike(used, axis, meets)?
                    {
                        continue;
                    }
                    let used = used | 1 << axis;
                    if let Some(held) = self.filled(used, longer)? {
                        self.extend(used, longer, stride, axis, &held)?;
                    }
                }
                self.strides[axis] = 0;
            }
        }
        Some(())
    }

    /// The position of the index 0 of the axes in `used`, counted from their first position.
    fn start(&self, used: u32) -> i64 {
        let axes = (0..self.sizes.len()).filter(|axis| used & 1 << axis != 0);
        axes.map(|axis| (-self.strides[axis]).max(0) * (self.sizes[axis] - 1)).sum()
    }

    /// Whether an index of the axes in `used`, given by its row-major number, may share a position with the index 0 one
    /// step further along another axis.
    fn alike(&mut self, used: u32, axis: usize, index: u32) -> Option<bool> {
        let types = self.types(used | 1 << axis)?;
        let later = (axis + 1..self.sizes.len()).filter(|later| used & 1 << later != 0);
        let inner: usize = later.map(|later| self.sizes[later] as usize).product();
        let index = index as usize;
        Some(types[index / inner * inner * self.sizes[axis] as usize + index % inner] == types[inner])
    }

    /// An index at each position when the axes in `used` have their strides, by its row-major number, or [`FREE`];
    /// `None` inside where two indices of different types share one.
    fn filled(&mut self, used: u32, span: i64) -> Option<Option<Vec<u32>>> {
        let types = self.types(used)?;
        let axes: Vec<usize> = (0..self.sizes.len()).filter(|axis| used & 1 << axis != 0).collect();
        let mut held = vec![FREE; span as usize + 1];
        self.work = self.work.checked_sub(held.len() / 8)?;
        let sizes: Dims = axes.iter().map(|&axis| self.sizes[axis]).collect();
        let strides: Dims = axes.iter().map(|&axis| self.strides[axis]).collect();
        for (index, position) in walk(&sizes, &strides, self.start(used)).enumerate() {
            self.work = self.work.checked_sub(1)?;
            let place = &mut held[position as usize];
            if *place != FREE && types[*place as usize] != types[index] {
                return Some(None);
            }
            *place = index as u32;
        }
        Some(Some(held))
    }

    /// The types of the indices of a set of axes, from those of the set with one axis more.
    fn types(&mut self, used: u32) -> Option<Rc<Vec<u32>>> {
        if let Some(types) = self.types.get(&used) {
            return Some(types.clone());
        }
        let added = used.trailing_ones() as usize;
        let more = self.types(used | 1 << added)?;
        self.work = self.work.checked_sub(more.len())?;
        let inner: usize = (added + 1..self.sizes.len())
            .filter(|axis| used & 1 << axis != 0)
            .map(|axis| self.sizes[axis] as usize)
            .product();
        let size = self.sizes[added] as usize;
        let mut numbers = HashMap::new();
        let types = (0..more.len() / size).map(|at| {
            let first = at / inner * inner * size + at % inner;
            let along: Vec<u32> = (0..size).map(|i| more[first + i * inner]).collect();
            number(&mut numbers, along)
        });
        let types = Rc::new(types.collect::<Vec<u32>>());
        self.types.insert(used, types.clone());
        Some(types)
    }
}
