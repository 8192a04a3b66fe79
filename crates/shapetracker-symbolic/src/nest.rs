//! Statements over several layouts as loops: their sizes, the accesses, what their guards become, and the text of the
//! body.

use std::ops::Range;
use std::sync::Arc;

use indexpr::{Binary, Body, Clip, Expr, Graph, Language, Loop, Nest, Syntax};
use shapetracker_base::text::{ParseError, quoted, tuple};

use crate::error::Error;
use crate::expression::Expression;
use crate::expression::names::widest;
use crate::literal::Literal;
use crate::notation::statement::{Element, Piece, Statement, variables};
use crate::poly::Poly;
use crate::region::{Region, Truth};
use crate::scope::Scope;
use crate::steps::Steps;
use crate::tracker::ShapeTracker;

/// The loops of a [`Statement`], its accesses, and the statement itself as the body.
///
/// The [nest](StatementNest::nest) may be split, reordered and asked as any other; [`StatementNest::body`] stays right.
///
/// ```
/// use indexpr::Language;
/// use shapetracker_symbolic::Question;
///
/// let mut question = Question::default();
/// let statement = question.statement("y[i] += x[i + k] * w[k]; x = (8,).pad((1, 1)); w = (3,); y = (8,)")?;
/// let nest = statement.nest(&question.scope()?)?;
/// let code = nest.nest().code(Language::Python, &nest.body(Language::Python)?)?;
/// assert_eq!(
///     code,
///     "\
/// for i in range(8):
///     t0 = i - 1
///     t1 = max(1 - i, 0)
///     t2 = min(9 - i, 3)
///     index_y = i
///     for k in range(t1, t2):
///         index_x = t0 + k
///         index_w = k
///         y[index_y] += x[index_x] * w[index_w]
/// ",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StatementNest {
    nest: Nest,
    scope: Arc<Scope>,
    /// The scope that was asked about: without ends of names that are those of the code.
    pub(crate) asked: Arc<Scope>,
    needs: Vec<Literal>,
    accesses: Vec<StatementAccess>,
    condition: Option<String>,
    /// The text and the bytes of the statement in it, for mistakes.
    text: Arc<str>,
    span: Range<usize>,
    target: usize,
    operator: &'static str,
    right: Vec<Part>,
    is_product: bool,
    pub(crate) lowered: Lowered,
}

/// The loops and accesses as they are without splits. The expressions stay those of the graph of the nest, which only grows.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub(crate) loops: Vec<Loop>,
    pub(crate) accesses: Vec<LoweredAccess>,
    pub(crate) condition: Option<Expr>,
}

/// An access: the shape of its layout, the index along each axis, the address, and the condition under which there is one.
#[derive(Clone, Debug)]
pub(crate) struct LoweredAccess {
    pub(crate) shape: Vec<Poly>,
    pub(crate) axes: Vec<Expr>,
    pub(crate) address: Expr,
    pub(crate) valid: Expr,
}

/// An access of a [`StatementNest`]: an element that the statement names.
///
/// ```
/// use shapetracker_symbolic::Question;
///
/// let mut question = Question::default();
/// let statement = question.statement("A[i] = 2 * A[i + 4]; A = (8,); i = 0..4")?;
/// let nest = statement.nest(&question.scope()?)?;
/// let [written, read] = nest.accesses() else { panic!() };
/// assert_eq!((&written.name[..], &read.name[..], &read.element[..]), ("A", "A_2", "A[i + 4]"));
/// assert!(written.is_written && !written.is_read && read.is_read);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatementAccess {
    /// Its name in the nest: that of the buffer, and for a second element of it with a number behind.
    pub name: String,
    /// The buffer.
    pub buffer: String,
    /// The element as it is written.
    pub element: String,
    /// Whether the statement writes it.
    pub is_written: bool,
    /// Whether the right side reads it.
    pub is_read: bool,
    /// What is done where the layout has no element.
    pub padding: Padding,
}

/// What a [`StatementNest`] does where an element is padding.
///
/// ```
/// use shapetracker_symbolic::{Padding, Question};
///
/// let mut question = Question::default();
/// let statement = question.statement("y[i] = max(x[i], x[i + 1]); x = (7,).pad((1, 1)); y = (8,); i = 0..8")?;
/// let nest = statement.nest(&question.scope()?)?;
/// assert_eq!(nest.accesses()[1].padding, Padding::Zero); // a maximum is not the same without the 0
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Padding {
    /// There is none.
    None,
    /// The statement is not run there: nothing would be written, or 0 would be added.
    Skipped,
    /// 0 stands in the place of the element.
    Zero,
}

/// A part of the right side of the body.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Loop(String),
    /// The number of an access.
    Access(usize),
}

