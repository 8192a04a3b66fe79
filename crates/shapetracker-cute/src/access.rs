//! What threads read and write: bank conflicts, sectors, vectors, and swizzles that remove conflicts.

use std::collections::{BTreeMap, HashMap};

use crate::error::Fault;
use crate::hardware::{LANES, WORD};
use crate::instruction::{degree_of, words_of};
use crate::layout::Mode;
use crate::{ComposedLayout, Error, Swizzle};

/// The bytes of a sector of global memory.
const SECTOR: i64 = 32;
/// The most bytes that one thread moves with one instruction.
const WIDEST: i64 = 16;
/// How many steps are done for one analysis. A step is the choice of an entry of a mode, some hundred nanoseconds; in
/// the search of a swizzle the evaluation of an instruction counts as some, too.
const MOST_STEPS: u64 = 1 << 20;
/// How many steps are done for one search of a swizzle, all candidates together. One of them may take those of one
/// analysis, so that one that is hard to decide leaves work for the others.
const MOST_STEPS_OF_SEARCH: u64 = 4 * MOST_STEPS;
/// The steps of an instruction that is evaluated.
const STEPS_OF_INSTRUCTION: u64 = 8;
/// How many instructions that have a conflict under one swizzle are tried on the next ones.
const MOST_OF_ONE: usize = 32;

/// Which addresses threads read or write: the first mode of a layout takes the thread, the others its values.
///
/// Where a layout takes threads and values to a tile, and another one the tile to memory, it is their composition
/// ([`Layout::compose`](crate::Layout::compose), [`ComposedLayout::compose`]). Several modes of threads are put into one:
/// `((8,4)):((1,64))`.
///
/// Each thread moves its values one after the other, in vectors of as many elements as [`AccessPattern::with_vector`]
/// says, and otherwise one by one. Warps are 32 threads in a row, starting at thread 0. Addresses count elements from a
/// base that is aligned to 128 bytes.
///
/// ```
/// use shapetracker_cute::{AccessPattern, Layout};
///
/// // A warp reads a column of a row-major matrix of 32 by 32 floats: all lanes hit one bank.
/// let column: Layout = "(32,32):(32,1)".parse()?;
/// let pattern = AccessPattern::new(column, 4)?;
/// assert_eq!(pattern.bank_conflicts()?.most, 32);
///
/// let swizzle = AccessPattern::conflict_free_swizzle(&[pattern])?.unwrap();
/// assert_eq!(swizzle.to_string(), "Sw<5,0,5>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessPattern {
    addresses: ComposedLayout,
    element_bytes: i64,
    vector: i64,
    /// How many of the leaves are those of threads.
    threads: usize,
}

/// What instructions of warps cost, counted over all warps and all values.
///
/// ```
/// use shapetracker_cute::{AccessPattern, Layout};
///
/// // Two threads a word: each half of a warp reads 16 words in a row.
/// let layout: Layout = "(64,2):(1,64)".parse()?;
/// let conflicts = AccessPattern::new(layout, 2)?.bank_conflicts()?;
/// assert_eq!((conflicts.most, conflicts.counts), (1, vec![(1, 4)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// The largest cost of an instruction.
    pub most: i64,
    /// A warp that has it.
    pub warp: i64,
    /// The number of the first value that the instruction moves.
    pub value: i64,
    /// Each cost, in ascending order, and how many instructions of warps have it.
    pub counts: Vec<(i64, i64)>,
}

impl Census {
    /// The costs of all instructions together.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let layout: Layout = "(64,2):(1,64)".parse()?;
    /// assert_eq!(AccessPattern::new(layout, 4)?.sectors()?.total(), 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn total(&self) -> i128 {
        self.counts.iter().map(|&(cost, count)| i128::from(cost) * i128::from(count)).sum()
    }
}

const OP: &str = "access";

