//! One element at a time: what a plan must do, and how it is held against that.

use std::cell::OnceCell;
use std::mem::MaybeUninit;
use std::sync::LazyLock;

use shapetracker::{Chain, ChainStart, Movement, ShapeTracker};
use shapetracker_copy::{Error, Plan, Threads};

use crate::memory::{Guarded, Place, noise, same};
use crate::oracle::{Array, RawView, evaluate};
use crate::random::Op;

/// Every width that has code of its own in some copying library, and some that none has.
pub(crate) const WIDTHS: [usize; 14] = [1, 2, 4, 8, 16, 3, 5, 6, 7, 12, 20, 24, 33, 100];

/// A tracker, and which address the oracle says that each of its indices reads.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) tracker: ShapeTracker,
    pub(crate) array: Array,
    injective: OnceCell<bool>,
}

impl Tensor {
    pub(crate) fn new(tracker: ShapeTracker, array: Array) -> Tensor {
        Tensor { tracker, array, injective: OnceCell::new() }
    }

    /// The tensor of a chain's text: the library's tracker, and the same operations on the oracle's array.
    pub(crate) fn of(text: &str) -> Tensor {
        let chain: Chain = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let start = match chain.start() {
            ChainStart::Shape(shape) => Array::contiguous(shape),
            ChainStart::Views(views) => evaluate(&views.iter().map(RawView::from).collect::<Vec<_>>()),
            _ => panic!("{text} has no base"),
        };
        let tracker = chain.tracker().unwrap_or_else(|error| panic!("{text}: {error}"));
        Tensor::new(tracker, chain.ops().iter().fold(start, |array, movement| op(movement).on_array(&array)))
    }

    pub(crate) fn of_ops(base: &[i64], ops: &[Op]) -> Result<Tensor, String> {
        let mut tracker = ShapeTracker::contiguous(base).map_err(|error| error.to_string())?;
        for op in ops {
            tracker = op.on_tracker(&tracker).map_err(|error| error.to_string())?;
        }
        Ok(Tensor::new(tracker, ops.iter().fold(Array::contiguous(base), |array, op| op.on_array(&array))))
    }

    pub(crate) fn of_views(stack: &[RawView]) -> Result<Tensor, String> {
        let tracker = ShapeTracker::from_views(stack.iter().map(RawView::view)).map_err(|error| error.to_string())?;
        Ok(Tensor::new(tracker, evaluate(stack)))
    }

    pub(crate) fn plan(&self, width: usize) -> Result<Plan, String> {
        self.checked(Plan::new(&self.tracker, width), width)
    }

    /// The plan of loops, and the one that is made by default where it is another. Where only few elements are listed and loops
    /// have the same text, one of the two.
    pub(crate) fn plans(&self, width: usize) -> Result<Vec<Plan>, String> {
        let loops = self.checked(Plan::with_loops(&self.tracker, width), width)?;
        let by_default = self.plan(width)?;
        let same = loops.to_string() == by_default.to_string();
        let listed = (self.array.cells.len() + width) % 2 == 1;
        Ok(match (same, listed) {
            (true, false) => vec![loops],
            (true, true) => vec![by_default],
            _ => vec![loops, by_default],
        })
    }

    fn checked(&self, plan: Result<Plan, Error>, width: usize) -> Result<Plan, String> {
        let plan = plan.map_err(|error| error.to_string())?;
        let len = self.array.buffer_len() as usize;
        if plan.shape() != self.array.shape || plan.width() != width || plan.buffer_len() != len {
            let found = (plan.shape(), plan.width(), plan.buffer_len());
            return Err(format!("shape, width and buffer are {found:?}, not {:?}", (&self.array.shape, width, len)));
        }
        if plan.to_string().is_empty() {
            return Err("the plan prints nothing".to_owned());
        }
        Ok(plan)
    }

    /// Whether no two valid indices share an address.
    pub(crate) fn is_injective(&self) -> bool {
        *self.injective.get_or_init(|| self.array.is_injective())
    }

