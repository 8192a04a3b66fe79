//! Axes in another order, joined, cut, taken away, reversed: methods that stand for one operation, or for two.

use shapetracker_base::text::{ParseError, Token, quoted};

use super::{Called, Meant, Reading};
use crate::notation::ChainStartOf;
use crate::notation::arithmetic::{Known, Operator, Role};
use crate::notation::asked::undivided_axis;
use crate::notation::call::Call;
use crate::notation::foreign::Methods;
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Nums, Reader};
use crate::notation::program::cut;
use crate::number::Number;
use crate::shape::resolve_axis;
use crate::{Dims, MovementKind, MovementOf};

impl<'a, A: Known> Reader<'a, '_, A> {
    /// All axes in reverse order, as `.T` and `.transpose()` have it.
    pub(super) fn reversed(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if parsed.methods == Methods::Tinygrad {
            // There it is the first two axes that change places, however many there are.
            return Ok(MovementOf::Transpose(0, 1).into());
        }
        let rank = self.rank(parsed, called.span.start)? as i64;
        Ok(MovementOf::Permute((0..rank).rev().collect()).into())
    }

    /// `t`, for at most two axes.
    pub(super) fn reversed_matrix(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let close = self.open("`(` after `t`")?;
        self.close(close)?;
        let rank = self.rank(parsed, called.span.start)?;
        if rank > 2 {
            let message =
                format!("`t` is for at most two axes, and this array has {rank}: write `transpose` with two of them");
            return Err(self.wrong(called.span.start, message));
        }
        self.reversed(parsed, called)
    }

    /// `mT`, which has no parentheses.
    pub(super) fn matrix_reversed(&mut self, _: &mut Parsed<Num<A>>, _: &Called<'a>) -> Reading<A> {
        Ok(MovementOf::Transpose(-2, -1).into())
    }

    pub(super) fn matrix_transpose(&mut self, _: &mut Parsed<Num<A>>, _: &Called<'a>) -> Reading<A> {
        self.nothing()?;
        Ok(MovementOf::Transpose(-2, -1).into())
    }

    /// Two axes exchanged; in NumPy, and without two axes, all of them in a new order.
    pub(super) fn transpose(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let mut ahead = self.tokens.clone();
        if self.opened.is_none() {
            ahead.advance();
        }
        if ahead.at_argument_name() && ["dim0", "dim1"].contains(&ahead.word()) {
            return self.swapaxes(parsed, called);
        }
        if parsed.methods == Methods::Ours {
            return self.ours(parsed, called);
        }
        let alone = !matches!(ahead.token, Token::Open(_)) && !ahead.at_argument_name();
        let axes = self.integer_arguments("an axis")?;
        match axes[..] {
            [] => self.reversed(parsed, called),
            // To NumPy, and it alone has them in a tuple, they are all axes in their new order.
            [a, b] if parsed.methods != Methods::NumPy && alone => Ok(MovementOf::Transpose(a, b).into()),
            _ => Ok(MovementOf::Permute(axes).into()),
        }
    }

    /// Two axes exchanged, in all libraries.
    pub(super) fn swapaxes(&mut self, _: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        // It is the same whichever of them is called the first: to NumPy `axis1` is, and to PyTorch it is the second.
        let given = self.lists_of_axes(&["dim0|axis0|dims|axes", "dim1|axis1", "axis2"], called.begin)?;
        let axes: Dims = given.into_iter().flatten().flatten().collect();
        match axes[..] {
            [a, b] => Ok(MovementOf::Transpose(a, b).into()),
            _ => Err(self.wrong(called.span.start, format!("expected two axes, found {}", axes.len()))),
        }
    }

    pub(super) fn permute_dims(&mut self, _: &mut Parsed<Num<A>>, _: &Called<'a>) -> Reading<A> {
        Ok(MovementOf::Permute(self.integer_arguments("an axis")?).into())
    }

    /// Axes moved to other places, and the others left in their order between them.
    pub(super) fn moveaxis(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let begin = called.span.start;
        let given = self.lists_of_axes(&called.arguments(), begin)?;
        let [Some(from), Some(to)] = &given[..] else {
            return Err(self.wrong(begin, "expected two axes, or two tuples of axes: from where, and to where"));
        };
        let rank = self.rank(parsed, begin)?;
        let [from, to] = [from, to].map(|axes| self.different("moveaxis", axes, rank, begin));
        let (from, to) = (from?, to?);
        if from.len() != to.len() {
            let message = format!("moveaxis: {} axes and {} places: each axis takes one", from.len(), to.len());
            return Err(self.wrong(begin, message));
        }
        let mut order: Dims = (0..rank as i64).filter(|axis| !from.contains(axis)).collect();
        for place in 0..rank {
            if let Some(at) = to.iter().position(|to| *to == place as i64) {
                order.insert(place, from[at]);
            }
        }
        Ok(MovementOf::Permute(order).into())
    }

    /// The arguments of a method that are an axis or several; nothing for those that are not given.
    fn lists_of_axes(&mut self, names: &[&'static str], begin: usize) -> Result<Vec<Option<Dims>>, ParseError> {
        let mut given = vec![None; names.len()];
        self.fields("`(`", names, &mut |reader, field| {
            let axes = reader.one_or_more("an axis")?;
            let axes = axes.iter().map(|axis| reader.whole(axis, "an axis", begin));
            given[field] = Some(axes.collect::<Result<Dims, ParseError>>()?);
            Ok(())
        })?;
        self.advance();
        Ok(given)
    }

    /// Axes of an array, each once.
    fn different(&self, op: &'static str, axes: &[i64], rank: usize, begin: usize) -> Result<Dims, ParseError> {
        let mut found = Dims::new();
        for &axis in axes {
            let axis = resolve_axis(op, axis, rank).map_err(|err| self.refused(begin, &err))? as i64;
            if found.contains(&axis) {
                return Err(self.wrong(begin, format!("{op}: axis {axis} is named twice")));
            }
            found.push(axis);
        }
        Ok(found)
    }

    /// NumPy's `rollaxis`: an axis moved to the place in front of another one, where that was before.
    pub(super) fn rollaxis(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let begin = called.begin;
        let [axis, start] = self.named_numbers(called, [None, Some(Num::<A>::from(0))])?;
        let [axis, start] = [self.whole(&axis, "an axis", begin)?, self.whole(&start, "an axis", begin)?];
        let rank = self.rank(parsed, begin)?;
        let axis = resolve_axis("rollaxis", axis, rank).map_err(|err| self.refused(begin, &err))?;
        // Behind the last axis is a place, too.
        let to = if start == rank as i64 { Ok(rank) } else { resolve_axis("rollaxis", start, rank) };
        let to = to.map_err(|err| self.refused(begin, &err))?;
        let mut order: Dims = (0..rank as i64).filter(|other| *other != axis as i64).collect();
        order.insert(if axis < to { to - 1 } else { to }, axis as i64);
        Ok(MovementOf::Permute(order).into())
    }

    /// Quarters of a turn in the plane of two axes: one of them reversed, and both exchanged; PyTorch copies also where
    /// nothing is turned.
    pub(super) fn rot90(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let (begin, mut quarters, mut axes) = (called.begin, 1, Dims::from_slice(&[0, 1]));
        self.fields("`(`", &called.arguments(), &mut |reader, field| {
            match field {
                0 => quarters = reader.integer("how many quarters")?,
                _ => {
                    let given = reader.numbers("an axis")?;
                    let given = given.iter().map(|axis| reader.whole(axis, "an axis", begin));
                    axes = given.collect::<Result<Dims, ParseError>>()?;
                }
            }
            Ok(())
        })?;
        self.advance();
        let rank = self.rank(parsed, begin)?;
        let axis = |axis| resolve_axis("rot90", axis, rank).map_err(|err| self.refused(begin, &err));
        let (first, second) = match axes[..] {
            [first, second] => (axis(first)?, axis(second)?),
            _ => return Err(self.wrong(begin, "expected two axes, as in `rot90(1, (0, 1))`")),
        };
        if first == second {
            return Err(self.wrong(begin, "a plane has two different axes"));
        }
        let [first, second] = [first as i64, second as i64];
        let turned = |reversed: i64| vec![MovementOf::Flip([reversed].into()), MovementOf::Transpose(first, second)];
        Ok(match quarters.rem_euclid(4) {
            0 if parsed.methods == Methods::PyTorch => MovementOf::Copy.into(),
            0 => vec![].into(),
            1 => turned(second).into(),
            2 => MovementOf::Flip([first, second].into()).into(),
            _ => turned(first).into(),
        })
    }

    /// New sizes in row-major order; in NumPy the elements may be read in another order, and `view` may be told a type.
    pub(super) fn reshape(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let is_view = called.name == "view";
        if is_view && self.at_type(parsed) {
            return self.viewed(parsed, called.begin);
        }
        if !is_view && self.has_order(parsed) {
            return self.ordered(parsed, called);
        }
        let op = self.operation(called.name, MovementKind::Reshape)?;
        Ok(Meant::Operations(vec![op], if is_view { Call::View } else { Call::Plain }))
    }

    /// `flatten` and `ravel`: axes joined, all of them where none is named.
    pub(super) fn flatten(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if self.has_order(parsed) {
            return self.ordered(parsed, called);
        }
        let (begin, mut ends) = (called.span.start, [0, -1]);
        self.fields("`(`", &called.arguments(), &mut |reader, field| {
            ends[field] = reader.integer("an axis")?;
            Ok(())
        })?;
        self.advance();
        let shape = self.shape(parsed, begin)?;
        // A scalar has an axis here.
        let rank = shape.len().max(1);
        let axis = |axis| resolve_axis("flatten", axis, rank).map_err(|err| self.refused(begin, &err));
        let (first, last) = (axis(ends[0])?, axis(ends[1])?);
        if first > last {
            let message = format!("`flatten` from axis {first} to axis {last}: the first must not come after the last");
            return Err(self.wrong(begin, message));
        }
        let joined = shape.get(first..=last).unwrap_or_default();
        let size = self.numel("flatten", joined, begin)?;
        let (before, after) = (shape.get(..first), shape.get(last + 1..));
        let [before, after] = [before, after].map(Option::unwrap_or_default);
        let op = MovementOf::Reshape([before, &[size], after].concat().into());
        Ok(Meant::Operations(vec![op], joining(called.name)))
    }

    /// `unflatten(dim, sizes)`: an axis cut into several, one of whose sizes may be -1.
    pub(super) fn unflatten(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let begin = called.begin;
        let (mut axis, mut sizes) = (None, None);
        self.fields("`(`", &called.arguments(), &mut |reader, field| {
            match field {
                0 => axis = Some(reader.number("an axis", Role::Other)?),
                _ => sizes = Some(reader.numbers("a size")?),
            }
            Ok(())
        })?;
        let (Some(axis), Some(mut sizes)) = (axis, sizes) else {
            return Err(self.expected("an axis and sizes, as in `unflatten(1, (2, 3))`"));
        };
        self.advance();
        let (shape, axis) = self.axis_of(parsed, called.name, &axis, begin)?;
        let size = &shape[axis];
        let size_text = self.shown(size);
        let wrong = |reader: &Self, message: String| Err(reader.error_at(begin..reader.last, message));
        if let Some(unknown) = sizes.iter().position(|size| size.integer() == Some(-1)) {
            let known: Nums<A> =
                sizes.iter().enumerate().filter(|(at, _)| *at != unknown).map(|(_, size)| size.clone()).collect();
            let known = self.numel("unflatten", &known, begin)?;
            let quotient = match self.arithmetic.at_least(&known, &Num::<A>::from(1)) {
                Some(true) => self.quotient(size, &known, begin)?,
                _ => None,
            };
            let Some(quotient) = quotient else {
                let known_text = self.shown(&known);
                return match (size.integer(), known.integer()) {
                    (Some(_), Some(_)) => wrong(
                        self,
                        format!(
                            "axis {axis} has size {size_text}, which is not divisible by {known_text}, the product of the other sizes"
                        ),
                    ),
                    _ => wrong(self, undivided_axis(axis, &size_text, &known_text)),
                };
            };
            sizes[unknown] = quotient;
        }
        let found = self.numel("unflatten", &sizes, begin)?;
        let size = size.clone();
        self.need(parsed, (&size, &found), true, begin, &|arithmetic| {
            let found = arithmetic.text(&found);
            format!("axis {axis} has size {size_text}, but the sizes make {found}")
        })?;
        Ok(MovementOf::Reshape([&shape[..axis], &sizes, &shape[axis + 1..]].concat().into()).into())
    }

    /// The shape of another array, the one argument of a method. An array of which nothing is known but a name has the shape that is
    /// given from outside only if it is the array that the method is of.
    fn shape_of_other(&mut self, parsed: &Parsed<Num<A>>, called: &Called<'a>) -> Result<Nums<A>, ParseError> {
        if self.is_deepest() {
            return Err(self.nests_too_deep());
        }
        let close = self.open("`(`")?;
        let mut other = Parsed::new(self.span.start);
        let begin = self.span.start;
        self.depth += 1;
        self.array(&mut other, false)?;
        self.depth -= 1;
        let is_known = self.base.is_some() && other.name.is_some() && other.name == parsed.name;
        if other.start == ChainStartOf::Nothing && !is_known {
            let message = format!(
                "the shape of {} is not known: say it before, as in `y = torch.zeros(2, 3);`, or write the sizes",
                quoted(&self.text[begin..self.last])
            );
            return Err(self.wrong(begin, message));
        }
        let shape = self.shape(&mut other, called.begin)?;
        self.comma_or(close)?;
        self.close(close)?;
        Ok(shape)
    }

    /// `view_as` and `reshape_as`.
    pub(super) fn view_as(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let op = MovementOf::Reshape(self.shape_of_other(parsed, called)?);
        Ok(Meant::Operations(vec![op], if called.name == "view_as" { Call::View } else { Call::Plain }))
    }

    pub(super) fn expand_as(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let sizes = self.shape_of_other(parsed, called)?;
        self.expanded(parsed, called, sizes)
    }

    /// Axes of size 1 repeated, and in PyTorch new ones in front.
    pub(super) fn expand(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if parsed.methods == Methods::Ours {
            return self.ours(parsed, called);
        }
        let sizes = self.number_arguments("a size")?;
        self.expanded(parsed, called, sizes)
    }

    fn expanded(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>, mut sizes: Nums<A>) -> Reading<A> {
        let has_shape = parsed.start != ChainStartOf::Nothing || self.base.is_some();
        if parsed.methods == Methods::Unknown && !has_shape {
            return Ok(MovementOf::Expand(sizes).into());
        }
        let shape = self.shape(parsed, called.span.start)?;
        Ok(match sizes.len().checked_sub(shape.len()) {
            // New axes come in front.
            Some(new @ 1..) => {
                let stays = |size: &Num<A>| size.integer() == Some(-1);
                for (size, same) in sizes[new..].iter_mut().zip(&shape[..]).filter(|(size, _)| stays(size)) {
                    *size = same.clone();
                }
                MovementOf::BroadcastTo(sizes).into()
            }
            _ => MovementOf::Expand(sizes).into(),
        })
    }

    /// Axes of size 1 taken away. PyTorch and tinygrad leave an axis of another size as it is, and NumPy refuses it. Where
    /// nothing says whose array it is, it is read as PyTorch's.
    pub(super) fn squeeze(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let mut op = self.operation(called.name, MovementKind::Squeeze)?;
        if let MovementOf::Squeeze(axes) = &mut op
            && !matches!(parsed.methods, Methods::Ours | Methods::NumPy)
            // Without a shape it is refused later, where one is known.
            && let Ok(shape) = self.shape(parsed, called.span.start)
        {
            let one = Num::<A>::from(1);
            axes.retain(|axis| {
                resolve_axis("squeeze", *axis, shape.len())
                    .map_or(true, |axis| self.arithmetic.equal(&shape[axis], &one) != Some(false))
            });
        }
        Ok(op.into())
    }

    /// New axes of size 1 at places of the array that results.
    pub(super) fn expand_dims(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let begin = called.begin;
        let given = self.lists_of_axes(&called.arguments(), begin)?;
        let [Some(axes)] = &given[..] else { return Err(self.wrong(begin, "expected a number for `axis`")) };
        if let [axis] = axes[..] {
            return Ok(MovementOf::Unsqueeze(axis).into());
        }
        let rank = self.rank(parsed, begin)? + axes.len();
        let axes = self.different("expand_dims", axes, rank, begin)?;
        let new = (0..rank as i64).filter(|axis| axes.contains(axis));
        Ok(new.map(MovementOf::Unsqueeze).collect::<Vec<_>>().into())
    }

    /// Axes reversed; in NumPy all of them where none is named.
    pub(super) fn flip(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if parsed.methods != Methods::NumPy || self.first_argument() != Token::Close(b')') {
            return self.ours(parsed, called);
        }
        self.nothing()?;
        let rank = self.rank(parsed, called.begin)?;
        Ok(MovementOf::FlipEach(std::iter::repeat_n(true, rank).collect()).into())
    }

    /// One axis reversed, which the name of the method says.
    pub(super) fn flipped(&mut self, axis: i64) -> Reading<A> {
        self.nothing()?;
        Ok(MovementOf::Flip([axis].into()).into())
    }

    /// A range of one axis.
    pub(super) fn narrow(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let [axis, start, length] = self.named_numbers(called, [None, None, None])?;
        let (shape, axis) = self.axis_of(parsed, called.name, &axis, called.begin)?;
        let start = self.counted(&start, &shape[axis], called.begin)?;
        let end = self.operate(Operator::Add, &start, &length, called.begin)?;
        Ok(cut(&shape, axis, (start, end)).into())
    }

    /// One index of an axis, which is gone then.
    pub(super) fn select(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let [axis, index] = self.named_numbers(called, [None, None])?;
        let (shape, axis) = self.axis_of(parsed, called.name, &axis, called.begin)?;
        let at = self.index(&index, &shape[axis], axis);
        let at = at.map_err(|message| self.wrong(called.begin, message))?;
        let next = self.operate(Operator::Add, &at, &Num::<A>::from(1), called.begin)?;
        let taken = cut(&shape, axis, (at, next));
        Ok(vec![taken, MovementOf::Reshape([&shape[..axis], &shape[axis + 1..]].concat().into())].into())
    }
}

/// What a call that joins axes, or reads elements in an order, does besides.
pub(super) fn joining(name: &str) -> Call {
    match name {
        "flatten" => Call::Flatten,
        "ravel" => Call::Ravel,
        _ => Call::Ordered,
    }
}
