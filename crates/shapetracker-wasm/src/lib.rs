//! The engine of the explorer: a request as bytes in, an answer as bytes out. `API.md` says what can be asked.
//!
//! There is no state: every request carries the texts that it is about.
//!
//! Each feature is a group of requests; the page loads a module of WebAssembly for each group when it first asks for one.

// A module with some of the requests has no use for what serves the others.
#![cfg_attr(
    not(all(
        feature = "explore",
        feature = "free",
        feature = "code",
        feature = "names",
        feature = "nest",
        feature = "devices",
        feature = "kernels"
    )),
    allow(dead_code, unused_imports, unreachable_code, unused_variables)
)]
mod answer;
mod fault;
mod json;
mod request;

#[cfg(any(feature = "explore", feature = "free", feature = "code"))]
mod layout;

#[cfg(feature = "free")]
mod evaluate;
#[cfg(feature = "free")]
mod expression;

#[cfg(feature = "explore")]
mod chain;
#[cfg(feature = "explore")]
mod coverage;
#[cfg(feature = "explore")]
mod readers;
#[cfg(feature = "explore")]
mod summary;
#[cfg(feature = "explore")]
mod thread;
#[cfg(feature = "explore")]
mod tile;
#[cfg(feature = "explore")]
mod trace;

#[cfg(feature = "code")]
mod advice;
#[cfg(feature = "code")]
mod code;
#[cfg(feature = "code")]
mod compare;
#[cfg(feature = "code")]
mod describe;
#[cfg(feature = "code")]
mod operations;

#[cfg(feature = "devices")]
mod devices;
#[cfg(any(feature = "names", feature = "nest"))]
mod named;
#[cfg(feature = "names")]
mod names;
#[cfg(feature = "nest")]
mod nest;

#[cfg(feature = "kernels")]
mod algebra;
#[cfg(feature = "kernels")]
mod kernel;

#[cfg(test)]
mod boundary;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod tests;

use std::alloc::{Layout, handle_alloc_error};

// Only in WebAssembly are the names exported unmangled: elsewhere `free` would replace that of the C library.

/// Allocates a buffer for a request of so many bytes.
#[allow(unsafe_code)]
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn alloc(length: usize) -> *mut u8 {
    let layout = room(length);
    // SAFETY: the layout has at least one byte.
    let pointer = unsafe { std::alloc::alloc_zeroed(layout) };
    if pointer.is_null() {
        handle_alloc_error(layout);
    }
    pointer
}

/// Frees an answer.
///
/// # Safety
/// The pointer is one that `call` or `alloc` returned, with the length of that answer or request, and is not used again.
#[allow(unsafe_code)]
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub unsafe extern "C" fn free(pointer: *mut u8, length: usize) {
    // SAFETY: the memory was allocated with this layout, by the promise of the caller.
    unsafe { std::alloc::dealloc(pointer, room(length)) }
}

/// Answers a request and frees its buffer. The answer is its own length, the length of its text (each four bytes,
/// little-endian), the text, and the numbers that the text refers to.
///
/// # Safety
/// The pointer is one that `alloc` returned for this length, the bytes are written, and it is not used again.
#[allow(unsafe_code)]
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub unsafe extern "C" fn call(pointer: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: there are so many bytes, all of them written, by the promise of the caller.
    let request = unsafe { std::slice::from_raw_parts(pointer, length) };
    let answer = answer::answer(request);
    // SAFETY: `request` is not used any more, and the promise of the caller covers the rest.
    unsafe { free(pointer, length) };
    let out = alloc(answer.len());
    // SAFETY: there is room for as many bytes, which is new and so overlaps nothing.
    unsafe { std::ptr::copy_nonoverlapping(answer.as_ptr(), out, answer.len()) };
    out
}

/// The layout of a buffer of so many bytes: at least one, because allocating none is undefined behaviour. A length that no
/// allocation can have ends the process: whoever asked for it would write past a smaller buffer.
fn room(length: usize) -> Layout {
    Layout::array::<u8>(length.max(1)).unwrap_or_else(|_| std::process::abort())
}
