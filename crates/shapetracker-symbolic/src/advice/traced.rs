//! Sizes at values of the names that remember what was asked of them.
//!
//! What a library does with an array follows from comparisons: is a size 1, which of two strides is longer, is a reshape a
//! view. The same code answers them for whole numbers and here; here each comparison is answered at one choice of values, and
//! noted as a condition that holds for this choice. What came out is so wherever all of them hold.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use shapetracker::advice::{Array, ArrayNumber};
use shapetracker::{ArrayLibrary, Error, MovementOf, Number};

use crate::answer::{Answer, Formula, Verdict};
use crate::literal::Literal;
use crate::operation::Movement;
use crate::poly::{MOST_STEPS, Poly, TooLarge, within};
use crate::scope::Scope;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// What was asked, with the answer at the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// It held.
    Literal(Literal),
    /// Whether it held.
    Formula(Formula, bool),
}

/// The names, and what is decided of them once for all values.
#[derive(Debug)]
pub(super) struct Names {
    /// A tracker that has the names and all that is needed of them.
    pub(super) needs: ShapeTracker,
    merged: RefCell<HashMap<(View, View), Rc<Answer>>>,
}

impl Names {
    pub(super) fn new(needs: ShapeTracker) -> Names {
        Names { needs, merged: RefCell::default() }
    }

    fn scope(&self) -> &Scope {
        self.needs.scope()
    }

    /// For which values a view of a view is one view.
    fn merged(&self, earlier: View, later: View) -> Rc<Answer> {
        let mut merged = self.merged.borrow_mut();
        let key = (earlier, later);
        if let Some(answer) = merged.get(&key) {
            return answer.clone();
        }
        let answer = Rc::new(crate::merge(self.scope(), self.needs.needs(), &key.0, &key.1));
        merged.insert(key, answer.clone());
        answer
    }
}

/// One choice of values, and what was asked at it.
#[derive(Debug)]
pub(super) struct Trace {
    names: Rc<Names>,
    point: Vec<i128>,
    asked: RefCell<Vec<Asked>>,
    failure: RefCell<Option<String>>,
}

impl Trace {
    pub(super) fn new(names: Rc<Names>, point: &[i128]) -> Rc<Trace> {
        Rc::new(Trace { names, point: point.to_vec(), asked: RefCell::default(), failure: RefCell::default() })
    }

    /// What was asked, and why it is not all, if something failed.
    pub(super) fn taken(&self) -> Result<Vec<Asked>, String> {
        match self.failure.borrow().clone() {
            Some(failure) => Err(failure),
            None => Ok(self.asked.borrow().clone()),
        }
    }

    fn note(&self, asked: Asked) {
        let mut all = self.asked.borrow_mut();
        if !all.contains(&asked) {
            all.push(asked);
        }
    }

    fn fail(&self, why: impl ToString) {
        self.failure.borrow_mut().get_or_insert(why.to_string());
    }
}

/// A number at a choice of values, with the polynomial that it is for all of them.
#[derive(Clone)]
pub(super) struct Traced(Rc<At>);

pub(super) struct At {
    value: i128,
    poly: Poly,
    /// Where what is asked of it is noted; nothing for a number that is the same for all values.
    trace: Option<Rc<Trace>>,
}

impl std::ops::Deref for Traced {
    type Target = At;

    fn deref(&self) -> &At {
        &self.0
    }
}

impl Traced {
    pub(super) fn new(trace: &Rc<Trace>, poly: &Poly) -> Traced {
        let value = poly.eval(&trace.point).unwrap_or_else(|| {
            trace.fail(TooLarge::Number);
            0
        });
        Traced::at(value, poly.clone(), Some(trace.clone()))
    }

    fn at(value: i128, poly: Poly, trace: Option<Rc<Trace>>) -> Traced {
        let trace = trace.filter(|_| poly.number().is_none());
        Traced(Rc::new(At { value, poly, trace }))
    }

    pub(super) fn list(trace: &Rc<Trace>, polys: &[Poly]) -> Vec<Traced> {
        polys.iter().map(|poly| Traced::new(trace, poly)).collect()
    }

    pub(super) fn poly(&self) -> &Poly {
        &self.poly
    }

    /// A number that is made of others: what fails for the polynomials fails altogether.
    fn made(of: [&Traced; 2], value: Option<i128>, poly: Result<Poly, TooLarge>) -> Traced {
        let trace = of.iter().find_map(|number| number.trace.clone());
        let (value, poly) = match (value, poly) {
            (Some(value), Ok(poly)) => (value, poly),
            (value, poly) => {
                let why = poly.err().unwrap_or(TooLarge::Number);
                if let Some(trace) = &trace {
                    trace.fail(why);
                }
                (value.unwrap_or_default(), Poly::zero())
            }
        };
        Traced::at(value, poly, trace)
    }

