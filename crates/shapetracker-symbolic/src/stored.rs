//! Copies on the way: what an operation copies, and the buffers that copies make.

use shapetracker::{Layout, StoredOf};

use crate::answer::{Formula, formula_text};
use crate::equality::Equality;
use crate::error::Error;
use crate::operation::Movement;
use crate::poly::Poly;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// A tensor that is followed through operations, some of which copy: [`shapetracker::Stored`] with names.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Stored, Sym};
///
/// let start = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
/// let copied = Stored::from(start.clone()).after(start, None)?;
/// assert_eq!(copied.over_newest().to_string(), "(n, 4):(4, 1)");
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
pub type Stored = StoredOf<ShapeTracker>;

/// For which values an operation copies all elements.
///
/// ```
/// use shapetracker_symbolic::{Copies, Movement, ShapeTracker, Sym};
///
/// let transposed = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?.permute([1, 0])?;
/// let copies = transposed.copies(&Movement::Contiguous);
/// assert_eq!(copies.text(transposed.scope()).unwrap(), "copies 4*n elements unless n == 1");
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copies {
    /// For none.
    Never,
    /// For all: so many elements.
    Always(Poly),
    /// So many elements, but for the values for which a formula holds: there the elements lie in order already.
    Unless(Poly, Formula),
    /// So many elements, unless they lie in order already, which is not decided.
    Undecided(Poly),
}

impl Copies {
    /// How many elements are copied, for the values for which any are.
    ///
    /// ```
    /// assert_eq!(shapetracker_symbolic::Copies::Never.elements(), None);
    /// ```
    pub fn elements(&self) -> Option<&Poly> {
        match self {
            Copies::Never => None,
            Copies::Always(elements) | Copies::Unless(elements, _) | Copies::Undecided(elements) => Some(elements),
        }
    }

    /// What is copied, as a part of a sentence; `None` where nothing is.
    ///
    /// ```
    /// use shapetracker_symbolic::{Copies, Poly, Scope};
    /// assert_eq!(Copies::Always(Poly::from(6)).text(&Scope::new()).unwrap(), "copies 6 elements");
    /// ```
    pub fn text(&self, scope: &crate::Scope) -> Option<String> {
        let elements = scope.text(self.elements()?);
        let elements = if elements == "1" { "1 element".into() } else { format!("{elements} elements") };
        Some(match self {
            Copies::Unless(_, formula) => format!("copies {elements} unless {}", formula_text(formula, scope)),
            Copies::Undecided(_) => {
                format!("copies {elements}, unless they lie in order already, which is not decided")
            }
            _ => format!("copies {elements}"),
        })
    }
}

impl ShapeTracker {
    /// For which values an operation copies the elements.
    ///
    /// ```
    /// use shapetracker_symbolic::{Copies, Movement, Poly, ShapeTracker};
    ///
    /// let st = ShapeTracker::contiguous([2, 3])?;
    /// assert_eq!(st.copies(&Movement::Contiguous), Copies::Never);
    /// assert_eq!(st.copies(&Movement::Copy), Copies::Always(Poly::from(6)));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn copies(&self, op: &Movement) -> Copies {
        if !op.may_copy() {
            return Copies::Never;
        }
        let Ok(elements) = crate::movement::product(self.shape()) else { return Copies::Never };
        if *op == Movement::Copy {
            return Copies::Always(elements);
        }
        match self.contiguity() {
            Equality::Always => Copies::Never,
            Equality::Never => Copies::Always(elements),
            Equality::When { formula, .. } => Copies::Unless(elements, formula),
            Equality::Undecided => Copies::Undecided(elements),
        }
    }
}

impl Layout for ShapeTracker {
    type Number = Poly;
    type Error = Error;

    fn shape(&self) -> &[Poly] {
        self.shape()
    }

    fn view_count(&self) -> usize {
        self.views().len()
    }

    fn apply(&self, op: &Movement) -> Result<Self, Error> {
        ShapeTracker::apply(self, op)
    }

    fn copied(&self) -> Result<Self, Error> {
        let rows = View::row_major(self.shape()).map_err(|err| Error::new("copy", err))?;
        Ok(self.with_view(rows))
    }

    fn read_through(&self, over: &Self) -> Result<Self, Error> {
        self.compose(over)
    }
}
