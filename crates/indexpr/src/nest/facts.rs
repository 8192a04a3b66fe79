//! What is known of an access along a loop: its stride, how long it goes on element by element, how wide a vector is, which
//! accesses meet, and whether an output may be written over an input.

use super::bounds::bounds;
use super::{Access, Clip, Loop, Nest, conjunction, conjuncts, replaced};
use crate::constants::constant;
use crate::error::Error;
use crate::extremes::Example;
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

/// Whether an output may be written over an input: [`Nest::in_place`].
///
/// ```
/// use indexpr::{Graph, InPlace, Nest};
///
/// let mut nest = Nest::new(Graph::new());
/// nest.each("i", 8)?;
/// for (name, text) in [("here", "i"), ("next", "i + 1"), ("before", "i - 1")] {
///     let index = nest.parse(text)?;
///     nest.access(name, index, None)?;
/// }
/// assert_eq!(nest.in_place("here", "here")?, InPlace::Yes);
/// assert_eq!(nest.in_place("here", "next")?, InPlace::Yes);
/// let InPlace::No(clash) = nest.in_place("here", "before")? else { panic!() };
/// assert_eq!((clash.written[0] + 1, clash.read[0] - 1), (clash.read[0], clash.address));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// Whatever is read is what was there before the nest began, for all values of the parameters.
    Yes,
    /// An element is read after it was written.
    No(Clash),
    /// It takes more work to tell than is done.
    Undecided,
}

