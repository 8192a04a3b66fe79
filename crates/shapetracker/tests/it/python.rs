//! What Python expressions cost, read from their text: independent of the library's graphs.

use std::collections::HashMap;

/// Reads Python expressions of integers, and counts each distinct operation once.
#[derive(Default)]
pub(crate) struct Counter {
    known: HashMap<(String, Vec<usize>), usize>,
    /// Every operator; as many as there are in a chain.
    pub(crate) ops: usize,
    /// The `//` and `%` by anything but a constant power of two.
    pub(crate) divmods: usize,
}

struct Reader<'t> {
    tokens: Vec<&'t str>,
    next: usize,
    counter: &'t mut Counter,
}

impl Counter {
    /// Counts the operations of an expression that were not in those before it.
    pub(crate) fn read(&mut self, text: &str) -> Result<(), String> {
        let mut reader = Reader { tokens: tokens(text)?, next: 0, counter: self };
        reader.choice()?;
        match reader.tokens.get(reader.next) {
            None => Ok(()),
            Some(token) => Err(format!("{token:?} is left over in {text:?}")),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if ["//", "<=", ">=", "==", "!="].iter().any(|sign| rest.starts_with(sign)) {
            2
        } else if "+-*%<>(),".contains(first) {
            1
        } else {
            return Err(format!("{first:?} in {text:?}"));
        };
        tokens.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    Ok(tokens)
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.next).copied().unwrap_or("the end")
    }

    fn accept(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let found = signs.iter().find(|sign| **sign == self.peek())?;
        self.next += 1;
        Some(found)
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), String> {
        self.accept(&[sign]).map(|_| ()).ok_or_else(|| format!("{sign:?} should stand where {:?} is", self.peek()))
    }

    fn note(&mut self, what: &str, operands: Vec<usize>, ops: usize, divmods: usize) -> usize {
        let next = self.counter.known.len();
        *self.counter.known.entry((what.to_owned(), operands)).or_insert_with(|| {
            self.counter.ops += ops;
            self.counter.divmods += divmods;
            next
        })
    }

    fn choice(&mut self) -> Result<usize, String> {
        let then = self.chain("or")?;
        if self.accept(&["if"]).is_none() {
            return Ok(then);
        }
        let condition = self.chain("or")?;
        self.expect("else")?;
        let otherwise = self.choice()?;
        Ok(self.note("if", vec![condition, then, otherwise], 1, 0))
    }

    fn chain(&mut self, word: &'static str) -> Result<usize, String> {
        let mut operands = Vec::new();
        loop {
            operands.push(if word == "or" { self.chain("and")? } else { self.negation()? });
            if self.accept(&[word]).is_none() {
                break;
            }
        }
        let ops = operands.len() - 1;
        Ok(if ops == 0 { operands[0] } else { self.note(word, operands, ops, 0) })
    }

    fn negation(&mut self) -> Result<usize, String> {
        if self.accept(&["not"]).is_some() {
            let operand = self.negation()?;
            return Ok(self.note("not", vec![operand], 1, 0));
        }
        let mut operands = vec![self.sum()?];
        let mut signs = String::new();
        while let Some(sign) = self.accept(&["<", "<=", ">", ">=", "==", "!="]) {
            operands.push(self.sum()?);
            signs += sign;
            signs.push(' ');
        }
        let ops = operands.len() - 1;
        Ok(if ops == 0 { operands[0] } else { self.note(&signs, operands, ops, 0) })
    }

    fn sum(&mut self) -> Result<usize, String> {
        let mut left = self.product()?;
        while let Some(sign) = self.accept(&["+", "-"]) {
            let right = self.product()?;
            left = self.note(sign, vec![left, right], 1, 0);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<usize, String> {
        let mut left = self.signed()?;
        while let Some(sign) = self.accept(&["*", "//", "%"]) {
            let constant: Option<u64> = self.peek().parse().ok();
            let right = self.signed()?;
            let division = sign != "*" && !constant.is_some_and(u64::is_power_of_two);
            left = self.note(sign, vec![left, right], 1, division.into());
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<usize, String> {
        if self.accept(&["-"]).is_none() {
            return self.atom();
        }
        let constant = self.peek().parse::<u64>().is_ok();
        let operand = self.signed()?;
        Ok(self.note("negative", vec![operand], usize::from(!constant), 0))
    }

    fn atom(&mut self) -> Result<usize, String> {
        if self.accept(&["("]).is_some() {
            let inner = self.choice()?;
            self.expect(")")?;
            return Ok(inner);
        }
        let word = self.peek().to_owned();
        if !word.starts_with(|c: char| c.is_ascii_alphanumeric()) || self.next == self.tokens.len() {
            return Err(format!("an operand should stand where {word:?} is"));
        }
        self.next += 1;
        let mut operands = Vec::new();
        if self.accept(&["("]).is_some() {
            operands.push(self.choice()?);
            while self.accept(&[","]).is_some() {
                operands.push(self.choice()?);
            }
            self.expect(")")?;
        }
        let ops = operands.len().saturating_sub(1);
        Ok(self.note(&word, operands, ops, 0))
    }
}

#[test]
fn operations_are_counted_once() {
    let cost = |texts: &[&str]| {
        let mut counter = Counter::default();
        texts.iter().for_each(|text| counter.read(text).unwrap());
        (counter.ops, counter.divmods)
    };
    assert_eq!(cost(&["idx0*2 + idx1", "True"]), (2, 0));
    assert_eq!(cost(&["(idx0*2 + idx1)%3*2 + (idx0*2 + idx1)//3"]), (6, 2));
    assert_eq!(cost(&["x//4 + x%8 - x//-4", "x//4 < 3 and 0 <= x//6 < 2 and not y < 1"]), (13, 2));
    assert_eq!(cost(&["-3", "-x == -x and x < -3"]), (4, 0));
    assert_eq!(cost(&["min(x, y) if x < 3 else x // y"]), (4, 1));
}
