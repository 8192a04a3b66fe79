//! An index with its guard and its loops: what a compiler writes to read an element.

use std::fmt;

use smallvec::SmallVec;

use crate::cost::Cost;
use crate::emit::{Products, sum};
use crate::error::{Error, Reason};
use crate::graph::{Binary, Expr, Graph, Variable};
use crate::quasi::{Condition, Linear, Term};
use crate::render::language::{Language, Unsupported};

/// What a compiler writes to read an element: `buffer[index]`, guarded by `valid`, inside a nest of loops.
///
/// The variables of the graph are the loops, outermost first; variable `l` counts from 0 to its extent. Where `valid`
/// holds, `index` is what is read; elsewhere it may be anything within the range that [`Graph::range`] tells of it.
///
/// An extent is a number, or an expression over parameters, which are variables that follow those of the loops: arguments of
/// the kernel ([`IndexExpr::with_sizes`]).
///
/// ```
/// use indexpr::{Graph, IndexExpr, Language, Syntax};
///
/// let mut graph = Graph::new();
/// graph.variable("i", 0..4)?;
/// graph.variable("j", 0..8)?;
/// let index = graph.parse("i * 6 + j - 1", Syntax::Python)?;
/// let valid = graph.parse("1 <= j < 7", Syntax::Python)?;
/// let code = IndexExpr::new(graph, index, valid, [4, 8])?;
/// assert_eq!((code.cost().ops, code.cost().divmods), (5, 0));
/// assert!(code.kernel(Language::C)?.contains("for (int i = 0; i < 4; ++i) {"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct IndexExpr {
    pub(crate) graph: Graph,
    pub(crate) index: Expr,
    pub(crate) valid: Expr,
    pub(crate) extents: SmallVec<[i64; 8]>,
    /// How often each loop runs, where that depends on parameters; empty where it does not.
    pub(crate) sizes: Vec<Expr>,
    /// The lowest index that is read where that is below 0, and else 0 or what nothing is known of.
    pub(crate) lowest: i64,
    /// What writes kernels: a program that never makes one with sizes does without what those take.
    pub(crate) writer: KernelWriter,
}

/// What writes the kernel of an [`IndexExpr`] in one language: nothing for the ordinary one, so that a program that makes
/// expressions and writes no kernels, as the explorer's engine, is linked without what writes them.
#[derive(Clone, Copy)]
pub(crate) struct KernelWriter(pub(crate) Option<WriteKernel>);

/// A function that writes a kernel in a language.
pub(crate) type WriteKernel = fn(&IndexExpr, Language) -> Result<String, Unsupported>;

impl KernelWriter {
    /// Loops that run as often as numbers say.
    pub(crate) const PLAIN: KernelWriter = KernelWriter(None);
}

impl fmt::Debug for KernelWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KernelWriter")
    }
}

impl IndexExpr {
    /// An index and a condition over the variables of a graph, and how often each variable's loop runs.
    ///
    /// A loop may run 0 times; since a variable always has a value, the range of its variable is 0..1 then.
    ///
    /// # Errors
    /// A condition as the index or a number as the condition, expressions that are not of the graph, another number of
    /// extents than there are variables, a variable that does not count from 0 to its extent.
    pub fn new(graph: Graph, index: Expr, valid: Expr, extents: impl AsRef<[i64]>) -> Result<IndexExpr, Error> {
        const OP: &str = "index";
        let extents = extents.as_ref();
        for expr in [index, valid] {
            graph.check(OP, expr)?;
        }
        if graph.is_condition(index) {
            return Err(Reason::NotANumber.in_op(OP));
        }
        let mut graph = graph;
        let valid = graph.condition(valid);
        if !graph.is_condition(valid) {
            return Err(Reason::NotACondition.in_op(OP));
        }
        let variables = graph.variables();
        if variables.len() != extents.len() {
            return Err(Reason::Extents { variables: variables.len(), given: extents.len() }.in_op(OP));
        }
        if let Some((variable, &extent)) =
            variables.iter().zip(extents).find(|(variable, extent)| variable.range != (0..(**extent).max(1)))
        {
            let (name, begin, end) = (variable.name[..].into(), variable.range.start, variable.range.end);
            return Err(Reason::Extent { name, begin, end, extent }.in_op(OP));
        }
        Ok(IndexExpr::plain(graph, index, valid, extents))
    }