impl AccessPattern {
    /// A pattern from a layout whose first mode takes the thread, and the bytes of an element: 1, 2, 4, 8 or 16.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, ComposedLayout};
    ///
    /// let tile: ComposedLayout = "Sw<3,3,3> o 0 o (8,8):(8,1)".parse()?;
    /// assert!(AccessPattern::new(tile.clone(), 2).is_ok());
    /// assert!(AccessPattern::new(tile, 3).is_err());
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Another number of bytes; an address past `i64`, counted in bytes.
    pub fn new(addresses: impl Into<ComposedLayout>, element_bytes: i64) -> Result<AccessPattern, Error> {
        let addresses = addresses.into();
        if !(1..=WIDEST).contains(&element_bytes) || element_bytes.count_ones() != 1 {
            return Err(Error::new(OP, Fault::ElementBytes { bytes: element_bytes }));
        }
        // A swizzle stays below the next power of two of what it is given.
        let top = i64::MAX / (4 * element_bytes);
        let (low, high) = addresses.layout.range().unwrap_or_default();
        let reach = [low, high].map(|end| end.saturating_add(addresses.offset).saturating_abs());
        if reach.into_iter().any(|reach| reach > top) || addresses.swizzle.width() > 56 {
            return Err(Error::new(OP, Fault::Overflow { what: "an address in bytes" }));
        }
        let threads = addresses.layout.profile.items().first().map_or(0, |(_, leaves)| leaves.end);
        Ok(AccessPattern { addresses, element_bytes, vector: 1, threads })
    }

