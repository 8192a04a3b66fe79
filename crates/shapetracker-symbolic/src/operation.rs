//! A movement operation as data, with polynomials for numbers.

use shapetracker::MovementKind;

use crate::poly::Poly;
use crate::scope::Scope;

/// `begin:end:step`, with Python's meaning for missing and negative bounds.
pub type Slice = (Option<Poly>, Option<Poly>, i64);

/// A movement operation as data: what [`shapetracker::Movement`] is for numbers.
///
/// Axes, and the steps of `step` and of slices, are numbers; sizes, strides, offsets and bounds are polynomials over the
/// names of a [`Scope`].
///
/// ```
/// use shapetracker_symbolic::{Movement, Poly, Scope};
///
/// let mut scope = Scope::new();
/// let t = Poly::from(scope.declare("T", Some(1), None).unwrap());
/// assert_eq!(Movement::Reshape(vec![t, Poly::from(-1_i64)]).text(&scope), "reshape(T, -1)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Movement {
    /// The same elements in row-major order under a new shape; one size may be the number -1 and is inferred.
    Reshape(Vec<Poly>),
    /// New axis `l` is old axis `axes[l]`.
    Permute(Vec<i64>),
    /// Axes of size 1 repeated to the given sizes; the other sizes stay as they are, which the number -1 says too.
    Expand(Vec<Poly>),
    /// Masked elements around the tensor: `(before, after)` per axis.
    Pad(Vec<(Poly, Poly)>),
    /// The half-open range `(begin, end)` of each axis.
    Shrink(Vec<(Poly, Poly)>),
    /// The named axes reversed.
    Flip(Vec<i64>),
    /// The axes reversed for which it says so: one boolean per axis.
    FlipEach(Vec<bool>),
    /// Every step-th element of each axis; a negative step walks from the last element backwards.
    Step(Vec<i64>),
    /// The elements in row-major order read as memory, with a shape, strides and an offset of their own.
    AsStrided(Vec<Poly>, Vec<Poly>, Poly),
    /// Two axes exchanged.
    Transpose(i64, i64),
    /// The named axes of size 1 taken away; none of them where none is named.
    Squeeze(Vec<i64>),
    /// Every axis of size 1 taken away.
    SqueezeAll,
    /// A new axis of size 1 before the given one.
    Unsqueeze(i64),
    /// Broadcast to a shape: new axes appear in front, axes of size 1 are repeated.
    BroadcastTo(Vec<Poly>),
    /// A slice of each axis.
    Slice(Vec<Slice>),
}

impl Movement {
    /// Which operation it is, whatever its arguments are.
    ///
    /// ```
    /// use shapetracker_symbolic::Movement;
    /// assert_eq!(Movement::Transpose(0, 1).kind(), shapetracker::MovementKind::Transpose);
    /// ```
    pub fn kind(&self) -> MovementKind {
        match self {
            Movement::Reshape(_) => MovementKind::Reshape,
            Movement::Permute(_) => MovementKind::Permute,
            Movement::Expand(_) => MovementKind::Expand,
            Movement::Pad(_) => MovementKind::Pad,
            Movement::Shrink(_) => MovementKind::Shrink,
            Movement::Flip(_) | Movement::FlipEach(_) => MovementKind::Flip,
            Movement::Step(_) => MovementKind::Step,
            Movement::AsStrided(..) => MovementKind::AsStrided,
            Movement::Transpose(..) => MovementKind::Transpose,
            Movement::Squeeze(_) | Movement::SqueezeAll => MovementKind::Squeeze,
            Movement::Unsqueeze(_) => MovementKind::Unsqueeze,
            Movement::BroadcastTo(_) => MovementKind::BroadcastTo,
            Movement::Slice(_) => MovementKind::Slice,
        }
    }

