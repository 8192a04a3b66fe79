//! Layouts of CuTe: nested sizes and strides, and their composition.

use std::ffi::c_char;

use shapetracker_cute::{Layout as Nested, NoComposition, Order};

use crate::caller::{Caller, Handle, free, handed, handed_text};
use crate::error::{Error, Mistake, undecided};
use crate::tracker::Tracker;

/// A layout of CuTe: nested sizes and strides, `((2,2),4):((1,8),2)`, a map from coordinates to numbers.
pub struct Layout(Nested);

impl Handle for Layout {
    const WHAT: &'static str = "layout";
}

/// The layout that a text of CuTe says: `((2,2),4):((1,8),2)`, or with `_` before static numbers.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_layout_read(text: *const c_char, out: *mut *mut Layout) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("read") };
    caller.answer(out, |caller| {
        let text = caller.text("the text", text)?;
        Ok(handed(Layout(text.parse().map_err(|err| Mistake::text("read", &err))?)))
    })
}

/// The layout that is `first` at the values of `second`: the only one, or the reason why there is none.
///
/// Errors: that there is none (`no_composition`), what takes more work than is done (`undecided`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_layout_compose(
    first: *const Layout,
    second: *const Layout,
    out: *mut *mut Layout,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("compose") };
    caller.answer(out, |caller| {
        let (first, second) = (caller.handle("the first layout", first)?, caller.handle("the second layout", second)?);
        match first.0.compose(&second.0) {
            Ok(composed) => Ok(handed(Layout(composed))),
            Err(why @ NoComposition::Undecided) => Err(undecided("compose", why)),
            Err(NoComposition::Error(err)) => Err(err.into()),
            Err(why) => Err(Mistake::new("no_composition", "compose", why.to_string())),
        }
    })
}

/// The layout as text, which `st_layout_read` reads again.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_layout_text(layout: *const Layout, out: *mut *mut c_char) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("text") };
    caller.answer(out, |caller| Ok(handed_text(caller.handle("the layout", layout)?.0.to_string())))
}

/// The tracker with an axis for each mode: its index is a coordinate.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_layout_tracker(layout: *const Layout, out: *mut *mut Tracker) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("tracker") };
    caller.answer(out, |caller| {
        let layout = &caller.handle("the layout", layout)?.0;
        Ok(handed(Tracker::of_numbers(layout.to_tracker(Order::ColumnMajor, 0)?)))
    })
}

/// Ends a layout; null is left alone.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_layout_free(layout: *mut Layout) {
    // SAFETY: the promise of the caller.
    unsafe { free(layout) }
}
