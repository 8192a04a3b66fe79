//! Of numbers or of names: classes that stand for both, and operations that are written once for both.

use pyo3::prelude::*;

use crate::error::{layout, unmerged};
use crate::symbolic::refused;

/// What an object of Python holds whose sizes are all numbers, or have names in them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Kind<Numbers, Names> {
    Numbers(Numbers),
    Names(Box<Names>),
}

impl<Numbers, Names> Kind<Numbers, Names> {
    /// What is held of numbers, or the sentence of what is asked of numbers only.
    pub(crate) fn numbers(&self, wanted: impl FnOnce(&Names) -> PyErr) -> PyResult<&Numbers> {
        match self {
            Kind::Numbers(numbers) => Ok(numbers),
            Kind::Names(names) => Err(wanted(names)),
        }
    }
}

/// What Rust refuses to do, as the exception for it.
pub(crate) trait Refusal {
    fn raised(self) -> PyErr;
}

impl Refusal for shapetracker::Error {
    fn raised(self) -> PyErr {
        layout(&self)
    }
}

impl Refusal for shapetracker::Unmerged {
    fn raised(self) -> PyErr {
        Python::attach(|py| unmerged(py, self))
    }
}

impl Refusal for shapetracker_symbolic::Error {
    fn raised(self) -> PyErr {
        refused(&self)
    }
}

impl Refusal for PyErr {
    fn raised(self) -> PyErr {
        self
    }
}

/// A movement operation `OP` of a class over a [`Kind`], written once for numbers and for names.
///
/// Its arguments are read as sizes of the type `N`, which is `i64` for numbers. Where they are no numbers, but have names
/// among them, the operation is that of names: numbers become polynomials. The object of Python is made where it stays.
macro_rules! moved {
    ($self:ident, $py:expr, $op:literal, |$of:ident| $made:expr) => {
        match &$self.0 {
            Kind::Numbers($of) => Self::of_numbers($py, $made),
            Kind::Names(_) => $crate::kind::cold(|| {
                let names = $self.names($op)?;
                let $of = &*names;
                Self::of_names($py, $op, $made)
            }),
        }
    };
    ($self:ident, $py:expr, $op:literal, [$($given:expr),+], $read:expr, |$of:ident, $with:pat_param| $made:expr) => {{
        const OP: &str = $op;
        if let Kind::Numbers($of) = &$self.0 {
            type N = i64;
            let _ = $of;
            match $read {
                Ok($with) => return Self::of_numbers($py, $made),
                Err(err) if !$crate::symbolic::has_names(&[$($given.as_any()),+]) => return Err(err),
                Err(_) => {}
            }
        }
        $crate::kind::cold(|| {
            type N = shapetracker_symbolic::Sym;
            let names = $self.names(OP)?;
            let $of = &*names;
            let $with = $read?;
            Self::of_names($py, OP, $made)
        })
    }};
}

pub(crate) use moved;

/// What is done with names, apart from the code that numbers run through.
#[cold]
#[inline(never)]
pub(crate) fn cold<T>(done: impl FnOnce() -> T) -> T {
    done()
}

/// What has axes with sizes.
pub(crate) trait Axes<N> {
    /// All of an axis: from 0 to its size.
    fn whole(&self, axis: usize) -> Option<(N, N)>;
}

impl Axes<i64> for shapetracker::View {
    fn whole(&self, axis: usize) -> Option<(i64, i64)> {
        self.shape().get(axis).map(|&size| (0, size))
    }
}

impl Axes<i64> for shapetracker::ShapeTracker {
    fn whole(&self, axis: usize) -> Option<(i64, i64)> {
        self.shape().get(axis).map(|&size| (0, size))
    }
}

impl Axes<shapetracker_symbolic::Sym> for shapetracker_symbolic::ShapeTracker {
    fn whole(&self, axis: usize) -> Option<(shapetracker_symbolic::Sym, shapetracker_symbolic::Sym)> {
        let size = |size: &shapetracker_symbolic::Poly| shapetracker_symbolic::Sym::of(self.scope(), size.clone());
        self.shape().get(axis).map(|of| (0.into(), size(of)))
    }
}
