//! The patterns of einops: `b c (h r) w -> b h (c r) w`.

use std::ops::Range;

use shapetracker_base::text::{ParseError, Token, quoted};

use super::{Called, Meant, Reading};
use crate::notation::arithmetic::{Known, Operator, Role};
use crate::notation::asked::undivided_axis;
use crate::notation::foreign::Ops;
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Nums, Reader};
use crate::number::{List as _, Number as _};
use crate::{Dims, MAX_RANK, MovementOf};

/// One side of a pattern: for each axis of the array the names of what it consists of.
type Side<'a> = Vec<Vec<(&'a str, Range<usize>)>>;

impl<'a, A: Known> Reader<'a, '_, A> {
    /// `rearrange`, whose pattern says of each axis what it consists of and where that goes.
    pub(super) fn rearrange(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if self.first_argument() == Token::Text {
            return self.arranged_by(parsed, called, false);
        }
        self.open("`(`")?;
        Err(self.expected("a pattern in quotes, such as `'b c h w -> b h w c'`"))
    }

    /// A pattern and the sizes of names in it: `rearrange`, or with `repeats` the `repeat` of einops, in which the right side
    /// may have names of its own.
    pub(super) fn arranged_by(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        called: &Called<'a>,
        repeats: bool,
    ) -> Reading<A> {
        let close = self.open("`(`")?;
        let whole = self.span.start + 1..self.span.end - 1;
        self.advance();
        let mut sizes: Vec<(&str, Num<A>)> = Vec::new();
        self.comma_or(close)?;
        while self.token != close {
            let name = self.word();
            if !self.at_argument_name() {
                return Err(self.expected("the size of a name in the pattern, such as `h=2`"));
            }
            self.advance();
            self.advance();
            sizes.push((name, self.number("a size", Role::Other)?));
            self.comma_or(close)?;
        }
        self.advance();
        let shape = self.shape(parsed, called.begin)?;
        self.arranged(parsed, &shape, whole, &sizes, repeats).map(Meant::from)
    }

    fn arranged(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        shape: &[Num<A>],
        whole: Range<usize>,
        sizes: &[(&str, Num<A>)],
        repeats: bool,
    ) -> Result<Ops<A>, ParseError> {
        let tokens = self.tokens.clone();
        let wrong = |span: &Range<usize>, message: String| Err(tokens.error_at(span.clone(), message));
        let one = Num::<A>::from(1);
        let Some(arrow) = self.text[whole.clone()].find("->") else {
            return wrong(&whole, "expected `->` between the axes before and after".into());
        };
        let arrow = whole.start + arrow;
        let (mut left, mut right) = (self.side(whole.start..arrow)?, self.side(arrow + 2..whole.end)?);
        let rest = shape.len() + left.iter().filter(|axis| is_ellipsis(axis)).count();
        let Some(rest) = rest.checked_sub(left.len()) else {
            return wrong(
                &whole,
                format!("the pattern begins with {} axes, but the array has {}", left.len(), shape.len()),
            );
        };
        let has_rest = left.iter().any(|axis| is_ellipsis(axis));
        if !has_rest && rest > 0 {
            return wrong(
                &whole,
                format!("the pattern begins with {} axes, but the array has {}", left.len(), shape.len()),
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
        let mut atoms: Vec<(Atom<'a>, Num<A>)> = Vec::new();
        let mut needs = Vec::new();
        for (axis, (size, parts)) in shape.iter().zip(&left).enumerate() {
            let (mut known, mut open) = (one.clone(), None);
            for (name, span) in parts {
                let atom = Atom::of(name, span);
                let given = match atom {
                    Atom::Rest(_) => Some(size.clone()),
                    Atom::Number(1) => continue,
                    Atom::Number(number) => {
                        return wrong(span, format!("the size {number} needs a name on the left side"));
                    }
                    Atom::Name(name) => sizes.iter().find(|(known, _)| *known == name).map(|(_, size)| size.clone()),
                };
                if atoms.iter().any(|(other, _)| *other == atom) {
                    return wrong(span, format!("{} stands twice", quoted(name)));
                }
                match &given {
                    Some(size) if self.arithmetic.at_least(size, &Num::<A>::from(0)) == Some(false) => {
                        let size = self.shown(size);
                        return wrong(span, format!("{} has size {size}", quoted(name)));
                    }
                    Some(size) => known = self.operate(Operator::Mul, &known, size, whole.start)?,
                    None if open.is_some() => {
                        let message = format!("the size of {} is not known: write it behind the pattern", quoted(name));
                        return wrong(span, message);
                    }
                    None => open = Some(atoms.len()),
                }
                atoms.push((atom, given.unwrap_or_else(|| one.clone())));
            }
            let fits = match open {
                Some(at) if self.arithmetic.at_least(&known, &one) == Some(true) => {
                    let quotient = self.quotient(size, &known, whole.start)?;
                    let fits = quotient.is_some();
                    atoms[at].1 = quotient.unwrap_or_else(|| one.clone());
                    fits
                }
                Some(_) => false,
                None => self.arithmetic.equal(&known, size) != Some(false),
            };
            if let (None, true) = (open, fits) {
                needs.push((axis, size.clone(), known.clone()));
            }
            if !fits && (size.integer().is_none() || known.integer().is_none()) && open.is_some() {
                let [size, known] = [size, &known].map(|number| self.shown(number));
                return wrong(&whole, undivided_axis(axis, &size, &known));
            }
            if !fits {
                let span = parts.iter().find(|(name, _)| *name != "1").map_or(whole.clone(), |(_, span)| span.clone());
                let [size, known] = [size, &known].map(|number| self.shown(number));
                let message = match open {
                    Some(_) => format!(
                        "axis {axis} has size {size}, which is not divisible by {known}, the product of the sizes that are given"
                    ),
                    None => format!("axis {axis} has size {size}, but its parts make {known}"),
                };
                return wrong(&span, message);
            }
        }

        let mut order = Dims::new();
        let (mut with_new, mut expanded, mut to) = (Nums::<A>::default(), Nums::<A>::default(), Nums::<A>::default());
        for parts in &right {
            let mut size = one.clone();
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
                        with_new.push(atoms[place].1.clone());
                        atoms[place].1.clone()
                    }
                    (None, Atom::Number(number)) if repeats => {
                        with_new.push(one.clone());
                        Num::<A>::from(number)
                    }
                    (None, Atom::Name(new)) if repeats => {
                        let Some((_, number)) = sizes.iter().find(|(known, _)| *known == new) else {
                            let message =
                                format!("the size of {} is not known: write it behind the pattern", quoted(name));
                            return wrong(span, message);
                        };
                        with_new.push(one.clone());
                        number.clone()
                    }
                    _ => return wrong(span, format!("{} does not stand on the left side", quoted(name))),
                };
                size = self.operate(Operator::Mul, &size, &part, whole.start)?;
                expanded.push(part);
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

        let apart: Nums<A> = atoms.iter().map(|(_, size)| size.clone()).collect();
        if self.arithmetic.numel("rearrange", &apart).is_err() || apart.len() > MAX_RANK || with_new.len() > MAX_RANK {
            return wrong(&whole, format!("the pattern has more than {MAX_RANK} axes or too many elements"));
        }
        for (axis, size, parts) in needs {
            self.need(parsed, (&size, &parts), true, whole.start, &|arithmetic| {
                let [size, parts] = [&size, &parts].map(|number| arithmetic.text(number));
                format!("axis {axis} has size {size}, and its parts make {parts}")
            })?;
        }
        let mut ops = Ops::<A>::new();
        if apart[..] != *shape {
            ops.push(MovementOf::Reshape(apart.clone()));
        }
        let mut now: Nums<A> = order.iter().map(|&place| apart[place as usize].clone()).collect();
        if !order.iter().copied().eq(0..order.len() as i64) {
            ops.push(MovementOf::Permute(order));
        }
        if now != with_new {
            ops.push(MovementOf::Reshape(with_new.clone()));
            now = with_new;
        }
        if now != expanded {
            ops.push(MovementOf::Expand(expanded.clone()));
            now = expanded;
        }
        // A pattern that changes nothing is an operation all the same.
        if now != to || ops.is_empty() {
            ops.push(MovementOf::Reshape(to));
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
                "..." if dots => return Err(self.error_at(place, "a side of a pattern has `...` once".to_owned())),
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
