//! Plans: copies between a tensor's buffer and a contiguous tensor, run on memory of the caller's.

use std::borrow::Cow;
use std::ffi::c_void;

use shapetracker_copy::Threads;

use crate::caller::{Caller, Handle, free, handed};
use crate::error::{Error, copying};
use crate::tracker::Tracker;

/// How the elements of a tracker are moved: loops with few divisions, or none. It does not change, and several threads may run it.
pub struct Plan(shapetracker_copy::Plan);

impl Handle for Plan {
    const WHAT: &'static str = "plan";
}

/// Plans copies of elements of so many bytes. Asked of numbers.
///
/// Errors: elements of no bytes (`copy`), addresses below 0, what takes more work than is done (`undecided`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_plan_new(tracker: *const Tracker, element_bytes: usize, out: *mut *mut Plan) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("plan") };
    caller.answer(out, |caller| {
        let tracker = caller.handle("the tracker", tracker)?.numbers("plan")?;
        let plan = shapetracker_copy::Plan::new(tracker, element_bytes).map_err(|err| copying("plan", err))?;
        Ok(handed(Plan(plan)))
    })
}

/// Reads the tensor out of its buffer into contiguous memory in row-major order, with the bytes of `fill`, one element, where it is masked;
/// null and no bytes stand for zeros. Lengths are in bytes, and are checked. `threads` may work at it: 1, or 0 for as many as the
/// machine runs at once.
///
/// Errors: memory that is too short, or no whole number of elements (`copy`). Nothing is written then.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_plan_read(
    plan: *const Plan,
    buffer: *const c_void,
    buffer_bytes: usize,
    tensor: *mut c_void,
    tensor_bytes: usize,
    fill: *const c_void,
    fill_bytes: usize,
    threads: usize,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("read") };
    caller.done(|caller| {
        let plan = &caller.handle("the plan", plan)?.0;
        let buffer = caller.list::<u8>("the buffer", buffer.cast(), buffer_bytes)?;
        let tensor = caller.room::<u8>("the tensor", tensor.cast(), tensor_bytes)?;
        let fill = match fill.is_null() && fill_bytes == 0 {
            true => Cow::Owned(vec![0; plan.width()]),
            false => Cow::Borrowed(caller.list::<u8>("the value to fill with", fill.cast(), fill_bytes)?),
        };
        let moved = Threads::new(threads).and_then(|threads| plan.read_bytes(buffer, tensor, &fill, &threads));
        moved.map_err(|err| copying("read", err))
    })
}

/// Writes contiguous memory in row-major order through the tracker into its buffer. What the tracker does not reach stays, and what
/// stands where it is masked goes nowhere.
///
/// Errors: those of `st_plan_read`, and two elements that share an address (`copy`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_plan_write(
    plan: *const Plan,
    tensor: *const c_void,
    tensor_bytes: usize,
    buffer: *mut c_void,
    buffer_bytes: usize,
    threads: usize,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("write") };
    caller.done(|caller| {
        let plan = &caller.handle("the plan", plan)?.0;
        let tensor = caller.list::<u8>("the tensor", tensor.cast(), tensor_bytes)?;
        let buffer = caller.room::<u8>("the buffer", buffer.cast(), buffer_bytes)?;
        let moved = Threads::new(threads).and_then(|threads| plan.write_bytes(tensor, buffer, &threads));
        moved.map_err(|err| copying("write", err))
    })
}

/// Ends a plan; null is left alone.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_plan_free(plan: *mut Plan) {
    // SAFETY: the promise of the caller.
    unsafe { free(plan) }
}
