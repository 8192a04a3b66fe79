//! How an element is read, as plain data: the address as a polynomial, its conditions, and the divisions in both.

use crate::error::{Error, Mistake};
use crate::index::{Element, Lowered, Quotient};
use crate::poly::{MOST_STEPS, Poly, Var, floor, within};
use crate::scope::Scope;
use crate::tracker::ShapeTracker;

/// How the elements of a tracker are read: the address as a polynomial in the names, the indices and floors, and the conditions
/// under which an element has one.
///
/// What a compiler lowers that does not want the expression. The conditions are exact at every index of the shape; the address is
/// exact wherever they hold, and means nothing elsewhere.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let (n, p) = (Sym::new("n", 1..), Sym::new("p", 0..));
/// let padded = ShapeTracker::contiguous([n, 4.into()])?.pad([(p, 0.into()), (0.into(), 0.into())])?;
/// let access = padded.access()?;
/// assert_eq!(access.scope().text(access.address().unwrap()), "4*idx0 + idx1 - 4*p");
/// let conditions: Vec<String> = access.conditions().iter().map(|poly| access.scope().text(poly)).collect();
/// assert_eq!(conditions, ["idx0 - p"]);
/// assert_eq!(access.scope().text(&access.stride(0).unwrap()), "4");
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    scope: Scope,
    /// How many of the names are those of sizes.
    named: usize,
    shape: Vec<Poly>,
    floors: Vec<Floor>,
    address: Poly,
    conditions: Option<Vec<Poly>>,
}

/// A division that has a name in an [`Access`]: the quotient, rounded down.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let (h, w) = (Sym::new("H", 1..), Sym::new("W", 1..));
/// let turned = ShapeTracker::contiguous([h.clone(), w.clone()])?.permute([1, 0])?.reshape([h * w])?;
/// let access = turned.access()?;
/// let [floor] = access.floors() else { panic!() };
/// let text = |poly| access.scope().text(poly);
/// assert_eq!((text(&floor.dividend), text(&floor.divisor)), ("idx0".into(), "H".into()));
/// assert_eq!(text(&floor.quotient), "floor0");
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floor {
    /// The name of the quotient.
    pub quotient: Poly,
    /// What is divided: of names, indices and the floors before this one.
    pub dividend: Poly,
    /// What it is divided by, which is at least 1 wherever there is an index.
    pub divisor: Poly,
}

impl Access {
    /// The names of the sizes, then `idx0`, `idx1` and so on for the indices along the axes, then those of floors.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let access = ShapeTracker::contiguous([Sym::new("n", 1..)])?.access()?;
    /// let names: Vec<&str> = access.scope().names().iter().map(|name| &*name.name).collect();
    /// assert_eq!(names, ["n", "idx0"]);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The shape that is indexed.
    ///
    /// ```
    /// use shapetracker_symbolic::{Poly, ShapeTracker};
    /// assert_eq!(ShapeTracker::contiguous([3])?.access()?.shape(), [Poly::from(3)]);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn shape(&self) -> &[Poly] {
        &self.shape
    }

    /// The address where the conditions hold; `None` where no element has one.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let access = ShapeTracker::contiguous([Sym::new("n", 1..)])?.flip([0])?.access()?;
    /// assert_eq!(access.scope().text(access.address().unwrap()), "n - idx0 - 1");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn address(&self) -> Option<&Poly> {
        self.conditions.is_some().then_some(&self.address)
    }

    /// What is at least 0 where an element has an address.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// assert!(ShapeTracker::contiguous([Sym::new("n", 1..)])?.access()?.conditions().is_empty());
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn conditions(&self) -> &[Poly] {
        self.conditions.as_deref().unwrap_or_default()
    }

    /// The divisions, in the order in which they can be done.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// assert!(ShapeTracker::contiguous([Sym::new("n", 1..)])?.access()?.floors().is_empty());
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn floors(&self) -> &[Floor] {
        &self.floors
    }

    /// How far the address moves from one index along an axis to the next, where that is the same for all; `None` where it is
    /// not, as a division or another index decides about it.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let (h, w) = (Sym::new("H", 1..), Sym::new("W", 1..));
    /// let access = ShapeTracker::contiguous([h, w])?.permute([1, 0])?.access()?;
    /// assert_eq!(access.scope().text(&access.stride(1).unwrap()), "W");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn stride(&self, axis: usize) -> Option<Poly> {
        let Some(address) = self.address() else { return Some(Poly::zero()) };
        let index = self.index(axis)?;
        if self.floors_of(address, index) {
            return None;
        }
        if !address.has(index) {
            return Some(Poly::zero());
        }
        let (factor, _) = address.linear_in(index)?;
        let is_of_names = factor.vars().iter().all(|var| usize::from(var.0) < self.named);
        is_of_names.then_some(factor)
    }

    /// Whether a condition depends on the index along an axis.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let rows = ShapeTracker::contiguous([4.into(), Sym::new("n", 1..)])?;
    /// let padded = rows.pad([(1.into(), 0.into()), (0.into(), 0.into())])?;
    /// let access = padded.access()?;
    /// assert_eq!((access.is_guarded(0), access.is_guarded(1)), (true, false));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn is_guarded(&self, axis: usize) -> bool {
        let Some(index) = self.index(axis) else { return false };
        self.conditions().iter().any(|condition| condition.has(index) || self.floors_of(condition, index))
    }

    /// The address of an index at values of the names, one for each name of the tracker's scope; `None` where the element has none,
    /// and where a number leaves 128 bits.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let access = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?.flip([0])?.access()?;
    /// assert_eq!(access.at(&[3], &[0, 1]), Some(9)); // row 2 of 0, 1, 2
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn at(&self, values: &[i128], index: &[i64]) -> Option<i128> {
        let mut point = values.get(..self.named)?.to_vec();
        point.extend(index.iter().map(|&at| i128::from(at)));
        for Floor { dividend, divisor, .. } in &self.floors {
            let (dividend, divisor) = (dividend.eval(&point)?, divisor.eval(&point)?);
            point.push(if divisor > 0 { floor(dividend, divisor) } else { 0 });
        }
        let holds = self.conditions.as_ref()?.iter().all(|poly| poly.eval(&point).is_some_and(|value| value >= 0));
        if holds { self.address.eval(&point) } else { None }
    }

    /// The variable of the index along an axis.
    fn index(&self, axis: usize) -> Option<Var> {
        (axis < self.shape.len()).then(|| Var((self.named + axis) as u8))
    }

    /// Whether a floor in a polynomial depends on a variable.
    fn floors_of(&self, poly: &Poly, var: Var) -> bool {
        let first = self.named + self.shape.len();
        poly.vars().iter().any(|&other| {
            let floor = usize::from(other.0).checked_sub(first).and_then(|place| self.floors.get(place));
            floor.is_some_and(|Floor { dividend, divisor, .. }| {
                [dividend, divisor].iter().any(|poly| poly.has(var) || self.floors_of(poly, var))
            })
        })
    }
}

