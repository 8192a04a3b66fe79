//! Memory with guards: a slice that starts at any offset of its allocation, between bytes that nobody may touch.

use std::fmt;

/// A slice of an allocation of its own. Without a tail it ends where the allocation ends, so that a sanitizer sees
/// whoever goes past it; with one, the bytes around it tell.
pub(crate) struct Guarded {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// Where a slice lies: bytes before it, which decide how it is aligned, and bytes behind it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) before: usize,
    pub(crate) behind: usize,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes in, {} before the end", self.before, self.behind)
    }
}

impl Guarded {
    const GUARD: u8 = 0xC3;

    /// Memory of some length, every byte the same.
    pub(crate) fn filled(len: usize, value: u8, place: Place) -> Guarded {
        let mut guarded = Guarded {
            bytes: vec![Guarded::GUARD; place.before + len + place.behind],
            start: place.before,
            end: place.before + len,
        };
        guarded.slice_mut().fill(value);
        guarded
    }

    /// A copy of a slice.
    pub(crate) fn copied(from: &[u8], place: Place) -> Guarded {
        let mut guarded = Guarded::filled(from.len(), 0, place);
        guarded.slice_mut().copy_from_slice(from);
        guarded
    }

    pub(crate) fn slice(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(crate) fn slice_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.end]
    }

    /// Compares the slice with what it should hold, and the bytes around it with what they held.
    pub(crate) fn check(&self, name: &str, expected: &[u8], width: usize) -> Result<(), String> {
        let around = [(0, &self.bytes[..self.start]), (self.end, &self.bytes[self.end..])];
        for (at, guard) in around {
            if let Some(byte) = guard.iter().position(|byte| *byte != Guarded::GUARD) {
                let distance = (at + byte) as i64 - self.start as i64;
                return Err(format!("{name}: byte {distance} of {} was written, outside the slice", expected.len()));
            }
        }
        same(name, self.slice(), expected, width)
    }
}

/// Compares bytes and names the first element that differs.
pub(crate) fn same(name: &str, found: &[u8], expected: &[u8], width: usize) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    if found.len() != expected.len() {
        return Err(format!("{name}: {} bytes instead of {}", found.len(), expected.len()));
    }
    let elements = || found.chunks(width).zip(expected.chunks(width));
    let wrong = elements().filter(|(found, expected)| found != expected).count();
    let first = elements().position(|(found, expected)| found != expected).expect("some byte differs");
    // As much of it as can be read.
    let element = first * width..first * width + width.min(40);
    Err(format!(
        "{name}: {wrong} of {} elements are wrong, first {first}: {:02x?} instead of {:02x?}",
        expected.len() / width,
        &found[element.clone()],
        &expected[element],
    ))
}

/// Bytes that differ from their neighbours near and far, the same for the same seed.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let word = |number: u64| {
        let z = (number ^ seed.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ (z >> 27)).to_le_bytes()
    };
    let mut bytes = Vec::with_capacity(len.next_multiple_of(8));
    (0..len.div_ceil(8) as u64).for_each(|number| bytes.extend_from_slice(&word(number)));
    bytes.truncate(len);
    bytes
}