/// Why there are no loops: a mistake in the text, or numbers that leave 64 bits, which smaller ranges of names may
/// mend.
enum Stop {
    Mistake(ParseError),
    TooLarge(ParseError),
}

impl From<ParseError> for Stop {
    fn from(err: ParseError) -> Stop {
        Stop::Mistake(err)
    }
}

impl Statement {
    /// The loops of the statement, over the names of the question's [scope](crate::Question::scope).
    ///
    /// Padding of what is written, and the condition, say where the statement runs. Padding of what is read is 0: where
    /// a product is added or subtracted, nothing is run there, and elsewhere 0 takes the place of the element. In the
    /// nest these guards are bounds of loops where they are affine ([`Nest::clip`]). No loop is split.
    ///
    /// Code has numbers of 64 bits. A name without a greatest value has one there, which is as large as possible, up to
    /// `2^31 - 1`; [`Nest::parameters`] says which.
    ///
    /// ```
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let statement = question.statement("C[i, j] += A[i, k] * B[k, j]; A = (64, 16); B = (17, 32); C = (64, 32)")?;
    /// let err = statement.nest(&question.scope()?).unwrap_err();
    /// assert_eq!(
    ///     err.message(),
    ///     "`k` runs along axis 1 of `A`, which has size 16, and along axis 0 of `B`, which has size 17: \
    ///      a loop has one size",
    /// );
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// A layout that cannot be, with the operation and the axis; another number of indices than axes; a loop without a
    /// size, or of two; an index that leaves its axis, or is not known to stay inside; a reduced loop of a statement
    /// that does not add up; a name that means two things; ranges of names with which a number leaves 64 bits.
    ///
    /// # Cost
    /// That of one [`ShapeTracker::index_expr`] for each layout, and of [`Graph::extremes`] for each index that is no
    /// loop.
    pub fn nest(&self, scope: &Scope) -> Result<StatementNest, ParseError> {
        let has_ends = |name: &crate::scope::Name| name.lo.is_some() && name.hi.is_some();
        let attempt = |scope: Scope| match self.lowered(Arc::new(scope)) {
            Ok(nest) => Ok(Ok(nest)),
            // A smaller range does not mend a mistake.
            Err(Stop::Mistake(err)) => Ok(Err(err)),
            Err(Stop::TooLarge(err)) => Err(err),
        };
        let made = match scope.own_names().iter().all(has_ends) {
            true => attempt(scope.clone())?,
            false => widest(|bits| attempt(scope.with_ends(bits)))?,
        };
        Ok(StatementNest { asked: Arc::new(scope.clone()), ..made? })
    }

    fn lowered(&self, scope: Arc<Scope>) -> Result<StatementNest, Stop> {
        let mut trackers = Vec::new();
        for (number, layout) in self.layouts.iter().enumerate() {
            let is_used = self.elements().any(|element| element.layout == number);
            let tracker = is_used.then(|| layout.chain.tracker(&scope)).transpose();
            trackers.push(tracker.map_err(|err| {
                let span = err.place().span();
                self.error(span.start + layout.begin..span.end + layout.begin, err.message())
            })?);
        }
        let mut needs: Vec<Literal> = Vec::new();
        for tracker in trackers.iter().flatten() {
            needs.extend(tracker.needs().iter().filter(|need| !needs.contains(need)).cloned().collect::<Vec<_>>());
        }
        let nest = Nest::new(scope.graph().map_err(|err| self.too_large(&err))?);
        let mut lowering = Lowering { statement: self, trackers, needs, nest, region: None, scope };
        lowering.region = Region::of(&lowering.scope, &lowering.needs);
        let loops = lowering.loops()?;
        let mut inside = Vec::new();
        for one in &loops {
            let (size, alone) = lowering.size(one)?;
            lowering.add(one, &size)?;
            inside.extend(alone);
        }
        lowering.accesses(&inside)
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>) -> ParseError {
        ParseError::new(message, self.text.clone(), span)
    }

    /// What leaves 64 bits wherever it is.
    fn too_large(&self, err: &Error) -> Stop {
        Stop::TooLarge(self.error(self.span.clone(), err.reason()))
    }

    /// The name of the layout of an element.
    fn name_of(&self, element: &Element) -> &str {
        &self.layouts[element.layout].name
    }
}

/// A loop: its name, where it stands first, and whether it is on the left.
struct Named<'s> {
    name: &'s str,
    span: Range<usize>,
    is_reduced: bool,
}

struct Lowering<'s> {
    statement: &'s Statement,
    scope: Arc<Scope>,
    /// The trackers of the layouts that are used.
    trackers: Vec<Option<ShapeTracker>>,
    needs: Vec<Literal>,
    nest: Nest,
    region: Option<Region>,
}

