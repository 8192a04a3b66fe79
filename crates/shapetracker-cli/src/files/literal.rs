//! The literals of Python that headers of .npy files are made of.
//!
//! The libraries that read them recurse without a limit, so that a file of many brackets ends the process, and give no
//! way back to the text, which is to be written again as it was.

use std::ops::Range;

/// A literal, and where it stands in the text.
#[derive(Debug, PartialEq)]
pub(super) struct Literal<'a> {
    pub(super) value: Value<'a>,
    pub(super) span: Range<usize>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// What stands between the quotes, as it is written.
    Text(&'a str),
    Int(i128),
    Bool(bool),
    Tuple(Vec<Literal<'a>>),
    List(Vec<Literal<'a>>),
    /// The keys and the values, one after the other.
    Dict(Vec<Literal<'a>>),
}

/// Literals nest no deeper.
const DEEPEST: usize = 32;

/// Reads a text that is one literal.
pub(super) fn parse(text: &str) -> Result<Literal<'_>, String> {
    let mut reader = Reader { text, at: 0 };
    let literal = reader.literal(0)?;
    match reader.next() {
        None => Ok(literal),
        Some(_) => Err(reader.expected("the end of the header")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character that is not white space.
    fn next(&mut self) -> Option<char> {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let found = self.next() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// As many characters as are of a kind.
    fn run(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let run = &rest[..rest.find(|c| !is(c)).unwrap_or(rest.len())];
        self.at += run.len();
        run
    }

    fn literal(&mut self, depth: usize) -> Result<Literal<'a>, String> {
        if depth > DEEPEST {
            return Err(format!("brackets nest deeper than {DEEPEST}"));
        }
        let first = self.next();
        let begin = self.at;
        let value = match first {
            Some('(') => match self.items(')', depth)? {
                // Brackets around one value alone mean nothing.
                (mut items, false) if items.len() == 1 => items.remove(0).value,
                (items, _) => Value::Tuple(items),
            },
            Some('[') => Value::List(self.items(']', depth)?.0),
            Some('{') => Value::Dict(self.pairs(depth)?),
            Some('\'' | '"') => Value::Text(self.quoted()?),
            Some('-' | '0'..='9') => self.int()?,
            Some(_) => match self.run(|c| c.is_alphanumeric()) {
                "True" => Value::Bool(true),
                "False" => Value::Bool(false),
                // Python 2 could mark its texts.
                "u" | "b" if self.rest().starts_with(['\'', '"']) => Value::Text(self.quoted()?),
                _ => {
                    self.at = begin;
                    return Err(self.expected("a value"));
                }
            },
            None => return Err(self.expected("a value")),
        };
        Ok(Literal { value, span: begin..self.at })
    }

    /// The values up to a bracket, and whether there is a comma among them.
    fn items(&mut self, close: char, depth: usize) -> Result<(Vec<Literal<'a>>, bool), String> {
        self.at += 1;
        let (mut items, mut comma) = (Vec::new(), false);
        while !self.takes(close) {
            items.push(self.literal(depth + 1)?);
            comma |= self.separated(close)?;
        }
        Ok((items, comma))
    }

    fn pairs(&mut self, depth: usize) -> Result<Vec<Literal<'a>>, String> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.takes('}') {
            items.push(self.literal(depth + 1)?);
            if !self.takes(':') {
                return Err(self.expected("`:`"));
            }
            items.push(self.literal(depth + 1)?);
            self.separated('}')?;
        }
        Ok(items)
    }

    /// Whether a comma follows; if not, the bracket must.
    fn separated(&mut self, close: char) -> Result<bool, String> {
        let comma = self.takes(',');
        if !comma && self.next() != Some(close) {
            return Err(self.expected(&format!("`,` or `{close}`")));
        }
        Ok(comma)
    }

    fn quoted(&mut self) -> Result<&'a str, String> {
        let (begin, quote) = (self.at + 1, self.rest().chars().next());
        let mut escaped = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if Some(c) == quote {
                self.at += at + 1;
                return Ok(&self.text[begin..self.at - 1]);
            }
        }
        self.at = self.text.len();
        Err(self.expected("a closing quote"))
    }

    fn int(&mut self) -> Result<Value<'a>, String> {
        let begin = self.at;
        self.takes('-');
        self.run(|c| c.is_ascii_digit());
        let number = self.text[begin..self.at].parse();
        // Python 2 marked its long integers.
        if self.rest().starts_with('L') {
            self.at += 1;
        }
        number.map(Value::Int).map_err(|_| {
            self.at = begin;
            self.expected("a whole number")
        })
    }

    fn expected(&self, what: &str) -> String {
        let found: String = self.rest().chars().take(12).collect();
        let found = if found.is_empty() { "its end".into() } else { format!("`{}`", super::shown(&found)) };
        format!("expected {what} at character {} of the header, found {found}", self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2L,), } \n";
        let Value::Dict(items) = parse(text).unwrap().value else { panic!() };
        assert_eq!(items.len(), 6);
        assert_eq!((&items[1].value, &text[items[1].span.clone()]), (&Value::Text("<f4"), "'<f4'"));
        assert_eq!(items[3].value, Value::Bool(false));
        let Value::Tuple(shape) = &items[5].value else { panic!() };
        assert_eq!(shape.iter().map(|size| &size.value).collect::<Vec<_>>(), [&Value::Int(3), &Value::Int(2)]);
        assert_eq!(parse("(1)").unwrap().value, Value::Int(1));
        assert!(matches!(parse("(1,)").unwrap().value, Value::Tuple(items) if items.len() == 1));
        assert!(matches!(parse("()").unwrap().value, Value::Tuple(items) if items.is_empty()));
        assert_eq!(parse(r"'it\'s'").unwrap().value, Value::Text(r"it\'s"));
        assert_eq!(parse("u'x'").unwrap().value, Value::Text("x"));
    }

    #[test]
    fn what_is_no_literal_is_pointed_at() {
        for (text, message) in [
            ("", "expected a value at character 0 of the header, found its end"),
            ("{'a' 1}", "expected `:` at character 5 of the header, found `1}`"),
            ("(1, 2", "expected `,` or `)` at character 5 of the header, found its end"),
            ("[1 2]", "expected `,` or `]` at character 3 of the header, found `2]`"),
            ("'abc", "expected a closing quote at character 4 of the header, found its end"),
            ("x()", "expected a value at character 0 of the header, found `x()`"),
            ("-", "expected a whole number at character 0 of the header, found `-`"),
            ("1 2", "expected the end of the header at character 2 of the header, found `2`"),
        ] {
            assert_eq!(parse(text), Err(message.into()));
        }
        assert_eq!(parse(&"(".repeat(1 << 20)), Err("brackets nest deeper than 32".into()));
        assert!(parse(&"9".repeat(60)).is_err());
    }
}
