//! The format .npy of NumPy: one array.
//!
//! The header is written as `numpy.save` writes it, byte for byte, with the type of the elements in the words of the input:
//! types with units, titles or padding come out as they were.

use super::dtype::{Kind, Order, scalar};
use super::literal::{self, Literal, Value};
use super::{Dtype, Tensor, check_length, shown};

/// The first bytes of every such file; two bytes of version follow.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// The header is padded so that the data begins at a multiple of this.
const ALIGNMENT: usize = 64;

/// The header leaves room for a first size of so many digits, so that NumPy can append to a file in place.
const DIGITS: usize = 21;

/// What a header holds besides the shape: the type of the elements as it is written.
pub(super) struct Npy {
    descr: String,
}

/// The contents of a header.
struct Header {
    descr: String,
    dtype: Dtype,
    shape: Vec<i64>,
    column_major: bool,
}

/// Reads the header of a file, and checks that the file is as long as it says. What comes after the array is not read, as
/// NumPy does not read it: several arrays may be saved to one file, one after the other.
pub(super) fn parse(file: &[u8]) -> Result<(Npy, Tensor), String> {
    let (header, begin) = header_of(file)?;
    let Header { descr, dtype, shape, column_major } = interpret(literal::parse(&header)?, &header)?;
    let length = check_length(&shape, &dtype, file.len() - begin, true);
    let length = length.map_err(|message| format!("{message} after the header"))?;
    Ok((Npy { descr }, Tensor { name: None, dtype, shape, column_major, place: begin..begin + length }))
}

/// The text of the header, and where the data begins.
fn header_of(file: &[u8]) -> Result<(String, usize), String> {
    let cut = || format!("the file ends inside its header, after {} bytes", file.len());
    let version = file.get(MAGIC.len()..MAGIC.len() + 2).ok_or_else(cut)?;
    let (length, begin) = match version {
        [1, 0] => (file.get(8..10).map(|bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))), 10),
        [2 | 3, 0] => (file.get(8..12).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize), 12),
        _ => return Err(format!("version {}.{} of .npy is none of 1.0, 2.0 and 3.0", version[0], version[1])),
    };
    let length = length.ok_or_else(cut)?;
    let end = begin + length;
    let Some(bytes) = file.get(begin..end) else {
        return Err(format!("the header should have {length} bytes, but the file ends after {}", file.len() - begin));
    };
    let text = match version {
        [3, _] => std::str::from_utf8(bytes).map_err(|_| "the header is not UTF-8")?.to_owned(),
        // In the earlier versions every byte is a character.
        _ => bytes.iter().map(|&byte| char::from(byte)).collect(),
    };
    Ok((text, end))
}

fn interpret(header: Literal, text: &str) -> Result<Header, String> {
    let Value::Dict(items) = header.value else { return Err("the header is no dictionary".into()) };
    let entry = |name: &str| {
        let mut pairs = items.chunks_exact(2).filter(|pair| pair[0].value == Value::Text(name));
        match (pairs.next(), pairs.next()) {
            (Some(pair), None) => Ok(&pair[1]),
            (None, _) => Err(format!("the header has no `{name}`")),
            _ => Err(format!("the header has `{name}` twice")),
        }
    };
    let descr = entry("descr")?;
    let descr_text = &text[descr.span.clone()];
    let Value::Bool(column_major) = entry("fortran_order")?.value else {
        return Err("`fortran_order` in the header is neither True nor False".into());
    };
    let (Value::Tuple(sizes) | Value::List(sizes)) = &entry("shape")?.value else {
        return Err("`shape` in the header is no tuple".into());
    };
    let size = |literal: &Literal| match literal.value {
        Value::Int(size) => i64::try_from(size).ok().filter(|size| *size >= 0),
        _ => None,
    };
    let shape = sizes.iter().map(|literal| {
        size(literal)
            .ok_or_else(|| format!("`{}` in the header's shape is no size", shown(&text[literal.span.clone()])))
    });
    let shape = shape.collect::<Result<Vec<i64>, String>>()?;
    let name = match &descr.value {
        Value::Text(name) => shown(name),
        _ => shown(descr_text),
    };
    let mut dtype = dtype(descr, text)?;
    dtype.name = name;
    Ok(Header { descr: descr_text.to_owned(), dtype, shape, column_major })
}

