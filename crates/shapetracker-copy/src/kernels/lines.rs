//! Elements at equal distances, one after another. The width is known when these are compiled, so that an element is one load
//! and one store.

use super::sink;

/// Gathers `n` elements, `sx` bytes apart, into a run.
///
/// # Safety
/// They may be read, the run may be written, and the two do not overlap.
pub(super) type Line = unsafe fn(from: *const u8, sx: isize, n: usize, to: *mut u8);

/// Moves `n` elements, at distances on both sides.
///
/// # Safety
/// They may be read and written, and do not overlap.
pub(super) type Strides = unsafe fn(from: *const u8, sx: isize, n: usize, to: *mut u8, dx: isize);

/// Moves the elements at some offsets into a run.
///
/// # Safety
/// They may be read, the run may be written, and the two do not overlap.
pub(super) type Listed = unsafe fn(from: *const u8, offsets: &[u32], to: *mut u8);

macro_rules! by_unit {
    ($unit:expr, $of:ident) => {
        match $unit {
            1 => Some($of::<1>),
            2 => Some($of::<2>),
            3 => Some($of::<3>),
            4 => Some($of::<4>),
            6 => Some($of::<6>),
            8 => Some($of::<8>),
            12 => Some($of::<12>),
            16 => Some($of::<16>),
            24 => Some($of::<24>),
            32 => Some($of::<32>),
            48 => Some($of::<48>),
            64 => Some($of::<64>),
            _ => None,
        }
    };
}

/// The kernel that gathers elements of so many bytes; with AVX2, where compiled loops over known distances are shuffles of
/// wider vectors.
pub(super) fn line(unit: usize) -> Option<Line> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::is_x86_feature_detected!("avx2") {
        return match unit {
            1 => Some(wide_1),
            2 => Some(wide_2),
            4 => Some(wide_4),
            8 => Some(wide_8),
            _ => by_unit!(unit, gather),
        };
    }
    by_unit!(unit, gather)
}

/// The kernel that moves elements of so many bytes at distances on both sides.
pub(super) fn strides(unit: usize) -> Option<Strides> {
    by_unit!(unit, at_distances)
}

/// The kernel that moves elements of so many bytes from a list of offsets.
pub(super) fn listed(unit: usize) -> Option<Listed> {
    by_unit!(unit, at_offsets)
}

/// # Safety
/// As for [`Listed`].
unsafe fn at_offsets<const U: usize>(from: *const u8, offsets: &[u32], to: *mut u8) {
    let element = |to: *mut u8, offset: u32| {
        // SAFETY: an element of both sides.
        unsafe { to.cast::<[u8; U]>().write_unaligned(from.add(offset as usize).cast::<[u8; U]>().read_unaligned()) }
    };
    // Some at a time, because counting takes as long as moving.
    let (groups, rest) = offsets.as_chunks::<8>();
    let mut to = to;
    for group in groups {
        for (at, offset) in group.iter().enumerate() {
            element(to.wrapping_add(at * U), *offset);
        }
        to = to.wrapping_add(8 * U);
    }
    for (at, offset) in rest.iter().enumerate() {
        element(to.wrapping_add(at * U), *offset);
    }
}

/// Writes a value over and over: a few whole ones, so that no call is worth its while.
///
/// # Safety
/// `bytes`, a multiple of its length, may be written, and do not overlap it.
pub(super) unsafe fn repeat(value: &[u8], to: *mut u8, bytes: usize) {
    /// # Safety
    /// As for [`repeat`].
    unsafe fn of<const U: usize>(value: &[u8], to: *mut u8, bytes: usize) {
        // SAFETY: a value of `U` bytes, and all of its places.
        unsafe {
            let value = value.as_ptr().cast::<[u8; U]>().read_unaligned();
            for at in (0..bytes).step_by(U) {
                to.add(at).cast::<[u8; U]>().write_unaligned(value);
            }
        }
    }
    // SAFETY: as the caller says.
    unsafe {
        match value.len() {
            1 => of::<1>(value, to, bytes),
            2 => of::<2>(value, to, bytes),
            4 => of::<4>(value, to, bytes),
            8 => of::<8>(value, to, bytes),
            width => {
                for at in (0..bytes).step_by(width) {
                    sink::copy(to.add(at), value.as_ptr(), width);
                }
            }
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! wide {
    ($name:ident, $unit:literal) => {
        /// # Safety
        /// As for [`Line`].
        #[target_feature(enable = "avx2")]
        unsafe fn $name(from: *const u8, sx: isize, n: usize, to: *mut u8) {
            // SAFETY: as the caller says.
            unsafe { gather::<$unit>(from, sx, n, to) }
        }
    };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
wide!(wide_1, 1);
#[cfg(all(target_arch = "x86_64", not(miri)))]
wide!(wide_2, 2);
#[cfg(all(target_arch = "x86_64", not(miri)))]
wide!(wide_4, 4);
#[cfg(all(target_arch = "x86_64", not(miri)))]
wide!(wide_8, 8);

/// # Safety
/// As for [`Line`].
#[inline]
unsafe fn gather<const U: usize>(from: *const u8, sx: isize, n: usize, to: *mut u8) {
    /// A distance that is known when this is compiled: the compiler turns the loop into loads of whole vectors and shuffles.
    ///
    /// # Safety
    /// As for [`Line`].
    #[inline]
    unsafe fn known<const U: usize, const STEPS: isize>(from: *const u8, n: usize, to: *mut u8) {
        for at in 0..n {
            // SAFETY: an element of both sides.
            unsafe {
                let element = from.offset(at as isize * STEPS * U as isize).cast::<[u8; U]>().read_unaligned();
                to.add(at * U).cast::<[u8; U]>().write_unaligned(element);
            }
        }
    }
    // SAFETY: as the caller says.
    unsafe {
        let whole = sx % U as isize == 0;
        match sx / U as isize {
            0 if sx == 0 => {
                let element = from.cast::<[u8; U]>().read_unaligned();
                for at in 0..n {
                    to.add(at * U).cast::<[u8; U]>().write_unaligned(element);
                }
            }
            -1 if whole => known::<U, -1>(from, n, to),
            2 if whole => known::<U, 2>(from, n, to),
            3 if whole => known::<U, 3>(from, n, to),
            4 if whole => known::<U, 4>(from, n, to),
            _ => at_distances::<U>(from, sx, n, to, U as isize),
        }
    }
}

/// # Safety
/// As for [`Strides`].
#[inline]
unsafe fn at_distances<const U: usize>(from: *const u8, sx: isize, n: usize, to: *mut u8, dx: isize) {
    for at in 0..n as isize {
        // SAFETY: an element of both sides.
        unsafe {
            let element = from.offset(at * sx).cast::<[u8; U]>().read_unaligned();
            to.offset(at * dx).cast::<[u8; U]>().write_unaligned(element);
        }
    }
}
