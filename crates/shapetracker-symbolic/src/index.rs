//! Index expressions: the address and the condition of an element, with the sizes as variables.
//!
//! Everything that can be simplified is simplified here, over polynomials, where it is known that an index is less than its
//! size; `indexpr` only writes what is left. A quotient that is no polynomial becomes a variable of the region with what is
//! known of it, `P q <= a < P (q + 1)`, so that what comes after is proved with it, and is a division in the code.

use std::collections::HashSet;

use indexpr::{Binary, Expr, Graph, IndexExpr, Node};
use shapetracker_base::int::bits;

use crate::answer::Reason;
use crate::error::{Error, Mistake};
use crate::expression::horner::Writer;
use crate::expression::names::{import, widest, with_ends};
use crate::expression::read::{Atom, Fact, MOST_VARIABLES, Reader, Truth};
use crate::expression::write::{Pen, Style, Unwritable};
use crate::literal::{Literal, Relation};
use crate::poly::{MOST_STEPS, Poly, TooLarge, Var, within};
use crate::region::{self, Ask, Region, Stop};
use crate::scope::Name;
use crate::tracker::ShapeTracker;
use crate::view::View;

const OP: &str = "index_expr";

impl ShapeTracker {
    /// The address of an element and whether it has one, as expressions for compilers: code in nine languages
    /// ([`IndexExpr::code`]), and kernels that gather, which take the sizes as arguments ([`IndexExpr::kernel`]).
    ///
    /// Loop `l` is the variable `idxl`. The names that occur in the views are [parameters](IndexExpr::parameters). Divisions
    /// are made only where the quotient is not known to be a polynomial.
    ///
    /// Code has numbers of at most 64 bits, so that names have two ends there: one that has none ends at `2^k - 1` (and, if
    /// it may be negative, begins at `-2^k`), for the greatest `k` up to 31 with which every value fits. The variables of the
    /// graph say which that is, and the code is right for these values; whoever needs others declares the ranges. It is right
    /// where the [needs](ShapeTracker::needs) of the tracker and the conditions of its scope hold.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// use indexpr::{Language, Syntax};
    ///
    /// let size = |name| Sym::new(name, 1..1025);
    /// let (b, t, h, d) = (size("B"), size("T"), size("H"), Sym::new("D", 1..129));
    /// let qkv = ShapeTracker::contiguous([b.clone(), t.clone(), h.clone() * &d * 3])?;
    /// let k = qkv.reshape([b.clone(), t.clone(), 3.into(), h.clone(), d.clone()])?.permute([2, 0, 3, 1, 4])?;
    /// let k = k.shrink([(1.into(), 2.into()), (0.into(), b), (0.into(), h), (0.into(), t), (0.into(), d)])?.squeeze([0])?;
    /// let code = k.index_expr()?;
    /// assert_eq!(code.graph().text(code.index(), Syntax::Python)?, "(((idx0 * T + idx2) * 3 + 1) * H + idx1) * D + idx3");
    /// assert_eq!(code.cost().divmods, 0);
    /// assert!(code.kernel(Language::C)?.starts_with("void gather(const float *restrict in, float *restrict out, long long B"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Where values of the names are found with which an address is below 0, there are no kernels
    /// ([`IndexExpr::reading_from`]): only a tracker that starts with views can have such.
    ///
    /// # Errors
    /// Conditions that no values satisfy; ranges of names with which a value could leave 64 bits.
    pub fn index_expr(&self) -> Result<IndexExpr, Error> {
        let lowered = within(MOST_STEPS, || Lowered::of(self)).map_err(|stop| Error::new(OP, Mistake::from(stop)))?;
        let code = lowered.code(self).map_err(|err| match err {
            Unwritable::Code(err) => Error::new(OP, err),
            Unwritable::TooLarge(err) => Error::new(OP, err),
        })?;
        Ok(if lowered.inside { code } else { code.reading_from(self.lowest_found()) })
    }
}

/// So many values of the names are tried where it is not known that no address is below 0.
const MOST_POINTS: usize = 64;

