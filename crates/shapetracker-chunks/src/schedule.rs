//! An order of reading, moving and writing under a limit of memory.
//!
//! The output chunks are put in some order, which is cut into rounds. The output chunks of a round are held in memory together,
//! and each input chunk that they touch is moved to all of them. An input chunk that a later round touches, too, stays in
//! memory while there is room; the one that is touched again last goes first (Belady, A study of replacement algorithms for a
//! virtual-storage computer, 1966). How many bytes are read in this way is counted, not estimated, for a few dozen orders and
//! sizes of rounds, and the one that reads the fewest is taken.
//!
//! Two extremes meet in this: rounds of one output chunk keep inputs, which is best where outputs need few of them; large
//! rounds keep outputs, which is best where every input goes to many of them.

use std::collections::BTreeSet;

use crate::error::Fault;
use crate::{ChunkPlan, Error, Graph, Grid};

/// One step of a schedule. What is listed in one step may happen at the same time, and the next step begins when it is
/// done.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{ChunkPlan, Grid, Step};
///
/// let grid = Grid::whole([4])?;
/// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, grid.clone(), grid)?;
/// let steps = [
///     Step::Open(vec![0]),
///     Step::Read(vec![0]),
///     Step::Move(vec![(0, 0)]),
///     Step::Forget(vec![0]),
///     Step::Write(vec![0]),
/// ];
/// assert_eq!(plan.rounds(1000, 1, 1)?.steps(), steps);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Get memory for these output chunks, with the fill value where [`ChunkPlan::filled`] says that they need it.
    Open(Vec<usize>),
    /// Read these input chunks whole.
    Read(Vec<usize>),
    /// Move pieces: pairs of an output chunk and an input chunk that is in memory, in the order of the output chunks. Two
    /// pieces of one output chunk have no element in common, and yet they write into the same memory.
    Move(Vec<(usize, usize)>),
    /// Let go of these input chunks.
    Forget(Vec<usize>),
    /// Write these output chunks, which are complete, and let go of them.
    Write(Vec<usize>),
}

/// An order of reading, moving and writing, and what it costs.
///
/// The output chunks are made in rounds: those of one round are held in memory together, while every input chunk that
/// they touch is read once, if it is not still in memory.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{ChunkPlan, Grid};
///
/// let layout = ShapeTracker::contiguous([4, 4])?.permute([1, 0])?;
/// let plan = ChunkPlan::new(&layout, Grid::regular([4, 4], [2, 2])?, Grid::regular([4, 4], [2, 2])?)?;
/// let schedule = plan.rounds(1000, 4, 1)?;
/// assert_eq!((schedule.reads(), schedule.lower_bound(), schedule.read_bytes()), (4, 4, 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    steps: Vec<Step>,
    untouched: Vec<usize>,
    rounds: usize,
    reads: usize,
    lower_bound: usize,
    read_bytes: u64,
    peak_bytes: u64,
    largest_task: u64,
}

impl Schedule {
    pub(crate) fn new(plan: &ChunkPlan, memory: u64, width: u64, at_once: usize) -> Result<Schedule, Error> {
        if width == 0 {
            return Err(Fault::Width.into());
        }
        let graph = plan.graph()?;
        let bytes = |grid: &Grid, chunk: usize| (grid.numel(chunk) as u64).saturating_mul(width);
        let mut touched: Vec<usize> = graph.inputs().to_vec();
        touched.sort_unstable();
        touched.dedup();
        let lower_bound = touched.len();
        let problem = Problem {
            graph,
            inputs: touched.iter().map(|input| bytes(plan.input(), *input)).collect(),
            outputs: (0..graph.outputs()).map(|output| bytes(plan.output(), output)).collect(),
            places: Places::of(touched),
            memory,
            at_once: at_once.max(1),
        };
        let (mut untouched, mut made, mut largest_task) = (Vec::new(), Vec::new(), 0);
        for output in 0..graph.outputs() {
            let held = problem.outputs[output];
            let inputs = || problem.inputs_of(output).map(|input| problem.inputs[input]);
            let Some(largest) = inputs().max() else {
                untouched.push(output);
                continue;
            };
            if held.saturating_add(largest) > memory {
                return Err(Fault::Memory { allowed: memory, output: held, input: largest }.into());
            }
            largest_task = inputs().fold(held, u64::saturating_add).max(largest_task);
            made.push(output);
        }
        let rounds = problem.best(plan, &made);
        let mut steps = Vec::new();
        let cost = problem.run(&rounds, u64::MAX, Some(&mut steps)).unwrap_or_default();
        Ok(Schedule {
            steps,
            untouched,
            rounds: rounds.len(),
            reads: cost.reads,
            lower_bound,
            read_bytes: cost.bytes,
            peak_bytes: cost.peak,
            largest_task,
        })
    }

