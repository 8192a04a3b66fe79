//! A question and its answer: can a tracker be viewed under a shape?

use super::reported::{filled, reported};
use super::{Blocked, Misfit, Obstacle, Report, fit};
use crate::error::Error;
use crate::merge::{Unmerged, Witness};
use crate::notation::{ArrayLibrary, list};
use crate::shape::infer;
use crate::{Dims, ShapeTracker, View};

/// Whether a tracker can be a view under a shape, of which one size may be -1; with what is in the way, and what helps.
///
/// For a tracker of one view this is [`fit`](fit()). Several views may yet be one under the new shape; where they are
/// not, all elements are to be copied.
///
/// ```
/// use shapetracker::fit::explain;
/// use shapetracker::{ArrayLibrary, ShapeTracker};
///
/// let transposed = ShapeTracker::contiguous([6, 4])?.permute([1, 0])?;
/// let answer = explain(&transposed, [24])?;
/// assert_eq!(answer.is_possible(), Some(false));
/// assert_eq!(answer.elements(), Some(24));
/// assert_eq!(answer.recipe(ArrayLibrary::NumPy).unwrap(), "x.copy().reshape(24)");
/// assert!(answer.report(None).to_string().starts_with(
///     "No, shape (4, 6) with strides (1, 4) cannot be viewed as (24,)\n\nWhat is in the way\n  new axis 0 (size 24) "
/// ));
///
/// // Two views that are one under the shape that they came from.
/// let stack = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([3, 2])?;
/// assert_eq!(explain(&stack, [2, 3])?.view().unwrap().strides(), [1, 2]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Errors
/// A shape with another number of elements, a size that cannot be inferred, a number past `i64`.
///
/// # Cost
/// That of [`fit`](fit()), or for several views of [`ShapeTracker::single_view`].
pub fn explain(tracker: &ShapeTracker, to: impl AsRef<[i64]>) -> Result<Explanation, Error> {
    let shape = infer("reshape", tracker.shape(), tracker.numel(), to.as_ref())?;
    let outcome = match tracker.single_view() {
        Ok(view) => match fit(&view, &shape) {
            Ok(fitting) => Outcome::Fits(fitting),
            Err(Misfit::Blocked(blocked)) => Outcome::Blocked(blocked),
            Err(Misfit::Undecided) => Outcome::Undecided,
            Err(Misfit::Error(err)) => return Err(err),
        },
        Err(Unmerged::Witness(_)) => {
            let reshaped = tracker.reshape(&shape)?;
            match reshaped.single_view() {
                Ok(fitting) => Outcome::Fits(fitting),
                Err(Unmerged::Witness(witness)) => Outcome::Stacked { view: View::row_major(&shape), witness },
                Err(Unmerged::Undecided) => Outcome::Undecided,
                Err(Unmerged::Error(err)) => return Err(err),
            }
        }
        Err(Unmerged::Undecided) => Outcome::Undecided,
        Err(Unmerged::Error(err)) => return Err(err),
    };
    Ok(Explanation { tracker: tracker.clone(), strides: None, shape, outcome })
}

/// [`explain`] for an array, whose strides are kept as they are given, or are row-major where they are not: along an axis of size 1 they decide nothing, but a text
/// that shows an array shows those that it has, and what a library reports of a view follows from them.
///
/// ```
/// use shapetracker::ArrayLibrary::{NumPy, PyTorch};
/// use shapetracker::fit::explain_array;
///
/// let answer = explain_array([1, 3], Some(&[7, 1]), 0, [3, 1])?;
/// assert_eq!(
///     answer.report(Some(PyTorch)).to_string(),
///     "Yes, shape (1, 3) with strides (7, 1) can be viewed as (3, 1)\n\n  \
///        strides  (1, 1)\n  offset   0\n  PyTorch  x.view(3, 1)\n",
/// );
/// // Where the libraries differ: PyTorch goes on from the last axis that there was.
/// let answer = explain_array([3, 1], Some(&[2, 7]), 0, [3, 1, 1])?;
/// assert_eq!(answer.strides(PyTorch).unwrap()[..], [2, 7, 7]);
/// assert_eq!(answer.strides(NumPy).unwrap()[..], [2, 2, 2]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Errors
/// Those of [`View::new`] and of [`explain`].
///
/// # Cost
/// That of [`explain`].
pub fn explain_array(
    shape: impl AsRef<[i64]>,
    strides: Option<&[i64]>,
    offset: i64,
    to: impl AsRef<[i64]>,
) -> Result<Explanation, Error> {
    let contiguous = View::contiguous(shape)?;
    let strides = strides.map_or_else(|| filled(&contiguous), Dims::from_slice);
    let answer = explain(&View::new(contiguous.shape(), &strides, offset, None)?.into(), to)?;
    Ok(Explanation { strides: Some(strides), ..answer })
}

