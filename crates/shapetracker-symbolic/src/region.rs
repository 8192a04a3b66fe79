//! A set of values of the names: ranges, conditions, and a few points known to lie in it.

use crate::literal::Literal;
use crate::scope::Scope;

/// Whether a condition holds on a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// For all values: proved.
    Always,
    /// For no values: proved.
    Never,
    /// Not proved either way; with values at which it holds, and values at which it does not, where such are known.
    Depends {
        /// Values at which it holds.
        yes: Option<Vec<i128>>,
        /// Values at which it does not hold.
        no: Option<Vec<i128>>,
    },
}

/// A set of values of the names.
#[derive(Clone, Debug)]
pub(crate) struct Region {}

impl Region {
    /// All values that a scope allows, under further conditions; `None` where there are provably none.
    pub(crate) fn of(scope: &Scope, needs: &[Literal]) -> Option<Region> {
        let _ = (scope, needs);
        Some(Region {})
    }

    /// Whether a condition holds for all values, for none, or for some that are known.
    pub(crate) fn truth(&self, literal: &Literal) -> Truth {
        let _ = literal;
        Truth::Depends { yes: None, no: None }
    }

    /// A point known to lie in the region, a value for each name of the scope.
    pub(crate) fn sample(&self) -> Option<&[i128]> {
        None
    }
}
