//! What texts are read with: polynomials of names, and what is known of them while a text is read.

use std::ops::Range;
use std::sync::Arc;

use shapetracker::{Arithmetic, Known, MovementOf, Number, Operator, Role, check_count};

use super::Question;
use crate::literal::Literal;
use crate::movement::{product, row_major};
use crate::operation::Movement;
use crate::poly::{MOST_STEPS, Poly, TooLarge, Var, within};
use crate::region::{Region, Truth};
use crate::scope::Scope;
use crate::tracker::ShapeTracker;
use crate::view::View;

impl Number for Poly {
    type Numbers = Vec<Poly>;
    type Pairs = Vec<(Poly, Poly)>;
    type View = View;

    fn integer(&self) -> Option<i64> {
        i64::try_from(self.number()?).ok()
    }
}

/// The arithmetic that is done for one text, in terms of polynomials: far more than any text has that people write, and
/// little enough to be done at once.
pub(super) const MOST_WORK: usize = 1 << 19;

/// Polynomials that are computed for one text.
#[derive(Default)]
pub(super) struct Computed {
    work: usize,
}

impl Computed {
    /// A sum, a difference or a product; `None` for what is divided.
    pub(super) fn operate(&mut self, operator: Operator, a: &Poly, b: &Poly) -> Result<Option<Poly>, String> {
        let (terms, others) = (a.terms().len(), b.terms().len());
        let work = match operator {
            Operator::Add | Operator::Sub => terms + others,
            Operator::Mul => terms * others,
            Operator::Div | Operator::Modulo => return Ok(None),
        };
        // So that a short text cannot ask for more than can be done at once.
        self.work = self.work.saturating_add(work);
        if self.work > MOST_WORK {
            return Err("the polynomials of the text have more terms than are computed with".into());
        }
        let result = match operator {
            Operator::Add => a.add(b),
            Operator::Sub => a.sub(b),
            _ => a.mul(b),
        };
        result.map(Some).map_err(|err| err.to_string())
    }
}

/// A text that is read: the names of a question, and what is known of them by now.
///
/// What is asked while a text is read is answered by what was said of the names that occurred so far. The rest of the text
/// can only add to that, so that what is known stays known.
pub(super) struct Reading<'q> {
    question: &'q mut Question,
    computed: Computed,
    /// The numbers that were read, and their bytes.
    pub(super) numbers: Vec<(Poly, Range<usize>)>,
    /// The names so far with what is known of them, and for which names that is.
    so_far: Option<(Vec<bool>, Arc<Scope>, Option<Region>)>,
}

impl<'q> Reading<'q> {
    pub(super) fn new(question: &'q mut Question) -> Reading<'q> {
        Reading { question, computed: Computed::default(), numbers: Vec::new(), so_far: None }
    }

    /// The names so far, with what is known of them.
    fn so_far(&mut self) -> (&Arc<Scope>, Option<&Region>) {
        let current = self.so_far.take().filter(|(names, ..)| *names == self.question.is_size);
        let current = current.unwrap_or_else(|| {
            let scope = within(MOST_STEPS, || self.question.scope_so_far());
            let region = within(MOST_STEPS, || Region::of(&scope, &[]));
            (self.question.is_size.clone(), Arc::new(scope), region)
        });
        let (_, scope, region) = self.so_far.insert(current);
        (scope, region.as_ref())
    }

    /// Whether something holds of the names; `None` where that depends on values, or is not known.
    fn known(&mut self, literal: &Literal) -> Option<bool> {
        if literal.poly.number().is_some() {
            return literal.holds(&[]);
        }
        let (_, region) = self.so_far();
        match within(MOST_STEPS, || region?.truth(literal).into()) {
            Some(Truth::Always) => Some(true),
            Some(Truth::Never) => Some(false),
            _ => None,
        }
    }

    fn divided(&mut self, operator: Operator, a: &Poly, b: &Poly) -> Result<Option<Poly>, TooLarge> {
        let (_, region) = self.so_far();
        let Some(region) = region else { return Ok(None) };
        let division = within(MOST_STEPS, || region.floor_division(a, b))?;
        Ok(division.map(|division| if operator == Operator::Div { division.quotient } else { division.remainder }))
    }

    /// The tracker over a shape that was read.
    fn tensor(&mut self, shape: &[Poly]) -> Result<ShapeTracker, String> {
        let scope = self.so_far().0.clone();
        ShapeTracker::in_scope(scope, shape.to_vec()).map_err(|err| err.to_string())
    }
}

impl Arithmetic for Reading<'_> {
    type Number = Poly;

