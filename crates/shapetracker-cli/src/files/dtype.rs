//! The types of elements: how wide they are, and how a value of one is written.

use half::{bf16, f16};

/// The type of an element: what its file calls it, how wide it is, and what kind of value it holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dtype {
    /// What its file calls it: `<f4`, `F32`, `[('a', '<i4'), ('b', '|S3')]`.
    pub(crate) name: String,
    /// How many bits it has; those of most types are whole bytes.
    pub(crate) bits: usize,
    kind: Kind,
    order: Order,
}

/// The kind of value that an element holds, as far as it can be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int,
    Uint,
    /// In the formats of IEEE 754.
    Float,
    /// The upper half of a float of 32 bits.
    BrainFloat,
    /// Two floats, each of half the width.
    Complex,
    /// A date or a duration: a signed count of some unit.
    Time,
    /// Anything else, of which only the value of zero bytes can be written.
    Bytes,
}

/// The order of the bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    pub(crate) const NATIVE: Order = if cfg!(target_endian = "big") { Order::Big } else { Order::Little };
}

/// The types that safetensors, PyTorch, NumPy and Rust know by names without an order of bytes.
const NAMED: &[(&str, Kind, usize)] = &[
    ("bool", Kind::Bool, 8),
    ("u8", Kind::Uint, 8),
    ("i8", Kind::Int, 8),
    ("u16", Kind::Uint, 16),
    ("i16", Kind::Int, 16),
    ("f16", Kind::Float, 16),
    ("bf16", Kind::BrainFloat, 16),
    ("u32", Kind::Uint, 32),
    ("i32", Kind::Int, 32),
    ("f32", Kind::Float, 32),
    ("u64", Kind::Uint, 64),
    ("i64", Kind::Int, 64),
    ("f64", Kind::Float, 64),
    ("c64", Kind::Complex, 64),
    ("c128", Kind::Complex, 128),
];

impl Dtype {
    pub(crate) fn new(name: impl Into<String>, bits: usize, kind: Kind, order: Order) -> Dtype {
        Dtype { name: name.into(), bits, kind, order }
    }

    /// A type by its name in safetensors and Rust, such as `F32` or `f32`, in little-endian order.
    pub(crate) fn named(name: &str) -> Option<Dtype> {
        let &(_, kind, bits) = NAMED.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
        Some(Dtype::new(name, bits, kind, Order::Little))
    }

