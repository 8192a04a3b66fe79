//! Memory without values yet, and memory that got them.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use bytemuck::NoUninit;

use crate::Error;

/// The bytes of memory for values.
pub(crate) fn bytes_of_room<T>(room: &mut [MaybeUninit<T>]) -> &mut [MaybeUninit<u8>] {
    let bytes = size_of_val(room);
    // SAFETY: the same memory; it need not have values before nor after.
    unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), bytes) }
}

/// Rooms of fewer bytes have few pages.
const LARGE: usize = 4 << 20;

/// Asks the system for huge pages where a large room is untouched yet: one page of 2 MiB is cleared and translated at once where
/// 512 small ones are one by one, which takes longer than to write to them. It is a wish and not more: systems that have none
/// do without.
pub(crate) fn ask_for_huge_pages(room: &mut [MaybeUninit<u8>]) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGE: usize = 2 << 20;
        let start = room.as_mut_ptr().cast::<u8>();
        let skipped = start.addr().wrapping_neg() % PAGE;
        if room.len() >= LARGE {
            let bytes = (room.len() - skipped) / PAGE * PAGE;
            // SAFETY: whole pages of the room, whose contents this leaves as they are.
            let _ = unsafe { libc::madvise(start.wrapping_add(skipped).cast(), bytes, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (room, LARGE);
}

/// Bytes that will be written over.
///
/// # Safety
/// Nothing without a value is written to them.
pub(crate) unsafe fn room_of_bytes(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the same memory; its bytes keep values, as the caller says.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
}

/// A vector of values whose bytes are written in place.
///
/// # Errors
/// More memory than there is, and those of `write`.
pub(crate) fn vec_of<T: NoUninit>(
    len: usize,
    memory: Error,
    write: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<&mut [u8], Error>,
) -> Result<Vec<T>, Error> {
    let mut values: Vec<T> = Vec::new();
    if values.try_reserve_exact(len).is_err() {
        return Err(memory);
    }
    let written = write(bytes_of_room(&mut values.spare_capacity_mut()[..len]))?.len();
    assert_eq!(written, len * size_of::<T>(), "some values are missing");
    // SAFETY: all their bytes are written, and come from values of the same type.
    unsafe { values.set_len(len) };
    Ok(values)
}
