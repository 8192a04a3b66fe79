//! The boundary: pointers from outside become references, slices and texts here, and results go out. All `unsafe` code of the
//! crate that is not the call of this module is in it.

use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use crate::error::{Error, Mistake};
use crate::registry;

/// What C holds by a pointer and knows nothing else of.
pub(crate) trait Handle: Sized + Send + 'static {
    /// What it is, for sentences: `tracker`.
    const WHAT: &'static str;
}

/// A value behind a handle, with a word before it that says what it is as long as it is alive.
#[repr(C)]
struct Held<T> {
    word: u64,
    value: T,
}

/// The word of a kind of handle: its name as a number (FNV-1a).
const fn word_of(name: &str) -> u64 {
    let (bytes, mut word, mut at) = (name.as_bytes(), 0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        word = (word ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    word
}

/// A value as a handle, which [`free`] ends.
#[inline]
pub(crate) fn handed<T: Handle>(value: T) -> *mut T {
    let held = Box::into_raw(Box::write(Box::new_uninit(), Held { word: const { word_of(T::WHAT) }, value }));
    registry::made(held.addr());
    held.cast()
}

/// Ends a handle; null and what is no living handle of this kind, as far as that can be seen, are left alone.
///
/// # Safety
/// The pointer is null, or one that [`handed`] returned for this type, and is not used again.
#[allow(unsafe_code)]
pub(crate) unsafe fn free<T: Handle>(handle: *mut T) {
    let held = handle.cast::<Held<T>>();
    // SAFETY: the promise of the caller, which `check` asks nothing beyond.
    if unsafe { check::<T>("free", "the handle", held) }.is_err() || !registry::ended(held.addr()) {
        return;
    }
    // SAFETY: it is the pointer of a box that nothing else refers to, by the promise of the caller. The word is overwritten, so
    // that a second `free` is likely seen where no registry sees it.
    unsafe {
        (&raw mut (*held).word).write_volatile(0);
        drop(Box::from_raw(held));
    }
}

/// Whether a pointer is one to a living handle of this kind, as far as that can be seen: the registry of debug builds knows, and
/// otherwise the word before the value tells handles of other kinds.
///
/// # Safety
/// The pointer is null, or one to a handle of some kind.
#[allow(unsafe_code)]
unsafe fn check<T: Handle>(operation: &str, name: &str, held: *const Held<T>) -> Result<(), Mistake> {
    if held.is_null() {
        return Err(Mistake::new("null", operation, format!("{name} is a null pointer in the place of a {}", T::WHAT)));
    }
    let is_known = held.is_aligned() && registry::is_alive(held.addr());
    // SAFETY: handles of all kinds begin with a word, and this is one, by the promise of the caller, or as the registry knows.
    if is_known && unsafe { (&raw const (*held).word).read() } == const { word_of(T::WHAT) } {
        return Ok(());
    }
    Err(Mistake::new("handle", operation, format!("{name} is no {}, or one that was freed", T::WHAT)))
}

/// One call from C: a token that all pointers which were passed with it are what the documentation of the crate asks of them.
pub(crate) struct Caller {
    operation: &'static str,
}

impl Caller {
    /// A call of this function or operation.
    ///
    /// # Safety
    /// What is given to the methods of this value are the arguments of one call from C, whose caller keeps the promises that the
    /// crate's documentation lists: handles are living ones, or in debug builds anything; other pointers point to as much memory as
    /// the lengths beside them say, which no other thread writes to, and those to be written to overlap nothing else; texts end with
    /// a zero byte.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn of(operation: &'static str) -> Caller {
        Caller { operation }
    }

    /// Does what is asked and writes the result where the caller wants it; else the reason. Nothing panics across.
    #[inline]
    pub(crate) fn answer<O>(self, out: *mut O, does: impl FnOnce(&Caller) -> Result<O, Mistake>) -> *mut Error {
        if out.is_null() {
            return self.null("the place for the result").handed();
        }
        let done = self.guarded(does);
        match done {
            Ok(value) => {
                // SAFETY: the pointer is not null, and there is room, by the promise behind this token.
                #[allow(unsafe_code)]
                unsafe {
                    out.write(value)
                };
                std::ptr::null_mut()
            }
            Err(mistake) => mistake.handed(),
        }
    }

    /// Does what has no result but that it was done.
    pub(crate) fn done(self, does: impl FnOnce(&Caller) -> Result<(), Mistake>) -> *mut Error {
        self.guarded(does).map_or_else(Mistake::handed, |()| std::ptr::null_mut())
    }

    /// What cannot fail but by a pointer: a value for that case is `otherwise`.
    pub(crate) fn asked<O>(self, otherwise: O, does: impl FnOnce(&Caller) -> Result<O, Mistake>) -> O {
        self.guarded(does).unwrap_or(otherwise)
    }

    #[inline]
    fn guarded<O>(&self, does: impl FnOnce(&Caller) -> Result<O, Mistake>) -> Result<O, Mistake> {
        // What a panic leaves half done is dropped: trackers and expressions do not change, and a nest is changed as a copy.
        catch_unwind(AssertUnwindSafe(|| does(self))).unwrap_or_else(|_| {
            Err(Mistake::new("panic", self.operation, "a defect of the library: please report what was asked"))
        })
    }

    #[cold]
    fn null(&self, name: &str) -> Mistake {
        Mistake::new("null", self.operation, format!("{name} is a null pointer"))
    }

    /// What a handle holds.
    pub(crate) fn handle<T: Handle>(&self, name: &str, handle: *const T) -> Result<&T, Mistake> {
        let held = handle.cast::<Held<T>>();
        // SAFETY: the promise behind this token; where the handle is a living one of its kind, it holds a value that nothing changes
        // during the call.
        #[allow(unsafe_code)]
        unsafe {
            check::<T>(self.operation, name, held)?;
            Ok(&(*held).value)
        }
    }

    /// What a handle holds, to be changed.
    #[expect(clippy::mut_from_ref, reason = "the value is C's, and not this token's")]
    pub(crate) fn handle_mut<T: Handle>(&self, name: &str, handle: *mut T) -> Result<&mut T, Mistake> {
        let held = handle.cast::<Held<T>>();
        // SAFETY: as above; that no one else uses a handle that is changed is promised, too.
        #[allow(unsafe_code)]
        unsafe {
            check::<T>(self.operation, name, held)?;
            Ok(&mut (*held).value)
        }
    }

    /// So many values; a null pointer stands for none.
    pub(crate) fn list<T: Copy>(&self, name: &str, values: *const T, count: usize) -> Result<&[T], Mistake> {
        self.check_memory(name, values, count)?;
        if count == 0 {
            return Ok(&[]);
        }
        // SAFETY: the pointer is not null and aligned, the length is one that memory can have, and the rest is promised.
        #[allow(unsafe_code)]
        Ok(unsafe { slice::from_raw_parts(values, count) })
    }

    /// Memory for so many values, which it has already.
    #[expect(clippy::mut_from_ref, reason = "the memory is C's, and not this token's")]
    pub(crate) fn room<T: Copy>(&self, name: &str, values: *mut T, count: usize) -> Result<&mut [T], Mistake> {
        self.check_memory(name, values, count)?;
        if count == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as above; that nothing else overlaps it is promised, too.
        #[allow(unsafe_code)]
        Ok(unsafe { slice::from_raw_parts_mut(values, count) })
    }

    fn check_memory<T>(&self, name: &str, values: *const T, count: usize) -> Result<(), Mistake> {
        if count > 0 && values.is_null() {
            return Err(self.null(name));
        }
        if count > 0 && !values.is_aligned() {
            let sentence = format!("{name} is not aligned to {} bytes", align_of::<T>());
            return Err(Mistake::new("length", self.operation, sentence));
        }
        if count.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            let sentence = format!("{name} cannot have {count} entries, which no memory has");
            return Err(Mistake::new("length", self.operation, sentence));
        }
        Ok(())
    }

    /// A text that ends with a zero byte.
    pub(crate) fn text(&self, name: &str, text: *const c_char) -> Result<&str, Mistake> {
        if text.is_null() {
            return Err(self.null(name));
        }
        // SAFETY: the pointer is not null, and that the text ends is promised.
        #[allow(unsafe_code)]
        let bytes = unsafe { CStr::from_ptr(text) };
        bytes.to_str().map_err(|err| {
            let at = err.valid_up_to();
            let sentence = format!("{name} is not text: byte {at} is not UTF-8");
            Mistake::new("utf8", self.operation, sentence).at(at..at + 1)
        })
    }

    /// A text, or none where the pointer is null.
    pub(crate) fn text_or_none(&self, name: &str, text: *const c_char) -> Result<Option<&str>, Mistake> {
        if text.is_null() { Ok(None) } else { self.text(name, text).map(Some) }
    }

    /// Writes a further result, unless the caller does not want it.
    pub(crate) fn also<T>(&self, out: *mut T, value: T) {
        if !out.is_null() {
            // SAFETY: the pointer is not null, and that there is room is promised.
            #[allow(unsafe_code)]
            unsafe {
                out.write(value)
            };
        }
    }

    /// Writes numbers into memory of the caller's, which must have as many places.
    pub(crate) fn fill(&self, name: &str, out: *mut i64, room: usize, values: &[i64]) -> Result<(), Mistake> {
        if room < values.len() {
            let sentence = format!("{name} has room for {room} numbers, and {} are written", values.len());
            return Err(Mistake::new("length", self.operation, sentence));
        }
        self.room(name, out, values.len())?.copy_from_slice(values);
        Ok(())
    }
}

/// A text for C, which [`free_text`] ends. Texts have no zero bytes: what is in names and bodies came from C.
pub(crate) fn handed_text(text: impl Into<String>) -> *mut c_char {
    c_text(text).into_raw()
}

/// A text with a zero byte at its end.
pub(crate) fn c_text(text: impl Into<String>) -> CString {
    CString::new(text.into()).unwrap_or_else(|err| {
        let mut bytes = err.into_vec();
        bytes.retain(|&byte| byte != 0);
        CString::new(bytes).unwrap_or_default()
    })
}

/// Ends a text.
///
/// # Safety
/// The pointer is null, or one that [`handed_text`] returned, and is not used again.
#[allow(unsafe_code)]
pub(crate) unsafe fn free_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it comes from `CString::into_raw`, by the promise of the caller.
        drop(unsafe { CString::from_raw(text) });
    }
}