    /// The steps, in order.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid, Step};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// let reads = plan.rounds(1000, 1, 1)?.steps().iter().filter(|step| matches!(step, Step::Read(_))).count();
    /// assert_eq!(reads, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The output chunks that touch no input chunk, in ascending order: all fill value. No step mentions them.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let padded = ShapeTracker::contiguous([4])?.pad([(4, 0)])?;
    /// let plan = ChunkPlan::new(&padded, Grid::whole([4])?, Grid::regular([8], [4])?)?;
    /// assert_eq!(plan.rounds(1000, 1, 1)?.untouched(), [0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn untouched(&self) -> &[usize] {
        &self.untouched
    }

    /// How many rounds there are.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::whole([4])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(1000, 1, 1)?.rounds(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// How many times an input chunk is read.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(1000, 1, 1)?.reads(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reads(&self) -> usize {
        self.reads
    }

    /// The input chunks that some output chunk touches: no order has fewer reads.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(1000, 1, 1)?.lower_bound(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lower_bound(&self) -> usize {
        self.lower_bound
    }

    /// How many bytes of input chunks are read.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(1000, 8, 1)?.read_bytes(), 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// The most bytes of chunks that are in memory at the same time.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(6, 1, 1)?.peak_bytes(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// The bytes of the output chunk that has the most of them together with all input chunks that it touches: what one task
    /// per output chunk takes.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(6, 1, 1)?.largest_task(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn largest_task(&self) -> u64 {
        self.largest_task
    }
}

/// What is known of the chunks when an order is looked for. Input chunks go by their places among those that are touched.
struct Problem<'a> {
    graph: &'a Graph,
    /// The bytes of each input chunk that is touched, and of each output chunk.
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    places: Places,
    memory: u64,
    at_once: usize,
}

/// The places of numbers in a sorted list.
struct Places {
    numbers: Vec<usize>,
    /// The place of each number, if the numbers are not much sparser than a list of that length.
    direct: Vec<u32>,
}

impl Places {
    fn of(numbers: Vec<usize>) -> Places {
        let len = numbers.last().map_or(0, |last| last + 1);
        let mut direct = Vec::new();
        if len <= 16 * numbers.len() + 1024 {
            direct = vec![0; len];
            for (place, number) in numbers.iter().enumerate() {
                direct[*number] = place as u32;
            }
        }
        Places { numbers, direct }
    }

    fn of_number(&self, number: usize) -> usize {
        match self.direct.get(number) {
            Some(place) => *place as usize,
            None => self.numbers.partition_point(|known| *known < number),
        }
    }
}

/// What an order of rounds costs.
#[derive(Clone, Copy, Default)]
struct Cost {
    reads: usize,
    bytes: u64,
    peak: u64,
}

/// No later round.
const NEVER: u32 = u32::MAX;

/// Touches that are gone through in search of an order, which takes some seconds, and mostly far less, because the search ends
/// where nothing is read twice.
const MOST_TRIED: usize = 1 << 25;

/// How many orders are tried with rounds of the first size; with each other size it is one fewer.
const MOST_ORDERS: usize = 48;