/// Whether a tracker can be a view under a shape, by [`explain`].
///
/// ```
/// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?;
/// let answer = shapetracker::fit::explain(&tracker, [4, 2, -1])?;
/// assert_eq!((answer.is_possible(), answer.shape()), (Some(true), &[4, 2, 3][..]));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    tracker: ShapeTracker,
    /// The strides of the array that was asked about, as they were given.
    strides: Option<Dims>,
    shape: Dims,
    outcome: Outcome,
}

/// The answer of an [`Explanation`].
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker::fit::{Outcome, explain};
///
/// let answer = explain(&ShapeTracker::contiguous([4, 6])?, [24])?;
/// assert!(matches!(answer.outcome(), Outcome::Fits(view) if view.is_contiguous()));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The view under the new shape.
    Fits(View),
    /// There is none, and the tracker is a single view: what is in the way, and the smallest copy.
    Blocked(Box<Blocked>),
    /// There is none, and the tracker is no single view either: all of it is to be copied.
    #[non_exhaustive]
    Stacked {
        /// The view of the fresh buffer under the new shape: row-major.
        view: View,
        /// Proof that there is no single view under the new shape.
        witness: Witness,
    },
    /// The decision was given up at its work limit, which only crafted input reaches.
    Undecided,
}

impl Explanation {
    /// The tracker that was asked about.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?;
    /// assert_eq!(*shapetracker::fit::explain(&tracker, [24])?.tracker(), tracker);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn tracker(&self) -> &ShapeTracker {
        &self.tracker
    }

    /// The new shape, with the size that was inferred.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?;
    /// assert_eq!(shapetracker::fit::explain(&tracker, [8, -1])?.shape(), [8, 3]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The answer as data.
    ///
    /// ```
    /// use shapetracker::fit::{Outcome, explain};
    ///
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?.permute([1, 0])?;
    /// assert!(matches!(explain(&tracker, [24])?.outcome(), Outcome::Blocked(_)));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Whether there is a view; `None` where that was not decided.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?;
    /// assert_eq!(shapetracker::fit::explain(&tracker, [24])?.is_possible(), Some(true));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_possible(&self) -> Option<bool> {
        match &self.outcome {
            Outcome::Fits(_) => Some(true),
            Outcome::Blocked(_) | Outcome::Stacked { .. } => Some(false),
            Outcome::Undecided => None,
        }
    }

    /// The view under the new shape, where there is one.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?;
    /// assert_eq!(shapetracker::fit::explain(&tracker, [8, 3])?.view().unwrap().strides(), [3, 1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn view(&self) -> Option<&View> {
        match &self.outcome {
            Outcome::Fits(view) => Some(view),
            _ => None,
        }
    }

    /// The strides of the array that was asked about as [`explain_array`] was given them; those of the view for a tracker of
    /// one.
    ///
    /// ```
    /// let answer = shapetracker::fit::explain_array([1, 3], Some(&[7, 1]), 0, [3])?;
    /// assert_eq!(answer.old_strides(), Some(&[7, 1][..]));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn old_strides(&self) -> Option<&[i64]> {
        self.strides.as_deref().or_else(|| self.tracker.as_view().map(View::strides))
    }

    /// The strides that a library reports of its view under the new shape, in elements: those of [`Explanation::view`], and
    /// along axes of size 1 its own. For a tracker, which says nothing of these, those of the view.
    ///
    /// ```
    /// use shapetracker::ArrayLibrary::NumPy;
    ///
    /// let answer = shapetracker::fit::explain_array([4, 6], Some(&[12, 2]), 0, [4, 1, 6, 1])?;
    /// assert_eq!(answer.strides(NumPy).unwrap()[..], [12, 12, 2, 2]);
    /// assert_eq!(answer.view().unwrap().strides(), [12, 0, 2, 0]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn strides(&self, library: ArrayLibrary) -> Option<Dims> {
        let view = self.view()?;
        Some(match &self.strides {
            Some(strides) => reported(library, self.tracker.shape(), strides, view),
            None => view.strides().into(),
        })
    }

    /// What is in the way of a single view, and the smallest copy that helps.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?.permute([1, 0])?;
    /// assert_eq!(shapetracker::fit::explain(&tracker, [24])?.blocked().unwrap().obstacles().len(), 1);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn blocked(&self) -> Option<&Blocked> {
        match &self.outcome {
            Outcome::Blocked(blocked) => Some(blocked),
            _ => None,
        }
    }

    /// What is in the way, outermost axes first; nothing of a tracker that is no single view to begin with.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?.permute([1, 0])?;
    /// assert_eq!(shapetracker::fit::explain(&tracker, [24])?.obstacles()[0].new_axes()[0].size, 24);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn obstacles(&self) -> &[Obstacle] {
        self.blocked().map_or(&[], Blocked::obstacles)
    }

    /// Proof that there is no such view, in indices of the new shape.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?.permute([1, 0])?;
    /// let answer = shapetracker::fit::explain(&tracker, [24])?;
    /// assert!(answer.witness().unwrap().to_string().ends_with("one stride cannot do both"));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn witness(&self) -> Option<&Witness> {
        match &self.outcome {
            Outcome::Blocked(blocked) => Some(blocked.witness()),
            Outcome::Stacked { witness, .. } => Some(witness),
            _ => None,
        }
    }

    /// The view under the new shape of the fresh buffer that a copy goes to, where one is needed.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?.permute([1, 0])?;
    /// assert!(shapetracker::fit::explain(&tracker, [24])?.copied_view().unwrap().is_contiguous());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn copied_view(&self) -> Option<&View> {
        match &self.outcome {
            Outcome::Blocked(blocked) => Some(blocked.view()),
            Outcome::Stacked { view, .. } => Some(view),
            _ => None,
        }
    }

    /// How many elements are to be copied: 0 where there is a view; `None` where that was not decided.
    ///
    /// ```
    /// let broadcast = shapetracker::ShapeTracker::contiguous([1, 3])?.expand([4, 3])?;
    /// assert_eq!(shapetracker::fit::explain(&broadcast, [2, 6])?.elements(), Some(6));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn elements(&self) -> Option<i64> {
        match &self.outcome {
            Outcome::Fits(_) => Some(0),
            Outcome::Blocked(blocked) => Some(blocked.elements()),
            Outcome::Stacked { .. } => Some(self.tracker.numel()),
            Outcome::Undecided => None,
        }
    }

    /// What makes the array of the new shape, copying no more than that: a line of Python for an array `x` of a library
    /// that has the layout of the tracker. PyTorch, which has no negative strides, copies more where these would save
    /// something, see [`Blocked::without_negative_strides`]. `None` where the library has no such arrays, see
    /// [`Blocked::recipe`], and for several views.
    ///
    /// ```
    /// use shapetracker::ArrayLibrary::PyTorch;
    ///
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?;
    /// assert_eq!(shapetracker::fit::explain(&tracker, [24])?.recipe(PyTorch).unwrap(), "x.view(24)");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn recipe(&self, library: ArrayLibrary) -> Option<String> {
        let view = self.tracker.as_view()?;
        match &self.outcome {
            Outcome::Fits(to) if library.has(view) && view.fits_buffer(None).is_ok() => {
                let method = match library {
                    ArrayLibrary::NumPy => "reshape",
                    ArrayLibrary::PyTorch => "view",
                };
                // Neither takes a call without any size.
                let sizes = if to.rank() == 0 { "()".into() } else { list(to.shape()) };
                Some(format!("x.{method}({sizes})"))
            }
            Outcome::Blocked(blocked) => blocked.recipe(library),
            _ => None,
        }
    }

    /// The answer in sentences; with the recipe of a library, where one is given that has one.
    ///
    /// ```
    /// use shapetracker::ArrayLibrary::NumPy;
    ///
    /// let tracker = shapetracker::ShapeTracker::contiguous([4, 6])?.permute([1, 0])?;
    /// assert_eq!(
    ///     shapetracker::fit::explain(&tracker, [6, 2, 2])?.report(Some(NumPy)).to_string(),
    ///     "Yes, shape (6, 4) with strides (1, 6) can be viewed as (6, 2, 2)\n\n  \
    ///        strides  (1, 12, 6)\n  offset   0\n  NumPy    x.reshape(6, 2, 2)\n",
    /// );
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn report(&self, library: Option<ArrayLibrary>) -> Report {
        Report::of(self, library)
    }
}