    /// What reading must yield.
    pub(crate) fn read(&self, buffer: &[u8], fill: &[u8]) -> Vec<u8> {
        let width = fill.len();
        let element = |cell: &Option<i64>| cell.map_or(fill, |at| &buffer[at as usize * width..][..width]);
        let mut out = Vec::with_capacity(self.array.cells.len() * width);
        self.array.cells.iter().for_each(|cell| out.extend_from_slice(element(cell)));
        out
    }

    /// What reading over a tensor must do.
    pub(crate) fn read_over(&self, buffer: &[u8], tensor: &mut [u8], width: usize) {
        for (element, cell) in tensor.chunks_exact_mut(width).zip(&self.array.cells) {
            if let Some(at) = cell {
                element.copy_from_slice(&buffer[*at as usize * width..][..width]);
            }
        }
    }

    /// What writing must do.
    pub(crate) fn write(&self, tensor: &[u8], buffer: &mut [u8], width: usize) {
        for (element, cell) in tensor.chunks_exact(width).zip(&self.array.cells) {
            if let Some(at) = cell {
                buffer[*at as usize * width..][..width].copy_from_slice(element);
            }
        }
    }
}

/// An operation for the oracle and the library alike.
fn op(movement: &Movement) -> Op {
    match movement {
        Movement::Reshape(shape) => Op::Reshape(shape.to_vec()),
        Movement::Permute(axes) => Op::Permute(axes.to_vec()),
        Movement::Expand(shape) => Op::Expand(shape.to_vec()),
        Movement::Pad(pads) => Op::Pad(pads.to_vec()),
        Movement::Shrink(ranges) => Op::Shrink(ranges.to_vec()),
        Movement::Flip(axes) => Op::Flip(axes.to_vec()),
        Movement::Step(steps) => Op::Step(steps.to_vec()),
        Movement::AsStrided(shape, strides, offset) => Op::AsStrided(shape.to_vec(), strides.to_vec(), *offset),
        other => panic!("the oracle has no {other}"),
    }
}

/// One, few, more than there are cores, and a number that divides nothing.
pub(crate) static THREADS: LazyLock<[Threads; 4]> =
    LazyLock::new(|| [1, 2, 3, 8].map(|count| Threads::new(count).expect("threads").eager()));

/// How a tensor is moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) width: usize,
    pub(crate) buffer: Place,
    pub(crate) contiguous: Place,
    /// Elements of the buffer past the last one that is reached.
    pub(crate) spare: usize,
    /// Which of [`THREADS`].
    pub(crate) threads: usize,
    pub(crate) seed: u64,
}

impl How {
    /// Slices that fill their allocations, one thread.
    pub(crate) fn plain(width: usize) -> How {
        How { width, buffer: Place::default(), contiguous: Place::default(), spare: 0, threads: 0, seed: 1 }
    }

    /// All choices made by a number.
    pub(crate) fn drawn(width: usize, number: u64) -> How {
        let draws = noise(16, number);
        let place = |draws: &[u8]| Place {
            before: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 32, 48, 60][usize::from(draws[0]) % 20],
            behind: [0, 0, 1, 64][usize::from(draws[1]) % 4],
        };
        How {
            width,
            buffer: place(&draws[0..]),
            contiguous: place(&draws[2..]),
            spare: [0, 0, 1, 5][usize::from(draws[4]) % 4],
            threads: usize::from(draws[5]) % 4,
            seed: number,
        }
    }

    pub(crate) fn on(self, threads: usize) -> How {
        How { threads, ..self }
    }

    fn threads(&self) -> &'static Threads {
        &THREADS[self.threads]
    }

    /// An element whose bytes differ, or are alike, or repeat a shorter pattern.
    fn fill(&self) -> Vec<u8> {
        let byte = |i: usize| match self.seed % 5 {
            0 => 0,
            1 => 0xEE,
            2 => [0x12, 0x34][i % 2],
            _ => (i * 37 + 11) as u8,
        };
        (0..self.width).map(byte).collect()
    }
}

/// Reads by every way that takes bytes, each time into memory that held something else before.
pub(crate) fn check_read(tensor: &Tensor, how: How) -> Result<(), String> {
    tensor.plans(how.width)?.iter().try_for_each(|plan| check_read_by(plan, tensor, how))
}