impl ShapeTracker {
    /// The lowest address below 0 that is read with some small values of the names; 0 where none was found.
    fn lowest_found(&self) -> i64 {
        let names = &self.scope().names()[..self.scope().names().len() - self.scope().quotients().len()];
        // Small values differ most in what is read; of a name without a beginning there are some on both sides of 0.
        let value = |name: &Name, step: usize| {
            let from = name.lo.unwrap_or_else(|| name.hi.unwrap_or(8).min(8).saturating_sub(11));
            let value = from.saturating_add([0, 1, 3, 12][step % 4]);
            name.hi.map_or(value, |hi| value.min(hi))
        };
        let point = |number: usize| -> Vec<i128> {
            let steps = (0..).map(|place: u32| number.checked_shr(2 * place).unwrap_or(number / 3));
            names.iter().zip(steps).map(|(name, step)| value(name, step)).collect()
        };
        let lowest = |number: usize| {
            let tracker = self.at_point(&point(number)).ok()?;
            tracker.fits_buffer(None).err()?;
            Some(tracker.address_range().ok()??.0)
        };
        (0..MOST_POINTS).filter_map(lowest).min().map_or(0, |low| low.min(0))
    }
}

/// The address and the condition of an element, over the names, the indices, and quotients.
pub(crate) struct Lowered {
    /// The names of the scope that occur.
    names: Vec<Var>,
    /// The index of each axis of the last view; its variables stand for nothing else.
    pub(crate) indices: Vec<Var>,
    pub(crate) shape: Vec<Poly>,
    /// What is read; `None` where nothing is ever valid.
    pub(crate) element: Option<Element>,
    /// Whether it is known that no address is below 0.
    inside: bool,
}

/// How an element is read that has an address.
pub(crate) struct Element {
    /// What the quotients are.
    pub(crate) reader: Reader,
    pub(crate) address: Poly,
    /// What holds where there is an address.
    pub(crate) valid: Truth,
    /// What is known whether there is an address or not.
    always: Region,
}

/// The lowering of a stack, from its last view to memory.
struct Lowering {
    reader: Reader,
    conditions: Vec<Truth>,
    /// What is known whether there is an address or not.
    always: Region,
}

impl Lowered {
    pub(crate) fn of(tracker: &ShapeTracker) -> Ask<Lowered> {
        let shape = tracker.shape().to_vec();
        let named = tracker.scope().names().len();
        let nothing = |indices: Vec<Var>| Lowered {
            names: occurring(&shape, named),
            indices,
            shape: shape.clone(),
            element: None,
            inside: true,
        };
        let Some(mut region) = Region::of(tracker.scope(), tracker.needs()) else {
            return Ok(nothing((0..shape.len()).map(|axis| Var((named + axis) as u8)).collect()));
        };
        if region.vars() + shape.len() > MOST_VARIABLES {
            return Err(Stop::Undecided(Reason::TooManyCases));
        }
        // Every index of a size is at least 0 and less than the size. Where there is no such index nothing is ever run.
        let indices: Vec<Var> = shape.iter().map(|_| region.fresh(Some(0), None)).collect();
        let mut lowering = Lowering { always: region.clone(), reader: Reader::new(region), conditions: Vec::new() };
        for (index, size) in indices.iter().zip(&shape) {
            if !lowering.assume(&size.plus_number(-1)?.sub(&Poly::from(*index))?) {
                return Ok(nothing(indices));
            }
        }
        let mut digits: Vec<Poly> = indices.iter().map(|index| Poly::from(*index)).collect();
        for (digit, size) in digits.iter_mut().zip(&shape) {
            // Along an axis of one element there is one index.
            if lowering.holds(&Poly::one().sub(size)?) == Some(true) {
                *digit = Poly::zero();
            }
        }
        lowering.always = lowering.reader.region.clone();
        let mut views = tracker.views().iter().rev();
        let mut address = Poly::zero();
        if let Some(view) = views.next() {
            let Some(read) = lowering.read(view, &digits)? else { return Ok(nothing(indices)) };
            address = read;
        }
        for view in views {
            let view = joined(&lowering.reader.region, view)?;
            let Some(digits) = lowering.unravelled(&address, &view.shape)? else { return Ok(nothing(indices)) };
            let Some(read) = lowering.read(&view, &digits)? else { return Ok(nothing(indices)) };
            address = read;
        }
        let inside = lowering.holds(&address) == Some(true);
        let Lowering { mut reader, conditions, always } = lowering;
        let valid = reader.fact(match conditions[..] {
            [] => Fact::Known(true),
            [only] => reader.of(only).clone(),
            _ => Fact::All(conditions),
        });
        let element = Element { reader, address, valid, always };
        let mut polys = shape.clone();
        polys.push(element.address.clone());
        polys.extend(element.conditions()?);
        for quotient in element.quotients()? {
            polys.extend([quotient.dividend.clone(), quotient.divisor.clone()]);
        }
        Ok(Lowered { names: occurring(&polys, named), indices, shape, element: Some(element), inside })
    }
}