impl<'s> Lowering<'s> {
    /// The loops: those of the left side, then the others, in the order in which they appear.
    fn loops(&self) -> Result<Vec<Named<'s>>, Stop> {
        let statement = self.statement;
        let mut loops: Vec<Named<'s>> = Vec::new();
        for (number, element) in statement.elements().enumerate() {
            let (name, rank) = (statement.name_of(element), self.shape(element).len());
            if element.axes.len() != rank {
                let shape: Vec<String> = self.shape(element).iter().map(|size| self.scope.text(size)).collect();
                let given = element.axes.len();
                let were = if given == 1 { "index is" } else { "indices are" };
                let axes = if rank == 1 { "axis" } else { "axes" };
                let message = format!("`{name}` has {rank} {axes}, {}, and {given} {were} given", tuple(&shape));
                return Err(statement.error(element.span.clone(), message).into());
            }
            for axis in &element.axes {
                self.collect(&mut loops, axis, number > 0, true)?;
            }
        }
        for piece in &statement.right {
            if let Piece::Name(span) = piece
                && statement.sizes.iter().any(|size| *size.name == statement.text[span.clone()])
            {
                self.collect(&mut loops, span, true, true)?;
            }
        }
        if let Some(condition) = &statement.condition {
            self.collect(&mut loops, condition, true, false)?;
        }
        for size in &statement.sizes {
            if !loops.iter().any(|one| *one.name == *size.name) {
                let message = format!("{} is no loop of the statement: no index has it", quoted(&size.name));
                return Err(statement.error(size.span.clone(), message).into());
            }
        }
        if statement.operator == "="
            && let Some(reduced) = loops.iter().find(|one| one.is_reduced)
        {
            let message = format!(
                "`{}` is not on the left, so that `=` writes each element once for each of its values: write `+=` for \
                 the sum",
                reduced.name
            );
            return Err(statement.error(reduced.span.clone(), message).into());
        }
        Ok(loops)
    }

    /// Adds the names in some bytes that are loops and not known yet; `in_index` where those bytes are an index.
    fn collect(
        &self,
        loops: &mut Vec<Named<'s>>,
        part: &Range<usize>,
        is_reduced: bool,
        in_index: bool,
    ) -> Result<(), ParseError> {
        let statement = self.statement;
        for (name, span) in variables(&statement.text, part) {
            if statement.layout(name).is_some() {
                let message =
                    format!("`{name}` is a layout; an index and a condition are made of loops and names of sizes");
                return Err(statement.error(span, message));
            }
            if self.scope.find(name).is_some() || loops.iter().any(|one| one.name == name) {
                continue;
            }
            if !in_index && !statement.sizes.iter().any(|size| *size.name == *name) {
                let message = format!(
                    "{} is in no index, and nothing is said of it: a loop needs its size, `{name} = 0..8`, and a name \
                     of a size its range",
                    quoted(name)
                );
                return Err(statement.error(span, message));
            }
            loops.push(Named { name, span, is_reduced });
        }
        Ok(())
    }

    fn shape(&self, element: &Element) -> &[Poly] {
        self.trackers[element.layout].as_ref().map_or(&[], ShapeTracker::shape)
    }

    /// How often a loop runs, and the bytes of the indices that are this loop by itself along axes of that size.
    fn size(&self, one: &Named<'s>) -> Result<(Poly, Vec<Range<usize>>), Stop> {
        let statement = self.statement;
        let given = statement.sizes.iter().find(|size| *size.name == *one.name).map(|size| size.size.clone());
        let mut found: Option<(Poly, &Element, usize)> = None;
        let mut alone = Vec::new();
        for element in statement.elements() {
            for (axis, span) in element.axes.iter().enumerate() {
                if statement.text[span.clone()] != *one.name {
                    continue;
                }
                let size = &self.shape(element)[axis];
                match given.as_ref().or(found.as_ref().map(|(size, ..)| size)) {
                    None => found = Some((size.clone(), element, axis)),
                    Some(known) if self.is_equal(known, size) => {}
                    // Whether a loop of another size stays inside is asked below.
                    Some(_) if given.is_some() => continue,
                    Some(known) => {
                        let first = found.as_ref().map(|(_, first, axis)| (*first, *axis));
                        let (first, axis_of_first) = first.unwrap_or((element, axis));
                        let names = [first, element].map(|element| statement.name_of(element));
                        let sizes = [known, size].map(|size| self.scope.text(size));
                        let mut message = format!(
                            "`{}` runs along axis {axis_of_first} of `{}`, which has size {}, and along axis {axis} of \
                             `{}`, which has size {}: a loop has one size",
                            one.name, names[0], sizes[0], names[1], sizes[1]
                        );
                        if !self.is_never_equal(known, size) {
                            let [a, b] = sizes;
                            message += &format!(", and these are not known to be equal; say `{a} == {b}`");
                        }
                        return Err(statement.error(span.clone(), message).into());
                    }
                }
                alone.push(span.clone());
            }
        }
        match given.or(found.map(|(size, ..)| size)) {
            Some(size) => Ok((size, alone)),
            None => {
                let message = format!(
                    "no axis says how often `{0}` runs, as it is nowhere an index by itself: say `{0} = 0..` and its \
                     size",
                    one.name
                );
                Err(statement.error(one.span.clone(), message).into())
            }
        }
    }

    fn is_equal(&self, a: &Poly, b: &Poly) -> bool {
        a == b || self.truth(a, b) == Some(true)
    }

    fn is_never_equal(&self, a: &Poly, b: &Poly) -> bool {
        self.truth(a, b) == Some(false)
    }

    /// Whether two sizes are equal; `None` where that depends on values or is not known.
    fn truth(&self, a: &Poly, b: &Poly) -> Option<bool> {
        let literal = Literal::equal(a.sub(b).ok()?);
        if literal.poly.number().is_some() {
            return literal.holds(&[]);
        }
        match self.region.as_ref()?.truth(&literal) {
            Truth::Always => Some(true),
            Truth::Never => Some(false),
            Truth::Depends { .. } => None,
        }
    }

    /// Adds a loop.
    fn add(&mut self, one: &Named<'s>, size: &Poly) -> Result<(), Stop> {
        let statement = self.statement;
        let size = self.scope.written("size", self.nest.graph_mut(), size).map_err(|err| statement.too_large(&err))?;
        let added = match one.is_reduced {
            true => self.nest.reduce(one.name, size),
            false => self.nest.each(one.name, size),
        };
        added.map_err(|err| self.stop(&err, &one.span))?;
        Ok(())
    }

    /// What the graph or the nest refuses at some bytes.
    fn stop(&self, err: &indexpr::Error, span: &Range<usize>) -> Stop {
        let error = self.statement.error(span.clone(), err.reason());
        match err.kind() {
            indexpr::ErrorKind::Overflow => Stop::TooLarge(error),
            _ => Stop::Mistake(error),
        }
    }

    /// The accesses; `inside` are the bytes of the indices that are known to stay inside of their axes.
    fn accesses(mut self, inside: &[Range<usize>]) -> Result<StatementNest, Stop> {
        let statement = self.statement;
        let condition = match &statement.condition {
            None => None,
            Some(span) => {
                let expr = read(&mut self.nest, &self.scope, &statement.text, span.clone())?;
                if !self.nest.graph().is_condition(expr) {
                    let message = "a condition is needed after `if`, such as `k <= i`, and not a number";
                    return Err(statement.error(span.clone(), message).into());
                }
                Some(expr)
            }
        };
        let mut codes = vec![None; statement.layouts.len()];
        let mut known: Vec<(usize, Vec<Expr>)> = Vec::new();
        let (mut accesses, mut numbers): (Vec<StatementAccess>, Vec<usize>) = (Vec::new(), Vec::new());
        for (place, element) in statement.elements().enumerate() {
            let mut axes = Vec::new();
            for span in &element.axes {
                let expr = read(&mut self.nest, &self.scope, &statement.text, span.clone())?;
                if self.nest.graph().is_condition(expr) {
                    return Err(statement.error(span.clone(), "an index is a number, and this is a condition").into());
                }
                axes.push(expr);
            }
            let (is_written, is_read) = (place == 0, place > 0);
            let same = known.iter().position(|(layout, others)| *layout == element.layout && *others == axes);
            if let Some(same) = same {
                accesses[same].is_read |= is_read;
                numbers.push(same);
                continue;
            }
            for (axis, expr) in axes.iter().enumerate().filter(|(axis, _)| !inside.contains(&element.axes[*axis])) {
                self.check_inside(element, axis, *expr, condition)?;
            }
            let Some(tracker) = &self.trackers[element.layout] else { continue };
            if codes[element.layout].is_none() {
                let code = tracker.index_expr().map_err(|err| match err.kind() {
                    shapetracker::ErrorKind::Overflow => statement.too_large(&err),
                    _ => Stop::Mistake(statement.error(element.span.clone(), err.reason())),
                });
                codes[element.layout] = Some(code?);
            }
            let Some(code) = &codes[element.layout] else { continue };
            let name = self.fresh(statement.name_of(element));
            // That was checked: where the statement runs, with what is known between names.
            if let Err(err) = self.nest.read_unchecked(&name, code, &axes) {
                return Err(self.stop(&err, &element.span));
            }
            let valid = self.nest.accesses().last().map(|access| self.nest.graph().range(access.valid));
            let is_skipped = is_written || statement.is_product && matches!(statement.operator, "+=" | "-=");
            accesses.push(StatementAccess {
                name,
                buffer: statement.name_of(element).to_owned(),
                element: statement.text[element.span.clone()].to_owned(),
                is_written,
                is_read,
                padding: match (valid, is_skipped) {
                    (Some((1, 1)), _) => Padding::None,
                    (_, true) => Padding::Skipped,
                    (_, false) => Padding::Zero,
                },
            });
            known.push((element.layout, axes));
            numbers.push(accesses.len() - 1);
        }
        let lowered = Lowered {
            loops: self.nest.loops().to_vec(),
            accesses: known
                .into_iter()
                .zip(self.nest.accesses())
                .map(|((layout, axes), access)| LoweredAccess {
                    shape: self.trackers[layout].as_ref().map_or(Vec::new(), |tracker| tracker.shape().to_vec()),
                    axes,
                    address: access.index,
                    valid: access.valid,
                })
                .collect(),
            condition,
        };
        let condition = match condition {
            None => None,
            Some(expr) => {
                let (name, span) = (self.fresh("condition"), statement.condition.clone().unwrap_or_default());
                self.nest.guard(&name, expr).map_err(|err| self.stop(&err, &span))?;
                Some(name)
            }
        };
        let skipped = accesses.iter().filter(|access| access.padding == Padding::Skipped);
        let skipped = skipped.map(|access| &access.name[..]);
        let clipped: Vec<&str> = skipped.chain(condition.as_deref()).collect();
        self.nest.clip(&clipped, Clip::All).map_err(|err| self.stop(&err, &statement.span))?;
        let mut numbers = numbers.into_iter();
        let target = numbers.next().unwrap_or(0);
        let right = statement.right.iter().map(|piece| match piece {
            Piece::Element(_) => Part::Access(numbers.next().unwrap_or(target)),
            Piece::Name(span) | Piece::Text(span) => {
                let text = statement.text[span.clone()].to_owned();
                let is_name = matches!(piece, Piece::Name(_));
                let is_loop = is_name && self.nest.loops().iter().any(|one| one.name == text);
                if is_loop { Part::Loop(text) } else { Part::Text(text) }
            }
        });
        Ok(StatementNest {
            right: right.collect(),
            nest: self.nest,
            asked: self.scope.clone(),
            scope: self.scope,
            needs: self.needs,
            accesses,
            condition,
            text: statement.text.clone(),
            span: statement.span.clone(),
            target,
            operator: statement.operator,
            is_product: statement.is_product,
            lowered,
        })
    }

    /// A name for an access that nothing has.
    fn fresh(&self, name: &str) -> String {
        let is_taken = |name: &String| {
            let is_access = self.nest.accesses().iter().any(|access| access.name == *name);
            is_access || self.nest.graph().variables().iter().any(|variable| variable.name == *name)
        };
        // The first access of a layout has its name; no other one may.
        let is_layout = |name: &String| self.statement.layout(name).is_some();
        let numbered = (2..).map(|number| format!("{name}_{number}")).filter(|name| !is_layout(name));
        let own = [name.to_owned()].into_iter().filter(|own| self.statement.layout(name).is_some() || !is_layout(own));
        own.chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
    }

    /// Refuses an index that may leave its axis where the statement runs.
    fn check_inside(
        &mut self,
        element: &Element,
        axis: usize,
        index: Expr,
        condition: Option<Expr>,
    ) -> Result<(), Stop> {
        let statement = self.statement;
        let (span, name) = (element.axes[axis].clone(), statement.name_of(element));
        let size = self.shape(element)[axis].clone();
        let size_text = self.scope.text(&size);
        let size = self.scope.written("size", self.nest.graph_mut(), &size).map_err(|err| statement.too_large(&err))?;
        let stop = |err: indexpr::Error| match err.kind() {
            indexpr::ErrorKind::Overflow => Stop::TooLarge(statement.error(span.clone(), err.reason())),
            _ => Stop::Mistake(statement.error(span.clone(), err.reason())),
        };
        let loops: Vec<(Expr, Expr)> = self.nest.loops().iter().map(|one| (one.variable, one.size)).collect();
        let graph = self.nest.graph_mut();
        let zero = graph.int(0);
        // The statement runs where the condition holds, within the loops.
        let mut runs = condition.unwrap_or_else(|| graph.bool(true));
        for (variable, size) in loops {
            let below = graph.binary(Binary::Lt, variable, size).map_err(stop)?;
            runs = graph.binary(Binary::And, runs, below).map_err(stop)?;
        }
        let low = graph.binary(Binary::Le, zero, index).map_err(stop)?;
        let high = graph.binary(Binary::Lt, index, size).map_err(stop)?;
        let inside = graph.binary(Binary::And, low, high).map_err(stop)?;
        let outside = graph.not(inside).map_err(stop)?;
        let outside = graph.binary(Binary::And, runs, outside).map_err(stop)?;
        let outside = graph.simplify(outside);
        let (found, range) = (graph.extremes(zero, Some(outside)), graph.extremes(index, Some(runs)));
        if found.is_none() || self.is_proved(inside) {
            return Ok(());
        }
        let text = &statement.text[span.clone()];
        // What is known between names may exclude what was found.
        let is_known = self.needs.is_empty() && self.scope.given().is_empty();
        let message = match (is_known && found.is_some_and(|found| found.exact), range) {
            (true, Some(range)) => {
                let (low, high) = range.range();
                format!(
                    "the index `{text}` goes from {low} to {high}, and axis {axis} of `{name}` has size {size_text}"
                )
            }
            _ => format!(
                "the index `{text}` is not known to be within 0..{size_text}, the size of axis {axis} of `{name}`: a \
                 range of a name, or `if`, can say so"
            ),
        };
        Err(statement.error(span, message).into())
    }

    /// Whether what is known of the names proves that a condition holds where the statement runs.
    fn is_proved(&self, inside: Expr) -> bool {
        let mut scope = (*self.scope).clone();
        for need in &self.needs {
            scope.require(need.clone());
        }
        // Each loop is a name from 0 on and less than its size.
        for one in self.nest.loops() {
            let most = self.nest.graph().range(one.variable).1;
            let Some(variable) = scope.declare(&one.name, Some(0), Some(most.into())) else { return false };
            let named = Named { name: &one.name, span: 0..0, is_reduced: false };
            let Ok((size, _)) = self.size(&named) else { return false };
            let below = size.sub(&Poly::from(variable)).and_then(|below| below.plus_number(-1));
            let Ok(below) = below else { return false };
            if below.number().is_none() {
                scope.require(Literal::at_least(below));
            }
        }
        let Ok(expression) = Expression::of_graph(scope, self.nest.graph(), inside) else { return false };
        let given = match &self.statement.condition {
            None => Ok(expression),
            Some(span) => expression.given(&self.statement.text[span.clone()], Syntax::Python),
        };
        given.is_ok_and(|expression| expression.simplify().text(Syntax::Python).is_ok_and(|text| text == "True"))
    }
}