    /// The name of the operation in the text form and in JSON.
    ///
    /// ```
    /// assert_eq!(shapetracker_symbolic::Movement::SqueezeAll.name(), "squeeze");
    /// ```
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// The text of the operation in a chain, over the names of a scope: `permute(1, 0)`, `shrink((s, s + L))`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Movement, Poly, Scope};
    ///
    /// let mut scope = Scope::new();
    /// let s = Poly::from(scope.declare("s", Some(1), None).unwrap());
    /// assert_eq!(Movement::Slice(vec![(Some(s), None, -2), (None, None, 1)]).text(&scope), "slice(s::-2, :)");
    /// ```
    pub fn text(&self, scope: &Scope) -> String {
        let polys = |list: &[Poly]| list.iter().map(|poly| scope.text(poly)).collect::<Vec<_>>().join(", ");
        let tuple = |list: &[Poly]| format!("({}{})", polys(list), if list.len() == 1 { "," } else { "" });
        let numbers = |list: &[i64]| list.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let pairs = |list: &[(Poly, Poly)]| {
            let pairs = list.iter().map(|(a, b)| format!("({}, {})", scope.text(a), scope.text(b)));
            pairs.collect::<Vec<_>>().join(", ")
        };
        let slice = |(begin, end, step): &Slice| {
            let bound = |bound: &Option<Poly>| bound.as_ref().map_or(String::new(), |bound| scope.text(bound));
            let step = if *step == 1 { String::new() } else { format!(":{step}") };
            format!("{}:{}{step}", bound(begin), bound(end))
        };
        let arguments = match self {
            Movement::Reshape(list) | Movement::Expand(list) | Movement::BroadcastTo(list) => polys(list),
            Movement::Permute(list) | Movement::Flip(list) | Movement::Step(list) => numbers(list),
            Movement::Pad(list) | Movement::Shrink(list) => pairs(list),
            Movement::FlipEach(each) => {
                each.iter().map(|&reversed| if reversed { "True" } else { "False" }).collect::<Vec<_>>().join(", ")
            }
            Movement::AsStrided(shape, strides, offset) if offset.is_zero() => {
                format!("{}, {}", tuple(shape), tuple(strides))
            }
            Movement::AsStrided(shape, strides, offset) => {
                format!("{}, {}, {}", tuple(shape), tuple(strides), scope.text(offset))
            }
            Movement::Transpose(a, b) => format!("{a}, {b}"),
            Movement::Squeeze(axes) if axes.is_empty() => "()".into(),
            Movement::Squeeze(axes) => numbers(axes),
            Movement::SqueezeAll => String::new(),
            Movement::Unsqueeze(axis) => axis.to_string(),
            Movement::Slice(slices) => slices.iter().map(slice).collect::<Vec<_>>().join(", "),
        };
        format!("{}({arguments})", self.name())
    }

    /// The operation at values of the names, if all its numbers fit 64 bits there.
    ///
    /// ```
    /// use shapetracker_symbolic::{Movement, Poly, Var};
    ///
    /// let op = Movement::Reshape(vec![Poly::from(Var(0)), Poly::from(-1_i64)]);
    /// assert_eq!(op.at(&[6]), Some(shapetracker::Movement::Reshape([6, -1].into())));
    /// ```
    pub fn at(&self, point: &[i128]) -> Option<shapetracker::Movement> {
        use shapetracker::Movement as At;
        let number = |poly: &Poly| poly.eval(point).and_then(|value| i64::try_from(value).ok());
        let numbers = |list: &[Poly]| list.iter().map(number).collect::<Option<shapetracker::Dims>>();
        let pairs = |list: &[(Poly, Poly)]| {
            list.iter().map(|(a, b)| Some((number(a)?, number(b)?))).collect::<Option<shapetracker::Ranges>>()
        };
        // A bound that is there and leaves 64 bits is no missing bound.
        let bound = |bound: &Option<Poly>| bound.as_ref().map_or(Some(None), |bound| number(bound).map(Some));
        Some(match self {
            Movement::Reshape(list) => At::Reshape(numbers(list)?),
            Movement::Permute(list) => At::Permute(list[..].into()),
            Movement::Expand(list) => At::Expand(numbers(list)?),
            Movement::Pad(list) => At::Pad(pairs(list)?),
            Movement::Shrink(list) => At::Shrink(pairs(list)?),
            Movement::Flip(list) => At::Flip(list[..].into()),
            Movement::FlipEach(each) => At::FlipEach(each[..].into()),
            Movement::Step(list) => At::Step(list[..].into()),
            Movement::AsStrided(shape, strides, offset) => {
                At::AsStrided(numbers(shape)?, numbers(strides)?, number(offset)?)
            }
            Movement::Transpose(a, b) => At::Transpose(*a, *b),
            Movement::Squeeze(axes) => At::Squeeze(axes[..].into()),
            Movement::SqueezeAll => At::SqueezeAll,
            Movement::Unsqueeze(axis) => At::Unsqueeze(*axis),
            Movement::BroadcastTo(list) => At::BroadcastTo(numbers(list)?),
            Movement::Slice(slices) => {
                let at = slices.iter().map(|(begin, end, step)| Some((bound(begin)?, bound(end)?, *step)));
                At::Slice(at.collect::<Option<Vec<_>>>()?)
            }
        })
    }
}