/// A quotient that is no polynomial.
#[derive(Clone, Copy)]
pub(crate) struct Quotient<'r> {
    pub(crate) var: Var,
    pub(crate) dividend: &'r Poly,
    pub(crate) divisor: &'r Poly,
}

impl Element {
    /// What is at least 0 where there is an address.
    pub(crate) fn conditions(&self) -> Result<Vec<Poly>, TooLarge> {
        let mut all = Vec::new();
        for literal in self.reader.literals(self.valid) {
            if literal.relation == Relation::Equal {
                all.push(literal.poly.neg()?);
            }
            all.push(literal.poly);
        }
        Ok(all)
    }

    /// The quotients in both, each after those that it is made of.
    pub(crate) fn quotients(&self) -> Result<Vec<Quotient<'_>>, TooLarge> {
        let mut needed = self.address.vars();
        needed.extend(self.conditions()?.iter().flat_map(Poly::vars));
        let mut quotients: Vec<Quotient> = self.all_quotients().collect();
        for place in (0..quotients.len()).rev() {
            let Quotient { var, dividend, divisor } = quotients[place];
            match needed.contains(&var) {
                true => needed.extend(dividend.vars().into_iter().chain(divisor.vars())),
                false => _ = quotients.remove(place),
            }
        }
        Ok(quotients)
    }

    /// All quotients that were met.
    fn all_quotients(&self) -> impl Iterator<Item = Quotient<'_>> {
        self.reader.atoms.iter().enumerate().filter_map(|(place, atom)| match atom {
            Atom::Quotient { dividend, divisor, .. } => {
                Some(Quotient { var: Var((self.reader.first + place) as u8), dividend, divisor })
            }
            _ => None,
        })
    }
}

/// The names of the scope in polynomials, in its order.
fn occurring(polys: &[Poly], named: usize) -> Vec<Var> {
    let names = (0..named).map(|place| Var(place as u8));
    names.filter(|name| polys.iter().any(|poly| poly.has(*name))).collect()
}

impl Lowering {
    /// Whether a polynomial is known to be at least 0, or never to be.
    fn holds(&self, poly: &Poly) -> Option<bool> {
        match self.reader.region.truth(&Literal::at_least(poly.clone())) {
            region::Truth::Always => Some(true),
            region::Truth::Never => Some(false),
            region::Truth::Depends { .. } => None,
        }
    }

    /// Goes on where a polynomial is at least 0; `false` where that is nowhere.
    fn assume(&mut self, poly: &Poly) -> bool {
        match self.reader.region.assume(&Literal::at_least(poly.clone())) {
            Ok(Some(smaller)) => self.reader.region = smaller,
            Ok(None) => return false,
            // What is not understood need not be known.
            Err(_) => {}
        }
        true
    }

    /// Adds a condition, which makes those superfluous that it implies.
    fn also(&mut self, truth: Truth) -> Ask<()> {
        let new = self.reader.literals(truth);
        for place in (0..self.conditions.len()).rev() {
            let [old] = &self.reader.literals(self.conditions[place])[..] else { continue };
            let mut is_implied = false;
            for literal in new.iter().filter(|_| old.relation == Relation::AtLeast) {
                let mut sides = vec![literal.poly.clone()];
                if literal.relation == Relation::Equal {
                    sides.push(literal.poly.neg()?);
                }
                for side in sides {
                    // Of the quotients nothing is known here.
                    let more = old.poly.sub(&side)?;
                    is_implied |= more.vars().iter().all(|var| usize::from(var.0) < self.always.vars())
                        && self.always.known_ge(&self.always.reduce(&more)?) == Some(true);
                }
            }
            if is_implied {
                self.conditions.remove(place);
            }
        }
        self.conditions.push(truth);
        Ok(())
    }

