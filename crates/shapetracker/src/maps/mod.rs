//! Index maps: from a box of loop variables to tuples of index expressions, and what is asked of them.
//!
//! A compiler changes the layout of a buffer, splits a loop or binds threads to elements by a map of several expressions:
//! `lambda i, j: (i // 4, j, i % 4)` in TVM, `affine_map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>` in MLIR. Whether no two
//! indices have one image, whether a box is reached completely, and what undoes the map decides whether the program stays the
//! same. An [`IndexMap`] answers these exactly: a yes is proved for every index, and a no comes with indices that anyone can
//! check by evaluating them.
//!
//! - `text.rs` reads and writes the text of TVM, MLIR and Python.
//! - `digits.rs` splits the variables into digits, of which the results are mostly affine sums.
//! - `decide.rs` makes a question a system of bounded linear equations, and `walk.rs` tries every index of a small box.
//! - `xor.rs` writes exclusive or as sums of bits, so that swizzles are among what the equations decide.
//! - `invert.rs` reads the digits back from the results.

mod decide;
mod digits;
mod error;
mod invert;
mod text;
mod walk;
mod xor;

#[cfg(test)]
mod tests;

use std::ops::Range;

use indexpr::{Expr, Graph, Node, Syntax, Variable};

pub use error::{NotComposed, NotInverted, Unproved};
pub use invert::Inverse;

use crate::error::{Error, Fault};
use crate::shape::MAX_RANK;

/// A map from a box of loop variables to tuples of numbers, each result an expression of the variables.
///
/// ```
/// use shapetracker::IndexMap;
///
/// let map = IndexMap::parse("lambda i, j: (i // 4, j, i % 4)", &[("i", 0..16), ("j", 0..8)])?;
/// assert_eq!(map.evaluate(&[6, 2])?, [1, 2, 2]);
/// assert_eq!(map.collision()?, None); // It is one-to-one,
/// assert_eq!(map.missed(&[0..4, 0..8, 0..4])?, None); // and onto.
/// let inverse = map.inverse()?;
/// assert_eq!(inverse.map.to_string(), "lambda y0, y1, y2: (y0 * 4 + y2, y1)");
/// assert!(inverse.is_everywhere);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The questions are [`collision`](IndexMap::collision), [`missed`](IndexMap::missed), [`outside`](IndexMap::outside),
/// [`preimage`](IndexMap::preimage), [`difference`](IndexMap::difference), [`inverse`](IndexMap::inverse) and
/// [`after`](IndexMap::after). `Ok(None)` is a proof that there is nothing of the kind, and [`Unproved`] says why a question has
/// no answer.
#[derive(Clone, Debug)]
pub struct IndexMap {
    /// Its variables are the loops, in their order.
    graph: Graph,
    results: Vec<Expr>,
}

/// The most results that a map may have.
const MAX_RESULTS: usize = MAX_RANK;

impl IndexMap {
    /// The map from all variables of a graph, in their order, to some numbers.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// use shapetracker::expr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..6)?;
    /// let results = [graph.parse("i // 3", Syntax::Python)?, graph.parse("i % 3", Syntax::Python)?];
    /// assert_eq!(IndexMap::new(graph, results)?.evaluate(&[5])?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A condition among the results, an expression of another graph, more than 64 loops or results, a
    /// loop of more than 2^63 - 1 values.
    pub fn new(graph: Graph, results: impl Into<Vec<Expr>>) -> Result<IndexMap, Error> {
        let results = results.into();
        let given = results.len().max(graph.variables().len());
        if given > MAX_RESULTS {
            return Err(Error::new("index map", Fault::TooManyAxes { given }));
        }
        // A graph of its own: only the loops and what the results are made of.
        let mut only = Graph::new();
        for (axis, Variable { name, range, .. }) in graph.variables().iter().enumerate() {
            if range.end.checked_sub(range.start).is_none() {
                return Err(Error::new("index map", Fault::AxisOverflow { what: "the size of the loop", axis }));
            }
            only.variable(name, range.clone())?;
        }
        let zero = only.int(0);
        let results = only.import_all(&graph, &results)?;
        for result in &results {
            // Refuses a condition.
            only.binary(indexpr::Binary::Add, *result, zero)?;
        }
        Ok(IndexMap { graph: only, results })
    }

    /// The map that leaves every index as it is.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// assert_eq!(IndexMap::identity(&[("i", 0..4), ("j", 0..2)])?.to_string(), "lambda i, j: (i, j)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A range without values, two ranges of one name, what cannot be a name, more than 64 loops.
    pub fn identity(loops: &[(&str, Range<i64>)]) -> Result<IndexMap, Error> {
        let mut graph = Graph::new();
        let results: Result<Vec<Expr>, _> =
            loops.iter().map(|(name, range)| graph.variable(name, range.clone())).collect();
        IndexMap::new(graph, results?)
    }

