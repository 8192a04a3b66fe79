//! What is known of an access along a loop: its stride, how long it goes on element by element, how wide a vector is, and
//! which accesses meet.

use super::{Access, Loop, Nest, replaced};
use crate::constants::constant;
use crate::error::Error;
use crate::graph::{Binary, Expr, Graph};

/// Whether two accesses of a [`Nest`] meet at one address: [`Nest::overlaps`].
///
/// ```
/// use indexpr::{Graph, Nest, Overlap};
///
/// let mut nest = Nest::new(Graph::new());
/// nest.each("i", 8)?;
/// let [a, b, c] = ["i * 2", "i * 2 + 1", "i + 4"].map(|text| nest.parse(text).unwrap());
/// nest.access("a", a, None)?;
/// nest.access("b", b, None)?;
/// nest.access("c", c, None)?;
/// assert_eq!(nest.overlaps("a", "b")?, Overlap::Never);
/// assert_eq!(nest.overlaps("a", "c")?, Overlap::Somewhere);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overlap {
    /// No element of the one has the address of an element of the other, whatever the loops and parameters are.
    Never,
    /// Some elements have one address, for some values of the parameters.
    Somewhere,
    /// It takes more work to tell than is done.
    Undecided,
}

impl Nest {
    /// By how much the address of an access grows with each step of a loop, wherever its guard holds before and after;
    /// `None` where that is not one number for the whole nest. For a loop that runs once it is 0.
    ///
    /// ```
    /// use indexpr::{Graph, Nest, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// let n = graph.variable("n", 1..65)?;
    /// let mut nest = Nest::new(graph);
    /// nest.each("i", 8)?;
    /// nest.each("j", n)?;
    /// let index = nest.parse("i * n + j // 2")?;
    /// nest.access("a", index, None)?;
    /// let stride = nest.stride("a", "i")?.unwrap();
    /// assert_eq!(nest.graph().text(stride, Syntax::Python)?, "n");
    /// assert_eq!(nest.stride("a", "j")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A loop or an access that there is not; an address that leaves 64 bits.
    pub fn stride(&mut self, access: &str, of: &str) -> Result<Option<Expr>, Error> {
        const OP: &str = "stride";
        let (access, at) = (self.access_named(OP, access)?, self.loop_named(OP, of)?);
        let (Access { index, valid, .. }, Loop { variable, size, .. }) =
            (self.accesses[access].clone(), self.loops[at].clone());
        let most = self.graph.range(size).1;
        if most <= 1 {
            return Ok(Some(self.graph.int(0)));
        }
        // All indices but the last, and each with the one after it.
        let mut graph = self.graph.clone();
        let name = self.fresh("before");
        let before = graph.variable(&name, 0..most - 1)?;
        let one = graph.int(1);
        let after = graph.binary(Binary::Add, before, one)?;
        let mut all = self.inside_of(&mut graph)?;
        all.push(valid);
        let valid = super::conjunction(&mut graph, &all)?;
        let first = replaced(&mut graph, &[index, valid], &[(variable, before)])?;
        let next = replaced(&mut graph, &[index, valid], &[(variable, after)])?;
        let both = graph.binary(Binary::And, first[1], next[1])?;
        let difference = graph.binary(Binary::Sub, next[0], first[0])?;
        let (difference, _) = graph.simplify_pair(difference, both);
        let is_loop = |expr: Expr| expr == before || self.loops.iter().any(|one| one.variable == expr);
        if constant(&graph, difference).is_none() && graph.parts(&[difference]).into_iter().any(is_loop) {
            return Ok(None);
        }
        Ok(Some(self.graph.import_all(&graph, &[difference])?[0]))
    }

    /// That every loop is below its size, where its variable's range does not say so.
    fn inside_of(&self, graph: &mut Graph) -> Result<Vec<Expr>, Error> {
        let named = self.loops.iter().filter(|one| constant(&self.graph, one.size).is_none());
        named.map(|one| graph.binary(Binary::Lt, one.variable, one.size)).collect()
    }

    /// Whether an access has one address and one guard for all values of a loop, so that what is read may be kept.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// let i = nest.each("i", 8)?;
    /// nest.each("j", 8)?;
    /// nest.access("a", i, None)?;
    /// assert!(nest.is_reused("a", "j")? && !nest.is_reused("a", "i")?);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A loop or an access that there is not.
    pub fn is_reused(&self, access: &str, of: &str) -> Result<bool, Error> {
        const OP: &str = "is_reused";
        let (access, at) = (self.access_named(OP, access)?, self.loop_named(OP, of)?);
        let Access { index, valid, .. } = self.accesses[access];
        let parts = crate::constants::parts(&self.graph, &[index, valid]);
        Ok(parts.binary_search(&self.loops[at].variable).is_err()
            || constant(&self.graph, self.loops[at].size) == Some(1))
    }

    /// How many elements an access takes one after the other in memory as the innermost loops run: the product of the sizes of
    /// the loops over which its addresses grow by 1 without a gap. Guards are not asked.
    ///
    /// ```
    /// use indexpr::{Graph, Nest, Syntax};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 8)?;
    /// nest.each("j", 4)?;
    /// nest.each("k", 16)?;
    /// let index = nest.parse("i * 128 + j * 16 + k")?;
    /// nest.access("a", index, None)?;
    /// let run = nest.contiguous("a")?;
    /// assert_eq!(nest.graph().range(run), (64, 64));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An access that there is not; an address that leaves 64 bits.
    pub fn contiguous(&mut self, access: &str) -> Result<Expr, Error> {
        let mut run = self.graph.int(1);
        for at in (0..self.loops.len()).rev() {
            let Loop { name, size, .. } = self.loops[at].clone();
            if constant(&self.graph, size) == Some(1) {
                continue;
            }
            match self.stride(access, &name)? {
                Some(stride) if self.is_same(stride, run)? => run = self.graph.binary(Binary::Mul, run, size)?,
                _ => break,
            }
        }
        Ok(self.graph.simplify(run))
    }

