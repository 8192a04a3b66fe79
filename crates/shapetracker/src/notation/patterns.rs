//! The patterns of einops: `b c (h r) w -> b h (c r) w`.

use std::ops::Range;

use super::foreign::Ops;
use super::lexer::Token;
use super::parser::{Parsed, Parser};
use crate::shape::checked_numel;
use crate::{Dims, MAX_RANK, Movement};
use indexpr::text::{ParseError, quoted};

/// One side of a pattern: for each axis of the array the names of what it consists of.
type Side<'a> = Vec<Vec<(&'a str, Range<usize>)>>;

impl<'a> Parser<'a> {
    /// A pattern and the sizes of names in it, as far as the parenthesis that closes the arguments: `rearrange`, or with
    /// `repeats` the `repeat` of einops, in which the right side may have names of its own.
    pub(super) fn pattern(
        &mut self,
        parsed: &mut Parsed,
        repeats: bool,
        close: Token,
        begin: usize,
    ) -> Result<Ops, ParseError> {
        let whole = self.span.start + 1..self.span.end - 1;
        self.advance();
        let mut sizes: Vec<(&str, i64)> = Vec::new();
        self.comma_or(close)?;
        while self.token != close {
            let name = self.word();
            if self.token != Token::Name || self.second() != Token::Equals {
                return Err(self.expected("the size of a name in the pattern, such as `h=2`"));
            }
            self.advance();
            self.advance();
            sizes.push((name, self.number("a size")?));
            self.comma_or(close)?;
        }
        self.advance();
        let shape = self.shape(parsed, begin)?;
        self.arranged(&shape, whole, &sizes, repeats)
    }