/// Twelfths of the memory that rounds may hold.
const HELD: [u128; 9] = [0, 12, 6, 3, 9, 8, 4, 2, 1];

impl Problem<'_> {
    fn inputs_of(&self, output: usize) -> impl Iterator<Item = usize> + '_ {
        self.graph.inputs_of(output).iter().map(|input| self.places.of_number(*input))
    }

    /// The rounds that read the fewest bytes of those that are tried.
    fn best(&self, plan: &ChunkPlan, made: &[usize]) -> Vec<Vec<usize>> {
        let least: u64 = self.inputs.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes));
        let mut best: Option<(u64, Vec<Vec<usize>>)> = None;
        let (mut orders, mut known): (_, Vec<Vec<usize>>) = (orders(plan, made), Vec::new());
        let mut tried = 0usize;
        // The first orders with each size of rounds come before others with any.
        let candidates =
            (0..MOST_ORDERS).flat_map(|sum| (0..HELD.len().min(sum + 1)).map(move |size| (size, sum - size)));
        for (size, at) in candidates {
            let most = best.as_ref().map_or(u64::MAX, |(bytes, _)| *bytes);
            if most <= least || (best.is_some() && tried > MOST_TRIED) {
                break;
            }
            if at == known.len() {
                known.extend(orders.find(|order| !known.contains(order)));
            }
            let Some(order) = known.get(at) else { continue };
            tried += self.graph.touches();
            // How many bytes of output chunks are held at once: one chunk, or a part of the memory.
            let rounds = self.cut(order, (u128::from(self.memory) * HELD[size] / 12) as u64);
            if let Some(cost) = self.run(&rounds, most, None) {
                best = Some((cost.bytes, rounds));
            }
        }
        best.map_or_else(Vec::new, |(_, rounds)| rounds)
    }

    /// Cuts an order into rounds that hold no more than so many bytes, and leave room for each input chunk that they touch.
    fn cut(&self, order: &[usize], held: u64) -> Vec<Vec<usize>> {
        let mut rounds: Vec<Vec<usize>> = Vec::new();
        let (mut bytes, mut largest) = (u64::MAX, 0);
        for &output in order {
            let input = self.inputs_of(output).map(|input| self.inputs[input]).max().unwrap_or(0);
            let more = bytes.saturating_add(self.outputs[output]);
            match rounds.last_mut() {
                Some(round) if more <= held && more.saturating_add(input.max(largest)) <= self.memory => {
                    (bytes, largest) = (more, input.max(largest));
                    round.push(output);
                }
                _ => {
                    (bytes, largest) = (self.outputs[output], input);
                    rounds.push(vec![output]);
                }
            }
        }
        rounds.iter_mut().for_each(|round| round.sort_unstable());
        rounds
    }

    /// Goes through rounds and counts; `None` as soon as no fewer bytes are read than `most`. Lists the steps, if asked to.
    fn run(&self, rounds: &[Vec<usize>], most: u64, mut steps: Option<&mut Vec<Step>>) -> Option<Cost> {
        // The input chunks of each round, one list after the other, and the next round that touches each of them.
        let (mut starts, mut inputs) = (vec![0], Vec::new());
        let mut seen = vec![NEVER; self.inputs.len()];
        for (number, round) in rounds.iter().enumerate() {
            for input in round.iter().flat_map(|output| self.inputs_of(*output)) {
                if std::mem::replace(&mut seen[input], number as u32) != number as u32 {
                    inputs.push(input);
                }
            }
            let start = starts[number];
            inputs[start..].sort_unstable();
            starts.push(inputs.len());
        }
        let mut next = vec![NEVER; inputs.len()];
        seen.fill(NEVER);
        for number in (0..rounds.len()).rev() {
            for at in starts[number]..starts[number + 1] {
                next[at] = std::mem::replace(&mut seen[inputs[at]], number as u32);
            }
        }
        let mut memory =
            Memory { kept: BTreeSet::new(), next: vec![NEVER; self.inputs.len()], bytes: 0, sizes: &self.inputs };
        let mut cost = Cost::default();
        for (number, round) in rounds.iter().enumerate() {
            let held: u64 = round.iter().map(|output| self.outputs[*output]).sum();
            let dropped = memory.make_room(self.memory - held);
            let moves = steps.is_some().then(|| self.moves(round));
            let list = |inputs: &[usize]| inputs.iter().map(|input| self.places.numbers[*input]).collect::<Vec<_>>();
            let mut say = |step: Step| {
                let nothing = match &step {
                    Step::Open(list) | Step::Read(list) | Step::Forget(list) | Step::Write(list) => list.is_empty(),
                    Step::Move(list) => list.is_empty(),
                };
                if let (Some(steps), false) = (&mut steps, nothing) {
                    steps.push(step);
                }
            };
            say(Step::Forget(list(&dropped)));
            say(Step::Open(round.clone()));
            cost.peak = cost.peak.max(held + memory.bytes);
            let (mut at_hand, mut missing) = (Vec::new(), Vec::new());
            for at in starts[number]..starts[number + 1] {
                let kept = memory.next[inputs[at]] != NEVER;
                if kept { &mut at_hand } else { &mut missing }.push((inputs[at], next[at]));
            }
            let mut waiting = &missing[..];
            let mut batch = &at_hand[..];
            loop {
                // What is needed again stays, as long as there is room.
                let mut over = Vec::new();
                let numbers: Vec<usize> = batch.iter().map(|(input, _)| *input).collect();
                for (input, next) in batch {
                    if *next == NEVER {
                        memory.forget(*input);
                        over.push(*input);
                    } else {
                        memory.keep(*input, *next);
                    }
                }
                if let Some(moves) = &moves {
                    say(Step::Move(of_inputs(moves, &list(&numbers))));
                    say(Step::Forget(list(&over)));
                }
                let Some((first, _)) = waiting.first() else { break };
                let room = self.memory - held;
                let dropped = memory.make_room(room - self.inputs[*first]);
                let mut bytes = 0;
                let fits = |(input, _): &&(usize, u32)| {
                    bytes += self.inputs[*input];
                    memory.bytes + bytes <= room
                };
                let count = waiting.iter().take(self.at_once).take_while(fits).count();
                (batch, waiting) = waiting.split_at(count);
                let numbers: Vec<usize> = batch.iter().map(|(input, _)| *input).collect();
                let read: u64 = numbers.iter().map(|input| self.inputs[*input]).sum();
                cost.reads += count;
                cost.bytes = cost.bytes.saturating_add(read);
                cost.peak = cost.peak.max(held + memory.bytes + read);
                if cost.bytes >= most {
                    return None;
                }
                say(Step::Forget(list(&dropped)));
                say(Step::Read(list(&numbers)));
            }
            say(Step::Write(round.clone()));
        }
        Some(cost)
    }

    /// The pieces of a round: pairs of an input chunk and an output chunk, in order.
    fn moves(&self, round: &[usize]) -> Vec<(usize, usize)> {
        let of =
            |output: &usize| self.graph.inputs_of(*output).iter().map(|input| (*input, *output)).collect::<Vec<_>>();
        let mut moves: Vec<(usize, usize)> = round.iter().flat_map(of).collect();
        moves.sort_unstable();
        moves
    }
}

