//! The native part of the Python package `shapetracker`: classes and functions around the Rust libraries.
//!
//! `python/shapetracker` is the package that people import. Every class here is frozen: Python's threads share its
//! objects freely. What changes, a `Nest`, has a lock inside. What Rust returns as an error is raised as an exception with the same sentence (`error`), and what
//! Python passes is read in one place (`arguments`).

mod advice;
mod arguments;
mod array;
mod chunks;
mod command;
mod compat;
mod contiguous;
mod cute;
mod describe;
mod error;
mod expr;
mod fit;
mod import;
mod indexing;
mod kind;
mod map;
mod memory;
mod merge;
mod methods;
mod nest;
mod numpy;
mod picture;
mod route;
mod sharding;
mod symbolic;
mod tracker;
mod view;
mod witness;

use pyo3::prelude::*;

/// The native part of the package `shapetracker`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        crate::import::prepare(module.py())
    }

    #[pymodule_export]
    use crate::advice::{Advice, LibraryAdvice, advice};
    #[pymodule_export]
    use crate::array::{apply, memory, of};
    #[pymodule_export]
    use crate::chunks::{Assembly, ChunkPlan, Schedule, chain_over, choose_chunks, cut};
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::compat::tinygrad;
    #[pymodule_export]
    use crate::cute::{
        Access, AccessPattern, AccessReport, Census, ComposedLayout, Explained, Instruction, Layout, LinearLayout,
        Mismatch, NoLayout, Phase, Swizzle, audit,
    };
    #[pymodule_export]
    use crate::describe::{Description, describe};
    #[pymodule_export]
    use crate::error::{NotInvertible, ParseError, Undecided, Unmerged};
    #[pymodule_export]
    use crate::expr::{Cost, Expr, IndexExpr, simplify_pair};
    #[pymodule_export]
    use crate::fit::{Explanation, Obstacle, explain_view};
    #[pymodule_export]
    use crate::map::IndexMap;
    #[pymodule_export]
    use crate::merge::{Conditions, conditions, merge};
    #[pymodule_export]
    use crate::methods::methods;
    #[pymodule_export]
    use crate::nest::{Level, Nest, Splits, Unserved};
    #[pymodule_export]
    use crate::sharding::{Check, Evidence, Moved, Outcome, Placement, Sharded};
    #[pymodule_export]
    use crate::symbolic::{Answer, Condition, Leaf, Sym};
    #[pymodule_export]
    use crate::tracker::ShapeTracker;
    #[pymodule_export]
    use crate::view::View;
    #[pymodule_export]
    use crate::witness::{NotABox, Step, UnevenStep};
}