    /// A type as NumPy writes it, such as `<f4`; no structure.
    pub(crate) fn of_numpy(name: &str) -> Result<Dtype, &'static str> {
        scalar(name)
    }

    /// The names that [`Dtype::named`] knows.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|named| named.0)
    }

    /// How many bytes an element has.
    pub(crate) fn width(&self) -> Result<usize, String> {
        match self.bits % 8 {
            0 => Ok(self.bits / 8),
            _ => Err(format!(
                "an element of {} has {} bits, and what is not a whole number of bytes cannot be moved",
                self.name, self.bits
            )),
        }
    }

    /// The bytes of zero, which every type has.
    pub(crate) fn zero(&self) -> Vec<u8> {
        vec![0; self.bits.div_ceil(8)]
    }

    /// The bytes of a value that is written as text.
    pub(crate) fn value(&self, text: &str) -> Result<Vec<u8>, String> {
        let text = text.trim();
        let bytes = match self.kind {
            Kind::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => vec![1],
                "false" | "0" => vec![0],
                _ => return Err(self.no_value(text, "true or false")),
            },
            Kind::Int => self.int(text, "a whole number")?,
            Kind::Uint => self.uint(text)?,
            Kind::Time if text.eq_ignore_ascii_case("nat") => i64::MIN.to_le_bytes().into(),
            Kind::Time => self.int(text, "NaT or a whole number of units")?,
            Kind::Float | Kind::BrainFloat if float_is_known(self.kind, self.bits) => {
                self.float(text, self.bits).ok_or_else(|| self.no_float(text, "a number, inf or nan"))?
            }
            Kind::Complex if float_is_known(Kind::Float, self.bits / 2) => {
                let [real, imaginary] = complex_parts(text);
                let part = |text: &str| {
                    let bytes = self.float(text, self.bits / 2);
                    bytes.ok_or_else(|| self.no_float(text, "a number such as 1.5, 2j or 1-2j"))
                };
                // Each part has the order of bytes, but the real part comes first in both.
                let [mut real, imaginary] = [part(&real)?, part(&imaginary)?];
                let both = [&mut real, &mut imaginary.clone()].map(|part| self.ordered(std::mem::take(part)));
                return Ok(both.concat());
            }
            _ if text == "0" => return Ok(self.zero()),
            _ => {
                return Err(format!(
                    "the fill value `{text}` cannot be written as {}: of this type only 0 can, as bytes that are all 0",
                    self.name
                ));
            }
        };
        Ok(self.ordered(bytes))
    }

    /// Little-endian bytes in the order of this type.
    fn ordered(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.order == Order::Big {
            bytes.reverse();
        }
        bytes
    }

    fn int(&self, text: &str, expected: &str) -> Result<Vec<u8>, String> {
        let value: i128 = text.parse().map_err(|_| self.no_value(text, expected))?;
        let least = i128::MIN >> (128 - self.bits.clamp(1, 128));
        self.fits(value, least, -(least + 1))
    }

    fn uint(&self, text: &str) -> Result<Vec<u8>, String> {
        let value: i128 = text.parse().map_err(|_| self.no_value(text, "a whole number"))?;
        self.fits(value, 0, (1 << self.bits.min(126)) - 1)
    }

    fn fits(&self, value: i128, least: i128, most: i128) -> Result<Vec<u8>, String> {
        if value < least || value > most {
            return Err(format!("the fill value {value} is outside {least} to {most}, the range of {}", self.name));
        }
        Ok(value.to_le_bytes()[..self.bits / 8].into())
    }

    /// The little-endian bytes of a float; nothing if the text is no float or too large a one.
    fn float(&self, text: &str, bits: usize) -> Option<Vec<u8>> {
        let value: f64 = text.parse().ok()?;
        let (rounded, bytes) = match (self.kind, bits) {
            (Kind::BrainFloat, _) => {
                let value = bf16::from_f64(value);
                (value.to_f64(), value.to_le_bytes().to_vec())
            }
            (_, 16) => {
                let value = f16::from_f64(value);
                (value.to_f64(), value.to_le_bytes().to_vec())
            }
            (_, 32) => {
                // Not by way of the larger type, which would round twice.
                let value: f32 = text.parse().ok()?;
                (value.into(), value.to_le_bytes().to_vec())
            }
            _ => (value, value.to_le_bytes().to_vec()),
        };
        let infinity_is_meant = text.trim_start_matches(['+', '-']).starts_with(['i', 'I']);
        (rounded.is_infinite() == infinity_is_meant).then_some(bytes)
    }

    fn no_value(&self, text: &str, expected: &str) -> String {
        format!("the fill value `{text}` is none of {}: expected {expected}", self.name)
    }

    fn no_float(&self, text: &str, expected: &str) -> String {
        match text.parse::<f64>() {
            Ok(_) => format!("the fill value {text} is too large for {}", self.name),
            Err(_) => self.no_value(text, expected),
        }
    }
}

/// Whether the format of a float is one that can be written here.
fn float_is_known(kind: Kind, bits: usize) -> bool {
    matches!((kind, bits), (Kind::Float, 16 | 32 | 64) | (Kind::BrainFloat, 16))
}

/// The real and the imaginary part of `1`, `2j`, `1-2j`, `(1e-3+infj)`.
fn complex_parts(text: &str) -> [String; 2] {
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let Some(both) = text.strip_suffix(['j', 'J', 'i']) else {
        return [text, "0".into()];
    };
    // The sign between the parts is the last one that belongs to no exponent.
    let signs = both.char_indices().rev().filter(|&(_, c)| c == '+' || c == '-');
    let between = signs.map(|(at, _)| at).find(|&at| at > 0 && !both[..at].ends_with(['e', 'E']));
    let (real, imaginary) = between.map_or(("0", both), |at| both.split_at(at));
    let imaginary = if matches!(imaginary, "" | "+" | "-") { format!("{imaginary}1") } else { imaginary.into() };
    [real.into(), imaginary]
}

