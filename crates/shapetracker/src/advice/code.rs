//! Python that is written call by call.

/// What takes down the calls of a library: code, or nothing. Where nothing is written, neither is what would be.
pub(crate) trait Notes {
    /// Whether anything is taken down.
    const WRITES: bool;

    /// Goes on with an expression on `x`, which is the one before.
    fn then(&mut self, code: &str);

    /// Takes nothing down any more, as the code would not be that of the array.
    fn give_up(&mut self);
}

impl Notes for () {
    const WRITES: bool = false;

    fn then(&mut self, _code: &str) {}

    fn give_up(&mut self) {}
}

impl Notes for Option<Code> {
    const WRITES: bool = true;

    fn then(&mut self, code: &str) {
        if let Some(written) = self {
            written.then(code);
        }
    }

    fn give_up(&mut self) {
        *self = None;
    }
}

/// Lines of Python, the last of which is an expression.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    lines: Vec<String>,
    last: String,
}

impl Code {
    pub(super) fn of(name: &str) -> Code {
        Code { lines: Vec::new(), last: name.into() }
    }

    /// Goes on with an expression on `x`, which is the one before: put in its place where it stands once.
    pub(super) fn then(&mut self, code: &str) {
        let places = places(code);
        match places[..] {
            [] => {}
            [at] => self.last = format!("{}{}{}", &code[..at], self.last, &code[at + 1..]),
            _ if self.last == "x" => self.last = code.into(),
            _ => {
                let before = std::mem::replace(&mut self.last, code.into());
                self.lines.push(format!("x = {before}"));
            }
        }
    }

    pub(super) fn text(mut self) -> String {
        self.lines.push(self.last);
        self.lines.join("\n")
    }
}

/// Where the name `x` stands in an expression.
fn places(code: &str) -> Vec<usize> {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = code.as_bytes();
    (0..bytes.len())
        .filter(|&at| bytes[at] == b'x' && !is_word(bytes.get(at + 1)) && (at == 0 || !is_word(bytes.get(at - 1))))
        .collect()
}
