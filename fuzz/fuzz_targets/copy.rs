//! Data moves through a small stack of views as one element after another would: to memory of any alignment, by any
//! number of threads, in both directions, and nothing else is touched.
//!
//! The judge follows the stack index by index and shares nothing with the plans but the accessors of a view.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use shapetracker::{ShapeTracker, View};
use shapetracker_copy::{Error, Plan, Threads};

/// The most elements of a view, and about the most of a buffer.
const MOST: i64 = 1 << 12;

const WIDTHS: [usize; 16] = [1, 2, 4, 8, 16, 3, 5, 6, 7, 12, 20, 24, 32, 33, 64, 100];

static THREADS: LazyLock<[Threads; 3]> = LazyLock::new(|| [1, 2, 3].map(|count| Threads::new(count).unwrap()));

#[derive(Arbitrary, Debug)]
struct Axis {
    size: u8,
    stride: i16,
    begin: u8,
    len: u8,
}

/// How an axis of the views gets its stride.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Strides {
    /// Row-major, last axis first.
    Nested,
    /// The same, first axis first.
    Turned,
    /// As given.
    Any,
}

// All parts have a fixed length, so that a change to one leaves the others where they are.
#[derive(Arbitrary, Debug)]
struct Raw {
    rank: u8,
    axes: [Axis; 6],
    strides: Strides,
    flips: u8,
    offset: u16,
    masked: bool,
}

#[derive(Arbitrary, Debug)]
struct Input {
    width: u8,
    threads: u8,
    /// Bytes before the buffer and before the contiguous side.
    before: [u8; 2],
    fill: [u8; 4],
    height: u8,
    views: [Raw; 3],
}

impl Raw {
    /// The view of these numbers, cut down to `room` elements of what it reads.
    fn view(&self, room: i64) -> Option<View> {
        let axes = &self.axes[..usize::from(self.rank % 7)];
        let mut left = MOST;
        let mut cut = |axis: &Axis| {
            let size = i64::from(axis.size).min(left);
            left /= size.max(1);
            size
        };
        let shape: Vec<i64> = axes.iter().map(&mut cut).collect();
        let mut strides: Vec<i64> = axes.iter().map(|axis| i64::from(axis.stride)).collect();
        let mut product = 1;
        let mut nest = |axis: usize| {
            let flip = if self.flips >> axis & 1 == 1 { -1 } else { 1 };
            // A stride of 7 leaves a gap of 3 elements, one of 4 repeats the axis.
            (strides[axis], product) = match strides[axis] & 7 {
                4 => (0, product),
                7 => (flip * product, product * (shape[axis].max(1) + 3)),
                _ => (flip * product, product * shape[axis].max(1)),
            };
        };
        match self.strides {
            Strides::Nested => (0..shape.len()).rev().for_each(&mut nest),
            Strides::Turned => (0..shape.len()).for_each(&mut nest),
            Strides::Any => {}
        }
        let range = |(axis, &size): (&Axis, &i64)| {
            let begin = i64::from(axis.begin) % (size + 1);
            (begin, begin + i64::from(axis.len) % (size - begin + 1))
        };
        let mask: Vec<(i64, i64)> = axes.iter().zip(&shape).map(range).collect();
        let mask = self.masked.then_some(&mask[..]);
        let (low, high) = View::new(&shape, &strides, 0, mask).ok()?.address_range().unwrap_or((0, 0));
        let spare = room - 1 - (high - low);
        let offset = i64::from(self.offset);
        let offset = if spare >= 0 { offset % (spare + 1) - low } else { offset };
        View::new(&shape, &strides, offset, mask).ok()
    }
}

/// What a stack reads at a position in row-major order of its last view, or `Err` when a view reads outside the one
/// under it.
fn read(views: &[View], position: i64) -> Result<Option<i64>, ()> {
    let Some((view, under)) = views.split_last() else { return Ok(Some(position)) };
    let mut rest = position;
    let mut address = view.offset();
    let mut valid = view.mask() != Some(&[]);
    for axis in (0..view.rank()).rev() {
        let size = view.shape()[axis];
        let i = rest % size;
        rest /= size;
        valid &= view.mask().is_none_or(|mask| (mask[axis].0..mask[axis].1).contains(&i));
        address += i * view.strides()[axis];
    }
    match under.last() {
        _ if !valid => Ok(None),
        Some(next) if address < 0 || address >= next.shape().iter().product() => Err(()),
        _ => read(under, address),
    }
}