/// A type that is no structure: `<f4`, `|S7`, `<M8[25s]`.
pub(super) fn scalar(name: &str) -> Result<Dtype, &'static str> {
    const UNKNOWN: &str = "is no type that NumPy writes";
    let (order, rest) = match name.as_bytes().first() {
        Some(b'<') => (Order::Little, &name[1..]),
        Some(b'>') => (Order::Big, &name[1..]),
        Some(b'|' | b'=') => (Order::NATIVE, &name[1..]),
        _ => (Order::NATIVE, name),
    };
    if rest.starts_with('O') {
        return Err("is Python objects, which have no fixed size");
    }
    let (number, unit) = match rest.find('[') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let letter = number.chars().next().ok_or(UNKNOWN)?;
    let size: usize = number[letter.len_utf8()..].parse().map_err(|_| UNKNOWN)?;
    let has_unit = unit.starts_with('[') && unit.ends_with(']');
    let kind = match (letter, size) {
        ('m' | 'M', 8) if unit.is_empty() || has_unit => Kind::Time,
        _ if !unit.is_empty() => return Err(UNKNOWN),
        ('b', 1) => Kind::Bool,
        ('i', 1 | 2 | 4 | 8) => Kind::Int,
        ('u', 1 | 2 | 4 | 8) => Kind::Uint,
        // The widths of 10, 12 and 16 bytes are the machine's own, and so are 20, 24 and 32.
        ('f', 2 | 4 | 8 | 10 | 12 | 16) => Kind::Float,
        ('c', 8 | 16 | 20 | 24 | 32) => Kind::Complex,
        ('S' | 'a' | 'U' | 'V', _) => Kind::Bytes,
        _ => return Err(UNKNOWN),
    };
    let bits_each = if letter == 'U' { 32 } else { 8 };
    let bits = size.checked_mul(bits_each).ok_or("is a type of more bytes than can be counted")?;
    Ok(Dtype::new(name, bits, kind, order))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str, text: &str) -> Result<Vec<u8>, String> {
        Dtype::named(name).unwrap().value(text)
    }

    #[test]
    fn values_are_written_in_their_type() {
        assert_eq!(value("bool", "True"), Ok(vec![1]));
        assert_eq!(value("i8", "-128"), Ok(vec![0x80]));
        assert_eq!(value("u8", "255"), Ok(vec![255]));
        assert_eq!(value("i16", "-2"), Ok(vec![0xfe, 0xff]));
        assert_eq!(value("u64", "18446744073709551615"), Ok(vec![255; 8]));
        assert_eq!(value("i64", "-9223372036854775808"), Ok(i64::MIN.to_le_bytes().into()));
        assert_eq!(value("f16", "65504"), Ok(vec![0xff, 0x7b]));
        assert_eq!(value("bf16", "-1"), Ok(vec![0x80, 0xbf]));
        assert_eq!(value("f32", "1e-3"), Ok(1e-3f32.to_le_bytes().into()));
        assert_eq!(value("f32", "-inf"), Ok(f32::NEG_INFINITY.to_le_bytes().into()));
        assert!(f64::from_le_bytes(value("f64", "nan").unwrap().try_into().unwrap()).is_nan());
        let big = Dtype::new(">i4", 32, Kind::Int, Order::Big);
        assert_eq!(big.value("258"), Ok(vec![0, 0, 1, 2]));
        let time = Dtype::new("<M8[s]", 64, Kind::Time, Order::Little);
        assert_eq!(time.value("NaT"), Ok(i64::MIN.to_le_bytes().into()));
        let text = Dtype::new("<U2", 64, Kind::Bytes, Order::Little);
        assert_eq!(text.value("0"), Ok(vec![0; 8]));
    }

    #[test]
    fn complex_numbers_are_written_in_their_parts() {
        let parts = |real: f32, imaginary: f32| Ok([real.to_le_bytes(), imaginary.to_le_bytes()].concat());
        assert_eq!(value("c64", "1.5"), parts(1.5, 0.0));
        assert_eq!(value("c64", "2j"), parts(0.0, 2.0));
        assert_eq!(value("c64", "-j"), parts(0.0, -1.0));
        assert_eq!(value("c64", "(1-2j)"), parts(1.0, -2.0));
        assert_eq!(value("c64", "1e-3 + 2e+1j"), parts(1e-3, 2e1));
        assert_eq!(value("c64", "-inf+infj"), parts(f32::NEG_INFINITY, f32::INFINITY));
        let big = Dtype::new(">c8", 64, Kind::Complex, Order::Big);
        assert_eq!(big.value("1+2j"), Ok([1f32.to_be_bytes(), 2f32.to_be_bytes()].concat()));
        for text in ["", "j1", "1+2", "1+2k", "1++2j", "nane+j", "one"] {
            assert!(value("c64", text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for (name, text, message) in [
            ("bool", "2", "the fill value `2` is none of bool: expected true or false"),
            ("i8", "128", "the fill value 128 is outside -128 to 127, the range of i8"),
            ("u8", "-1", "the fill value -1 is outside 0 to 255, the range of u8"),
            ("i32", "1.5", "the fill value `1.5` is none of i32: expected a whole number"),
            ("f16", "65536", "the fill value 65536 is too large for f16"),
            ("f32", "1e39", "the fill value 1e39 is too large for f32"),
            ("f64", "1e999", "the fill value 1e999 is too large for f64"),
            ("f32", "one", "the fill value `one` is none of f32: expected a number, inf or nan"),
        ] {
            assert_eq!(value(name, text), Err(message.into()));
        }
        let text = Dtype::new("|S3", 24, Kind::Bytes, Order::Little);
        assert!(text.value("abc").is_err());
    }
}
