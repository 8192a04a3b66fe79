//! Square blocks of elements, transposed in registers.
//!
//! A block of `n` columns with 16 bytes each is loaded as `n = 16 / unit` vectors, one per column, and transposed in
//! `log2(n)` rounds of unpacking, each of which interleaves the elements of columns that are half a block apart. For 8 columns
//! of 2 bytes, `c0 .. c7`, the first round makes `c0 c4 c0 c4 ..`, the second `c0 c2 c4 c6 ..`, and after the third vector `y`
//! holds element `y` of all columns in order: a row. That is one load and one store per vector, instead of one of each per
//! element, and every byte of a line is used while the line is in the first-level cache.

use crate::kernels::sink::LINE;

/// Moves a strip of columns. Column `x` begins at `from + columns[x]`, where its elements, one per row, are contiguous; row
/// `y` begins at `to + rows[y]`, where its elements, one per column, are.
///
/// # Safety
/// The elements may be read and their places written. There are exactly as many columns and at least as many rows as
/// [`Turn`] says; where rows are streamed to, they begin lines.
type Strip = unsafe fn(from: *const u8, columns: &[isize], to: *mut u8, rows: &[isize]);

/// The fastest way on this machine to transpose blocks of elements of one width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    unit: usize,
    /// Rows that a strip has at least, and columns that a narrow one has.
    pub(super) least: usize,
    strips: Option<Strips>,
    /// For any number of rows and columns.
    any: Strip,
}

/// Transposing strips of a fixed number of columns, and at least so many rows.
#[derive(Clone, Copy, Debug)]
struct Strips {
    /// Where there are as many rows as fill a line of each column, by vectors that hold a line.
    tall: Option<Tall>,
    /// As many columns as fill a line of each row.
    line: Strip,
    /// The same with non-temporal stores, where there are such; rows begin lines.
    stream: Option<Strip>,
    /// As many columns as one vector holds.
    narrow: Strip,
}

/// Strips of as many columns as fill a line of each row, whose blocks are as high as they are wide.
#[derive(Clone, Copy, Debug)]
struct Tall {
    line: Strip,
    stream: Strip,
}

/// The least number of rows that are transposed at once for elements of so many bytes, if any are.
pub(crate) fn least(unit: usize) -> Option<usize> {
    Turn::new(unit).map(|turn| turn.least)
}

impl Turn {
    /// The fastest way on this machine for elements of so many bytes.
    pub(super) fn new(unit: usize) -> Option<Turn> {
        let any: Strip = match unit {
            1 => one_by_one::<1>,
            2 => one_by_one::<2>,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            3 if std::is_x86_feature_detected!("avx2") => x86::pixels::strip_3,
            3 => one_by_one::<3>,
            4 => one_by_one::<4>,
            6 => one_by_one::<6>,
            8 => one_by_one::<8>,
            12 => one_by_one::<12>,
            16 => one_by_one::<16>,
            24 => one_by_one::<24>,
            32 => one_by_one::<32>,
            _ => return None,
        };
        // Miri follows the strips' way through a tile, too, element by element.
        let by_elements = cfg!(miri).then_some(Strips { tall: None, line: any, stream: Some(any), narrow: any });
        Some(Turn { unit, least: 16_usize.div_ceil(unit), strips: in_registers(unit).or(by_elements), any })
    }

    /// How many columns fill a line.
    pub(super) fn width(&self) -> usize {
        LINE.div_ceil(self.unit)
    }

    /// Whether there are strips with non-temporal stores.
    pub(super) fn streams(&self) -> bool {
        self.strips.is_some_and(|strips| strips.stream.is_some())
    }

    /// Moves any number of columns and rows through the caches.
    ///
    /// # Safety
    /// The elements may be read and their places written.
    pub(super) unsafe fn any(&self, from: *const u8, columns: &[isize], to: *mut u8, rows: &[isize]) {
        // SAFETY: as the caller says; the strips are as wide and as high as they have to be.
        unsafe {
            let strips = match self.strips {
                Some(strips) if columns.len() >= self.least && rows.len() >= self.least => strips,
                _ => return (self.any)(from, columns, to, rows),
            };
            let line = strips.tall.filter(|_| rows.len() >= self.width()).map_or(strips.line, |tall| tall.line);
            let mut x = 0;
            while x + self.width() <= columns.len() {
                line(from, &columns[x..x + self.width()], to.add(x * self.unit), rows);
                x += self.width();
            }
            // A strip that would hang over the edge is moved back to end there: some columns are written twice, with the
            // same values.
            while x < columns.len() {
                let left = x.min(columns.len() - self.least);
                (strips.narrow)(from, &columns[left..left + self.least], to.add(left * self.unit), rows);
                x += self.least;
            }
        }
    }