fn check_read_by(plan: &Plan, tensor: &Tensor, how: How) -> Result<(), String> {
    let outcome = || {
        let bytes = noise((plan.buffer_len() + how.spare) * how.width, how.seed);
        let buffer = Guarded::copied(&bytes, how.buffer);
        let fill = how.fill();
        let expected = tensor.read(&bytes, &fill);
        for sentinel in [0x5A, 0xA5] {
            let mut out = Guarded::filled(expected.len(), sentinel, how.contiguous);
            let read = plan.read_bytes(buffer.slice(), out.slice_mut(), &fill, how.threads());
            read.map_err(|error| format!("read_bytes: {error}"))?;
            out.check("read_bytes", &expected, how.width)?;
        }
        let mut out = vec![MaybeUninit::new(0x77); how.contiguous.before + expected.len()];
        let out = &mut out[how.contiguous.before..];
        let start = out.as_ptr().cast();
        let read = plan.read_uninit(buffer.slice(), out, &fill, how.threads());
        let read = read.map_err(|error| format!("read_uninit: {error}"))?;
        same("read_uninit", read, &expected, how.width)?;
        if read.as_ptr() != start {
            return Err("read_uninit hands back another slice than the one it was given".to_owned());
        }
        // Over values that differ from element to element, of which those stay that are masked.
        let mut expected = noise(expected.len(), how.seed + 2);
        let mut out = Guarded::copied(&expected, how.contiguous);
        tensor.read_over(&bytes, &mut expected, how.width);
        let read = plan.read_over_bytes(buffer.slice(), out.slice_mut(), how.threads());
        read.map_err(|error| format!("read_over_bytes: {error}"))?;
        out.check("read_over_bytes", &expected, how.width)?;
        buffer.check("the buffer", &bytes, how.width)
    };
    outcome().map_err(|why| format!("{why}\n{}\n{how:?}\n{plan}", tensor.tracker))
}

/// Writes through a tracker, or sees that it refuses, with the evidence.
pub(crate) fn check_write(tensor: &Tensor, how: How) -> Result<(), String> {
    tensor.plans(how.width)?.iter().try_for_each(|plan| check_write_by(plan, tensor, how))
}

fn check_write_by(plan: &Plan, tensor: &Tensor, how: How) -> Result<(), String> {
    let outcome = || {
        let before = noise((plan.buffer_len() + how.spare) * how.width, how.seed);
        let bytes = noise(tensor.array.cells.len() * how.width, how.seed + 1);
        let contiguous = Guarded::copied(&bytes, how.contiguous);
        let mut buffer = Guarded::copied(&before, how.buffer);
        let mut expected = before;
        let written = plan.write_bytes(contiguous.slice(), buffer.slice_mut(), how.threads());
        match written {
            Ok(()) if tensor.is_injective() => tensor.write(&bytes, &mut expected, how.width),
            Ok(()) => return Err("writes through a tracker under which indices share an address".to_owned()),
            Err(Error::NotInjective { first, second }) => check_collision(&tensor.array, &first, &second)?,
            Err(error) => return Err(format!("write_bytes: {error}")),
        }
        buffer.check("write_bytes", &expected, how.width)?;
        contiguous.check("the tensor", &bytes, how.width)
    };
    outcome().map_err(|why| format!("{why}\n{}\n{how:?}\n{plan}", tensor.tracker))
}

/// Whether two indices, as the error names them, differ and read one address.
fn check_collision(array: &Array, first: &[i64], second: &[i64]) -> Result<(), String> {
    let read = |index: &[i64]| -> Result<i64, String> {
        let inside =
            index.len() == array.shape.len() && index.iter().zip(&array.shape).all(|(i, size)| (0..*size).contains(i));
        if !inside {
            return Err(format!("{index:?} is no index of {:?}", array.shape));
        }
        array.at(index).ok_or_else(|| format!("{index:?} is masked"))
    };
    let addresses = (read(first)?, read(second)?);
    if first == second || addresses.0 != addresses.1 {
        return Err(format!("{first:?} and {second:?} do not collide: they read {addresses:?}"));
    }
    Ok(())
}