    /// The addresses: the first mode of the layout takes the thread, the others its values.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let rows: Layout = "(32,8):(8,1)".parse()?;
    /// assert_eq!(AccessPattern::new(rows.clone(), 2)?.addresses().layout(), &rows);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn addresses(&self) -> &ComposedLayout {
        &self.addresses
    }

    /// The number of threads.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let rows: Layout = "((8,4),2,4):((1,64),8,16)".parse()?;
    /// let pattern = AccessPattern::new(rows, 2)?;
    /// assert_eq!((pattern.threads(), pattern.values()), (32, 8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn threads(&self) -> i64 {
        self.addresses.layout.sizes[..self.threads].iter().product()
    }

    /// The number of values of each thread.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let alone: Layout = "32:4".parse()?;
    /// assert_eq!(AccessPattern::new(alone, 2)?.values(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values(&self) -> i64 {
        self.addresses.layout.sizes[self.threads..].iter().product()
    }

    /// The address of a value of a thread, in elements; nothing where there is no such thread or value.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let rows: Layout = "(32,8):(8,1)".parse()?;
    /// assert_eq!(AccessPattern::new(rows, 2)?.address(3, 2), Some(26));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn address(&self, thread: i64, value: i64) -> Option<i64> {
        let threads = self.threads();
        let inside = (0..threads).contains(&thread) && (0..self.values()).contains(&value);
        if inside { self.addresses.at(thread + value * threads) } else { None }
    }

    /// The word of 4 bytes in which a value of a thread begins; nothing where there is no such thread or value.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout, Phase};
    ///
    /// let rows: Layout = "(32,8):(8,1)".parse()?;
    /// let word = AccessPattern::new(rows, 2)?.word(9, 2).unwrap();
    /// assert_eq!((word, Phase::bank(word)), (37, 5)); // address 74, byte 148
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn word(&self, thread: i64, value: i64) -> Option<i64> {
        self.address(thread, value).map(|at| (at * self.element_bytes).div_euclid(WORD))
    }

    /// The bytes of an element.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let rows: Layout = "(32,8):(8,1)".parse()?;
    /// assert_eq!(AccessPattern::new(rows, 2)?.element_bytes(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn element_bytes(&self) -> i64 {
        self.element_bytes
    }

    /// How many values of a thread one instruction moves.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let rows: Layout = "(32,8):(8,1)".parse()?;
    /// let pattern = AccessPattern::new(rows, 2)?;
    /// assert_eq!((pattern.vector(), pattern.with_vector(4)?.vector()), (1, 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn vector(&self) -> i64 {
        self.vector
    }

    /// The same pattern where each instruction of a thread moves so many of its values at once.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let rows: Layout = "(32,8):(8,1)".parse()?;
    /// let pattern = AccessPattern::new(rows, 2)?;
    /// assert_eq!(pattern.clone().with_vector(8)?.bank_conflicts()?.most, 1);
    /// assert!(pattern.with_vector(16).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A number that is no power of two, or more than [`AccessPattern::widest_vector`].
    pub fn with_vector(self, vector: i64) -> Result<AccessPattern, Error> {
        if vector < 1 || vector.count_ones() != 1 {
            return Err(Error::new(OP, Fault::VectorSize { given: vector }));
        }
        let most = self.widest_vector()?;
        if vector > most {
            return Err(Error::new(OP, Fault::Vector { given: vector, bytes: self.element_bytes, most }));
        }
        Ok(AccessPattern { vector, ..self })
    }

    /// The most values of a thread that one instruction may move: a power of two of at most 16 bytes, so that from each
    /// multiple of it on the values lie next to each other in memory, and start at a multiple of it, for all threads.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let rows: Layout = "(32,8):(12,1)".parse()?;
    /// assert_eq!(AccessPattern::new(rows, 2)?.widest_vector()?, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::is_limit`] where whether a swizzle takes vectors apart takes more work than is done.
    pub fn widest_vector(&self) -> Result<i64, Error> {
        let (threads, values) = self.modes();
        let contiguous = values.first().filter(|&&(_, stride)| stride == 1).map_or(1, |&(size, _)| size);
        let others = threads.iter().chain(values.iter().skip(usize::from(contiguous > 1)));
        let aligned = others.fold(self.addresses.offset, |bits, &(_, stride)| bits | stride);
        let mut widest = WIDEST / self.element_bytes;
        while widest > 1 && (contiguous % widest != 0 || aligned % widest != 0 || self.is_taken_apart(widest)?) {
            widest /= 2;
        }
        Ok(widest)
    }

    /// Whether the swizzle moves neighbours apart inside of an aligned vector, or a vector away from its alignment.
    fn is_taken_apart(&self, vector: i64) -> Result<bool, Error> {
        let low = vector.trailing_zeros();
        for (source, target) in self.addresses.swizzle.pairs() {
            // Among the elements of a vector every low bit is set somewhere, so that one that is read changes some of
            // them and not the others. One that is changed is so in all of them alike, if the bit that is read is ever
            // set.
            if source < low || (target < low && self.is_ever_set(source)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether some address has a bit, before it is swizzled.
    fn is_ever_set(&self, bit: u32) -> Result<bool, Error> {
        let high = self.addresses.layout.range().map_or(0, |(_, high)| high + self.addresses.offset);
        if high < 1 << bit {
            return Ok(false);
        }
        let modulus = 1i64 << (bit + 1);
        let mut steps = Steps(MOST_STEPS);
        let mut seen = vec![self.addresses.offset & (modulus - 1)];
        for (size, stride) in self.addresses.layout.leaves() {
            let period = size.min(modulus / gcd_with_power(stride, modulus));
            let mut next = std::collections::HashSet::new();
            for &from in &seen {
                for entry in 0..period {
                    steps.take(1)?;
                    next.insert((from + entry.wrapping_mul(stride)) & (modulus - 1));
                }
            }
            seen = next.into_iter().collect();
        }
        Ok(seen.into_iter().any(|address| address >> bit & 1 == 1))
    }

    /// The bank conflicts in shared memory of all instructions of all warps: the cost of one is the degree of its
    /// conflict, the largest number of different 4-byte words that its lanes access in one of the 32 banks, so that 1 is
    /// free of conflicts. Lanes that access the same word are served together.
    ///
    /// Accesses of 8 and 16 bytes are taken to run in 2 and 4 phases, of 16 and 8 lanes, and count by the worst of
    /// these.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// // Rows of 48 words, 64 apart: the lanes of a warp that goes on from one row to the next meet in some banks.
    /// let rows: Layout = "((48,100)):((1,64))".parse()?;
    /// let conflicts = AccessPattern::new(rows, 4)?.bank_conflicts()?;
    /// assert_eq!((conflicts.most, conflicts.warp, conflicts.counts), (2, 1, vec![(1, 100), (2, 50)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::is_limit`] where addresses and warps have too little in common, which takes sizes made for it.
    ///
    /// # Cost
    /// Microseconds for layouts of powers of two, and mostly below a millisecond for others, whatever the number of
    /// warps; at most 1,048,576 steps, a good quarter of a second, before it is an error.
    ///
    /// # Source
    /// What the lanes of a warp want, up to a shift of all addresses, depends only on which modes end between them. A
    /// shift by whole words turns the banks, and one by multiples of what a swizzle reads does nothing else. So warps
    /// fall into few classes, which are found mode by mode, and each is counted and one of it evaluated. If the
    /// addresses are linear over bits, another warp is the first one up to an exclusive or, which permutes words and
    /// banks.
    pub fn bank_conflicts(&self) -> Result<Census, Error> {
        self.census(WORD, |instructions, class| instructions.degree(class))
    }

    /// The sectors of 32 bytes of global memory that the lanes of a warp touch, for all instructions of all warps.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let rows: Layout = "(64,8):(1,65)".parse()?;
    /// let sectors = AccessPattern::new(rows, 4)?.sectors()?;
    /// // Of the eight rows one is aligned.
    /// assert_eq!(sectors.counts, vec![(4, 2), (5, 14)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`AccessPattern::bank_conflicts`].
    ///
    /// # Cost
    /// As [`AccessPattern::bank_conflicts`].
    pub fn sectors(&self) -> Result<Census, Error> {
        self.census(SECTOR, |instructions, class| instructions.sectors(class))
    }

    /// The swizzle with which none of the patterns has a bank conflict, in any warp: one of the fewest bits, and of the
    /// lowest of these. Nothing where there is none in the family that is searched, up to 5 bits, of addresses up to
    /// bit 16.
    ///
    /// Give all patterns of one tile, what writes it and what reads it. The swizzle keeps their vectors together. It
    /// permutes blocks of `2^(B + M)` elements, so that a tile that ends inside of a block may need memory for more of
    /// it: [`ComposedLayout::cosize`] of the swizzled addresses says how many elements.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// // A tile of 64 by 64 half precision numbers, written by rows and read by columns, 16 bytes a thread.
    /// let rows: Layout = "((8,32),8):((8,64),1)".parse()?;
    /// let columns: Layout = "((64,8),8):((64,8),1)".parse()?;
    /// let patterns = [rows, columns].map(|layout| AccessPattern::new(layout, 2).unwrap().with_vector(8).unwrap());
    /// assert_eq!(patterns[1].bank_conflicts()?.most, 8);
    /// assert_eq!(AccessPattern::conflict_free_swizzle(&patterns)?.unwrap().to_string(), "Sw<3,3,3>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A pattern that is swizzled already, or has a negative address; [`Error::is_limit`] where some candidate was not
    /// decided within the work limit, and no other one is free of conflicts.
    ///
    /// # Cost
    /// Below a millisecond for most tiles, and below half a second for any. Most candidates are refuted by one
    /// instruction that has a conflict under another one; the others cost what [`AccessPattern::bank_conflicts`] does.
    /// All candidates share one work limit of four times that of an analysis, and a candidate that takes as much as one
    /// analysis may is left undecided: the next ones are still looked at. Where one of fewer bits was left so, the
    /// answer is free of conflicts but may not be the smallest.
    pub fn conflict_free_swizzle(patterns: &[AccessPattern]) -> Result<Option<Swizzle>, Error> {
        if patterns.iter().any(|pattern| pattern.addresses.swizzle != Swizzle::IDENTITY) {
            return Err(Error::new(OP, Fault::Swizzled));
        }
        let keep = patterns.iter().map(|pattern| pattern.vector.trailing_zeros()).max().unwrap_or(0);
        let (mut steps, mut is_decided) = (Steps(MOST_STEPS_OF_SEARCH), true);
        // Instructions that have a conflict under some swizzle often have one under the next swizzle, too. Those that had
        // one last are tried first: most swizzles are refuted by one instruction.
        let mut known: Vec<(usize, Class)> = Vec::new();
        for bits in 0..=5u32 {
            let shifts = if bits == 0 { 0..=0 } else { bits..=12 };
            for base in keep..=if bits == 0 { keep } else { 10 } {
                for shift in shifts.clone().filter(|shift| base + bits + shift <= 17) {
                    let swizzle = if bits == 0 { Swizzle::IDENTITY } else { Swizzle::new(bits, base, shift as i32)? };
                    let swizzled = |pattern: &AccessPattern| {
                        Ok(AccessPattern { addresses: pattern.under(swizzle)?, ..pattern.clone() })
                    };
                    let swizzled = patterns.iter().map(swizzled).collect::<Result<Vec<_>, Error>>()?;
                    match steps.share(MOST_STEPS, |steps| are_free(&swizzled, &mut known, steps)) {
                        Ok(true) => return Ok(Some(swizzle)),
                        Ok(false) => {}
                        Err(OutOfSteps) => is_decided = false,
                    }
                }
            }
        }
        if is_decided {
            return Ok(None);
        }
        let what = "the search for a swizzle without conflicts";
        Err(Error::new(OP, Fault::TooMuchWork { what, limit: MOST_STEPS_OF_SEARCH }))
    }

    /// The addresses of an unswizzled pattern under a swizzle.
    pub(crate) fn under(&self, swizzle: Swizzle) -> Result<ComposedLayout, Error> {
        let ComposedLayout { offset, layout, .. } = &self.addresses;
        ComposedLayout::new(swizzle, *offset, layout.clone())
    }

    /// The coalesced modes of the threads, and of the values of a thread.
    fn modes(&self) -> (Vec<Mode>, Vec<Mode>) {
        let leaves: Vec<Mode> = self.addresses.layout.leaves().collect();
        let coalesced = |modes: &[Mode]| {
            let mut coalesced: Vec<Mode> = Vec::new();
            for &(size, stride) in modes.iter().filter(|mode| mode.0 != 1) {
                match coalesced.last_mut() {
                    Some(last) if last.0.checked_mul(last.1) == Some(stride) => last.0 *= size,
                    _ => coalesced.push((size, stride)),
                }
            }
            coalesced
        };
        (coalesced(&leaves[..self.threads]), coalesced(&leaves[self.threads..]))
    }

    /// The cost of every instruction, which must stay the same when all addresses move by multiples of `unit` bytes.
    fn census(&self, unit: i64, cost: impl Fn(&Instructions, &Class) -> i64) -> Result<Census, Error> {
        let instructions = Instructions::of(self);
        let mut census = Census { most: 0, warp: 0, value: 0, counts: Vec::new() };
        let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
        for class in instructions.classes(unit, &mut Steps(MOST_STEPS))? {
            let cost = cost(&instructions, &class);
            *counts.entry(cost).or_default() += class.count;
            let (warp, value) = (class.thread / LANES, class.value * self.vector);
            if cost > census.most || (cost == census.most && (warp, value) < (census.warp, census.value)) {
                census = Census { most: cost, warp, value, ..census };
            }
        }
        census.counts = counts.into_iter().collect();
        Ok(census)
    }
}

/// Whether no instruction of some patterns has a bank conflict. Some of those that have one join the known ones, which are
/// asked first.
fn are_free(
    patterns: &[AccessPattern],
    known: &mut Vec<(usize, Class)>,
    steps: &mut Steps,
) -> Result<bool, OutOfSteps> {
    let all: Vec<Instructions> = patterns.iter().map(Instructions::of).collect();
    for k in (0..known.len()).rev() {
        steps.take(STEPS_OF_INSTRUCTION)?;
        let (pattern, class) = &known[k];
        if all[*pattern].degree(class) > 1 {
            let last = known.remove(k);
            known.push(last);
            return Ok(false);
        }
    }
    for (pattern, instructions) in all.iter().enumerate() {
        let mut conflicts = instructions.classes(WORD, steps)?;
        let mut evaluated = Ok(());
        conflicts.retain(|class| {
            evaluated = evaluated.and_then(|()| steps.take(STEPS_OF_INSTRUCTION));
            evaluated.is_ok() && instructions.degree(class) > 1
        });
        if !conflicts.is_empty() {
            let each = conflicts.len().div_ceil(MOST_OF_ONE);
            known.extend(conflicts.into_iter().step_by(each).map(|class| (pattern, class)));
            return Ok(false);
        }
        evaluated?;
    }
    Ok(true)
}

/// The instructions of all warps of a pattern.
struct Instructions<'a> {
    pattern: &'a AccessPattern,
    /// The coalesced modes of the threads.
    threads: Vec<Mode>,
    /// Those of the vectors of a thread: what one instruction moves is one value here.
    values: Vec<Mode>,
    /// The number of threads.
    count: i64,
}

impl Instructions<'_> {
    fn of(pattern: &AccessPattern) -> Instructions<'_> {
        let (threads, mut values) = pattern.modes();
        if pattern.vector > 1
            && let Some(first) = values.first_mut()
        {
            *first = (first.0 / pattern.vector, first.1 * pattern.vector);
        }
        let count = threads.iter().map(|mode| mode.0).product();
        Instructions { pattern, threads, values, count }
    }

    /// Instructions so that each one is, up to a shift of all addresses by multiples of `unit` bytes, one of these.
    fn classes(&self, unit: i64, steps: &mut Steps) -> Result<Vec<Class>, OutOfSteps> {
        let AccessPattern { addresses, element_bytes, .. } = self.pattern;
        if addresses.layout.is_empty() {
            return Ok(Vec::new());
        }
        if addresses.offset == 0 && addresses.layout.columns().is_some() {
            let warps = self.count / LANES + i64::from(self.count % LANES > 0);
            let values: i64 = self.values.iter().map(|mode| mode.0).product();
            return Ok(vec![Class { thread: 0, value: 0, count: warps * values }]);
        }
        let modulus = (unit / element_bytes).max(1).max(1 << addresses.swizzle.width());
        classes(&self.threads, self.count, &self.values, addresses.offset, modulus, steps)
    }

    /// The bytes at which the lanes of an instruction begin.
    fn lanes(&self, class: &Class) -> Vec<i64> {
        let AccessPattern { addresses, element_bytes, .. } = self.pattern;
        let shift = value_at(&self.values, class.value) + addresses.offset;
        let at = |thread| addresses.swizzle.apply(value_at(&self.threads, thread) + shift) * element_bytes;
        (class.thread..class.thread + LANES.min(self.count - class.thread)).map(at).collect()
    }

    /// The bytes that a lane moves.
    fn width(&self) -> i64 {
        self.pattern.vector * self.pattern.element_bytes
    }

    /// The degree of the bank conflict of an instruction.
    fn degree(&self, class: &Class) -> i64 {
        let degree = |phase: &[i64]| {
            let mut words: Vec<i64> = phase.iter().flat_map(|&at| words_of(at, self.width())).collect();
            words.sort_unstable();
            words.dedup();
            degree_of(words.into_iter())
        };
        self.lanes(class).chunks(self.pattern.lanes_of_a_phase()).map(degree).max().unwrap_or(0)
    }

    /// The number of sectors that an instruction touches.
    fn sectors(&self, class: &Class) -> i64 {
        let lanes = self.lanes(class);
        let touched = lanes.iter().flat_map(|at| [at, &(at + self.width() - 1)].map(|at| at.div_euclid(SECTOR)));
        let mut sectors: Vec<i64> = touched.collect();
        sectors.sort_unstable();
        sectors.dedup();
        sectors.len() as i64
    }
}