/// The type that a part of the header describes.
fn dtype(descr: &Literal, text: &str) -> Result<Dtype, String> {
    let unknown = |reason: &str| format!("`{}` {reason}", shown(&text[descr.span.clone()]));
    let too_large = || unknown("is a type of more bytes than can be counted");
    match &descr.value {
        Value::Text(name) => scalar(name).map_err(unknown),
        Value::Tuple(parts) => match &parts[..] {
            [of, shape] => {
                let bits = dtype(of, text)?.bits.checked_mul(elements(shape).ok_or_else(|| unknown("is no type"))?);
                Ok(Dtype::new("", bits.ok_or_else(too_large)?, Kind::Bytes, Order::NATIVE))
            }
            _ => Err(unknown("is no type")),
        },
        Value::List(fields) => {
            let mut bits = 0usize;
            for field in fields {
                let Value::Tuple(parts) = &field.value else { return Err(unknown("is no type")) };
                let (of, count) = match &parts[..] {
                    [_, of] => (of, Some(1)),
                    [_, of, shape] => (of, elements(shape)),
                    _ => return Err(unknown("is no type")),
                };
                let each = dtype(of, text)?.bits;
                let all = each.checked_mul(count.ok_or_else(|| unknown("is no type"))?);
                bits = all.and_then(|all| bits.checked_add(all)).ok_or_else(too_large)?;
            }
            Ok(Dtype::new("", bits, Kind::Bytes, Order::NATIVE))
        }
        _ => Err(unknown("is no type")),
    }
}

/// How many elements a shape has that stands inside a type.
fn elements(shape: &Literal) -> Option<usize> {
    let size = |literal: &Literal| match literal.value {
        Value::Int(size) => usize::try_from(size).ok(),
        _ => None,
    };
    match &shape.value {
        Value::Tuple(sizes) | Value::List(sizes) => {
            sizes.iter().try_fold(1usize, |product, literal| product.checked_mul(size(literal)?))
        }
        _ => size(shape),
    }
}

impl Npy {
    /// The header of a file of such elements in row-major order, from the first byte to the data.
    pub(super) fn header(&self, shape: &[i64]) -> Vec<u8> {
        let shape_text = crate::answer::tuple(shape);
        let mut text = format!("{{'descr': {}, 'fortran_order': False, 'shape': {shape_text}, }}", self.descr);
        // Padded as NumPy pads, so that files are the same byte for byte.
        if let Some(size) = shape.first() {
            text += &" ".repeat(DIGITS.saturating_sub(size.to_string().len()));
        }
        let latin = text.chars().map(|c| u8::try_from(c).ok()).collect::<Option<Vec<u8>>>();
        let (version, mut bytes) = match latin {
            Some(bytes) if padded(bytes.len(), 10) <= usize::from(u16::MAX) => (1, bytes),
            Some(bytes) => (2, bytes),
            None => (3, text.into_bytes()),
        };
        let begin = if version == 1 { 10 } else { 12 };
        let length = padded(bytes.len(), begin);
        bytes.resize(length - 1, b' ');
        bytes.push(b'\n');
        let length = length as u32;
        let length = &length.to_le_bytes()[..begin - 8];
        [MAGIC, &[version, 0], length, &bytes].concat()
    }
}

