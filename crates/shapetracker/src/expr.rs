//! Index expressions: what a compiler writes to read an element, as cheap as can be.
//!
//! A tracker yields a pair, `buffer[index]` guarded by `valid` ([`ShapeTracker::index_expr`]), and the same as linear
//! forms ([`ShapeTracker::access`]). Everything else in this module is the crate `indexpr`, which knows expressions and no
//! tensors: any other expression is read from text or built in a [`Graph`] and made cheaper there ([`Graph::simplify`]).
//! Both come out as code of nine languages.
//!
//! ```
//! use shapetracker::ShapeTracker;
//! use shapetracker::expr::{Language, Syntax};
//!
//! // A window of three over eight elements with one masked on each side.
//! let padded = ShapeTracker::contiguous([8])?.pad([(1, 1)])?;
//! let code = padded.as_strided([8, 3], [1, 1], 0)?.index_expr()?;
//! let text = |expr| code.graph().text(expr, Syntax::Python);
//! assert_eq!(text(code.index())?, "idx0 + idx1 - 1");
//! assert_eq!(text(code.valid())?, "1 <= idx0 + idx1 < 9");
//! assert_eq!((code.cost().ops, code.cost().divmods), (4, 0));
//! assert!(code.kernel(Language::Cuda)?.contains("__global__ void gather"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ShapeTracker::index_expr`]: crate::ShapeTracker::index_expr
//! [`ShapeTracker::access`]: crate::ShapeTracker::access

pub use indexpr::*;