    /// Moves columns that fill a line with non-temporal stores, where there are any.
    ///
    /// # Safety
    /// As for [`Strip`].
    pub(super) unsafe fn stream(&self, from: *const u8, columns: &[isize], to: *mut u8, rows: &[isize]) {
        let tall = |strips: Strips| strips.tall.filter(|_| rows.len() >= self.width());
        let strip = self.strips.and_then(|strips| tall(strips).map_or(strips.stream, |tall| Some(tall.stream)));
        let strip = strip.unwrap_or(self.any);
        // SAFETY: as the caller says.
        unsafe { strip(from, columns, to, rows) }
    }
}

/// What a macro makes of the name of the strips for elements of so many bytes.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
macro_rules! of_unit {
    ($unit:expr, $strips:ident) => {
        match $unit {
            1 => Some($strips!(strip_1)),
            2 => Some($strips!(strip_2)),
            4 => Some($strips!(strip_4)),
            8 => Some($strips!(strip_8)),
            16 => Some($strips!(strip_16)),
            _ => None,
        }
    };
}

/// Strips in the widest registers of this machine.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn in_registers(unit: usize) -> Option<Strips> {
    use x86::{avx2, avx512, sse2};
    let has_avx2 = std::is_x86_feature_detected!("avx2");
    let has_avx512 = std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512bw");
    macro_rules! strips {
        ($strip:ident) => {{
            let (line, stream): (Strip, Strip) = if has_avx2 {
                (avx2::$strip::<false, LINE>, avx2::$strip::<true, LINE>)
            } else {
                (sse2::$strip::<false, LINE>, sse2::$strip::<true, LINE>)
            };
            let tall = Tall { line: avx512::$strip::<false>, stream: avx512::$strip::<true> };
            let narrow = sse2::$strip::<false, 16>;
            Strips { tall: has_avx512.then_some(tall), line, stream: Some(stream), narrow }
        }};
    }
    of_unit!(unit, strips)
}

/// The same: every processor of this kind has these instructions.
#[cfg(all(target_arch = "aarch64", not(miri)))]
fn in_registers(unit: usize) -> Option<Strips> {
    macro_rules! strips {
        ($strip:ident) => {
            Strips { tall: None, line: neon::$strip::<false, LINE>, stream: None, narrow: neon::$strip::<false, 16> }
        };
    }
    of_unit!(unit, strips)
}

#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
fn in_registers(_unit: usize) -> Option<Strips> {
    None
}

/// Element by element.
///
/// # Safety
/// As for [`Strip`], with any number of rows and columns.
unsafe fn one_by_one<const U: usize>(from: *const u8, columns: &[isize], to: *mut u8, rows: &[isize]) {
    for (x, column) in columns.iter().enumerate() {
        for (y, row) in rows.iter().enumerate() {
            // SAFETY: element `y` of column `x`, to place `x` of row `y`.
            unsafe {
                let element = from.offset(*column).add(y * U).cast::<[u8; U]>();
                to.offset(*row).add(x * U).cast::<[u8; U]>().write_unaligned(element.read_unaligned());
            }
        }
    }
}