/// The pieces of some input chunks, in the order of the output chunks.
fn of_inputs(moves: &[(usize, usize)], inputs: &[usize]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for input in inputs {
        let start = moves.partition_point(|(of, _)| of < input);
        let pieces = moves[start..].iter().take_while(|(of, _)| of == input);
        found.extend(pieces.map(|(input, output)| (*output, *input)));
    }
    found.sort_unstable();
    found
}

/// The input chunks that are kept from round to round.
struct Memory<'a> {
    /// With the round that touches them next.
    kept: BTreeSet<(u32, usize)>,
    /// The same, by input chunk.
    next: Vec<u32>,
    bytes: u64,
    sizes: &'a [u64],
}

impl Memory<'_> {
    fn forget(&mut self, input: usize) {
        let next = std::mem::replace(&mut self.next[input], NEVER);
        if self.kept.remove(&(next, input)) {
            self.bytes -= self.sizes[input];
        }
    }

    fn keep(&mut self, input: usize, next: u32) {
        self.forget(input);
        self.kept.insert((next, input));
        self.next[input] = next;
        self.bytes += self.sizes[input];
    }

    /// Forgets what is touched again last until no more than so many bytes are kept.
    fn make_room(&mut self, bytes: u64) -> Vec<usize> {
        let mut dropped = Vec::new();
        while self.bytes > bytes {
            let Some((_, input)) = self.kept.last().copied() else { break };
            self.forget(input);
            dropped.push(input);
        }
        dropped
    }
}