/// An element that is written and read after that: the evidence of [`InPlace::No`].
///
/// ```
/// use indexpr::{Graph, InPlace, Nest};
///
/// let mut nest = Nest::new(Graph::new());
/// let i = nest.each("i", 2)?;
/// let last = nest.parse("1 - i")?;
/// nest.access("from", i, None)?;
/// nest.access("to", last, None)?;
/// let InPlace::No(clash) = nest.in_place("to", "from")? else { panic!() };
/// assert_eq!((clash.written, clash.read, clash.address), (vec![0], vec![1], 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clash {
    /// The parameters.
    pub parameters: Vec<i64>,
    /// The iteration that writes the element: the values of the loops around the write, outermost first. Those that are reduced and
    /// innermost are not among them where the write stands after them.
    pub written: Vec<i64>,
    /// The iteration that reads it, which is a later one: the values of all loops.
    pub read: Vec<i64>,
    /// The address of the element.
    pub address: i64,
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
        let (access, at) = (self.address_named(OP, access)?, self.loop_named(OP, of)?);
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
        let valid = conjunction(&mut graph, &all)?;
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
    /// whole or not at all; the guards count, too, outside of which the body [does not run](Nest::clip). It is 1 where there are no
    /// such groups.
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
    ///
    /// let after_first = nest.parse("j >= 1")?;
    /// nest.guard("after_first", after_first)?;
    /// nest.clip(&["after_first"], indexpr::Clip::All)?;
    /// assert_eq!(nest.vector_width("a", "j", 16)?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A loop or an access that there is not; an address that leaves 64 bits.
    // No rule: it halves a limit.
    pub fn vector_width(&mut self, access: &str, of: &str, most: i64) -> Result<i64, Error> {
        const OP: &str = "vector_width";
        let (place, at) = (self.address_named(OP, access)?, self.loop_named(OP, of)?);
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
        // Where the body does not run there is no group, either.
        all.extend([valid].into_iter().chain(self.clips.iter().map(|(at, _)| self.accesses[*at].valid)));
        let valid = conjunction(&mut graph, &all)?;
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
        let [a, b] = [self.address_named(OP, a)?, self.address_named(OP, b)?].map(|at| self.accesses[at].clone());
        let mut graph = self.graph.clone();
        let inside = self.inside_of(&mut graph)?;
        // The loops of the second access count by themselves.
        let mut with = Vec::new();
        for one in &self.loops {
            let most = self.graph.range(one.size).1;
            if most <= 0 {
                return Ok(Overlap::Never);
            }
            with.push((one.variable, fresh(&mut graph, &format!("{}_other", one.name), most)?));
        }
        let mut all = inside.clone();
        all.push(b.valid);
        let valid = conjunction(&mut graph, &all)?;
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
        let condition = conjunction(&mut graph, &conditions)?;
        let condition = graph.simplify(condition);
        Ok(match graph.extremes(zero, Some(condition)) {
            None => Overlap::Never,
            Some(found) if found.exact => Overlap::Somewhere,
            Some(_) => Overlap::Undecided,
        })
    }

    /// Whether the buffer of an output may be that of an input, in this order of the loops: whether each element that is read is
    /// what was there before the nest began, so that the result is as if all reads came before all writes.
    ///
    /// Of the body this is assumed. Its innermost lines read the input, once for each iteration in which they run and the
    /// guard of the input holds. The output is written where its own guard holds, and after what the same iteration reads: by the
    /// lines [after](crate::Body::after) the innermost reduced loops, or, where there are no such loops, or the address or the guard of
    /// the output depends on one of them, by the innermost lines. One iteration runs after the other. A body that also reads
    /// the output, such as one that adds to it, asks for the output as an input, too.
    ///
    /// [Clips](Nest::clip) count: where the body does not run nothing is read. An answer is exact, and is found as that of
    /// [`Nest::overlaps`] is, at most twice for each loop.
    ///
    /// ```
    /// use indexpr::{Graph, InPlace, Nest};
    ///
    /// // Each row is summed, and then goes where it was.
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 64)?;
    /// nest.reduce("k", 32)?;
    /// let [row, first, next] = ["i * 32 + k", "i * 32", "i * 32 + 32"].map(|text| nest.parse(text).unwrap());
    /// nest.access("row", row, None)?;
    /// nest.access("first", first, None)?;
    /// nest.access("next", next, None)?;
    /// assert_eq!(nest.in_place("first", "row")?, InPlace::Yes);
    /// let InPlace::No(clash) = nest.in_place("next", "row")? else { panic!() };
    /// assert_eq!((clash.written.len(), clash.read.len(), clash.read[1]), (1, 2, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An access that there is not, or a guard; a difference of addresses that leaves 64 bits.
    pub fn in_place(&self, output: &str, input: &str) -> Result<InPlace, Error> {
        const OP: &str = "in_place";
        let places = [self.address_named(OP, output)?, self.address_named(OP, input)?];
        if self.loops.iter().any(|one| self.graph.range(one.size).1 <= 0) {
            return Ok(InPlace::Yes);
        }
        // How many loops stand around what is written.
        let reduced = self.loops.iter().rev().take_while(|one| one.is_reduced).count();
        let mut around = self.loops.len() - reduced;
        for one in &self.loops[around..] {
            if !self.is_reused(output, &one.name)? {
                around = self.loops.len();
            }
        }
        // Which elements the lines after reduced loops are run for is known from both sides, where guards shorten all loops.
        let is_shortened = around < self.loops.len() && self.clips.iter().any(|(_, clip)| *clip == Clip::All);
        let mut is_undecided = false;
        // An iteration is later than another one if some loop is further, and all outside of it are as far.
        for at in (0..around).rev().filter(|at| self.graph.range(self.loops[*at].size).1 > 1) {
            let found = match self.clash(places, around, at, false)? {
                InPlace::No(_) if is_shortened => match self.clash(places, around, at, true)? {
                    InPlace::Yes => InPlace::Undecided,
                    found => found,
                },
                found => found,
            };
            match found {
                InPlace::Yes => {}
                InPlace::Undecided => is_undecided = true,
                InPlace::No(_) => return Ok(found),
            }
        }
        Ok(if is_undecided { InPlace::Undecided } else { InPlace::Yes })
    }

    /// Whether an iteration reads what another one wrote that is earlier in the loop of a place, and in no loop outside of it.
    ///
    /// So many loops stand `around` the write. Where that are not all, it is taken to happen for each element that it may happen
    /// for; or for those only for which it `surely` does, since the guards that shorten all loops hold somewhere in its
    /// reduced loops.
    fn clash(&self, [output, input]: [usize; 2], around: usize, at: usize, surely: bool) -> Result<InPlace, Error> {
        let (output, input) = (&self.accesses[output], &self.accesses[input]);
        let mut graph = self.graph.clone();
        let [zero, one] = [0, 1].map(|number| graph.int(number));
        let inner = if surely { self.loops.len() } else { around };
        // The loops of the write: those outside are those of the read, and those inside count by themselves.
        let mut written: Vec<Expr> = self.loops[..at].iter().map(|one| one.variable).collect();
        let most = |at: usize| self.graph.range(self.loops[at].size).1;
        let further = fresh(&mut graph, "further", most(at) - 1)?;
        let before = graph.binary(Binary::Sub, self.loops[at].variable, one)?;
        written.push(graph.binary(Binary::Sub, before, further)?);
        for place in at + 1..inner {
            written.push(fresh(&mut graph, &format!("{}_written", self.loops[place].name), most(place))?);
        }
        let variables = self.loops.iter().map(|one| one.variable);
        let with: Vec<(Expr, Expr)> = variables.zip(written.iter().copied()).collect();

        let mut reads = self.inside_of(&mut graph)?;
        let clipped = self.clips.iter().map(|(at, _)| self.accesses[*at].valid);
        reads.extend([input.valid].into_iter().chain(clipped.clone()));
        let mut writes = vec![output.valid];
        for one in self.loops[..inner].iter().filter(|one| constant(&self.graph, one.size).is_none()) {
            writes.push(graph.binary(Binary::Lt, one.variable, one.size)?);
        }
        if around == self.loops.len() {
            writes.extend(clipped);
        } else {
            for (access, _) in self.clips.iter().filter(|(_, clip)| *clip == Clip::All) {
                for condition in conjuncts(&graph, self.accesses[*access].valid) {
                    // A bound of a loop around the write, or a condition outside of the innermost of them.
                    let parts = graph.parts(&[condition]);
                    let depends = |one: &Loop| parts.contains(&one.variable);
                    let known = self.loops.iter().rposition(depends).map_or(0, |place| place + 1);
                    let is_bound = known == around && known > 0 && {
                        let bounds = bounds(&mut graph, condition)?;
                        let own = self.loops[known - 1].variable;
                        bounds.is_some_and(|bounds| bounds.iter().all(|bound| !bound.hides(&graph, own)))
                    };
                    if surely || known < around || is_bound {
                        writes.push(condition);
                    }
                }
            }
        }
        let writes = conjunction(&mut graph, &writes)?;
        let moved = replaced(&mut graph, &[output.index, writes], &with)?;
        let difference = graph.binary(Binary::Sub, moved[0], input.index)?;
        let difference = graph.simplify(difference);
        if graph.congruence(difference).0 > 1 && graph.congruence(difference).1 != 0 {
            return Ok(InPlace::Yes);
        }
        let is_later = graph.binary(Binary::Ge, written[at], zero)?;
        let meet = graph.binary(Binary::Eq, difference, zero)?;
        reads.extend([moved[1], is_later, meet]);
        let condition = conjunction(&mut graph, &reads)?;
        let condition = graph.simplify(condition);
        // The loops of both whose sizes have names.
        let both = self.loops.iter().map(|one| (one.variable, one.size));
        let both = both.chain(written.iter().zip(&self.loops).skip(at + 1).map(|(of, one)| (*of, one.size)));
        let named: Vec<(Expr, Expr)> = both.filter(|(_, size)| constant(&self.graph, *size).is_none()).collect();
        if graph.range(condition) != (0, 0) && is_apart(&mut graph, difference, &named).unwrap_or(false) {
            return Ok(InPlace::Yes);
        }
        let values = match graph.example(condition) {
            Example::Never => return Ok(InPlace::Yes),
            Example::Undecided => return Ok(InPlace::Undecided),
            Example::At(values) => values,
        };
        let of = |expr: &Expr| graph.evaluate(*expr, &values);
        Ok(InPlace::No(Clash {
            parameters: values[..self.parameters].to_vec(),
            written: written[..around].iter().map(of).collect::<Result<_, _>>()?,
            read: self.loops.iter().map(|one| of(&one.variable)).collect::<Result<_, _>>()?,
            address: of(&input.index)?,
        }))
    }
}