    /// An affine index under conditions on single variables, written term by term: what [`cheapest`](crate::cheapest) finds
    /// for it, in a fraction of the time.
    ///
    /// `None` where writing it so may be dearer: where two terms have the same factor up to sign, which is then taken out of
    /// their sum, and where a condition is on a sum. Nor is anything written that has floors, or leaves `i64`.
    ///
    /// ```
    /// use indexpr::{Condition, IndexExpr, Linear, Syntax, Term, Variable};
    ///
    /// let variables = [Variable::new("i", 0..4), Variable::new("j", 0..8)];
    /// let index = Linear::new(-1, [(Term::Variable(0), 6), (Term::Variable(1), 1)]).unwrap();
    /// let inner = Condition::new(Term::Variable(1).into(), Some(1), Some(6));
    /// let code = IndexExpr::affine(&variables, &[4, 8], &index, &[inner]).unwrap();
    /// assert_eq!(code.graph().text(code.index(), Syntax::Python)?, "i * 6 + j - 1");
    /// assert_eq!(code.graph().text(code.valid(), Syntax::Python)?, "1 <= j < 7");
    ///
    /// let grouped = Linear::new(0, [(Term::Variable(0), 6), (Term::Variable(1), 6)]).unwrap(); // (i + j) * 6
    /// assert!(IndexExpr::affine(&variables, &[4, 8], &grouped, &[]).is_none());
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn affine(
        variables: &[Variable],
        extents: &[i64],
        index: &Linear,
        conditions: &[Condition],
    ) -> Option<IndexExpr> {
        // A sum is shared or factored only where that saves an operation. The index is the one sum of several terms. To
        // write it as f * (..) + .. takes a product for f and saves one for each term with the factor f or -f, so that there
        // must be two of those, and f must be neither 1 nor -1.
        let factors = index.terms().iter().map(|(_, factor)| factor.unsigned_abs());
        let is_repeated =
            |(at, factor): (usize, u64)| factor > 1 && factors.clone().take(at).any(|other| other == factor);
        // Numbers without an opposite are in no form, either.
        let has_opposite = index.constant() != i64::MIN && !factors.clone().any(|factor| factor > i64::MAX as u64);
        if !has_opposite || factors.clone().enumerate().any(is_repeated) {
            return None;
        }
        let mut graph = Graph::new();
        let made = variables.iter().map(|variable| graph.variable(&variable.name, variable.range.clone()).ok());
        let made: SmallVec<[Expr; 8]> = made.collect::<Option<_>>()?;
        let mut terms: SmallVec<[(Expr, i64); 8]> = SmallVec::new();
        for (term, factor) in index.terms() {
            let Term::Variable(place) = term else { return None };
            terms.push((*made.get(*place)?, *factor));
        }
        // Conditions come first, as they do where a tracker of any kind is written: parts are named in the order of nodes.
        let mut valid = None;
        for Condition { form, least, most } in conditions {
            let ([(Term::Variable(place), 1)], 0) = (form.terms(), form.constant()) else { return None };
            let test = graph.between(*made.get(*place)?, least.map(i128::from), most.map(i128::from)).ok()?;
            valid = Some(match valid {
                Some(all) => graph.binary(Binary::And, all, test).ok()?,
                None => test,
            });
        }
        let valid = valid.unwrap_or_else(|| graph.bool(true));
        let index = sum(&mut graph, terms, index.constant()).ok()?;
        Some(IndexExpr::plain(graph, index, valid, extents))
    }

    /// Loops that run as often as numbers say.
    pub(crate) fn plain(graph: Graph, index: Expr, valid: Expr, extents: &[i64]) -> IndexExpr {
        IndexExpr {
            graph,
            index,
            valid,
            extents: extents.into(),
            sizes: Vec::new(),
            lowest: 0,
            writer: KernelWriter::PLAIN,
        }
    }