    /// The address that a view has at an index, whose validity becomes a condition; `None` where that never holds.
    fn read(&mut self, view: &View, digits: &[Poly]) -> Ask<Option<Poly>> {
        let mut address = view.offset.clone();
        for (axis, (digit, stride)) in digits.iter().zip(&view.strides).enumerate() {
            address = address.add(&digit.mul(stride)?)?;
            if view.mask.is_none() {
                continue;
            }
            let (begin, end) = view.range(axis);
            for condition in [digit.sub(&begin)?, end.sub(digit)?.plus_number(-1)?] {
                let truth = self.reader.at_least(&condition)?;
                match self.reader.of(truth) {
                    Fact::Known(true) => continue,
                    Fact::Known(false) => return Ok(None),
                    _ => self.also(truth)?,
                }
                if !self.assume(&condition) {
                    return Ok(None);
                }
            }
        }
        // A scalar whose mask is an empty list has no valid element.
        if view.mask.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        Ok(Some(self.reader.region.reduce(&address)?))
    }

    /// The index of a position in a shape, whose elements it is known to be one of wherever it is read; `None` where the
    /// shape has none.
    fn unravelled(&mut self, position: &Poly, shape: &[Poly]) -> Ask<Option<Vec<Poly>>> {
        for size in shape {
            if !self.assume(&size.plus_number(-1)?) {
                return Ok(None);
            }
        }
        let numel = crate::movement::product(shape)?;
        let inside = [position.clone(), numel.sub(position)?.plus_number(-1)?];
        if !inside.iter().all(|poly| self.assume(poly)) {
            return Ok(None);
        }
        let mut digits = vec![Poly::zero(); shape.len()];
        let mut rest = self.reader.region.reduce(position)?;
        for (axis, size) in shape.iter().enumerate().rev() {
            if axis == 0 {
                // What is left of a position that the shape has is less than the outermost size.
                digits[0] = rest;
                break;
            }
            let quotient = self.reader.quotient_by_positive(&rest, size)?;
            let digit = rest.sub(&quotient.mul(size)?)?;
            self.assume(&digit);
            self.assume(&size.sub(&digit)?.plus_number(-1)?);
            digits[axis] = self.reader.region.reduce(&digit)?;
            rest = quotient;
            // What is left is a position in the outer axes.
            let outer = crate::movement::product(&shape[..axis])?;
            self.assume(&rest);
            self.assume(&outer.sub(&rest)?.plus_number(-1)?);
        }
        Ok(Some(digits))
    }
}

/// A view with neighbouring axes joined that are not masked and advance as one, so that no division tells them apart.
fn joined(region: &Region, view: &View) -> Result<View, TooLarge> {
    let mut axes: Vec<(Poly, Poly, (Poly, Poly))> = Vec::new();
    for (axis, (size, stride)) in view.shape.iter().zip(&view.strides).enumerate() {
        let (begin, end) = view.range(axis);
        let full = begin.is_zero() && end == *size;
        if full && size.is_one() {
            continue;
        }
        if let Some(outer) = axes.last_mut()
            && full
            && outer.2.0.is_zero()
            && outer.2.1 == outer.0
            && region.truth(&Literal::equal(outer.1.sub(&size.mul(stride)?)?)) == region::Truth::Always
        {
            let size = outer.0.mul(size)?;
            *outer = (size.clone(), stride.clone(), (Poly::zero(), size));
            continue;
        }
        axes.push((size.clone(), stride.clone(), (begin, end)));
    }
    Ok(View {
        shape: axes.iter().map(|axis| axis.0.clone()).collect(),
        strides: axes.iter().map(|axis| axis.1.clone()).collect(),
        offset: view.offset.clone(),
        mask: match &view.mask {
            Some(mask) if mask.is_empty() => Some(Vec::new()),
            Some(_) => Some(axes.into_iter().map(|axis| axis.2).collect()),
            None => None,
        },
    })
}