/// Reads some bytes of a text as an expression over the loops and names of a nest, and over names that are defined.
fn read(nest: &mut Nest, scope: &Scope, text: &str, part: Range<usize>) -> Result<Expr, ParseError> {
    let refused = |err: indexpr::Error| ParseError::new(err.reason(), text, part.clone());
    let mut graph = Graph::new();
    for variable in nest.graph().variables() {
        graph.variable(&variable.name, variable.range.clone()).map_err(refused)?;
    }
    let own = graph.variables().len();
    let mut meanings = Vec::new();
    for (name, poly) in scope.definitions() {
        let Ok(meaning) = scope.written("size", nest.graph_mut(), poly) else { continue };
        let (low, high) = nest.graph().range(meaning);
        if graph.variable(name, low..high.saturating_add(1)).is_ok() {
            meanings.push(meaning);
        }
    }
    let expr = graph.parse_part(text, part.clone(), Syntax::Python).map_err(|err| err.in_longer(text, 0))?;
    let moved = nest.graph_mut().import(&graph, &[expr], |to, place| match place.checked_sub(own) {
        Some(defined) => Ok(meanings[defined]),
        None => {
            let variable = &graph.variables()[place];
            to.variable(&variable.name, variable.range.clone())
        }
    });
    Ok(moved.map_err(refused)?[0])
}