    /// The loops, outermost first: their names and half-open ranges.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::identity(&[("i", 0..4)])?;
    /// assert_eq!((map.loops()[0].name.as_str(), map.loops()[0].range.clone()), ("i", 0..4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn loops(&self) -> &[Variable] {
        self.graph.variables()
    }

    /// The expressions of the map are of this graph, whose variables are the loops.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::identity(&[("i", 0..4)])?;
    /// assert_eq!(map.graph().range(map.results()[0]), (0, 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The results; see the example of [`IndexMap::graph`].
    pub fn results(&self) -> &[Expr] {
        &self.results
    }

    /// How many indices the box has; `None` where that is past `i128`.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::identity(&[("i", 0..4), ("j", -1..2)])?;
    /// assert_eq!(map.indices(), Some(12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn indices(&self) -> Option<i128> {
        elements(self.loops().iter().map(|variable| &variable.range))
    }

    /// The image of an index.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::parse("lambda i: (i // 4, i % 4)", &[("i", 0..16)])?;
    /// assert_eq!(map.evaluate(&[7])?, [1, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An index that is not of the box.
    pub fn evaluate(&self, index: &[i64]) -> Result<Vec<i64>, Error> {
        Ok(self.results.iter().map(|result| self.graph.evaluate(*result, index)).collect::<Result<_, _>>()?)
    }

    /// The same map with every result as cheap as [`Graph::simplify`] makes it in this box.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::parse("lambda i: (i % 16 // 4, i // 16)", &[("i", 0..16)])?;
    /// assert_eq!(map.simplify().to_string(), "lambda i: (i // 4, 0)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn simplify(&self) -> IndexMap {
        let mut graph = self.graph.clone();
        let results = self.results.iter().map(|result| graph.simplify(*result)).collect::<Vec<_>>();
        // Without what was tried on the way.
        IndexMap::new(graph, results).unwrap_or_else(|_| self.clone())
    }

    /// The smallest box around all images, one half-open range a result: exact where [`Graph::extremes`] is, and else a box
    /// that holds them.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::parse("lambda i: (i // 7 + i % 7,)", &[("i", 0..102)])?;
    /// assert_eq!(map.image_box(), [0..20]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn image_box(&self) -> Vec<Range<i64>> {
        let range = |result: &Expr| {
            let found = self.graph.extremes(*result, None);
            let (low, high) = found.map_or_else(|| self.graph.range(*result), |found| found.range());
            // A map with a result of 2^63 - 1 has no half-open range of it; the bound is one less than the truth there.
            low..high.saturating_add(1)
        };
        self.results.iter().map(range).collect()
    }

    /// The map that does `inner` first and this one with what comes of it.
    ///
    /// ```
    /// use shapetracker::{IndexMap, NotComposed};
    ///
    /// let split = IndexMap::parse("lambda i: (i // 4, i % 4)", &[("i", 0..16)])?;
    /// let join = IndexMap::parse("lambda a, b: (a * 4 + b,)", &[("a", 0..4), ("b", 0..4)])?;
    /// assert_eq!(join.after(&split)?.to_string(), "lambda i: (i,)");
    ///
    /// let less = IndexMap::parse("lambda a, b: (a * 4 + b,)", &[("a", 0..3), ("b", 0..4)])?;
    /// let Err(NotComposed::Outside { index, image, result }) = less.after(&split) else { panic!() };
    /// assert_eq!((split.evaluate(&index)?, result), (image.clone(), 0));
    /// assert_eq!(image[0], 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NotComposed::Outside`] has an index whose image is not in the box of this map; other numbers of results and loops; a
    /// value that may leave `i64` or a divisor that may be zero, as far as ranges tell; [`Unproved`] where it is not known
    /// whether all images are in the box.
    pub fn after(&self, inner: &IndexMap) -> Result<IndexMap, NotComposed> {
        const OP: &str = "after";
        let (rank, given) = (self.loops().len(), inner.results.len());
        if rank != given {
            let what = "result of the map done first";
            return Err(Unproved::Count { operation: OP, what, of: "loop", needed: rank, given }.into());
        }
        let ranges: Vec<_> = self.loops().iter().map(|variable| variable.range.clone()).collect();
        if let Some(index) = inner.outside(&ranges)? {
            let image = inner.evaluate(&index)?;
            let is_outside = |result: &usize| !ranges[*result].contains(&image[*result]);
            let result = (0..rank).find(is_outside).unwrap_or_default();
            return Err(NotComposed::Outside { index, image, result });
        }
        Ok(self.substituted(inner)?.simplify())
    }

    /// The results of `inner` in the place of the loops, whether or not they are in the box.
    fn substituted(&self, inner: &IndexMap) -> Result<IndexMap, Error> {
        let mut graph = inner.graph.clone();
        let results = graph.import(&self.graph, &self.results, |_, place| Ok(inner.results[place]))?;
        IndexMap::new(graph, results)
    }

    /// Whether result `at` is nothing but a variable.
    fn result_is_variable(&self, at: usize, variable: usize) -> bool {
        matches!(self.graph.node(self.results[at]), Node::Variable(place) if place == variable)
    }

    /// The text of a result.
    fn result_text(&self, result: Expr, syntax: Syntax) -> Result<String, Error> {
        Ok(self.graph.text(result, syntax)?)
    }
}

/// How many elements a box has; `None` where that is past `i128`.
fn elements<'a>(mut ranges: impl Iterator<Item = &'a Range<i64>>) -> Option<i128> {
    ranges.try_fold(1i128, |count, range| count.checked_mul((i128::from(range.end) - i128::from(range.start)).max(0)))
}