/// A way in which an element is written.
struct Written {
    index: Expr,
    valid: Expr,
    /// The quotients in both: each is an atom plus a polynomial.
    quotients: Vec<(Expr, Var, Poly)>,
}

impl Lowered {
    /// The index and the condition as expressions, with the widest ranges for names without an end with which they fit.
    fn code(&self, tracker: &ShapeTracker) -> Result<IndexExpr, Unwritable> {
        let names = tracker.scope().names();
        let mut writer = self.writer(names, 0)?;
        let sizes = self.shape.iter().map(|size| writer.poly(size)).collect::<Result<Vec<_>, _>>()?;
        let Some(element) = &self.element else {
            let (index, valid) = (writer.graph.int(0), writer.graph.bool(false));
            return Ok(widest(|bits| self.moved(names, bits, &writer.graph, &sizes, [index, valid], &[]))?);
        };
        let mut ways = Vec::new();
        let mut refused = None;
        for style in [Style::Horner, Style::Linear, Style::Shared, Style::Digits] {
            // The last is for numbers that are too large in the others.
            if style == Style::Digits && !ways.is_empty() {
                break;
            }
            match element.written(&mut writer, style) {
                Ok(written) => ways.push(written),
                Err(err) => refused = refused.or(Some(err)),
            }
        }
        ways.sort_by_key(|way| in_loops(&writer.graph, &[way.index, way.valid], self.indices.len()));
        let Some(cheapest) = ways.first() else {
            return Err(refused.unwrap_or(Unwritable::TooLarge(TooLarge::Number)));
        };
        let moved = |bits: u32, graph: &Graph, way: &Written, ends: &[(Expr, Expr)]| {
            self.moved(names, bits, graph, &sizes, [way.index, way.valid], ends)
        };
        let has_ends = |name: &Var| {
            let name = &names[usize::from(name.0)];
            name.lo.is_some() && name.hi.is_some()
        };
        if !self.names.iter().all(has_ends) {
            return Ok(widest(|bits| moved(bits, &writer.graph, cheapest, &[]))?);
        }
        let code = moved(0, &writer.graph, cheapest, &[])?;
        if !is_wide(&code) {
            return Ok(code);
        }
        // Perhaps 32 bits suffice, which are worth more than operations: quotients have ends that their operands do not say.
        ways.extend(element.written(&mut writer, Style::Digits).ok());
        for way in &ways {
            let ends = element.ends(&way.quotients, &mut writer)?;
            if let Ok(narrow) = moved(0, &writer.graph, way, &ends)
                && !is_wide(&narrow)
            {
                return Ok(narrow);
            }
        }
        Ok(code)
    }

    /// What was written in another graph, where names without an end have so many bits, and where quotients are known to be at most
    /// what their ends are.
    fn moved(
        &self,
        names: &[Name],
        bits: u32,
        from: &Graph,
        sizes: &[Expr],
        roots: [Expr; 2],
        ends: &[(Expr, Expr)],
    ) -> Result<IndexExpr, indexpr::Error> {
        let mut graph = self.writer(names, bits)?.graph;
        for &(quotient, end) in ends {
            let moved = import(&mut graph, from, &[quotient, end])?;
            graph.narrow(moved[0], i64::MIN..graph.range(moved[1]).1.saturating_add(1));
        }
        let sizes = import(&mut graph, from, sizes)?;
        let moved = import(&mut graph, from, &roots)?;
        IndexExpr::with_sizes(graph, moved[0], moved[1], sizes)
    }

