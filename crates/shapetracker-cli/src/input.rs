//! Texts that may come from standard input.

use std::borrow::Cow;
use std::io::Read;

use crate::answer::Failure;

/// The text of an argument, or what is on standard input where the argument is `-`; without white space at its end.
pub(crate) fn text_of(argument: &str) -> Result<Cow<'_, str>, Failure> {
    Ok(match argument {
        "-" => from_stdin()?.trim_end().to_owned().into(),
        _ => argument.trim_end().into(),
    })
}

fn from_stdin() -> Result<String, Failure> {
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
