//! The fields of a request, checked for their types and sizes.

use shapetracker::Dims;

use crate::fault::Fault;
use crate::json::Value;

/// The most bytes of a text.
pub(crate) const LONGEST_TEXT: usize = 1 << 16;

/// The fields of an object, each read as what it must be; a [`Fault`] says what is missing or wrong.
pub(crate) trait Fields {
    /// A field that is a text.
    fn text(&self, name: &'static str) -> Result<&str, Fault>;

    /// A field that is a text, or nothing.
    fn text_or_none(&self, name: &'static str) -> Result<Option<&str>, Fault>;

    /// A field that is an integer.
    fn number(&self, name: &'static str) -> Result<i64, Fault>;

    /// A field that is an integer, or else some other.
    fn number_or(&self, name: &'static str, otherwise: i64) -> Result<i64, Fault>;

    /// A field that is a list of integers.
    fn numbers(&self, name: &'static str) -> Result<Dims, Fault>;

    /// A field that is a list of integers, or nothing.
    fn numbers_or_none(&self, name: &'static str) -> Result<Option<Dims>, Fault>;

    /// A field that is a list.
    fn list(&self, name: &'static str) -> Result<&[Value], Fault>;

    /// A field that is an object.
    fn object(&self, name: &'static str) -> Result<&Value, Fault>;

    /// Whether a field is true.
    fn is_set(&self, name: &str) -> bool;
}

impl Fields for Value {
    fn text(&self, name: &'static str) -> Result<&str, Fault> {
        match self.get(name) {
            Some(Value::Text(text)) if text.len() > LONGEST_TEXT => {
                let message = format!("the text has {} bytes, more than the {LONGEST_TEXT} that are read", text.len());
                Err(Fault::limit(message))
            }
            Some(Value::Text(text)) => Ok(text),
            _ => Err(Fault::request(format!("`{name}` is a text"))),
        }
    }

    fn text_or_none(&self, name: &'static str) -> Result<Option<&str>, Fault> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(None),
            _ => self.text(name).map(Some),
        }
    }

    fn number(&self, name: &'static str) -> Result<i64, Fault> {
        let number = self.get(name).and_then(Value::as_integer);
        number.ok_or_else(|| Fault::request(format!("`{name}` is an integer of 64 bits")))
    }

    fn number_or(&self, name: &'static str, otherwise: i64) -> Result<i64, Fault> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(otherwise),
            _ => self.number(name),
        }
    }

    fn numbers(&self, name: &'static str) -> Result<Dims, Fault> {
        let integers = self.list(name)?.iter().map(Value::as_integer).collect::<Option<Dims>>();
        integers.ok_or_else(|| Fault::request(format!("`{name}` is a list of integers of 64 bits")))
    }

    fn numbers_or_none(&self, name: &'static str) -> Result<Option<Dims>, Fault> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(None),
            _ => self.numbers(name).map(Some),
        }
    }

    fn list(&self, name: &'static str) -> Result<&[Value], Fault> {
        match self.get(name) {
            Some(Value::List(items)) => Ok(items),
            _ => Err(Fault::request(format!("`{name}` is a list"))),
        }
    }

    fn object(&self, name: &'static str) -> Result<&Value, Fault> {
        match self.get(name) {
            Some(value @ Value::Object(_)) => Ok(value),
            _ => Err(Fault::request(format!("`{name}` is an object"))),
        }
    }

    fn is_set(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Bool(true))
    }
}