    /// Notes how this number compares with another one.
    fn compared(&self, other: &Traced, literal: impl FnOnce(Poly) -> Result<Literal, TooLarge>) {
        let Some(trace) = self.trace.as_ref().or(other.trace.as_ref()) else { return };
        match self.poly.sub(&other.poly) {
            Ok(difference) if difference.number().is_some() => {}
            Ok(difference) => match literal(difference) {
                Ok(literal) => trace.note(Asked::Literal(literal)),
                Err(err) => trace.fail(err),
            },
            Err(err) => trace.fail(err),
        }
    }
}

impl Number for Traced {
    type Numbers = Vec<Traced>;
    type Pairs = Vec<(Traced, Traced)>;
    type View = ();

    fn integer(&self) -> Option<i64> {
        i64::try_from(self.poly.number()?).ok()
    }
}

impl From<i64> for Traced {
    fn from(number: i64) -> Traced {
        Traced::at(number.into(), Poly::from(number), None)
    }
}

impl PartialEq for Traced {
    fn eq(&self, other: &Traced) -> bool {
        let equal = self.value == other.value;
        let literal = if equal { Literal::equal } else { Literal::not_equal };
        self.compared(other, |difference| Ok(literal(difference)));
        equal
    }
}

impl Eq for Traced {}

impl PartialOrd for Traced {
    fn partial_cmp(&self, other: &Traced) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Traced {
    fn cmp(&self, other: &Traced) -> Ordering {
        let order = self.value.cmp(&other.value);
        self.compared(other, |difference| {
            Ok(match order {
                Ordering::Less => Literal::at_least(difference.neg()?.plus_number(-1)?),
                Ordering::Equal => Literal::equal(difference),
                Ordering::Greater => Literal::at_least(difference.plus_number(-1)?),
            })
        });
        order
    }
}

impl Hash for Traced {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.value)
    }
}

/// As it is for all values.
impl fmt::Display for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.trace {
            Some(trace) => f.write_str(&trace.names.scope().text(&self.poly)),
            None => write!(f, "{}", self.value),
        }
    }
}

impl ArrayNumber for Traced {
    type Total = Traced;

    fn plus(&self, other: &Traced) -> Traced {
        Traced::made([self, other], self.value.checked_add(other.value), self.poly.add(&other.poly))
    }

    fn times(&self, other: &Traced) -> Traced {
        Traced::made([self, other], self.value.checked_mul(other.value), self.poly.mul(&other.poly))
    }

    fn over(&self, other: &Traced) -> Traced {
        let value = self.value.checked_div_euclid(other.value);
        let exact = self.poly.div_exact(&other.poly);
        match (exact, self.poly.number(), other.poly.number()) {
            (Ok(Some(quotient)), ..) => Traced::made([self, other], value, Ok(quotient)),
            (_, Some(_), Some(_)) => Traced::made([self, other], value, Ok(Poly::from(value.unwrap_or_default()))),
            // That it is smaller is noted.
            _ if *self >= Traced::from(0) && self < other => Traced::from(0),
            _ => {
                if let Some(trace) = self.trace.as_ref().or(other.trace.as_ref()) {
                    trace.fail("a quotient is no polynomial");
                }
                Traced::from(0)
            }
        }
    }

    fn negative(&self) -> Traced {
        Traced::made([self, self], self.value.checked_neg(), self.poly.neg())
    }

    fn total<'a>(numbers: impl Iterator<Item = &'a Traced>) -> Traced {
        numbers.fold(Traced::from(0), |sum, number| sum.plus(number))
    }

    fn shape_after(shape: &[Traced], op: &MovementOf<Traced>) -> Result<Vec<Traced>, Error> {
        let mut trace = trace_of(shape);
        let op = in_names(op, &mut trace);
        let polys: Vec<Poly> = shape.iter().map(|size| size.poly.clone()).collect();
        let view = View::row_major(&polys);
        let after = view.map_err(|err| fail(&trace, err)).ok().and_then(|view| applied(&trace, view, &op));
        Ok(after.map_or_else(Vec::new, |after| list(&trace, after.shape())))
    }

    fn moved(from: &Array<Traced>, op: &MovementOf<Traced>) -> Result<Option<Array<Traced>>, Error> {
        let mut trace = trace_of_array(from);
        let op = in_names(op, &mut trace);
        let Some(after) = applied(&trace, view_of(from), &op) else { return Ok(None) };
        let view = match after.views() {
            [view] => Some(view.clone()),
            [earlier, later] => single(&trace, earlier.clone(), later.clone()),
            _ => None,
        };
        Ok(match view {
            Some(view) if view.mask.is_none() => Some(array(&trace, &view)),
            // Of no elements any strides are right.
            _ => {
                let shape = list(&trace, after.shape());
                shape.iter().any(|size| size.is(0)).then(|| Array::contiguous(&shape))
            }
        })
    }

    fn reshaped(from: &Array<Traced>, to: &[Traced]) -> Result<Option<Array<Traced>>, Error> {
        let trace = trace_of_array(from).or_else(|| trace_of(to));
        let polys: Vec<Poly> = to.iter().map(|size| size.poly.clone()).collect();
        let earlier = view_of(from);
        if earlier.shape == polys {
            return Ok(Some(from.clone()));
        }
        let later = View::row_major(&polys).map_err(|err| fail(&trace, err)).ok();
        Ok(later.and_then(|later| single(&trace, earlier, later)).map(|view| array(&trace, &view)))
    }

    fn least(
        _: ArrayLibrary,
        _: &Array<Traced>,
        _: &[Traced],
    ) -> Result<Option<(Array<Traced>, String, Traced)>, Error> {
        Ok(None)
    }
}