    /// A graph of the loops and the names, of which those without an end have so many bits.
    fn writer(&self, names: &[Name], bits: u32) -> Result<Writer, indexpr::Error> {
        let range = |var: Var| {
            let name = &names[usize::from(var.0)];
            let nearest = |end: i128| i64::try_from(end).unwrap_or(if end < 0 { i64::MIN } else { i64::MAX - 1 });
            with_ends(name.lo.map(nearest), name.hi.map(nearest), bits)
        };
        // How often the loops run at most is known only when the parameters are there, and loops come first.
        let mut trial = Writer { graph: Graph::new(), loops: 0, leading: Vec::new(), known: Vec::new() };
        for &var in &self.names {
            trial.variable(var, &names[usize::from(var.0)].name, range(var))?;
        }
        let (mut loops, mut numel) = (Vec::new(), trial.graph.int(1));
        for size in &self.shape {
            let size = trial.poly(size)?;
            loops.push(trial.graph.range(size).1.max(1));
            // Kernels count their elements.
            numel = trial.graph.binary(Binary::Mul, numel, size)?;
        }
        let mut writer =
            Writer { graph: Graph::new(), loops: self.indices.len(), leading: Vec::new(), known: Vec::new() };
        for (axis, (var, extent)) in self.indices.iter().zip(loops).enumerate() {
            writer.variable(*var, &format!("idx{axis}"), 0..extent)?;
        }
        for &var in &self.names {
            writer.variable(var, &names[usize::from(var.0)].name, range(var))?;
        }
        Ok(writer)
    }
}

impl Element {
    /// The address and the condition in a style.
    fn written(&self, writer: &mut Writer, style: Style) -> Result<Written, Unwritable> {
        let mut pen = Pen::new(&self.reader, writer.clone(), &writer.solved(self.always.solved()), style)?;
        let (index, valid) = (pen.number(&self.address)?, pen.condition(self.valid)?);
        let quotients = pen.quotients();
        writer.graph = pen.writer.graph;
        Ok(Written { index, valid, quotients })
    }

    /// The quotients that were written, each with an end that it has whether there is an address or not.
    fn ends(&self, written: &[(Expr, Var, Poly)], writer: &mut Writer) -> Result<Vec<(Expr, Expr)>, Unwritable> {
        let mut region = self.always.clone();
        let mut ends: Vec<(Var, Poly)> = Vec::new();
        for Quotient { var, dividend, divisor } in self.all_quotients() {
            let is_positive = region.known_ge(&region.reduce(&divisor.plus_number(-1)?)?) == Some(true);
            let (dividend, divisor) = (region.reduce(dividend)?, region.reduce(divisor)?);
            ends.extend(region.quotient_end(&dividend, &divisor)?.filter(|_| is_positive).map(|end| (var, end)));
            if !is_positive || region.fresh_quotient(&dividend, &divisor).is_err() {
                region.fresh(None, None);
            }
        }
        let mut found = Vec::new();
        for (quotient, atom, shift) in written {
            let Some((_, end)) = ends.iter().find(|end| end.0 == *atom) else { continue };
            let end = end.add(shift)?;
            if end.vars().iter().all(|var| writer.known.iter().any(|known| known.0 == *var)) {
                found.push((*quotient, writer.poly(&end)?));
            }
        }
        Ok(found)
    }
}

/// Whether code needs 64 bits.
fn is_wide(code: &IndexExpr) -> bool {
    bits(code.graph().value_range(&[code.index(), code.valid()])) > 32
}

/// What expressions cost in the loops, which are so many of the first variables: in quarters of the weight, where what is the same
/// for all elements counts a quarter, as it is computed once before loops, and once for each thread of a GPU; and a division half an
/// operation more than it weighs, so that of equal ways that with fewer is taken. Then the operations.
fn in_loops(graph: &Graph, roots: &[Expr], loops: usize) -> (usize, usize) {
    let (mut inside, mut before) = (HashSet::new(), Vec::new());
    for part in graph.parts(roots) {
        let node = graph.node(part);
        let is_loop = matches!(node, Node::Variable(place) if place < loops);
        if is_loop || node.operands().any(|operand| inside.contains(&operand)) {
            inside.insert(part);
        } else {
            before.push(part);
        }
    }
    let (all, before) = (graph.cost(roots), graph.cost(&before));
    (4 * all.weight - 3 * before.weight + 2 * (all.divmods - before.divmods), all.ops - before.ops)
}
