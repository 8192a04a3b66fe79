//! The little JSON that requests and answers are made of; its numbers are integers.

use std::fmt::Write;

/// A value of JSON, or a list of numbers that goes beside it in binary.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
    Floats(Vec<f64>),
    Ints(Vec<i64>),
}

/// An object of the fields given.
macro_rules! object {
    ($($name:literal: $value:expr),* $(,)?) => {
        $crate::json::Value::Null$(.with($name, $value))*
    };
}
pub(crate) use object;

/// The largest integer up to which every integer is a floating-point number.
pub(crate) const SAFE: i64 = (1 << 53) - 1;

impl Value {
    /// The field of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Object(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The integer that a value is, as a number or as digits.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Text(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// An object with a field more; of what is no object, one with that field only.
    pub(crate) fn with(self, name: &str, value: impl Into<Value>) -> Value {
        self.and(name, value.into())
    }

    // A function for all types of values: the engine is as small as it can be.
    #[inline(never)]
    fn and(self, name: &str, value: Value) -> Value {
        let mut fields = if let Value::Object(fields) = self { fields } else { Vec::new() };
        fields.push((name.to_owned(), value));
        Value::Object(fields)
    }

    /// The value as it is sent: two lengths, the text, and the numbers beside it.
    pub(crate) fn encoded(&self) -> Vec<u8> {
        let (mut text, mut numbers) = (String::new(), Vec::new());
        self.write(&mut text, &mut numbers);
        let total = 8 + text.len() + numbers.len();
        let mut bytes = Vec::with_capacity(total);
        bytes.extend((total as u32).to_le_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend(numbers);
        bytes
    }

    fn write(&self, text: &mut String, numbers: &mut Vec<u8>) {
        match self {
            Value::Null => text.push_str("null"),
            Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Value::Int(value) if (-SAFE..=SAFE).contains(value) => text.push_str(&value.to_string()),
            Value::Int(value) => quote(text, &value.to_string()),
            Value::Text(value) => quote(text, value),
            Value::List(items) => {
                text.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        text.push(',');
                    }
                    item.write(text, numbers);
                }
                text.push(']');
            }
            Value::Object(fields) => {
                text.push('{');
                for (place, (name, value)) in fields.iter().enumerate() {
                    if place > 0 {
                        text.push(',');
                    }
                    quote(text, name);
                    text.push(':');
                    value.write(text, numbers);
                }
                text.push('}');
            }
            Value::Floats(values) => {
                beside(text, "$f64", numbers.len(), values.len());
                numbers.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            Value::Ints(values) => {
                beside(text, "$i64", numbers.len(), values.len());
                numbers.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
        }
    }
}

/// Says where numbers are: the first byte after the text, and how many there are.
fn beside(text: &mut String, kind: &str, begin: usize, count: usize) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{{\"{kind}\":[{begin},{count}]}}");
}

fn quote(text: &mut String, value: &str) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            c if c < ' ' => {
                let _ = write!(text, "\\u{:04x}", c as u32);
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Value {
        Value::Int(value as i64)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}

impl From<&[i64]> for Value {
    fn from(values: &[i64]) -> Value {
        values.iter().copied().collect()
    }
}

impl From<(i64, i64)> for Value {
    fn from((low, high): (i64, i64)) -> Value {
        Value::List(vec![low.into(), high.into()])
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, T::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        values.into_iter().collect()
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Value {
        Value::List(values.into_iter().map(T::into).collect())
    }
}

/// Reads a text that is one value of JSON; nothing where it is not.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    (reader.at == text.len()).then_some(value)
}

/// Requests nest less deeply than this.
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
        let bytes = value.encoded();
        assert_eq!(std::str::from_utf8(&bytes[8..]).unwrap(), text);
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
        assert_eq!(
            value.get("a").unwrap(),
            &Value::List(match value.get("a") {
                Some(Value::List(items)) => items.clone(),
                _ => Vec::new(),
            })
        );
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
        let bytes = object! { "x": Value::Floats(vec![1.5, 2.0]), "y": Value::Ints(vec![7]) }.encoded();
        let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        assert_eq!(std::str::from_utf8(&bytes[8..8 + length]).unwrap(), r#"{"x":{"$f64":[0,2]},"y":{"$i64":[16,1]}}"#);
        assert_eq!(bytes.len(), 8 + length + 24);
        assert_eq!(bytes.len() as u32, u32::from_le_bytes(bytes[..4].try_into().unwrap()));
    }
}
