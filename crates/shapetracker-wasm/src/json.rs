//! Requests as documents, and answers as bytes: I-JSON with long lists of numbers in binary beside it.

pub(crate) use shapetracker::json::{MAX_SAFE_INTEGER as SAFE, Value};

/// An object of the fields given.
macro_rules! object {
    ($($name:literal: $value:expr),* $(,)?) => {
        $crate::json::Value::Null$(.with($name, $value))*
    };
}
pub(crate) use object;

/// An answer: a document, and the numbers that it refers to.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) document: Value,
    pub(crate) numbers: Numbers,
}

impl Answer {
    /// The answer as it is sent: the length of all of it and that of its text (each four bytes, little-endian), the
    /// text, and the numbers.
    pub(crate) fn encoded(&self) -> Vec<u8> {
        let text = self.document.to_i_json();
        let total = 8 + text.len() + self.numbers.bytes.len();
        let mut bytes = Vec::with_capacity(total);
        bytes.extend((total as u32).to_le_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend(&self.numbers.bytes);
        bytes
    }
}

impl From<Value> for Answer {
    fn from(document: Value) -> Answer {
        Answer { document, numbers: Numbers::default() }
    }
}

/// Lists of numbers that go beside the text of an answer: eight bytes for each number, little-endian.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) bytes: Vec<u8>,
}

impl Numbers {
    /// Takes a list of floating-point numbers, and returns what stands for it in the text.
    pub(crate) fn floats(&mut self, values: impl ExactSizeIterator<Item = f64>) -> Value {
        self.add("$f64", values.map(f64::to_le_bytes))
    }

    /// Takes a list of 64-bit integers, and returns what stands for it in the text.
    pub(crate) fn integers(&mut self, values: impl ExactSizeIterator<Item = i64>) -> Value {
        self.add("$i64", values.map(i64::to_le_bytes))
    }

    /// What stands for a list says where it is: the first byte after the text, and how many numbers there are.
    fn add(&mut self, kind: &str, values: impl ExactSizeIterator<Item = [u8; 8]>) -> Value {
        let (begin, count) = (self.bytes.len(), values.len());
        self.bytes.reserve(8 * count);
        self.bytes.extend(values.flatten());
        Value::Null.with(kind, vec![begin, count])
    }
}

/// Reads a text that is one value of JSON, with integers as its only numbers; `None` where it is not.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    (reader.at == text.len()).then_some(value)
}

/// How deep lists and objects may nest. The reader is recursive: without a limit a request could overflow the stack.
const DEEPEST: usize = 16;

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn take(&mut self, what: &str) -> Option<()> {
        self.text[self.at..].starts_with(what).then(|| self.at += what.len())
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.space();
        match self.text.as_bytes().get(self.at)? {
            b'n' => self.take("null").map(|()| Value::Null),
            b't' => self.take("true").map(|()| Value::Bool(true)),
            b'f' => self.take("false").map(|()| Value::Bool(false)),
            b'"' => self.text().map(Value::Text),
            b'[' if depth < DEEPEST => {
                let mut items = Vec::new();
                self.items(']', |reader| {
                    items.push(reader.value(depth + 1)?);
                    Some(())
                })?;
                Some(Value::List(items))
            }
            b'{' if depth < DEEPEST => {
                let mut fields = Vec::new();
                self.items('}', |reader| {
                    let name = reader.text()?;
                    reader.space();
                    reader.take(":")?;
                    fields.push((name, reader.value(depth + 1)?));
                    Some(())
                })?;
                Some(Value::Object(fields))
            }
            _ => self.number(),
        }
    }

    /// Items with commas between them, up to the closing character.
    fn items(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        self.space();
        if self.text[self.at..].starts_with(close) {
            self.at += 1;
            return Some(());
        }
        loop {
            self.space();
            item(self)?;
            self.space();
            let next = self.text[self.at..].chars().next()?;
            self.at += next.len_utf8();
            match next {
                ',' => {}
                next if next == close => return Some(()),
                _ => return None,
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-')).count();
        self.at += length;
        rest[..length].parse().map(Value::Int).ok()
    }

    fn text(&mut self) -> Option<String> {
        self.take("\"")?;
        let mut text = String::new();
        // A character outside the first plane is written as two units. Half of one, as is left where a page cuts between
        // them, is no fault of the text around it.
        let mut high: Option<u32> = None;
        loop {
            let mut c = self.text[self.at..].chars().next()?;
            self.at += c.len_utf8();
            let (end, mut unit) = (c == '"', None);
            if c == '\\' {
                let escaped = self.text[self.at..].chars().next()?;
                self.at += escaped.len_utf8();
                c = match escaped {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'u' => {
                        let digits = self.text.get(self.at..self.at + 4)?;
                        self.at += 4;
                        let digits =
                            Some(digits).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
                        unit = u32::from_str_radix(digits?, 16).ok();
                        char::from_u32(unit?).unwrap_or('\u{fffd}')
                    }
                    c => c,
                };
            }
            match (high.take(), unit) {
                (Some(high), Some(low @ 0xdc00..0xe000)) => {
                    text.push(char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))?);
                    continue;
                }
                (Some(_), _) => text.push('\u{fffd}'),
                (None, _) => {}
            }
            match unit {
                _ if end => return Some(text),
                Some(0xd800..0xdc00) => high = unit,
                _ => text.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_written() {
        let text = r#"{"a":[1,-2,"9223372036854775807",null,true],"b":"x\"\\\n\u0001é😀"}"#;
        let value = parse(text).unwrap();
        assert_eq!(value.to_i_json(), text);
        assert_eq!(parse(r#""\ud83d\ude00""#), Some(Value::Text("😀".into())));
        // Halves of characters stand for one unit each.
        for (text, read) in [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ud83dx""#, "\u{fffd}x"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}"),
            (r#""\ude00\u0041""#, "\u{fffd}A"),
        ] {
            assert_eq!(parse(text), Some(Value::Text(read.into())), "{text}");
        }
        assert!(matches!(value.get("a"), Some(Value::List(items)) if items.len() == 5));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "[1,]", "{\"a\" 1}", "\"\\u12\"", "1 2", "nul", "[1 2]", "\"é", "\"\\u+123\""] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"[".repeat(100_000)), None);
        // No request has a number that is not whole.
        assert_eq!(parse("1.5"), None);
    }

    #[test]
    fn numbers_beside_the_text() {
        let mut numbers = Numbers::default();
        let (x, y) = (numbers.floats([1.5, 2.0].into_iter()), numbers.integers([7].into_iter()));
        let bytes = Answer { document: object! { "x": x, "y": y }, numbers }.encoded();
        let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        assert_eq!(std::str::from_utf8(&bytes[8..8 + length]).unwrap(), r#"{"x":{"$f64":[0,2]},"y":{"$i64":[16,1]}}"#);
        assert_eq!(bytes.len(), 8 + length + 24);
        assert_eq!(bytes.len() as u32, u32::from_le_bytes(bytes[..4].try_into().unwrap()));
        assert_eq!(bytes[8 + length + 16..], 7i64.to_le_bytes());
    }
}