impl ShapeTracker {
    /// How the elements are read: the address, the conditions, and the divisions in both.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let access = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?.access()?;
    /// assert_eq!(access.scope().text(access.address().unwrap()), "4*idx0 + idx1");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// More names, axes and divisions than are told apart, and polynomials that are too large.
    ///
    /// # Cost
    /// That of [`ShapeTracker::index_expr`] without the expression.
    pub fn access(&self) -> Result<Access, Error> {
        const OP: &str = "access";
        let lowered = within(MOST_STEPS, || Lowered::of(self)).map_err(|stop| Error::new(OP, Mistake::from(stop)))?;
        let mut scope = self.scope().total();
        let named = scope.names().len();
        // Each variable by its place among the names of the access.
        let mut places: Vec<(Var, Var)> = Vec::new();
        let mut declare = |scope: &mut Scope, var: Var, name: String| {
            let mut name = name;
            let place = loop {
                match scope.declare(&name, Some(0), None) {
                    Some(place) => break place,
                    None if scope.find(&name).is_some() => name.push('_'),
                    None => return Err(Error::new(OP, Mistake::TooManyVariables { most: crate::MAX_NAMES })),
                }
            };
            places.push((var, place));
            Ok(())
        };
        for (axis, &var) in lowered.indices.iter().enumerate() {
            declare(&mut scope, var, format!("idx{axis}"))?;
        }
        let quotients = lowered.element.as_ref().map_or(Ok(Vec::new()), Element::quotients);
        let quotients: Vec<Quotient> = quotients.map_err(|err| Error::new(OP, err))?;
        for (number, quotient) in quotients.iter().enumerate() {
            declare(&mut scope, quotient.var, format!("floor{number}"))?;
        }
        let place = |var: Var| places.iter().find(|(known, _)| *known == var).map_or(var, |(_, place)| *place);
        let renamed = |poly: &Poly| poly.renamed(place);
        let floors = quotients.iter().map(|quotient| Floor {
            quotient: Poly::from(place(quotient.var)),
            dividend: renamed(quotient.dividend),
            divisor: renamed(quotient.divisor),
        });
        let conditions = lowered.element.as_ref().map(Element::conditions).transpose();
        let conditions = conditions.map_err(|err| Error::new(OP, err))?;
        Ok(Access {
            named,
            shape: lowered.shape.iter().map(renamed).collect(),
            floors: floors.collect(),
            address: lowered.element.as_ref().map_or_else(Poly::zero, |element| renamed(&element.address)),
            conditions: conditions.map(|all| all.iter().map(renamed).collect()),
            scope,
        })
    }
}
