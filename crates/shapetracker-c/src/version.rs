//! Which library it is that a program was linked with.

use std::ffi::c_char;

/// The version of the library: `0.1.0`. The text lives forever.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn st_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