    fn arranged(
        &self,
        shape: &[i64],
        whole: Range<usize>,
        sizes: &[(&str, i64)],
        repeats: bool,
    ) -> Result<Ops, ParseError> {
        let wrong = |span: &Range<usize>, message: String| Err(self.error_at(span.clone(), message));
        let Some(arrow) = self.text[whole.clone()].find("->") else {
            return wrong(&whole, "expected `->` between the axes before and after".into());
        };
        let arrow = whole.start + arrow;
        let (mut left, mut right) = (self.side(whole.start..arrow)?, self.side(arrow + 2..whole.end)?);
        let rest = shape.len() + left.iter().filter(|axis| is_ellipsis(axis)).count();
        let Some(rest) = rest.checked_sub(left.len()) else {
            return wrong(
                &whole,
                format!("the pattern begins with {} axes, the array has {}", left.len(), shape.len()),
            );
        };
        let has_rest = left.iter().any(|axis| is_ellipsis(axis));
        if !has_rest && rest > 0 {
            return wrong(
                &whole,
                format!("the pattern begins with {} axes, the array has {}", left.len(), shape.len()),
            );
        }
        for side in [&mut left, &mut right] {
            let inside = |axis: &Vec<(&'a str, Range<usize>)>| axis.iter().any(|(name, _)| *name == "...");
            let Some(at) = side.iter().position(inside) else { continue };
            if !has_rest {
                return wrong(&whole, "`...` stands on the left side, too".into());
            }
            // Each axis that it stands for has an empty place, at its number.
            if is_ellipsis(&side[at]) {
                side.splice(at..=at, (0..rest).map(|axis| vec![("...", axis..axis)]));
            } else {
                let place = side[at].iter().position(|(name, _)| *name == "...").unwrap_or_default();
                side[at].splice(place..=place, (0..rest).map(|axis| ("...", axis..axis)));
            }
        }

        // What the axes consist of: its name, or for the axes of the ellipsis their number, and its size.
        let mut atoms: Vec<(Atom<'a>, i64)> = Vec::new();
        for (axis, (&size, parts)) in shape.iter().zip(&left).enumerate() {
            let (mut known, mut open) = (1i64, None);
            for (name, span) in parts {
                let atom = Atom::of(name, span);
                let given = match atom {
                    Atom::Rest(_) => Some(size),
                    Atom::Number(1) => continue,
                    Atom::Number(number) => {
                        return wrong(span, format!("the size {number} needs a name on the left side"));
                    }
                    Atom::Name(name) => sizes.iter().find(|(known, _)| *known == name).map(|(_, size)| *size),
                };
                if atoms.iter().any(|(other, _)| *other == atom) {
                    return wrong(span, format!("{} stands twice", quoted(name)));
                }
                match given {
                    Some(size) if size < 0 => return wrong(span, format!("{} has size {size}", quoted(name))),
                    Some(size) => known = known.checked_mul(size).unwrap_or(-1),
                    None if open.is_some() => {
                        let message = format!("the size of {} is not known: write it behind the pattern", quoted(name));
                        return wrong(span, message);
                    }
                    None => open = Some(atoms.len()),
                }
                atoms.push((atom, given.unwrap_or(1)));
            }
            let fits = match open {
                Some(at) if known > 0 && size % known == 0 => {
                    atoms[at].1 = size / known;
                    true
                }
                Some(_) => false,
                None => known == size,
            };
            if !fits {
                let span = parts.iter().find(|(name, _)| *name != "1").map_or(whole.clone(), |(_, span)| span.clone());
                return wrong(&span, format!("axis {axis} has size {size}, which the sizes of its parts do not make"));
            }
        }

        let mut order = Dims::new();
        let (mut with_new, mut expanded, mut to) = (Dims::new(), Dims::new(), Dims::new());
        for parts in &right {
            let mut size = 1i64;
            for (name, span) in parts {
                let atom = Atom::of(name, span);
                let place = atoms.iter().position(|(other, _)| *other == atom);
                let part = match (place, atom) {
                    (_, Atom::Number(1)) => continue,
                    (Some(place), _) if order.contains(&(place as i64)) => {
                        return wrong(span, format!("{} stands twice", quoted(name)));
                    }
                    (Some(place), _) => {
                        order.push(place as i64);
                        with_new.push(atoms[place].1);
                        atoms[place].1
                    }
                    (None, Atom::Number(number)) if repeats => {
                        with_new.push(1);
                        number
                    }
                    (None, Atom::Name(new)) if repeats => {
                        let Some((_, number)) = sizes.iter().find(|(known, _)| *known == new) else {
                            let message =
                                format!("the size of {} is not known: write it behind the pattern", quoted(name));
                            return wrong(span, message);
                        };
                        with_new.push(1);
                        *number
                    }
                    _ => return wrong(span, format!("{} does not stand on the left side", quoted(name))),
                };
                expanded.push(part);
                size = size.checked_mul(part).unwrap_or(-1);
            }
            to.push(size);
        }
        if let Some(lost) = (0..atoms.len()).find(|place| !order.contains(&(*place as i64))) {
            let name = match atoms[lost].0 {
                Atom::Name(name) => name,
                _ => "...",
            };
            let message =
                format!("{} does not stand on the right side: `reduce` would compute new values", quoted(name));
            return wrong(&whole, message);
        }

        let apart: Dims = atoms.iter().map(|(_, size)| *size).collect();
        if checked_numel("rearrange", &apart).is_err() || apart.len() > MAX_RANK || with_new.len() > MAX_RANK {
            return wrong(&whole, format!("the pattern has more than {MAX_RANK} axes or too many elements"));
        }
        let mut ops = Ops::new();
        if apart[..] != *shape {
            ops.push(Movement::Reshape(apart.clone()));
        }
        let mut now: Dims = order.iter().map(|&place| apart[place as usize]).collect();
        if !order.iter().copied().eq(0..order.len() as i64) {
            ops.push(Movement::Permute(order));
        }
        if now != with_new {
            ops.push(Movement::Reshape(with_new.clone()));
            now = with_new;
        }
        if now != expanded {
            ops.push(Movement::Expand(expanded.clone()));
            now = expanded;
        }
        // A pattern that changes nothing is an operation all the same.
        if now != to || ops.is_empty() {
            ops.push(Movement::Reshape(to));
        }
        Ok(ops)
    }

    /// The axes of one side of a pattern.
    fn side(&self, span: Range<usize>) -> Result<Side<'a>, ParseError> {
        let (mut axes, mut inside, mut dots) = (Side::new(), false, false);
        let mut at = span.start;
        while let Some(first) = self.text[at..span.end].chars().next() {
            let rest = &self.text[at..span.end];
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = match first {
                _ if word > 0 => word,
                '.' if rest.starts_with("...") => 3,
                _ => first.len_utf8(),
            };
            let (part, place) = (&rest[..length], at..at + length);
            at += length;
            match part {
                "(" if !inside => {
                    inside = true;
                    // A part of size 1 changes nothing, and tells `(...)` from `...`.
                    axes.push(vec![("1", place)]);
                }
                ")" if inside => inside = false,
                "..." if dots => return Err(self.error_at(place, "`...` stands once".to_owned())),
                _ if word > 0 || length == 3 => {
                    dots |= part == "...";
                    match axes.last_mut() {
                        Some(axis) if inside => axis.push((part, place)),
                        _ => axes.push(vec![(part, place)]),
                    }
                }
                _ if first.is_whitespace() => {}
                _ => {
                    let message = format!("expected names of axes, parentheses, `...` or `->`, found {}", quoted(part));
                    return Err(self.error_at(place, message));
                }
            }
            if axes.len() > MAX_RANK {
                return Err(self.error_at(span, format!("expected at most {MAX_RANK} axes")));
            }
        }
        if inside {
            return Err(self.error_at(at..at, "expected `)`".to_owned()));
        }
        Ok(axes)
    }
}

fn is_ellipsis(axis: &[(&str, Range<usize>)]) -> bool {
    matches!(axis, [("...", span)] if !span.is_empty())
}

/// A part of an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Atom<'a> {
    Name(&'a str),
    Number(i64),
    /// An axis that the ellipsis stands for, by its number among them.
    Rest(usize),
}

impl<'a> Atom<'a> {
    /// The place of an axis that the ellipsis stands for is an empty one, at its number.
    fn of(name: &'a str, span: &Range<usize>) -> Atom<'a> {
        match name.parse() {
            _ if name == "..." => Atom::Rest(span.start),
            Ok(number) => Atom::Number(number),
            Err(_) => Atom::Name(name),
        }
    }
}