/// The length of a header when it ends with a line's end and the data is aligned, as NumPy counts it: there is always
/// some padding.
fn padded(length: usize, begin: usize) -> usize {
    let length = length + 1;
    length + ALIGNMENT - (begin + length) % ALIGNMENT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, data: usize) -> Vec<u8> {
        let length = &(header.len() as u32).to_le_bytes()[..if version == 1 { 2 } else { 4 }];
        [MAGIC, &[version, 0], length, header.as_bytes(), &vec![7; data]].concat()
    }

    fn read(descr: &str, shape: &str, data: usize) -> Result<(Npy, Tensor), String> {
        parse(&file(1, &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"), data))
    }

    #[test]
    fn types_have_their_widths() {
        for (descr, bytes) in [
            ("'|b1'", 1),
            ("'<f8'", 8),
            ("'>c16'", 16),
            ("'<c32'", 32),
            ("'<f16'", 16),
            ("'|S7'", 7),
            ("'<U3'", 12),
            ("'|V0'", 0),
            ("'<M8[25s]'", 8),
            ("'<m8'", 8),
            ("[('a', '<i4'), ('', '|V4'), ('b', '<f8', (2, 3))]", 56),
            ("[(('title', 'a'), [('x', '>u2'), ('y', '|S3')]), ('b', '|b1', 2)]", 7),
            ("[('a', ('<f4', (2,)))]", 8),
            ("[]", 0),
        ] {
            let (npy, tensor) = read(descr, "(3,)", 3 * bytes).unwrap();
            assert_eq!((tensor.dtype.width(), &npy.descr[..]), (Ok(bytes), descr));
        }
    }

    #[test]
    fn faulty_types_are_named() {
        for (descr, message) in [
            ("'|O'", "`'|O'` is Python objects, which have no fixed size"),
            ("[('a', '|O8')]", "`'|O8'` is Python objects, which have no fixed size"),
            ("'<f3'", "`'<f3'` is no type that NumPy writes"),
            ("'<f4[s]'", "`'<f4[s]'` is no type that NumPy writes"),
            ("'|T16'", "`'|T16'` is no type that NumPy writes"),
            ("''", "`''` is no type that NumPy writes"),
            ("'<'", "`'<'` is no type that NumPy writes"),
            ("'\u{e9}'", "`'Ã©'` is no type that NumPy writes"),
            ("'<U4611686018427387904'", "`'<U4611686018427387904'` is a type of more bytes than can be counted"),
            ("[('a', '<i4', -1)]", "`[('a', '<i4', -1)]` is no type"),
            ("[('a',)]", "`[('a',)]` is no type"),
            ("[1]", "`[1]` is no type"),
            ("7", "`7` is no type"),
        ] {
            assert_eq!(read(descr, "(3,)", 0).map(|_| ()), Err(message.into()));
        }
    }

    #[test]
    fn faulty_headers_are_explained() {
        for (descr, shape, data, message) in [
            ("'<f4'", "(3, -1)", 12, "`-1` in the header's shape is no size"),
            ("'<f4'", "(3, 1.5)", 12, "expected `,` or `)` at character 55 of the header, found `.5), }`"),
            ("'<f4'", "(3, 'a')", 12, "`'a'` in the header's shape is no size"),
            ("'<f4'", "(9223372036854775808,)", 12, "`9223372036854775808` in the header's shape is no size"),
            ("'<f4'", "3", 12, "`shape` in the header is no tuple"),
            ("'<f4'", "(3,)", 11, "shape (3,) of <f4 takes 12 bytes, but there are 11 after the header"),
            ("'<f4'", "(3,)", 0, "shape (3,) of <f4 takes 12 bytes, but there are none after the header"),
            ("'<f4'", "()", 3, "shape () of <f4 takes 4 bytes, but there are 3 after the header"),
            (
                "'<f4'",
                "(4294967296, 4294967296)",
                8,
                "shape (4294967296, 4294967296) of <f4 takes 73786976294838206464 bytes, but there are 8 after the header",
            ),
            ("'<f4', 'descr': '<f4'", "()", 4, "the header has `descr` twice"),
        ] {
            assert_eq!(read(descr, shape, data).map(|_| ()), Err(message.into()));
        }
        assert!(parse(&file(1, "{'descr': '<f4', 'shape': ()}", 4)).is_err_and(|e| e.ends_with("no `fortran_order`")));
        assert!(parse(&file(1, "[]", 4)).is_err_and(|e| e == "the header is no dictionary"));
        assert!(parse(&file(4, "{}", 4)).is_err_and(|e| e.starts_with("version 4.0 of .npy")));
        let whole = file(2, "{'descr': '<f4', 'fortran_order': True, 'shape': (), }", 4);
        assert!(parse(&whole).is_ok_and(|(_, tensor)| tensor.column_major));
        for length in MAGIC.len()..whole.len() {
            assert!(parse(&whole[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn what_comes_after_the_array_is_not_read() {
        for (shape, data, length) in [("()", 5, 4), ("(3,)", 1000, 12), ("(0, 3)", 7, 0)] {
            let (_, tensor) = read("'<f4'", shape, data).unwrap();
            assert_eq!(tensor.place.len(), length, "{shape}");
        }
    }

    #[test]
    fn headers_are_those_of_numpy() {
        let npy = Npy { descr: "'<f4'".into() };
        let header = npy.header(&[3, 2]);
        assert_eq!(header.len(), 128);
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
        assert!(header.starts_with(&[MAGIC, &[1, 0, 118, 0], text.as_bytes()].concat()));
        assert_eq!(header.last(), Some(&b'\n'));
        let long = Npy { descr: format!("[{}]", "('a', '<f4'), ".repeat(6000)) };
        assert_eq!((long.header(&[])[6], long.header(&[]).len() % 64), (2, 0));
        let greek = Npy { descr: "[('\u{3b1}', '<f4')]".into() };
        assert_eq!((greek.header(&[])[6], greek.header(&[]).len() % 64), (3, 0));
    }
}