impl StatementNest {
    /// The loops and accesses.
    ///
    /// ```
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let statement = question.statement("s[] += A[i, j]; A = (4, 5); s = ()")?;
    /// let nest = statement.nest(&question.scope()?)?;
    /// assert!(nest.nest().loops().iter().all(|one| one.is_reduced));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn nest(&self) -> &Nest {
        &self.nest
    }

    /// The loops and accesses, to be split, reordered, run in parts.
    ///
    /// ```
    /// use indexpr::Language;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let statement = question.statement("B[i] = A[i]; A = (6, 4).T.reshape(24); B = (24,)")?;
    /// let mut nest = statement.nest(&question.scope()?)?;
    /// let splits = nest.nest_mut().split_where_affine()?;
    /// assert_eq!(splits.text(nest.nest().graph()), "i = 4 x 6");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nest_mut(&mut self) -> &mut Nest {
        &mut self.nest
    }

    /// The elements that the statement names, each once: the one that it writes is the first.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("C[i] += A[i] * A[i]; A = (8,); C = (8,)")?;
    /// assert_eq!(statement.nest(&question.scope()?)?.accesses().len(), 2);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn accesses(&self) -> &[StatementAccess] {
        &self.accesses
    }

    /// The guard of the nest that is the condition after `if`.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("C[i, j] = 1 if j <= i; C = (8, 8)")?;
    /// assert_eq!(statement.nest(&question.scope()?)?.condition(), Some("condition"));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn condition(&self) -> Option<&str> {
        self.condition.as_deref()
    }

    /// The names, with the ranges for which the code is right.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("C[i] = A[i]; A = (n,); C = (n,)")?;
    /// assert_eq!(statement.nest(&question.scope()?)?.scope().known(), "n=1..2147483648");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// What must hold of the names besides, so that the layouts can be.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::new(["s=0..9, N=1..9, L=1..9"])?;
    /// let statement = question.statement("C[i] = A[i]; A = (N,)[s:s+L]; C = (L,)")?;
    /// let nest = statement.nest(&question.scope()?)?;
    /// assert_eq!(nest.needs()[0].text(nest.scope()), "N >= s + L");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn needs(&self) -> &[Literal] {
        &self.needs
    }

    /// Reads an expression over the loops and names, such as a factor by which a loop is split. Names that are defined
    /// may stand in it.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// let mut question = Question::new(["n=1..65, H=8*n"])?;
    /// let statement = question.statement("C[i] = A[i]; A = (H,); C = (H,)")?;
    /// let mut nest = statement.nest(&question.scope()?)?;
    /// let [n, eight] = ["n", "H // n"].map(|text| nest.parse(text).unwrap());
    /// nest.nest_mut().split("i", &[n.into(), eight.into()])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What [`Graph::parse`] refuses.
    pub fn parse(&mut self, text: &str) -> Result<Expr, ParseError> {
        read(&mut self.nest, &self.scope, text, 0..text.len())
    }

    /// The statement as the body of the nest, in a language.
    ///
    /// What stands on the right is text of that language. Where a buffer has no element, a choice with 0 takes its
    /// place. In MLIR elements are loaded and stored, as numbers of 32 bits that float, and the right side is a
    /// product.
    ///
    /// ```
    /// use indexpr::Language;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let statement = question.statement("y[i] = exp(x[i]); x = (7,).pad((1, 0)); y = (8,)")?;
    /// let nest = statement.nest(&question.scope()?)?;
    /// let code = nest.nest().code(Language::Rust, &nest.body(Language::Rust)?)?;
    /// assert!(code.contains("exp(if valid_x { x[index_x as usize] } else { Default::default() });"));
    /// assert_eq!(
    ///     nest.body(Language::Mlir).unwrap_err().message(),
    ///     "mlir: `exp(x[i])` is no product of elements and numbers, and the language has no expressions",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// MLIR, where the right side is another one, the statement joins bits, or an element may be 0 for want of one.
    pub fn body(&self, language: Language) -> Result<Body, ParseError> {
        if language == Language::Mlir {
            return self.mlir();
        }
        let mut text = format!("{} {} ", element(language, &self.accesses[self.target]), self.operator);
        let mut choices = Vec::new();
        for part in &self.right {
            text += &match part {
                Part::Text(text) => text.clone(),
                Part::Loop(name) => format!("{{{name}}}"),
                Part::Access(number) => {
                    let access = &self.accesses[*number];
                    match access.padding {
                        Padding::Zero => {
                            let mut choice = format!("{}_or_zero", access.name);
                            let is_taken = |choice: &str| {
                                let is_loop = |part: &Part| matches!(part, Part::Loop(name) if name == choice);
                                self.right.iter().any(is_loop) || self.accesses.iter().any(|own| own.name == choice)
                            };
                            while is_taken(&choice) {
                                choice.push('_');
                            }
                            let text = format!("{{{choice}}}");
                            choices.push((choice, access));
                            text
                        }
                        Padding::None | Padding::Skipped => element(language, access),
                    }
                }
            };
        }
        if language != Language::Python {
            text.push(';');
        }
        let zero = if language == Language::Rust { "Default::default()" } else { "0" };
        let chosen = |body: Body, (choice, access): (String, &StatementAccess)| {
            body.choice(choice, &access.name, element(language, access), zero)
        };
        Ok(choices.into_iter().fold(Body::new(text), chosen))
    }

    /// The body in MLIR, operation by operation.
    fn mlir(&self) -> Result<Body, ParseError> {
        let refused =
            |message: String| Err(ParseError::new(format!("mlir: {message}"), self.text.clone(), self.span.clone()));
        let right: String = self.right.iter().map(|part| self.shown(part)).collect();
        if !self.is_product {
            return refused(format!(
                "`{right}` is no product of elements and numbers, and the language has no expressions"
            ));
        }
        let joined = match self.operator {
            "=" => None,
            "+=" => Some("addf"),
            "-=" => Some("subf"),
            "*=" => Some("mulf"),
            other => return refused(format!("`{other}` joins bits, and the elements are numbers that float")),
        };
        let mut lines: Vec<String> = Vec::new();
        let mut product: Option<String> = None;
        let mut loaded: Vec<String> = Vec::new();
        let mut count = 0;
        let load = |access: &StatementAccess| {
            format!("%value_{0} = memref.load %{1}[{{{0}}}] : memref<?xf32>", access.name, access.buffer)
        };
        let mut times = |lines: &mut Vec<String>, factor: String| {
            product = Some(match product.take() {
                None => factor,
                Some(before) => {
                    count += 1;
                    lines.push(format!("%product_{count} = arith.mulf {before}, {factor} : f32"));
                    format!("%product_{count}")
                }
            });
        };
        for part in &self.right {
            match part {
                Part::Access(number) => {
                    let access = &self.accesses[*number];
                    if access.padding == Padding::Zero {
                        return refused(format!(
                            "`{}` has padding, and a choice between an element and 0 is no value of an affine loop; \
                             `+=` skips it",
                            access.element
                        ));
                    }
                    if !loaded.contains(&access.name) {
                        lines.push(load(access));
                        loaded.push(access.name.clone());
                    }
                    times(&mut lines, format!("%value_{}", access.name));
                }
                Part::Text(text) | Part::Loop(text) => {
                    for number in text.split('*').map(str::trim).filter(|number| !number.is_empty()) {
                        let Ok(value) = number.replace('_', "").parse::<f64>() else {
                            return refused(format!("{} is no number that floats", quoted(number)));
                        };
                        let name = format!("%number_{}", lines.len());
                        lines.push(format!("{name} = arith.constant {} : f32", floating(value)));
                        times(&mut lines, name);
                    }
                }
            }
        }
        let target = &self.accesses[self.target];
        let mut value = product.unwrap_or_default();
        if let Some(joined) = joined {
            if !loaded.contains(&target.name) {
                lines.push(load(target));
            }
            lines.push(format!("%joined = arith.{joined} %value_{}, {value} : f32", target.name));
            value = "%joined".into();
        }
        lines.push(format!("memref.store {value}, %{}[{{{}}}] : memref<?xf32>", target.buffer, target.name));
        Ok(Body::new(lines.join("\n")))
    }

    /// The steps of the loops; `None` where there are names, at whose values there are [`StatementNest::steps_at`].
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// let mut question = Question::default();
    /// let statement = question.statement("y[i] += x[i + k] * w[k]; x = (8,).pad((1, 1)); w = (3,); y = (8,)")?;
    /// let steps = statement.nest(&question.scope()?)?.steps().unwrap();
    /// assert_eq!((steps.total(), steps.run().count), (Some(24), Some(22))); // at two of them `x` is padding
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn steps(&self) -> Option<Steps> {
        self.steps_at([]).ok()
    }

    /// The steps of the loops at values of the names, whatever the loops are split into.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// let mut question = Question::default();
    /// let statement = question.statement("C[i, j] = A[i, j] if j <= i; A = (n, n); C = (n, n)")?;
    /// let nest = statement.nest(&question.scope()?)?;
    /// let steps = nest.steps_at([("n", 65536)])?;
    /// assert_eq!((steps.total(), steps.run().count), (Some(1 << 32), Some(65536 * 65537 / 2)));
    /// let err = nest.steps_at([("n", 0)]).unwrap_err();
    /// assert_eq!(err.to_string(), "steps: 0 is not a value of n, which is from 1 to 2147483647");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A name without a value, or a value outside its range; a condition or need that does not hold; a number that leaves 64 bits.
    pub fn steps_at<'n>(&self, values: impl IntoIterator<Item = (&'n str, i64)>) -> Result<Steps, Error> {
        Steps::of(self, &self.scope.point("steps", &self.needs, values)?)
    }

    /// A part of the right side as it was written.
    fn shown(&self, part: &Part) -> String {
        match part {
            Part::Text(text) | Part::Loop(text) => text.clone(),
            Part::Access(number) => self.accesses[*number].element.clone(),
        }
    }
}

/// A number that floats as MLIR writes one: with a point.
fn floating(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// An element in a language.
fn element(language: Language, access: &StatementAccess) -> String {
    let (name, buffer) = (&access.name, &access.buffer);
    if language == Language::Rust { format!("{buffer}[{{{name}}} as usize]") } else { format!("{buffer}[{{{name}}}]") }
}