/// Bytes that tell where they come from.
fn noise(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u8 ^ (i >> 3) as u8).collect()
}

/// An allocation that ends where the slice ends.
fn behind(before: usize, bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0xC3; before];
    all.extend_from_slice(bytes);
    all
}

fuzz_target!(|input: Input| {
    let mut views: Vec<View> = Vec::new();
    for raw in &input.views[..1 + usize::from(input.height % 3)] {
        let room = views.last().map_or(2 * MOST, |under| under.shape().iter().product());
        let Some(view) = raw.view(room) else { return };
        views.push(view);
    }
    let Some(last) = views.last() else { return };
    let reads: Result<Vec<Option<i64>>, ()> =
        (0..last.shape().iter().product()).map(|position| read(&views, position)).collect();
    let (Ok(reads), Ok(tracker)) = (reads, ShapeTracker::from_views(views)) else { return };
    let addresses = || reads.iter().copied().flatten();
    let len = addresses().max().map_or(0, |high| (high + 1).max(0));
    if len > 4 * MOST {
        return;
    }
    let width = WIDTHS[usize::from(input.width % 16)];
    let threads = &THREADS[usize::from(input.threads % 3)];
    let [before_buffer, before_out] = input.before.map(|before| usize::from(before % 64));
    let fill: Vec<u8> = input.fill.iter().copied().cycle().take(width).collect();
    let plan = match Plan::new(&tracker, width) {
        Ok(plan) => plan,
        Err(Error::BeforeBuffer { first }) if addresses().min() == Some(first) && first < 0 => return,
        Err(Error::Undecided(_)) => return,
        Err(error) => panic!("{tracker}: {error}"),
    };

    let bytes = noise(len as usize * width);
    let buffer = behind(before_buffer, &bytes);
    for sentinel in [0x5A, 0xA5] {
        let mut out = behind(before_out, &vec![sentinel; reads.len() * width]);
        match plan.read_bytes(&buffer[before_buffer..], &mut out[before_out..], &fill, threads) {
            Ok(()) => {}
            Err(Error::BeforeBuffer { first }) if addresses().min() == Some(first) && first < 0 => return,
            Err(error) => panic!("{tracker}: {error}"),
        }
        assert!(out[..before_out].iter().all(|byte| *byte == 0xC3), "{tracker}: bytes before the output are written");
        for (place, (found, address)) in out[before_out..].chunks_exact(width).zip(&reads).enumerate() {
            let expected = address.map_or(&fill[..], |at| &bytes[at as usize * width..][..width]);
            assert_eq!(found, expected, "{tracker}: element {place} of {width} bytes\n{plan}");
        }
        // Read over what stands there, of which the masked elements stay.
        let mut over = behind(before_out, &vec![sentinel; reads.len() * width]);
        let outcome = plan.read_over_bytes(&buffer[before_buffer..], &mut over[before_out..], threads);
        assert_eq!(outcome, Ok(()), "{tracker}");
        assert!(over[..before_out].iter().all(|byte| *byte == 0xC3), "{tracker}: bytes before the output are written");
        let stays = vec![sentinel; width];
        for (place, (found, address)) in over[before_out..].chunks_exact(width).zip(&reads).enumerate() {
            let expected = address.map_or(&stays[..], |at| &bytes[at as usize * width..][..width]);
            assert_eq!(found, expected, "{tracker}: element {place} of {width} bytes, read over\n{plan}");
        }
    }

    let tensor = noise((reads.len() + 5) * width).split_off(5 * width);
    let mut written = buffer.clone();
    let outcome = plan.write_bytes(&behind(before_out, &tensor)[before_out..], &mut written[before_buffer..], threads);
    let mut expected = buffer;
    let mut sorted: Vec<i64> = addresses().collect();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        assert!(matches!(outcome, Err(Error::NotInjective { .. } | Error::Undecided(_))), "{tracker}: {outcome:?}");
    } else if !matches!(outcome, Err(Error::Undecided(_))) {
        assert_eq!(outcome, Ok(()), "{tracker}");
        for (element, address) in tensor.chunks_exact(width).zip(&reads) {
            if let Some(at) = address {
                expected[before_buffer + *at as usize * width..][..width].copy_from_slice(element);
            }
        }
    }
    assert!(written == expected, "{tracker}: written in {width} bytes\n{plan}");
});
