//! A movement operation as data, with polynomials for numbers.

use shapetracker::MovementOf;

use crate::poly::Poly;
use crate::scope::Scope;

/// A movement operation as data: [`shapetracker::Movement`] with polynomials for sizes, bounds, strides and offsets.
///
/// ```
/// use shapetracker_symbolic::{Movement, Poly, Scope};
///
/// let mut scope = Scope::new();
/// let t = Poly::from(scope.declare("T", Some(1), None).unwrap());
/// let op = Movement::Reshape(vec![t, Poly::from(2)]);
/// assert_eq!(scope.movement(&op), "reshape(T, 2)");
/// ```
pub type Movement = MovementOf<Poly>;

/// `begin:end:step`, with a missing begin or end where Python has one.
///
/// ```
/// let everything: shapetracker_symbolic::Slice = (None, None, 1);
/// assert_eq!(everything.2, 1);
/// ```
pub type Slice = (Option<Poly>, Option<Poly>, i64);

impl Scope {
    /// The text of an operation, in the notation of a chain.
    ///
    /// ```
    /// use shapetracker_symbolic::{Movement, Scope};
    /// assert_eq!(Scope::new().movement(&Movement::Flip([0].into())), "flip(0)");
    /// ```
    pub fn movement(&self, op: &Movement) -> String {
        op.text(|poly| self.text(poly))
    }
}

/// The operation for values of the names; `None` where a number is past the range of 64-bit integers.
///
/// ```
/// use shapetracker_symbolic::{Movement, Poly, Scope, movement_at};
///
/// let mut scope = Scope::new();
/// let t = Poly::from(scope.declare("T", Some(1), None).unwrap());
/// let op = movement_at(&Movement::Reshape(vec![t]), &[3]).unwrap();
/// assert_eq!(op.to_string(), "reshape(3)");
/// ```
pub fn movement_at(op: &Movement, point: &[i128]) -> Option<shapetracker::Movement> {
    op.try_map(|poly| i64::try_from(poly.eval(point)?).ok())
}
