//! What a movement operation costs through the C interface beside the same in Rust: `cargo bench -p shapetracker-c` prints the
//! nanoseconds of both, each the least of some rounds, which take turns.

#![allow(unsafe_code)]

use std::hint::black_box;
use std::ptr::null_mut;
use std::time::Instant;

use shapetracker::ShapeTracker;
use shapetracker_c::*;

const ROUNDS: usize = 200;
const CALLS: u32 = 2_000;

/// An operation of C that takes a list of numbers.
type Call = unsafe extern "C" fn(*const Tracker, *const i64, usize, *mut *mut Tracker) -> *mut Error;

/// The nanoseconds of one call.
fn timed(mut call: impl FnMut()) -> f64 {
    let begin = Instant::now();
    for _ in 0..CALLS {
        call();
    }
    begin.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

/// An operation in Rust.
type Rust = Box<dyn Fn(&ShapeTracker) -> Result<ShapeTracker, shapetracker::Error>>;

/// An operation: its name, what C calls with which numbers for how many axes, and the same in Rust.
struct Operation(&'static str, Call, &'static [i64], usize, Rust);

fn main() {
    let operations = [
        Operation("reshape", st_tracker_reshape, &[8, 4, 3, 32], 4, Box::new(|st| st.reshape([8, 4, 3, 32]))),
        Operation("permute", st_tracker_permute, &[2, 0, 1], 3, Box::new(|st| st.permute([2, 0, 1]))),
        Operation("expand", st_tracker_expand, &[8, 12, 32], 3, Box::new(|st| st.expand([8, 12, 32]))),
        Operation("pad", st_tracker_pad, &[0, 0, 1, 1, 1, 1], 3, Box::new(|st| st.pad([(0, 0), (1, 1), (1, 1)]))),
        Operation(
            "shrink",
            st_tracker_shrink,
            &[0, 8, 2, 6, 1, 9],
            3,
            Box::new(|st| st.shrink([(0, 8), (2, 6), (1, 9)])),
        ),
        Operation("flip", st_tracker_flip, &[1, 2], 2, Box::new(|st| st.flip([1, 2]))),
    ];
    let of_rust = ShapeTracker::contiguous([8, 12, 32]).expect("a shape");
    let mut of_c = null_mut();
    // SAFETY: the shape is as long as is said.
    assert!(unsafe { st_tracker_new([8, 12, 32].as_ptr(), 3, &mut of_c) }.is_null());
    println!("{:10} {:>8} {:>8} {:>8}", "ns", "Rust", "C", "more");
    for Operation(name, call, list, count, rust) in &operations {
        let mut least = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            let in_rust = timed(|| drop(black_box(rust(black_box(&of_rust)))));
            let in_c = timed(|| {
                let mut out = null_mut();
                // SAFETY: the tracker is a living one, and the list as long as is said; the result is ended.
                unsafe {
                    assert!(call(black_box(of_c), list.as_ptr(), *count, &mut out).is_null());
                    st_tracker_free(black_box(out));
                }
            });
            least = [least[0].min(in_rust), least[1].min(in_c)];
        }
        println!("{name:10} {:8.1} {:8.1} {:8.1}", least[0], least[1], least[1] - least[0]);
    }
    // SAFETY: the tracker is not used again.
    unsafe { st_tracker_free(of_c) };
}