/// Strips of `WIDTH` bytes for elements of `$unit` bytes: 16 bytes of each column at a time, in blocks that are as
/// wide as a vector. The last block is moved back to end at the last row, so some rows are written twice, with the same
/// values. All blocks of a line are in registers before its stores, so that those follow each other: a line that is
/// written in parts with others in between is evicted from the write buffer before it is complete.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
macro_rules! strip {
    ($name:ident, $feature:literal, $unit:literal, $vector:ident: $zero:ident $load:ident $store:ident $stream:ident, $low:ident $high:ident) => {
        #[target_feature(enable = $feature)]
        pub(in crate::kernels::blocks) unsafe fn $name<const STREAM: bool, const WIDTH: usize>(
            from: *const u8,
            columns: &[isize],
            to: *mut u8,
            rows: &[isize],
        ) {
            const ROWS: usize = 16 / $unit;
            const BYTES: usize = size_of::<$vector>();
            const COLUMNS: usize = BYTES / $unit;
            /// # Safety
            /// 16 bytes of all columns may be read.
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn turned(from: *const u8, columns: &[isize]) -> [$vector; ROWS] {
                let mut block = [$zero(); ROWS];
                for (y, row) in block.iter_mut().enumerate() {
                    // SAFETY: as the caller says.
                    *row = unsafe { $load(from, &columns[y..], ROWS) };
                }
                // Each round brings together the elements of columns that are half a block apart.
                for _ in 0..ROWS.trailing_zeros() {
                    let before = block;
                    let (left, right) = before.split_at(ROWS / 2);
                    for (y, (left, right)) in left.iter().zip(right).enumerate() {
                        block[2 * y] = $low(*left, *right);
                        block[2 * y + 1] = $high(*left, *right);
                    }
                }
                block
            }
            let columns = &columns[..WIDTH / $unit];
            for top in (0..rows.len()).step_by(ROWS) {
                let top = top.min(rows.len() - ROWS);
                let from = from.wrapping_add(top * $unit);
                // SAFETY: 16 bytes of the columns of a block.
                let block = |at: usize| unsafe { turned(from, &columns[at * COLUMNS..][..COLUMNS]) };
                let none = [$zero(); ROWS];
                let blocks: [[$vector; ROWS]; 4] = [
                    block(0),
                    if WIDTH > BYTES { block(1) } else { none },
                    if WIDTH > 2 * BYTES { block(2) } else { none },
                    if WIDTH > 2 * BYTES { block(3) } else { none },
                ];
                for (y, row) in rows[top..top + ROWS].iter().enumerate() {
                    for (x, block) in blocks[..WIDTH / BYTES].iter().enumerate() {
                        let to = to.wrapping_offset(*row).wrapping_add(x * BYTES).cast();
                        // SAFETY: a part of a row, which begins a line where it is streamed to.
                        unsafe { if STREAM { $stream(to, block[y]) } else { $store(to, block[y]) } }
                    }
                }
            }
        }
    };
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod neon {
    use std::arch::aarch64::*;

    /// # Safety
    /// The first column has 16 bytes that may be read.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn load(from: *const u8, columns: &[isize], _next: usize) -> uint8x16_t {
        // SAFETY: as the caller says.
        unsafe { vld1q_u8(from.offset(columns[0])) }
    }

    /// # Safety
    /// The place may be written.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn store(to: *mut u8, vector: uint8x16_t) {
        // SAFETY: as the caller says.
        unsafe { vst1q_u8(to, vector) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn zero() -> uint8x16_t {
        vdupq_n_u8(0)
    }

    /// The elements of two vectors in turns: those of the lower halves, and those of the upper ones.
    macro_rules! strips {
        ($($name:ident $unit:literal $low:ident $high:ident: $zip_low:ident $zip_high:ident $of:ident $from:ident;)*) => {$(
            #[inline]
            #[target_feature(enable = "neon")]
            fn $low(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                $from($zip_low($of(a), $of(b)))
            }

            #[inline]
            #[target_feature(enable = "neon")]
            fn $high(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                $from($zip_high($of(a), $of(b)))
            }

            // There is no store past the caches: none is asked for.
            strip!($name, "neon", $unit, uint8x16_t: zero load store store, $low $high);
        )*};
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn same(vector: uint8x16_t) -> uint8x16_t {
        vector
    }

    strips! {
        strip_1 1 low_1 high_1: vzip1q_u8 vzip2q_u8 same same;
        strip_2 2 low_2 high_2: vzip1q_u16 vzip2q_u16 vreinterpretq_u16_u8 vreinterpretq_u8_u16;
        strip_4 4 low_4 high_4: vzip1q_u32 vzip2q_u32 vreinterpretq_u32_u8 vreinterpretq_u8_u32;
        strip_8 8 low_8 high_8: vzip1q_u64 vzip2q_u64 vreinterpretq_u64_u8 vreinterpretq_u8_u64;
        strip_16 16 low_16 high_16: vzip1q_u64 vzip2q_u64 vreinterpretq_u64_u8 vreinterpretq_u8_u64;
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    pub(super) mod sse2 {
        use std::arch::x86_64::*;

        /// # Safety
        /// The first column has 16 bytes that may be read.
        #[inline]
        #[target_feature(enable = "sse2")]
        unsafe fn load(from: *const u8, columns: &[isize], _next: usize) -> __m128i {
            // SAFETY: as the caller says.
            unsafe { _mm_loadu_si128(from.offset(columns[0]).cast()) }
        }

        macro_rules! strips {
            ($($name:ident $unit:literal $low:ident $high:ident;)*) => {
                $(strip!($name, "sse2", $unit, __m128i: _mm_setzero_si128 load _mm_storeu_si128 _mm_stream_si128, $low $high);)*
            };
        }

        strips! {
            strip_1 1 _mm_unpacklo_epi8 _mm_unpackhi_epi8;
            strip_2 2 _mm_unpacklo_epi16 _mm_unpackhi_epi16;
            strip_4 4 _mm_unpacklo_epi32 _mm_unpackhi_epi32;
            strip_8 8 _mm_unpacklo_epi64 _mm_unpackhi_epi64;
            strip_16 16 _mm_unpacklo_epi64 _mm_unpackhi_epi64;
        }
    }

    pub(super) mod avx2 {
        use std::arch::x86_64::*;

        /// Two columns, `next` apart, in the halves of a vector: unpacking works on each half alone, so a vector of 32 bytes
        /// transposes two blocks at once, whose rows then lie side by side.
        ///
        /// # Safety
        /// Both have 16 bytes that may be read.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn load(from: *const u8, columns: &[isize], next: usize) -> __m256i {
            // SAFETY: as the caller says.
            unsafe {
                let low = _mm_loadu_si128(from.offset(columns[0]).cast());
                let high = _mm_loadu_si128(from.offset(columns[next]).cast());
                _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
            }
        }

        macro_rules! strips {
            ($($name:ident $unit:literal $low:ident $high:ident;)*) => {
                $(strip!($name, "avx2", $unit, __m256i: _mm256_setzero_si256 load _mm256_storeu_si256 _mm256_stream_si256, $low $high);)*
            };
        }

        strips! {
            strip_1 1 _mm256_unpacklo_epi8 _mm256_unpackhi_epi8;
            strip_2 2 _mm256_unpacklo_epi16 _mm256_unpackhi_epi16;
            strip_4 4 _mm256_unpacklo_epi32 _mm256_unpackhi_epi32;
            strip_8 8 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64;
            strip_16 16 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64;
        }
    }

    /// Elements of 3 bytes, such as pixels.
    pub(super) mod pixels {
        use std::arch::x86_64::*;

        use super::super::one_by_one;

        /// Four elements of each of four columns at a time. Their 12 bytes are spread over 16, so that they can be unpacked
        /// like elements of 4 bytes, and each row is drawn together again.
        ///
        /// Loads and stores are of 16 bytes. The last four are not meant: they are read from the column's next elements, and
        /// what is written there is written over by the next block of the row. So the last columns and rows are moved one by
        /// one.
        ///
        /// # Safety
        /// As for [`Strip`](super::super::Strip), with any number of rows and columns.
        #[target_feature(enable = "avx2")]
        pub(in super::super) unsafe fn strip_3(from: *const u8, columns: &[isize], to: *mut u8, rows: &[isize]) {
            const UNIT: usize = 3;
            const BLOCK: usize = 4;
            // Elements in which the last four bytes lie.
            const AFTER: usize = 2;
            let blocks = |elements: usize| elements.saturating_sub(AFTER) / BLOCK * BLOCK;
            let (wide, high) = (blocks(columns.len()), blocks(rows.len()));
            let spread = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
            let drawn = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
            for left in (0..wide).step_by(BLOCK) {
                let columns = &columns[left..left + BLOCK];
                let to = to.wrapping_add(left * UNIT);
                for top in (0..high).step_by(BLOCK) {
                    let column = |x: usize| {
                        let place = from.wrapping_offset(columns[x]).wrapping_add(top * UNIT);
                        // SAFETY: the elements of this block and, as there are more rows, four bytes after them.
                        _mm_shuffle_epi8(unsafe { _mm_loadu_si128(place.cast()) }, spread)
                    };
                    let (a, b, c, d) = (column(0), column(1), column(2), column(3));
                    let (ac, bd) = (_mm_unpacklo_epi32(a, c), _mm_unpacklo_epi32(b, d));
                    let (ac_below, bd_below) = (_mm_unpackhi_epi32(a, c), _mm_unpackhi_epi32(b, d));
                    let block = [
                        _mm_unpacklo_epi32(ac, bd),
                        _mm_unpackhi_epi32(ac, bd),
                        _mm_unpacklo_epi32(ac_below, bd_below),
                        _mm_unpackhi_epi32(ac_below, bd_below),
                    ];
                    for (vector, row) in block.iter().zip(&rows[top..]) {
                        // SAFETY: the elements of this block and, as there are more columns, four bytes after them.
                        unsafe { _mm_storeu_si128(to.wrapping_offset(*row).cast(), _mm_shuffle_epi8(*vector, drawn)) };
                    }
                }
                // SAFETY: the rest of these columns.
                unsafe { one_by_one::<UNIT>(from.wrapping_add(high * UNIT), columns, to, &rows[high..]) };
            }
            // SAFETY: the rest of the columns.
            unsafe { one_by_one::<UNIT>(from, &columns[wide..], to.wrapping_add(wide * UNIT), rows) };
        }
    }

    pub(super) mod avx512 {
        use std::arch::x86_64::*;

        use super::super::LINE;

        /// Strips of a line of each row for elements of `$unit` bytes, a line of each column at a time: every line is loaded
        /// once and stored once, wherever the others lie. That matters where columns are a power of two apart, and more of
        /// them fall to one place of the cache than it holds.
        ///
        /// The columns are in four groups. Unpacking works on each quarter of a vector alone; it transposes the four blocks
        /// of 16 bytes that the vectors of a group are made of, so that each quarter holds a part of a row. Then the four
        /// quarters of a row are brought together from the four groups.
        ///
        /// The pairs of a round and the rounds are written out, because the compiler keeps a group in registers only if no
        /// loop goes over it.
        macro_rules! strip {
            ($($name:ident $unit:literal $low:ident $high:ident $pairs:tt $($round:literal)*;)*) => {$(
                #[target_feature(enable = "avx512f,avx512bw")]
                pub(in super::super) unsafe fn $name<const STREAM: bool>(
                    from: *const u8,
                    columns: &[isize],
                    to: *mut u8,
                    rows: &[isize],
                ) {
                    const GROUP: usize = 16 / $unit;
                    const BLOCK: usize = LINE / $unit;
                    let columns = &columns[..BLOCK];
                    for top in (0..rows.len()).step_by(BLOCK) {
                        let top = top.min(rows.len() - BLOCK);
                        let from = from.wrapping_add(top * $unit);
                        let mut groups = [[_mm512_setzero_si512(); GROUP]; 4];
                        for (group, columns) in groups.iter_mut().zip(columns.chunks_exact(GROUP)) {
                            for (vector, column) in group.iter_mut().zip(columns) {
                                // SAFETY: a line of the column, from row `top` on.
                                *vector = unsafe { _mm512_loadu_si512(from.offset(*column).cast()) };
                            }
                            $(round!($round group $low $high $pairs);)*
                        }
                        let rows = &rows[top..top + BLOCK];
                        for y in 0..GROUP {
                            let [a, b, c, d] = [groups[0][y], groups[1][y], groups[2][y], groups[3][y]];
                            // Quarters 0 and 2 of two vectors, and 1 and 3; then the first half of each, and the second.
                            let (even_ab, odd_ab) = (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xdd>(a, b));
                            let (even_cd, odd_cd) = (_mm512_shuffle_i32x4::<0x88>(c, d), _mm512_shuffle_i32x4::<0xdd>(c, d));
                            let quarters = [
                                _mm512_shuffle_i32x4::<0x88>(even_ab, even_cd),
                                _mm512_shuffle_i32x4::<0x88>(odd_ab, odd_cd),
                                _mm512_shuffle_i32x4::<0xdd>(even_ab, even_cd),
                                _mm512_shuffle_i32x4::<0xdd>(odd_ab, odd_cd),
                            ];
                            for (quarter, line) in quarters.into_iter().enumerate() {
                                let to = to.wrapping_offset(rows[quarter * GROUP + y]).cast();
                                // SAFETY: a part of a row, which begins a line where it is streamed to.
                                unsafe { if STREAM { _mm512_stream_si512(to, line) } else { _mm512_storeu_si512(to, line) } }
                            }
                        }
                    }
                }
            )*};
        }

        /// A round, which brings together the elements of columns that are half a group apart.
        macro_rules! round {
            ($round:literal $group:ident $low:ident $high:ident [$($y:literal)*]) => {
                let before = *$group;
                $(
                    $group[2 * $y] = $low(before[$y], before[before.len() / 2 + $y]);
                    $group[2 * $y + 1] = $high(before[$y], before[before.len() / 2 + $y]);
                )*
            };
        }

        strip! {
            strip_1 1 _mm512_unpacklo_epi8 _mm512_unpackhi_epi8 [0 1 2 3 4 5 6 7] 1 2 3 4;
            strip_2 2 _mm512_unpacklo_epi16 _mm512_unpackhi_epi16 [0 1 2 3] 1 2 3;
            strip_4 4 _mm512_unpacklo_epi32 _mm512_unpackhi_epi32 [0 1] 1 2;
            strip_8 8 _mm512_unpacklo_epi64 _mm512_unpackhi_epi64 [0] 1;
            strip_16 16 _mm512_unpacklo_epi64 _mm512_unpackhi_epi64 [];
        }
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod tests {
    use super::*;

    /// Every way of this machine, not only its fastest, beside moving one by one: the same bytes, and none around them.
    #[test]
    #[cfg(target_arch = "aarch64")]
    fn all_strips_move_what_one_by_one_moves() {
        macro_rules! strips {
            ($($strip:ident $unit:literal)*) => {$(
                check(one_by_one::<$unit>, neon::$strip::<false, 16>, $unit, 16 / $unit, 16 / $unit);
                check(one_by_one::<$unit>, neon::$strip::<false, LINE>, $unit, LINE / $unit, 16 / $unit);
            )*};
        }
        strips!(strip_1 1 strip_2 2 strip_4 4 strip_8 8 strip_16 16);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn all_strips_move_what_one_by_one_moves() {
        use x86::{avx2, avx512, sse2};
        macro_rules! strips {
            ($($strip:ident $unit:literal)*) => {$(
                let one: Strip = one_by_one::<$unit>;
                let least = 16 / $unit;
                check(one, sse2::$strip::<false, 16>, $unit, least, least);
                check(one, sse2::$strip::<false, LINE>, $unit, LINE / $unit, least);
                check(one, sse2::$strip::<true, LINE>, $unit, LINE / $unit, least);
                if std::is_x86_feature_detected!("avx2") {
                    check(one, avx2::$strip::<false, LINE>, $unit, LINE / $unit, least);
                    check(one, avx2::$strip::<true, LINE>, $unit, LINE / $unit, least);
                }
                if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512bw") {
                    check(one, avx512::$strip::<false>, $unit, LINE / $unit, LINE / $unit);
                    check(one, avx512::$strip::<true>, $unit, LINE / $unit, LINE / $unit);
                }
            )*};
        }
        strips!(strip_1 1 strip_2 2 strip_4 4 strip_8 8 strip_16 16);
        if std::is_x86_feature_detected!("avx2") {
            for columns in 1..20 {
                check(one_by_one::<3>, x86::pixels::strip_3, 3, columns, 1);
            }
        }
    }

    /// Strips of so many columns, and of `least` rows and some more, whose columns and rows lie from the last to the first.
    fn check(one: Strip, strip: Strip, unit: usize, columns: usize, least: usize) {
        for height in least..least + 2 * LINE / unit {
            let places = |count: usize, pitch: usize| -> Vec<isize> {
                (0..count).rev().map(|at| (at * pitch) as isize).collect()
            };
            let (column, row) = (height * unit + 5, (columns * unit).next_multiple_of(LINE) + LINE);
            let source: Vec<u8> = (0..columns * column).map(|at| (at * 131 + at / 253) as u8).collect();
            let (columns, rows) = (places(columns, column), places(height, row));
            let moved = |strip: Strip| {
                let mut room = vec![0x5a_u8; height * row + 2 * LINE];
                let start = room.as_ptr().addr().wrapping_neg() % LINE;
                // SAFETY: the columns lie in the source, and the rows in the room, where they begin lines.
                unsafe { strip(source.as_ptr(), &columns, room.as_mut_ptr().add(start), &rows) };
                room[start..start + height * row].to_vec()
            };
            assert!(moved(one) == moved(strip), "{} columns and {height} rows of {unit} bytes", columns.len());
        }
    }
}