/// The orders of the output chunks that are tried: along the axes of the output in different orders, in blocks of their grid, and
/// as the input chunks lie that they touch.
fn orders<'a>(plan: &'a ChunkPlan, made: &'a [usize]) -> impl Iterator<Item = Vec<usize>> + 'a {
    let sorted = move |key: &dyn Fn(usize) -> Vec<i64>| {
        let mut keyed: Vec<(Vec<i64>, usize)> = made.iter().map(|output| (key(*output), *output)).collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|(_, output)| output).collect::<Vec<_>>()
    };
    let (input, output) = (plan.input(), plan.output());
    let coordinates = |grid: &Grid, number: usize| grid.coordinates(number).unwrap_or_default();
    let axes = axis_orders(output).into_iter().map(move |axes| {
        sorted(&|number| {
            let at = coordinates(output, number);
            axes.iter().map(|axis| at[*axis]).collect()
        })
    });
    // The first input chunk that an output chunk touches, by its place along the axes.
    let inputs = axis_orders(input).into_iter().map(move |axes| {
        sorted(&|number| {
            let touched = plan.graph().map_or(&[][..], |graph| graph.inputs_of(number));
            let places = touched.iter().map(|input_chunk| {
                let at = coordinates(input, *input_chunk);
                axes.iter().map(|axis| at[*axis]).collect::<Vec<_>>()
            });
            places.min().unwrap_or_default()
        })
    });
    let blocks =
        [2, 3, 4, 6, 8, 12, 16].into_iter().filter(move |block| output.counts().iter().any(|count| count > block));
    let blocks = blocks.map(move |block| {
        sorted(&|number| {
            let at = coordinates(output, number);
            at.iter().map(|at| at / block).chain(at.iter().copied()).collect()
        })
    });
    // In turns, because of many orders only the first are tried.
    let mut sources: [Box<dyn Iterator<Item = Vec<usize>> + 'a>; 3] =
        [Box::new(axes), Box::new(inputs), Box::new(blocks)];
    let mut turn = 0;
    std::iter::from_fn(move || {
        (0..sources.len()).find_map(|_| {
            turn = (turn + 1) % 3;
            sources[(turn + 2) % 3].next()
        })
    })
}

/// All orders of the axes that are cut, of up to three; of more, each of them first, and each last.
fn axis_orders(grid: &Grid) -> Vec<Vec<usize>> {
    let axes: Vec<usize> = (0..grid.rank()).filter(|axis| grid.counts()[*axis] > 1).collect();
    let mut orders = vec![axes.clone()];
    if let [a, b, c] = axes[..] {
        orders.extend([[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]].map(Vec::from));
    } else {
        for axis in &axes {
            let others = || axes.iter().copied().filter(|other| other != axis);
            orders.push([*axis].into_iter().chain(others()).collect());
            orders.push(others().chain([*axis]).collect());
        }
        orders.sort_unstable();
        orders.dedup();
    }
    orders
}