/// Where what is asked of numbers is noted; nothing where none has names.
type Noted = Option<Rc<Trace>>;

fn fail(trace: &Noted, why: impl ToString) {
    if let Some(trace) = trace {
        trace.fail(why);
    }
}

/// The one view that a view of a view is at the values; nothing where there it is none. Which of both is noted.
fn single(trace: &Noted, earlier: View, later: View) -> Option<View> {
    let Some(trace) = trace else {
        // Without names there is one answer.
        return crate::merge(&Scope::new(), &[], &earlier, &later).view().cloned();
    };
    let answer = &*trace.names.merged(earlier, later);
    let scope = trace.names.scope();
    let named = scope.names().len() - scope.quotients().len();
    let is_one = match answer {
        Answer::Always { view: Some(view), .. } if view.is_within(named) => return Some(view.clone()),
        Answer::Never { .. } => return None,
        Answer::Always { .. } => true,
        Answer::When { formula, view, .. } => {
            let Some(is_one) = answer.is_one_at(scope, &trace.point) else {
                trace.fail(TooLarge::Number);
                return None;
            };
            trace.note(Asked::Formula(formula.clone(), is_one));
            match view {
                _ if !is_one => return None,
                Some(view) if view.is_within(named) => return Some(view.clone()),
                _ => true,
            }
        }
        Answer::Undecided { .. } => answer.is_one_at(scope, &trace.point) == Some(true),
    };
    // What is not so for all values in the same terms is so where the case of these values is.
    let is_named = |literal: &Literal| literal.poly.vars().iter().all(|var| usize::from(var.0) < named);
    let leaf = answer.leaf_at(scope, &trace.point).filter(|leaf| leaf.literals.iter().all(is_named));
    let found = match leaf.map(|leaf| &leaf.verdict) {
        Some(Verdict::View(view)) if is_one && view.is_within(named) => Some(view.clone()),
        Some(Verdict::NotOne) if !is_one => None,
        Some(Verdict::Undecided(reason)) => {
            trace.fail(reason);
            None
        }
        _ => {
            trace.fail("a quotient is no polynomial");
            None
        }
    };
    if let Some(leaf) = leaf {
        trace.note(Asked::Formula(vec![leaf.literals.clone()], true));
    }
    found
}

/// A view after an operation, where all is known that it needs.
fn applied(trace: &Noted, view: View, op: &Movement) -> Option<ShapeTracker> {
    let before = match trace {
        Some(trace) => trace.names.needs.with_view(view),
        None => ShapeTracker::from_views(Arc::default(), [view]).ok()?,
    };
    match within(MOST_STEPS, || before.apply(op)) {
        Ok(after) if after.needs() == before.needs() => return Some(after),
        Ok(_) => fail(trace, "an operation of a library needs more of the names than the chain"),
        Err(err) => fail(trace, err),
    }
    None
}

fn view_of(array: &Array<Traced>) -> View {
    let polys = |list: &[Traced]| list.iter().map(|number| number.poly.clone()).collect();
    View { shape: polys(&array.shape), strides: polys(&array.strides), offset: array.offset.poly.clone(), mask: None }
}

/// A polynomial at the values.
fn number(trace: &Noted, poly: &Poly) -> Traced {
    match trace {
        Some(trace) => Traced::new(trace, poly),
        None => Traced::at(poly.number().unwrap_or_default(), poly.clone(), None),
    }
}

fn list(trace: &Noted, polys: &[Poly]) -> Vec<Traced> {
    polys.iter().map(|poly| number(trace, poly)).collect()
}

fn array(trace: &Noted, view: &View) -> Array<Traced> {
    Array { shape: list(trace, &view.shape), strides: list(trace, &view.strides), offset: number(trace, &view.offset) }
}

fn trace_of(numbers: &[Traced]) -> Noted {
    numbers.iter().find_map(|number| number.trace.clone())
}

fn trace_of_array(array: &Array<Traced>) -> Noted {
    trace_of(&array.shape).or_else(|| trace_of(&array.strides)).or_else(|| array.offset.trace.clone())
}

/// An operation for all values, and where what is asked of it is noted.
fn in_names(op: &MovementOf<Traced>, trace: &mut Noted) -> Movement {
    let poly = |number: &Traced| {
        if trace.is_none() {
            trace.clone_from(&number.trace);
        }
        Some(number.poly.clone())
    };
    // There is a polynomial for every number.
    op.try_map(poly).unwrap_or(MovementOf::Contiguous)
}

/// A view at the values.
pub(super) fn traced(trace: &Rc<Trace>, view: &View) -> Array<Traced> {
    array(&Some(trace.clone()), view)
}