    /// The graph that both expressions belong to; its variables are the loops, in order.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let (i, always) = (graph.variable("i", 0..4)?, graph.bool(true));
    /// let code = indexpr::IndexExpr::new(graph, i, always, [4])?;
    /// assert_eq!(code.graph().variables()[0].name, "i");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What is read wherever [`IndexExpr::valid`] holds.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let (i, always) = (graph.variable("i", 0..4)?, graph.bool(true));
    /// let code = indexpr::IndexExpr::new(graph, i, always, [4])?;
    /// assert_eq!(code.graph().text(code.index(), indexpr::Syntax::Python)?, "i");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn index(&self) -> Expr {
        self.index
    }

    /// Whether anything is read; the constant true where something always is.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let (i, always) = (graph.variable("i", 0..4)?, graph.bool(true));
    /// let code = indexpr::IndexExpr::new(graph, i, always, [4])?;
    /// assert_eq!(code.graph().text(code.valid(), indexpr::Syntax::Python)?, "True");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn valid(&self) -> Expr {
        self.valid
    }

    /// How often each loop runs, outermost first: for a tensor, its shape. Where that depends on parameters it is the most
    /// that it can be, and [`IndexExpr::sizes`] are the expressions.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let (i, always) = (graph.variable("i", 0..4)?, graph.bool(true));
    /// let code = indexpr::IndexExpr::new(graph, i, always, [4])?;
    /// assert_eq!(code.extents(), [4]);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn extents(&self) -> &[i64] {
        &self.extents
    }

    /// How often each loop runs as expressions over [`IndexExpr::parameters`]; empty where there are none, and
    /// [`IndexExpr::extents`] says it.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let (i, always) = (graph.variable("i", 0..4)?, graph.bool(true));
    /// let n = graph.variable("n", 1..5)?;
    /// assert_eq!(indexpr::IndexExpr::with_sizes(graph, i, always, [n])?.sizes(), [n]);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn sizes(&self) -> &[Expr] {
        &self.sizes
    }

    /// The variables that are not loops: what kernels take as arguments after the two buffers, in this order.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let (i, always) = (graph.variable("i", 0..4)?, graph.bool(true));
    /// let n = graph.variable("n", 1..5)?;
    /// assert_eq!(indexpr::IndexExpr::with_sizes(graph, i, always, [n])?.parameters()[0].name, "n");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn parameters(&self) -> &[Variable] {
        &self.graph.variables()[self.extents.len()..]
    }

    /// What computing both expressions costs, with what they have in common computed once.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let (i, always) = (graph.variable("i", 0..4)?, graph.bool(true));
    /// let code = indexpr::IndexExpr::new(graph, i, always, [4])?;
    /// assert_eq!(code.cost().ops, 0);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn cost(&self) -> Cost {
        self.graph.cost(&[self.index, self.valid])
    }

    /// The same code where the condition is known from elsewhere to hold always, or never.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let i = graph.variable("i", 0..4)?;
    /// let looks_open = graph.within(i, 1, 9)?;
    /// let code = indexpr::IndexExpr::new(graph, i, looks_open, [4])?.with_validity(true);
    /// assert_eq!(code.cost().ops, 0);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn with_validity(mut self, always: bool) -> IndexExpr {
        self.valid = self.graph.bool(always);
        if !always {
            self.index = self.graph.int(0);
        }
        self
    }

    /// The same code, of which its maker knows the lowest index that is read. Where that is below 0 there is no
    /// [kernel](IndexExpr::kernel): it would read what lies before its buffer.
    ///
    /// ```
    /// use indexpr::{Graph, IndexExpr, Language, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..4)?;
    /// let (index, always) = (graph.parse("i - 3", Syntax::Python)?, graph.bool(true));
    /// let code = IndexExpr::new(graph, index, always, [4])?.reading_from(-3);
    /// assert_eq!(code.code(Language::C)?, "const int valid = 1;\nconst int index = i - 3;\n");
    /// assert_eq!(
    ///     code.kernel(Language::C).unwrap_err().to_string(),
    ///     "c: a kernel would read from address -3 on, 3 before the beginning of its buffer; with an offset that is 3 more \
    ///      it reads from there",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reading_from(mut self, lowest: i64) -> IndexExpr {
        self.lowest = lowest.min(0);
        self
    }

    /// The lowest index that is read, where its maker [knows](IndexExpr::reading_from) that it is below 0; else 0.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let (i, always) = (graph.variable("i", 0..4)?, graph.bool(true));
    /// assert_eq!(indexpr::IndexExpr::new(graph, i, always, [4])?.lowest(), 0);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn lowest(&self) -> i64 {
        self.lowest
    }

    /// Whether computing the index takes a division or a modulo, by whatever divisor.
    ///
    /// ```
    /// # let mut graph = indexpr::Graph::new();
    /// # let (i, always) = (graph.variable("i", 0..4)?, graph.bool(true));
    /// assert!(!indexpr::IndexExpr::new(graph, i, always, [4])?.index_divides());
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn index_divides(&self) -> bool {
        self.graph.parts(&[self.index]).into_iter().any(|expr| self.graph.dividend(expr).is_some())
    }

    /// Whether something that is computed may leave 32 bits.
    pub(crate) fn is_wide(&self) -> bool {
        self.graph.is_wide(&[self.index, self.valid])
    }

    /// What is smaller is cheaper.
    pub(crate) fn rank(&self, products: Products) -> (bool, usize, usize, usize) {
        self.graph.rank(&[self.index, self.valid], products)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Rng;
    use crate::{Divisions, Form, Index, Syntax, cheapest};

    /// What is written term by term is what is found among all ways, for affine indices under conditions on variables.
    #[test]
    fn term_by_term_is_as_cheap_as_can_be() {
        let mut rng = Rng(0x51);
        let mut written = 0;
        for _ in 0..4_000 {
            let mut number = |below: u64, from: i64| rng.below(below) as i64 + from;
            let extents: Vec<i64> = (0..number(5, 0)).map(|_| number(7, 2)).collect();
            let named = |(at, extent): (usize, &i64)| Variable::new(format!("i{at}"), 0..*extent);
            let variables: Vec<Variable> = extents.iter().enumerate().map(named).collect();
            let strides: Vec<i64> =
                extents.iter().map(|_| [0, 1, -1, number(9, -4), 6 * number(9, -4)][number(5, 0) as usize]).collect();
            let offset = [0, number(41, -20)][number(2, 0) as usize];
            let ranges: Vec<Option<(i64, i64)>> = extents
                .iter()
                .map(|&extent| {
                    let begin = number(extent as u64, 0);
                    let end = begin + 1 + number((extent - begin) as u64, 0);
                    (number(3, 0) == 0 && (begin, end) != (0, extent) && end - begin > 1).then_some((begin, end))
                })
                .collect();
            let terms = strides.iter().enumerate().map(|(at, by)| (Term::Variable(at), *by));
            let index = Linear::new(offset, terms).unwrap();
            let conditions: Vec<Condition> = (extents.iter().zip(&ranges).enumerate())
                .filter_map(|(at, (extent, range))| {
                    let (begin, end) = (*range)?;
                    let (least, most) = ((begin > 0).then_some(begin), (end < *extent).then_some(end - 1));
                    Some(Condition::new(Term::Variable(at).into(), least, most))
                })
                .collect();
            let Some(affine) = IndexExpr::affine(&variables, &extents, &index, &conditions) else { continue };
            written += 1;
            let built = cheapest(&variables, &extents, Divisions::Cheapest, |domain| {
                let mut sum = Form::constant(offset)?;
                for (at, range) in ranges.iter().enumerate() {
                    let variable = domain.variable(at)?;
                    sum = sum.plus(strides[at], &variable)?;
                    if let Some((begin, end)) = *range {
                        domain.require(variable, begin..end);
                    }
                }
                Some(Index::At(sum))
            });
            let built = built.unwrap().into_code();
            let text = |code: &IndexExpr, expr| code.graph().text(expr, Syntax::Python).unwrap();
            assert_eq!(text(&affine, affine.index()), text(&built, built.index()), "{index} {conditions:?}");
            assert_eq!(text(&affine, affine.valid()), text(&built, built.valid()), "{index} {conditions:?}");
        }
        assert!(written > 1_500, "{written}");
    }
}
