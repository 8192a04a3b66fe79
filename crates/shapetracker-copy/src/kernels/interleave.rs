//! A few contiguous columns interleaved into one run, such as the planes of an image into its pixels.
//!
//! A register of each column holds what some registers of the run are made of. Each of those takes its bytes out of every
//! column's register with one shuffle, which leaves zeros in the other columns' places.

use super::shuffle::{REGISTER, Register};

/// Interleaves columns, which begin at offsets from `from`, into a run of so many rows.
///
/// # Safety
/// They may be read, the run may be written, and they do not overlap. The columns are as many as the function is for.
pub(super) type Interleave = unsafe fn(from: *const u8, columns: &[isize], to: *mut u8, rows: usize);

/// The way to interleave so many columns of elements of so many bytes, where this machine has one that is worth it.
pub(super) fn interleave(unit: usize, columns: usize) -> Option<Interleave> {
    macro_rules! of {
        ($($unit:literal: $($columns:literal)*;)*) => {
            match (unit, columns) {
                $($(($unit, $columns) => Some(wide::<$unit, $columns> as Interleave),)*)*
                _ => None,
            }
        };
    }
    // As many columns of elements of so many bytes are transposed in blocks.
    let narrow = of! {
        1: 2 3 4 5 6 7 8;
        2: 2 3 4 5 6 7;
        4: 2 3;
    };
    narrow.filter(|_| has_shuffles())
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn has_shuffles() -> bool {
    std::is_x86_feature_detected!("ssse3")
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn has_shuffles() -> bool {
    cfg!(any(target_arch = "aarch64", miri))
}

/// # Safety
/// As for [`Interleave`]; the processor has shuffles.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "ssse3")]
unsafe fn wide<const U: usize, const N: usize>(from: *const u8, columns: &[isize], to: *mut u8, rows: usize) {
    use std::arch::x86_64::{__m128i, _mm_shuffle_epi8};
    let taken = |bytes: Register, order: Register| {
        let [bytes, order] = [bytes, order].map(bytemuck::cast::<Register, __m128i>);
        u128::from_ne_bytes(bytemuck::cast(_mm_shuffle_epi8(bytes, order)))
    };
    // SAFETY: as the caller says.
    unsafe { each::<U, N>(from, columns, to, rows, taken) }
}

/// # Safety
/// As for [`Interleave`].
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn wide<const U: usize, const N: usize>(from: *const u8, columns: &[isize], to: *mut u8, rows: usize) {
    let taken = |bytes: Register, order: Register| u128::from_ne_bytes(super::shuffle::in_order(bytes, order));
    // SAFETY: as the caller says.
    unsafe { each::<U, N>(from, columns, to, rows, taken) }
}

/// # Safety
/// As for [`Interleave`].
#[inline(always)]
unsafe fn each<const U: usize, const N: usize>(
    from: *const u8,
    columns: &[isize],
    to: *mut u8,
    rows: usize,
    taken: impl Fn(Register, Register) -> u128,
) {
    let columns: &[isize; N] = columns.try_into().expect("as many columns as this is for");
    let height = REGISTER / U;
    for top in (0..rows / height * height).step_by(height) {
        // SAFETY: as many rows of each column, and their places in the run.
        unsafe {
            let bytes = columns.map(|column| from.offset(column).add(top * U).cast::<Register>().read_unaligned());
            for (place, orders) in const { orders::<U, N>() }.iter().enumerate() {
                let mut ordered = 0;
                for (bytes, order) in bytes.iter().zip(orders) {
                    ordered |= taken(*bytes, *order);
                }
                to.add(top * U * N + place * REGISTER).cast::<Register>().write_unaligned(ordered.to_ne_bytes());
            }
        }
    }
    for row in rows / height * height..rows {
        for (at, column) in columns.iter().enumerate() {
            // SAFETY: an element of both sides.
            unsafe {
                let element = from.offset(*column).add(row * U).cast::<[u8; U]>().read_unaligned();
                to.add((row * N + at) * U).cast::<[u8; U]>().write_unaligned(element);
            }
        }
    }
}

/// For each register of the run and each column: which byte of the column's register comes to each place; none where another
/// column's does.
const fn orders<const U: usize, const N: usize>() -> [[Register; N]; N] {
    let mut orders = [[[0x80; REGISTER]; N]; N];
    let mut at = 0;
    while at < N * REGISTER {
        let (row, column, byte) = (at / (U * N), at / U % N, at % U);
        orders[at / REGISTER][column][at % REGISTER] = (row * U + byte) as u8;
        at += 1;
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of all numbers of columns and rows, beside what the definition says, in a room in which nothing else is written.
    #[test]
    fn columns_are_interleaved() {
        for (unit, columns) in (1..=8).flat_map(|unit| (1..=16).map(move |columns| (unit, columns))) {
            let Some(interleave) = interleave(unit, columns) else { continue };
            for rows in (0..70).step_by(if cfg!(miri) { 23 } else { 1 }) {
                let pitch = rows * unit + 3;
                let source: Vec<u8> = (0..columns * pitch + 1).map(|at| (at * 131 + at / 253) as u8).collect();
                // From the last to the first.
                let places: Vec<isize> = (0..columns).rev().map(|at| (at * pitch) as isize).collect();
                let mut run = vec![0x5a; columns * rows * unit + 32];
                // SAFETY: the columns lie in the source, and the run behind the first 16 bytes.
                unsafe { interleave(source.as_ptr(), &places, run.as_mut_ptr().add(16), rows) };
                let mut expected = vec![0x5a; 16];
                for row in 0..rows {
                    for place in &places {
                        expected.extend_from_slice(&source[*place as usize + row * unit..][..unit]);
                    }
                }
                expected.extend([0x5a; 16]);
                assert!(run == expected, "{columns} columns of {rows} elements of {unit} bytes");
            }
        }
    }
}