/// A new variable that counts up to a number.
fn fresh(graph: &mut Graph, name: &str, most: i64) -> Result<Expr, Error> {
    let mut name = name.to_owned();
    while graph.variable_named(&name).is_some() {
        name.push('_');
    }
    graph.variable(&name, 0..most)
}

/// Whether a number is known to be above 0 for all values of some variables, which are below their sizes, or below 0 for all:
/// where it grows with a variable it is greatest at the last value, which the size tells.
fn is_apart(graph: &mut Graph, number: Expr, variables: &[(Expr, Expr)]) -> Result<bool, Error> {
    let [zero, one] = [0, 1].map(|number| graph.int(number));
    let (mut growing, mut falling) = (Vec::new(), Vec::new());
    for &(variable, size) in variables {
        let next = graph.binary(Binary::Add, variable, one)?;
        let after = replaced(graph, &[number], &[(variable, next)])?[0];
        let step = graph.binary(Binary::Sub, after, number)?;
        let step = graph.simplify(step);
        // The same values in the opposite order.
        let last = graph.binary(Binary::Sub, size, one)?;
        let opposite = graph.binary(Binary::Sub, last, variable)?;
        match graph.range(step) {
            (0.., _) => growing.push((variable, opposite)),
            (_, ..=0) => falling.push((variable, opposite)),
            _ => {}
        }
    }
    for (with, sign) in [(growing, Binary::Lt), (falling, Binary::Gt)] {
        let end = replaced(graph, &[number], &with)?[0];
        let is_there = graph.binary(sign, end, zero)?;
        let is_there = graph.simplify(is_there);
        if constant(graph, is_there) == Some(1) {
            return Ok(true);
        }
    }
    Ok(false)
}