    /// How many elements of an access one instruction may take along a loop: the greatest power of two up to `most` by which the
    /// loop can be cut, so that each group has neighbouring addresses, begins at a multiple of its length, and is valid as a
    /// whole or not at all. It is 1 where there are no such groups.
    ///
    /// ```
    /// use indexpr::{Graph, Nest};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 8)?;
    /// nest.each("j", 12)?;
    /// let (index, inside) = (nest.parse("i * 20 + j + 4")?, nest.parse("j < 8")?);
    /// nest.access("a", index, Some(inside))?;
    /// assert_eq!(nest.vector_width("a", "j", 16)?, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A loop or an access that there is not; an address that leaves 64 bits.
    // No rule: it halves a limit.
    pub fn vector_width(&mut self, access: &str, of: &str, most: i64) -> Result<i64, Error> {
        const OP: &str = "vector_width";
        let (place, at) = (self.access_named(OP, access)?, self.loop_named(OP, of)?);
        let stride = self.stride(access, of)?;
        if stride.and_then(|stride| constant(&self.graph, stride)) != Some(1) {
            return Ok(1);
        }
        let mut width = 1;
        while width <= most / 2 && self.has_groups(place, at, width * 2)? {
            width *= 2;
        }
        Ok(width)
    }

    /// Whether a loop can be cut into groups of so many elements of an access.
    // No rule: it asks whether a number divides a size and what addresses are congruent to.
    fn has_groups(&self, access: usize, at: usize, width: i64) -> Result<bool, Error> {
        let divides = |(modulus, residue): (i64, i64)| modulus % width == 0 && residue % width == 0;
        let Loop { variable, size, .. } = self.loops[at].clone();
        let Access { index, valid, .. } = self.accesses[access];
        if !divides(self.graph.congruence(size)) {
            return Ok(false);
        }
        let mut graph = self.graph.clone();
        let groups = (self.graph.range(size).1 / width).max(1);
        let (group, within) = (self.fresh("group"), self.fresh("within"));
        let (group, within) = (graph.variable(&group, 0..groups)?, graph.variable(&within, 0..width)?);
        let width = graph.int(width);
        let begin = graph.binary(Binary::Mul, group, width)?;
        let element = graph.binary(Binary::Add, begin, within)?;
        let mut all = self.inside_of(&mut graph)?;
        all.push(valid);
        let valid = super::conjunction(&mut graph, &all)?;
        let first = replaced(&mut graph, &[index, valid], &[(variable, begin)])?;
        let (index, _) = graph.simplify_pair(first[0], first[1]);
        let valid = replaced(&mut graph, &[valid], &[(variable, element)])?[0];
        let valid = graph.simplify(valid);
        let parts = crate::constants::parts(&graph, &[valid]);
        Ok(divides(graph.congruence(index)) && parts.binary_search(&within).is_err())
    }

    /// Whether two accesses, of one buffer, have an element at one address, at whatever values of the loops each.
    ///
    /// An answer is exact. It is found from what addresses are congruent to and by branch and bound, with counted work.
    ///
    /// ```
    /// # use indexpr::{Graph, Nest, Overlap};
    /// # let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 8)?;
    /// let [a, b] = ["i", "i + 8"].map(|text| nest.parse(text).unwrap());
    /// nest.access("a", a, None)?;
    /// nest.access("b", b, None)?;
    /// assert_eq!(nest.overlaps("a", "b")?, Overlap::Never);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An access that there is not; a difference of addresses that leaves 64 bits.
    pub fn overlaps(&self, a: &str, b: &str) -> Result<Overlap, Error> {
        const OP: &str = "overlaps";
        let [a, b] = [self.access_named(OP, a)?, self.access_named(OP, b)?].map(|at| self.accesses[at].clone());
        let mut graph = self.graph.clone();
        let inside = self.inside_of(&mut graph)?;
        // The loops of the second access count by themselves.
        let mut with = Vec::new();
        for one in &self.loops {
            let most = self.graph.range(one.size).1;
            if most <= 0 {
                return Ok(Overlap::Never);
            }
            let mut name = format!("{}_other", one.name);
            while graph.variable_named(&name).is_some() {
                name.push('_');
            }
            with.push((one.variable, graph.variable(&name, 0..most)?));
        }
        let mut all = inside.clone();
        all.push(b.valid);
        let valid = super::conjunction(&mut graph, &all)?;
        let other = replaced(&mut graph, &[b.index, valid], &with)?;
        let difference = graph.binary(Binary::Sub, a.index, other[0])?;
        let difference = graph.simplify(difference);
        let zero = graph.int(0);
        if graph.congruence(difference).0 > 1 && graph.congruence(difference).1 != 0 {
            return Ok(Overlap::Never);
        }
        let meet = graph.binary(Binary::Eq, difference, zero)?;
        let mut conditions = inside;
        conditions.extend([a.valid, other[1], meet]);
        let condition = super::conjunction(&mut graph, &conditions)?;
        let condition = graph.simplify(condition);
        Ok(match graph.extremes(zero, Some(condition)) {
            None => Overlap::Never,
            Some(found) if found.exact => Overlap::Somewhere,
            Some(_) => Overlap::Undecided,
        })
    }
}
