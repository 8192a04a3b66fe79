//! Square blocks of elements, turned over in registers.

/// Turns a tile over: row `y` of the stage gets what lies `y` elements after the start of each column.
///
/// The stage has `ny` rows of at least as many elements as there are columns, `pitch` bytes apart, and [`SLACK`] bytes
/// after the last; what lies between the rows, and the slack, may be overwritten.
///
/// # Safety
/// `from`, moved by each of the offsets, starts a column of `ny` elements that may be read; so may be everything between
/// them and `end`. The stage is as said above, apart from what is read.
pub(super) type Turn = unsafe fn(
    from: *const u8,
    columns: &[isize],
    ny: usize,
    end: *const u8,
    stage: *mut u8,
    pitch: usize,
    ahead: Ahead,
);

/// The columns that come next: their start, and how far from it they are.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a> {
    pub(super) from: *const u8,
    pub(super) columns: &'a [isize],
}

/// Bytes after the last row of a stage that may be overwritten.
pub(super) const SLACK: usize = 64;

/// The fastest way on this machine for elements of so many bytes.
pub(super) fn turn(unit: usize) -> Option<Turn> {
    #[cfg(target_arch = "x86_64")]
    {
        let wide = std::is_x86_feature_detected!("avx2");
        match unit {
            1 => return Some(x86::turn_1),
            2 => return Some(x86::turn_2),
            4 if wide => return Some(x86::turn_4),
            8 if wide => return Some(x86::turn_8),
            _ => {}
        }
    }
    match unit {
        1 => Some(one_by_one::<1>),
        2 => Some(one_by_one::<2>),
        3 => Some(one_by_one::<3>),
        4 => Some(one_by_one::<4>),
        6 => Some(one_by_one::<6>),
        8 => Some(one_by_one::<8>),
        12 => Some(one_by_one::<12>),
        16 => Some(one_by_one::<16>),
        24 => Some(one_by_one::<24>),
        32 => Some(one_by_one::<32>),
        _ => None,
    }
}

