//! Texts that may come from standard input, and what is wrong with a text of JSON.

use std::borrow::Cow;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use shapetracker::Chain;

use crate::answer::Failure;

/// The text of an argument, or what is on standard input where the argument is `-`; without white space at its end.
pub(crate) fn text_of(argument: &str) -> Result<Cow<'_, str>, Failure> {
    Ok(match argument {
        "-" => from_stdin()?.trim_end().to_owned().into(),
        _ => argument.trim_end().into(),
    })
}

fn from_stdin() -> Result<String, Failure> {
    // What one argument has read to its end, another one finds empty.
    static IS_READ: AtomicBool = AtomicBool::new(false);
    if IS_READ.swap(true, Ordering::Relaxed) {
        return Err(Failure::new("usage", "only one argument can be `-`, which stands for standard input"));
    }
    // A longer text is refused before it fills the memory.
    const LONGEST: u64 = 1 << 26;
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|err| Failure::new("io", format!("cannot read standard input: {err}")))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failure::new("too_long", format!("standard input is longer than {LONGEST} bytes")));
    }
    String::from_utf8(bytes).map_err(|err| {
        let at = err.utf8_error().valid_up_to();
        Failure::new("utf8", format!("standard input is not text: byte {at} is not UTF-8"))
    })
}

/// What serde_json finds wrong with a text, as a sentence without the place.
///
/// It tells the sentence and the place in one text only, names types as Rust does, and calls a whole number that does not
/// fit 64 bits a floating point one, which is then read again.
pub(crate) fn mistake(err: &serde_json::Error, text: &str) -> String {
    let message = err.to_string();
    let sentence = message.rfind(" at line ").map_or(&message[..], |end| &message[..end]);
    let found = sentence.strip_prefix("invalid type: ").or_else(|| sentence.strip_prefix("invalid value: "));
    let Some((found, expected)) = found.and_then(|found| found.rsplit_once(", expected ")) else {
        return sentence.to_owned();
    };
    let expected = match expected {
        "i64" => "a signed 64-bit integer",
        "u64" | "usize" => "an unsigned 64-bit integer",
        "a sequence" => "a list",
        "a map" => "an object",
        other => other,
    };
    let quoted = found.strip_suffix('`').and_then(|found| found.split_once('`'));
    let found = match (found, quoted) {
        ("sequence", _) => "a list",
        ("map", _) => "an object",
        (_, Some(("floating point ", value))) => number_before(err, text).unwrap_or(value),
        (_, Some(("integer " | "boolean ", value))) => value,
        _ => found,
    };
    format!("expected {expected}, found {found}")
}

/// The number at whose end an error is.
fn number_before<'a>(err: &serde_json::Error, text: &'a str) -> Option<&'a str> {
    let line = text.split('\n').nth(err.line().checked_sub(1)?)?.get(..err.column())?;
    let begin = line.rfind(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+' | 'e' | 'E'));
    let number = &line[begin.map_or(0, |at| at + 1)..];
    (!number.is_empty()).then_some(number)
}

/// The chain that a text is on a tensor of a shape: what some operations do, such as `.T`, depends on it.
pub(crate) fn chain_on(shape: &[i64], text: &str) -> Result<Chain, Failure> {
    match Chain::read_from(text, Some(shape)) {
        (chain, None) => Ok(chain),
        (_, Some(err)) => Err(err.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_called_what_they_are() {
        let wrong = |text: &str| mistake(&serde_json::from_str::<Vec<i64>>(text).unwrap_err(), text);
        for (text, found) in [
            ("[100000000000000000000]", "100000000000000000000"),
            ("[1,\n 18446744073709551616 ]", "18446744073709551616"),
            ("[18446744073709551615]", "18446744073709551615"),
            ("[-9223372036854775809]", "-9223372036854775809"),
            ("[0.5]", "0.5"),
            ("[3, 1e3]", "1e3"),
            ("[true]", "true"),
            ("[[1]]", "a list"),
            ("[{}]", "an object"),
            ("[null]", "null"),
            ("[\"a, expected b at line 1\"]", "string \"a, expected b at line 1\""),
        ] {
            assert_eq!(wrong(text), format!("expected a signed 64-bit integer, found {found}"), "{text}");
        }
        assert_eq!(wrong("7"), "expected a list, found 7");
        assert_eq!(wrong("[1"), "EOF while parsing a list");
    }
}
