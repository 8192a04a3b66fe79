//! A strided view whose numbers are polynomials.

use crate::poly::{Poly, Var};
use crate::scope::Scope;

/// A strided view whose sizes, strides, offset and mask are polynomials over the names of a [`Scope`].
///
/// The address of an index is `offset + sum of stride * index`, and an index is valid where each of its entries lies in the
/// mask's half-open range of its axis.
///
/// ```
/// use shapetracker_symbolic::{Poly, Scope, View};
/// let mut scope = Scope::new();
/// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
/// let view = View { shape: vec![n.clone()], strides: vec![Poly::from(2)], offset: n, mask: None };
/// assert_eq!(view.text(&scope), "(n,):(2,) offset n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The size of each axis.
    pub shape: Vec<Poly>,
    /// The stride of each axis, in elements.
    pub strides: Vec<Poly>,
    /// The address of index 0, if that is valid.
    pub offset: Poly,
    /// The half-open range of the valid indices of each axis; `None` where all are valid.
    pub mask: Option<Vec<(Poly, Poly)>>,
}

impl View {
    /// As it is written: `(B, T):(T, 1) offset 2*T mask ((0, B), (1, T))`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Poly, Scope, View};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// let view = View { shape: vec![n.clone()], strides: vec![Poly::from(2)], offset: n, mask: None };
    /// assert_eq!(view.text(&scope), "(n,):(2,) offset n");
    /// ```
    pub fn text(&self, scope: &Scope) -> String {
        let tuple = |list: &[Poly]| match list {
            [one] => format!("({},)", scope.text(one)),
            _ => format!("({})", list.iter().map(|poly| scope.text(poly)).collect::<Vec<_>>().join(", ")),
        };
        let mut text = format!("{}:{}", tuple(&self.shape), tuple(&self.strides));
        if !self.offset.is_zero() {
            text += &format!(" offset {}", scope.text(&self.offset));
        }
        if let Some(mask) = &self.mask {
            let ranges: Vec<String> =
                mask.iter().map(|(begin, end)| format!("({}, {})", scope.text(begin), scope.text(end))).collect();
            let comma = if ranges.len() == 1 { "," } else { "" };
            text += &format!(" mask ({}{comma})", ranges.join(", "));
        }
        text
    }

    /// The integer view at a point; `None` where a number leaves `i64` or there is no such view.
    ///
    /// Ranges of the mask are cut off at the ends of their axes, and one whose end lies below its begin is empty: an index is
    /// valid where it lies in the range, and polynomials cannot say more.
    ///
    /// ```
    /// use shapetracker_symbolic::{Poly, Scope, View};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// let view = View { shape: vec![n.clone()], strides: vec![Poly::from(2)], offset: n, mask: None };
    /// assert_eq!(view.at(&[3]).unwrap().to_string(), "(3,):(2,) offset 3");
    /// ```
    pub fn at(&self, point: &[i128]) -> Option<shapetracker::View> {
        let number = |poly: &Poly| poly.eval(point).and_then(|value| i64::try_from(value).ok());
        let numbers = |list: &[Poly]| list.iter().map(number).collect::<Option<Vec<i64>>>();
        let shape = numbers(&self.shape)?;
        let range = |((begin, end), &size): (&(Poly, Poly), &i64)| {
            let (begin, end) = (begin.eval(point)?.max(0), end.eval(point)?.min(size.into()));
            if begin >= end {
                return Some((0, 0));
            }
            Some((i64::try_from(begin).ok()?, i64::try_from(end).ok()?))
        };
        let mask = match &self.mask {
            None => None,
            Some(mask) => Some(mask.iter().zip(&shape).map(range).collect::<Option<Vec<_>>>()?),
        };
        shapetracker::View::new(shape, numbers(&self.strides)?, number(&self.offset)?, mask.as_deref()).ok()
    }

    /// Whether all variables are among so many first ones.
    pub(crate) fn is_within(&self, named: usize) -> bool {
        let within = |poly: &Poly| poly.vars().iter().all(|var| usize::from(var.0) < named);
        let mask = self.mask.iter().flatten().flat_map(|(begin, end)| [begin, end]);
        self.shape.iter().chain(&self.strides).chain([&self.offset]).chain(mask).all(within)
    }

    /// The view over other variables.
    pub(crate) fn renamed(&self, rename: impl Fn(Var) -> Var) -> View {
        let renamed = |poly: &Poly| poly.renamed(&rename);
        let mask = self.mask.as_ref();
        View {
            shape: self.shape.iter().map(renamed).collect(),
            strides: self.strides.iter().map(renamed).collect(),
            offset: renamed(&self.offset),
            mask: mask.map(|mask| mask.iter().map(|(begin, end)| (renamed(begin), renamed(end))).collect()),
        }
    }
}

impl From<&shapetracker::View> for View {
    fn from(view: &shapetracker::View) -> View {
        let polys = |list: &[i64]| list.iter().map(|&number| Poly::from(number)).collect();
        let range = |&(begin, end): &(i64, i64)| (Poly::from(begin), Poly::from(end));
        View {
            shape: polys(view.shape()),
            strides: polys(view.strides()),
            offset: Poly::from(view.offset()),
            mask: view.mask().map(|mask| mask.iter().map(range).collect()),
        }
    }
}