/// The value of modes at a number.
fn value_at(modes: &[Mode], number: i64) -> i64 {
    let (mut rest, mut value) = (number, 0);
    for &(size, stride) in modes {
        value += rest % size * stride;
        rest /= size;
    }
    value
}

/// Instructions of warps whose addresses are the same up to a shift that costs nothing.
struct Class {
    /// The first thread of one of the warps.
    thread: i64,
    /// The value that it moves.
    value: i64,
    /// How many instructions there are.
    count: i64,
}

/// What lanes of a warp have in common with those of another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Lanes {
    /// No mode ends between the lanes but those below the first 32 threads; the first lane is at this place of those.
    Inside(i64),
    /// So many lanes are before the end of the modes of the first 32 threads or more, and all modes above end there,
    /// too.
    AllEnd(i64),
    /// The same, but the mode with this number goes on.
    EndBelow(i64, usize),
}

/// The classes of the instructions of warps: found by choosing the entries of the first thread mode by mode, with what
/// the others need to know of them, which is little.
fn classes(
    threads: &[Mode],
    count: i64,
    values: &[Mode],
    offset: i64,
    modulus: i64,
    steps: &mut Steps,
) -> Result<Vec<Class>, OutOfSteps> {
    let residue = |address: i64| address & (modulus - 1);
    // By their lanes, the thread modulo 32 and the address modulo the modulus: one instruction, and how many there are.
    type Found = HashMap<(Lanes, i64, i64), Class>;
    let add = |found: &mut Found, key: (Lanes, i64, i64), class: Class| {
        let known = found.entry(key).or_insert(Class { count: 0, ..class });
        known.count += class.count;
        if (class.thread, class.value) < (known.thread, known.value) {
            (known.thread, known.value) = (class.thread, class.value);
        }
    };
    let mut found = Found::new();
    // The modes that make up the first 32 threads, as far as the one in which they end.
    let (mut below, mut low) = (1, 0);
    while low < threads.len() && below * threads[low].0 < LANES {
        below *= threads[low].0;
        low += 1;
    }
    if count >= LANES {
        let (size, stride) = threads[low];
        let block = below * size;
        // Entries of the last of these modes are equal up to this period, unless the lanes reach its end.
        let period = (LANES / gcd_with_power(below, LANES)).max(modulus / gcd_with_power(stride, modulus));
        for inside in 0..below {
            let at = value_at(&threads[..low], inside) + offset;
            // First threads at this place, of which no lane reaches the end.
            let safe = if block - LANES >= inside { (block - LANES - inside) / below + 1 } else { 0 };
            for entry in 0..safe.min(period) {
                steps.take(1)?;
                let thread = inside + below * entry;
                let key = (Lanes::Inside(inside), thread % LANES, residue(at + entry * stride));
                add(&mut found, key, Class { thread, value: 0, count: (safe - entry - 1) / period + 1 });
            }
            for entry in safe..size {
                steps.take(1)?;
                let thread = inside + below * entry;
                let key = (Lanes::AllEnd(block - thread), thread % LANES, residue(at + entry * stride));
                add(&mut found, key, Class { thread, value: 0, count: 1 });
            }
        }
        let mut weight = block;
        for (k, &(size, stride)) in threads.iter().enumerate().skip(low + 1) {
            let period = (LANES / gcd_with_power(weight, LANES)).max(modulus / gcd_with_power(stride, modulus));
            let mut next = Found::new();
            for ((lanes, number, address), class) in found {
                let (goes_on, entries) = match lanes {
                    Lanes::AllEnd(before) => (Lanes::EndBelow(before, k), size - 1),
                    _ => (lanes, size),
                };
                let mut choose = |lanes: Lanes, entry: i64, times: i64| {
                    let key =
                        (lanes, (number + entry % LANES * (weight % LANES)) % LANES, residue(address + entry * stride));
                    let thread = class.thread + weight * entry;
                    add(&mut next, key, Class { thread, value: 0, count: class.count * times });
                };
                for entry in 0..entries.min(period) {
                    steps.take(1)?;
                    choose(goes_on, entry, (entries - entry - 1) / period + 1);
                }
                if entries < size {
                    choose(lanes, size - 1, 1);
                }
            }
            found = next;
            weight *= size;
        }
        // Warps begin at multiples of 32, and those whose lanes go past the last thread are none of these.
        found
            .retain(|(lanes, number, _), _| *number == 0 && !matches!(lanes, Lanes::AllEnd(before) if *before < LANES));
    }
    // What is left of the threads is a warp of its own.
    let rest = count % LANES;
    if rest > 0 {
        let thread = count - rest;
        let key = (Lanes::AllEnd(rest), 0, residue(value_at(threads, thread) + offset));
        add(&mut found, key, Class { thread, value: 0, count: 1 });
    }
    let mut weight = 1;
    for &(size, stride) in values {
        let period = modulus / gcd_with_power(stride, modulus);
        let mut next = Found::new();
        for ((lanes, number, address), class) in found {
            for entry in 0..size.min(period) {
                steps.take(1)?;
                let times = (size - entry - 1) / period + 1;
                let key = (lanes, number, residue(address + entry * stride));
                let value = class.value + weight * entry;
                add(&mut next, key, Class { thread: class.thread, value, count: class.count * times });
            }
        }
        found = next;
        weight *= size;
    }
    // In an order of their own: a search that stops at its work limit does so in the same place each time.
    let mut found: Vec<Class> = found.into_values().collect();
    found.sort_unstable_by_key(|class| (class.thread, class.value));
    Ok(found)
}

/// The greatest common divisor of a number and a power of two; the power of two itself for 0.
fn gcd_with_power(number: i64, power: i64) -> i64 {
    if number == 0 { power } else { power.min(1 << number.trailing_zeros().min(62)) }
}

/// Steps that are left for an answer, counted and not timed, so that it is the same on every machine.
struct Steps(u64);

/// No step is left.
#[derive(Clone, Copy)]
struct OutOfSteps;

impl From<OutOfSteps> for Error {
    fn from(_: OutOfSteps) -> Error {
        Error::new(OP, Fault::TooMuchWork { what: "the analysis of all warps", limit: MOST_STEPS })
    }
}

impl Steps {
    fn take(&mut self, steps: u64) -> Result<(), OutOfSteps> {
        self.0 = self.0.checked_sub(steps).ok_or(OutOfSteps)?;
        Ok(())
    }

    /// Does something with so many of the steps at most; what it leaves goes back.
    fn share<T>(&mut self, most: u64, work: impl FnOnce(&mut Steps) -> T) -> T {
        let given = self.0.min(most);
        let mut share = Steps(given);
        let done = work(&mut share);
        self.0 -= given - share.0;
        done
    }
}