/// Element by element.
///
/// # Safety
/// As for [`Turn`].
unsafe fn one_by_one<const U: usize>(
    from: *const u8,
    columns: &[isize],
    ny: usize,
    _end: *const u8,
    stage: *mut u8,
    pitch: usize,
    _ahead: Ahead,
) {
    for (x, column) in columns.iter().enumerate() {
        for y in 0..ny {
            // SAFETY: element `y` of column `x`, to place `x` of row `y`.
            unsafe {
                let element = from.offset(*column).add(y * U).cast::<[u8; U]>();
                stage.add(y * pitch + x * U).cast::<[u8; U]>().write_unaligned(element.read_unaligned());
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Ahead, one_by_one};

    const HINT: i32 = _MM_HINT_T1;

    /// Walks a tile in blocks of `$block` by `$block`, `$unit` bytes an element. A block at the lower edge is moved up so
    /// that it ends there; one at the right edge repeats the last column, and what it writes too much is overwritten:
    /// columns go from right to left, rows downwards.
    macro_rules! turn {
        ($name:ident, $feature:literal, $unit:literal, $block:literal, $turn_block:ident) => {
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn $name(
                from: *const u8,
                columns: &[isize],
                ny: usize,
                end: *const u8,
                stage: *mut u8,
                pitch: usize,
                ahead: Ahead,
            ) {
                const BLOCK: usize = $block;
                const BYTES: usize = BLOCK * $unit;
                for (x, columns) in columns.chunks(BLOCK).enumerate().rev() {
                    let mut starts = [columns[columns.len() - 1]; BLOCK];
                    starts[..columns.len()].copy_from_slice(columns);
                    let last = starts.iter().fold(starts[0], |last, start| last.max(*start));
                    for y in (0..ny).step_by(BLOCK) {
                        // A block that is cut off begins earlier, if it can.
                        let (top, rows) = if ny < BLOCK { (y, ny) } else { (y.min(ny - BLOCK), BLOCK) };
                        if y * $unit % 64 == 0 {
                            for column in ahead.columns.iter().skip(x * BLOCK).take(BLOCK) {
                                let line = ahead.from.wrapping_offset(*column).wrapping_add(y * $unit);
                                _mm_prefetch::<HINT>(line.cast());
                            }
                        }
                        let from = from.wrapping_add(top * $unit);
                        // SAFETY: the block's columns lie before `end`; else each element is read by itself.
                        unsafe {
                            let stage = stage.add(top * pitch + x * BYTES);
                            if end.addr() - from.wrapping_offset(last).addr() < BYTES {
                                one_by_one::<$unit>(from, columns, rows, end, stage, pitch, ahead);
                            } else if rows == BLOCK {
                                $turn_block::<true>(from, &starts, stage, pitch, rows);
                            } else {
                                $turn_block::<false>(from, &starts, stage, pitch, rows);
                            }
                        }
                    }
                }
            }
        };
    }

    turn!(turn_1, "sse2", 1, 16, block_1);
    turn!(turn_2, "sse2", 2, 8, block_2);
    turn!(turn_4, "avx2", 4, 8, block_4);
    turn!(turn_8, "avx2", 8, 4, block_8);

    #[inline]
    #[target_feature(enable = "sse2")]
    unsafe fn block_1<const WHOLE: bool>(
        from: *const u8,
        columns: &[isize; 16],
        to: *mut u8,
        pitch: usize,
        rows: usize,
    ) {
        // SAFETY: 16 bytes may be read at each column, and written at each of `rows` rows.
        unsafe {
            let load = |at: usize| _mm_loadu_si128(from.offset(columns[at]).cast());
            let mut a = [_mm_setzero_si128(); 16];
            let mut b = a;
            for (i, a) in a.iter_mut().enumerate() {
                *a = load(i);
            }
            // Each round brings neighbours together that are twice as wide.
            for i in 0..8 {
                b[2 * i] = _mm_unpacklo_epi8(a[2 * i], a[2 * i + 1]);
                b[2 * i + 1] = _mm_unpackhi_epi8(a[2 * i], a[2 * i + 1]);
            }
            for i in 0..4 {
                for j in 0..2 {
                    a[4 * i + 2 * j] = _mm_unpacklo_epi16(b[4 * i + j], b[4 * i + 2 + j]);
                    a[4 * i + 2 * j + 1] = _mm_unpackhi_epi16(b[4 * i + j], b[4 * i + 2 + j]);
                }
            }
            for i in 0..2 {
                for j in 0..4 {
                    b[8 * i + 2 * j] = _mm_unpacklo_epi32(a[8 * i + j], a[8 * i + 4 + j]);
                    b[8 * i + 2 * j + 1] = _mm_unpackhi_epi32(a[8 * i + j], a[8 * i + 4 + j]);
                }
            }
            for j in 0..8 {
                a[2 * j] = _mm_unpacklo_epi64(b[j], b[8 + j]);
                a[2 * j + 1] = _mm_unpackhi_epi64(b[j], b[8 + j]);
            }
            for (y, row) in a.iter().enumerate() {
                if WHOLE || y < rows {
                    _mm_storeu_si128(to.wrapping_add(y * pitch).cast(), *row);
                }
            }
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    unsafe fn block_2<const WHOLE: bool>(
        from: *const u8,
        columns: &[isize; 8],
        to: *mut u8,
        pitch: usize,
        rows: usize,
    ) {
        // SAFETY: 16 bytes may be read at each column, and written at each of `rows` rows.
        unsafe {
            let load = |at: usize| _mm_loadu_si128(from.offset(columns[at]).cast());
            let mut a = [_mm_setzero_si128(); 8];
            let mut b = a;
            for (i, a) in a.iter_mut().enumerate() {
                *a = load(i);
            }
            for i in 0..4 {
                b[2 * i] = _mm_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
                b[2 * i + 1] = _mm_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
            }
            for i in 0..2 {
                for j in 0..2 {
                    a[4 * i + 2 * j] = _mm_unpacklo_epi32(b[4 * i + j], b[4 * i + 2 + j]);
                    a[4 * i + 2 * j + 1] = _mm_unpackhi_epi32(b[4 * i + j], b[4 * i + 2 + j]);
                }
            }
            for j in 0..4 {
                b[2 * j] = _mm_unpacklo_epi64(a[j], a[4 + j]);
                b[2 * j + 1] = _mm_unpackhi_epi64(a[j], a[4 + j]);
            }
            for (y, row) in b.iter().enumerate() {
                if WHOLE || y < rows {
                    _mm_storeu_si128(to.wrapping_add(y * pitch).cast(), *row);
                }
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn block_4<const WHOLE: bool>(
        from: *const u8,
        columns: &[isize; 8],
        to: *mut u8,
        pitch: usize,
        rows: usize,
    ) {
        // SAFETY: 32 bytes may be read at each column, and written at each of `rows` rows.
        unsafe {
            // Halves of two columns, four apart, in one register: the rest happens within halves.
            let pair = |at: usize, half: usize| {
                let low = _mm_loadu_ps(from.offset(columns[at]).wrapping_add(16 * half).cast());
                _mm256_insertf128_ps::<1>(
                    _mm256_castps128_ps256(low),
                    _mm_loadu_ps(from.offset(columns[at + 4]).wrapping_add(16 * half).cast()),
                )
            };
            let mut out = [_mm256_setzero_ps(); 8];
            for half in 0..2 {
                let (a, b, c, d) = (pair(0, half), pair(1, half), pair(2, half), pair(3, half));
                let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                out[4 * half] = _mm256_shuffle_ps::<0x44>(ab_low, cd_low);
                out[4 * half + 1] = _mm256_shuffle_ps::<0xee>(ab_low, cd_low);
                out[4 * half + 2] = _mm256_shuffle_ps::<0x44>(ab_high, cd_high);
                out[4 * half + 3] = _mm256_shuffle_ps::<0xee>(ab_high, cd_high);
            }
            for (y, row) in out.iter().enumerate() {
                if WHOLE || y < rows {
                    _mm256_storeu_ps(to.wrapping_add(y * pitch).cast(), *row);
                }
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn block_8<const WHOLE: bool>(
        from: *const u8,
        columns: &[isize; 4],
        to: *mut u8,
        pitch: usize,
        rows: usize,
    ) {
        // SAFETY: 32 bytes may be read at each column, and written at each of `rows` rows.
        unsafe {
            let load = |at: usize| _mm256_loadu_pd(from.offset(columns[at]).cast());
            let (a, b, c, d) = (load(0), load(1), load(2), load(3));
            let (ab_low, ab_high) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (cd_low, cd_high) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            let out = [
                _mm256_permute2f128_pd::<0x20>(ab_low, cd_low),
                _mm256_permute2f128_pd::<0x20>(ab_high, cd_high),
                _mm256_permute2f128_pd::<0x31>(ab_low, cd_low),
                _mm256_permute2f128_pd::<0x31>(ab_high, cd_high),
            ];
            for (y, row) in out.iter().enumerate() {
                if WHOLE || y < rows {
                    _mm256_storeu_pd(to.wrapping_add(y * pitch).cast(), *row);
                }
            }
        }
    }
}