    const RANGE: &'static str = "128-bit integers";

    fn name(&mut self, name: &str, _: Range<usize>, role: Role) -> Result<Option<Poly>, String> {
        self.question.found(name, role).map(Some)
    }

    fn knows(&self, name: &str) -> bool {
        self.question.scope.find(name).is_some() || self.question.given.is_about(name)
    }

    fn has_names(&self) -> bool {
        true
    }

    fn literal(&mut self, value: i128) -> Option<Poly> {
        Some(Poly::from(value))
    }

    fn operate(&mut self, operator: Operator, a: &Poly, b: &Poly) -> Result<Option<Poly>, String> {
        match operator {
            Operator::Div | Operator::Modulo => self.divided(operator, a, b).map_err(|err| err.to_string()),
            _ => self.computed.operate(operator, a, b),
        }
    }

    fn note(&mut self, number: &Poly, span: Range<usize>) {
        self.numbers.push((number.clone(), span));
    }
}

impl Known for Reading<'_> {
    fn at_least(&mut self, a: &Poly, b: &Poly) -> Option<bool> {
        self.known(&Literal::at_least(a.sub(b).ok()?))
    }

    fn equal(&mut self, a: &Poly, b: &Poly) -> Option<bool> {
        if a == b { Some(true) } else { self.known(&Literal::equal(a.sub(b).ok()?)) }
    }

    fn text(&self, number: &Poly) -> String {
        self.question.scope.text(number)
    }

    fn numel(&mut self, op: &'static str, shape: &[Poly]) -> Result<Poly, String> {
        product(shape).map_err(|err| format!("{op}: {err}"))
    }

    fn row_major(&mut self, shape: &[Poly]) -> Result<Vec<Poly>, String> {
        row_major(shape).map_err(|err| err.to_string())
    }

    fn view(
        &mut self,
        shape: &[Poly],
        strides: &[Poly],
        offset: Poly,
        mask: Option<&[(Poly, Poly)]>,
    ) -> Result<View, String> {
        let (rank, ranges) = (shape.len(), mask.map_or(shape.len(), <[_]>::len));
        // At rank 0 a mask without ranges says that the one element is masked.
        for (what, given) in [("stride", strides.len()), ("range of the mask", ranges)] {
            check_count("view", what, rank, given).map_err(|err| err.to_string())?;
        }
        let mask = mask.map(<[_]>::to_vec);
        Ok(View { shape: shape.to_vec(), strides: strides.to_vec(), offset, mask })
    }

    fn shape(&self, view: &View) -> Vec<Poly> {
        view.shape.clone()
    }

    fn moved(&mut self, shape: &[Poly], op: &Movement) -> Result<Vec<Poly>, String> {
        // What the shape follows from without asking is asked when the operation is done.
        let plain = match op {
            MovementOf::Reshape(sizes) | MovementOf::BroadcastTo(sizes) => {
                sizes.iter().all(|size| size.integer() != Some(-1)).then(|| sizes.clone())
            }
            MovementOf::AsStrided(sizes, ..) => Some(sizes.clone()),
            MovementOf::Flip(_) | MovementOf::FlipEach(_) | MovementOf::Contiguous | MovementOf::Copy => {
                Some(shape.to_vec())
            }
            MovementOf::Shrink(ranges) if ranges.len() == shape.len() => {
                let sizes = ranges.iter().map(|(begin, end)| end.sub(begin));
                Some(sizes.collect::<Result<_, _>>().map_err(|err| err.to_string())?)
            }
            _ => None,
        };
        match plain {
            Some(shape) => Ok(shape),
            None => {
                let after = self.tensor(shape)?.apply(op).map_err(|err| err.to_string())?;
                Ok(after.shape().to_vec())
            }
        }
    }

    fn reshaped(&mut self, view: View, shape: &[Poly]) -> Result<Vec<View>, String> {
        let over = View::row_major(shape).map_err(|err| err.to_string())?;
        Ok(if view.shape == over.shape { vec![view] } else { vec![view, over] })
    }
}

/// Gives each name a variable of its own.
pub(super) fn variable(place: usize) -> Poly {
    Poly::from(Var(place as u8))
}
