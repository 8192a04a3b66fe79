//! What a question is about: the tracker of a chain, or expressions over variables.

use std::ops::Range;

use shapetracker::expr::{ErrorKind, Expr, Graph, Syntax};
use shapetracker::{AddressRun, Chain, ChainStart, Dims, MAX_RANK, ShapeTracker, Stored, ravel_index, unravel_index};

use crate::fault::Fault;
use crate::json::Value;
use crate::request::Fields as _;

/// A question about all elements walks up to so many.
const MOST_ELEMENTS: i64 = 1 << 24;
/// The most parts of an expression that such a walk evaluates, counted for each element.
const MOST_PARTS: i64 = 1 << 29;
/// How many elements an expression is evaluated for at a time.
const BLOCK: usize = 1 << 10;

/// A rule from index to address: what most questions are about. The addresses of a chain are those of the newest buffer, which
/// the answer about the chain names, unless [`Layout::over_base`] makes it.
pub(crate) enum Layout {
    Chain(ShapeTracker),
    Free(Free),
}

/// Expressions over variables, each of which is an axis.
pub(crate) struct Free {
    pub(crate) graph: Graph,
    /// The index and the condition as they were written.
    pub(crate) written: [Expr; 2],
    /// The same, simplified together.
    pub(crate) simple: [Expr; 2],
    /// The values of the variables in their order.
    pub(crate) ranges: Vec<Range<i64>>,
    shape: Dims,
    numel: i64,
    /// How many parts the simplified expressions have.
    parts: i64,
    /// Without the feature there are no such layouts, and the compiler leaves out what is done with them.
    #[cfg(not(feature = "free"))]
    never: std::convert::Infallible,
}

impl Layout {
    /// The field of a request that says what it is about.
    pub(crate) fn of(request: &Value, name: &'static str) -> Result<Layout, Fault> {
        let source = request.object(name)?;
        if source.get("chain").is_some() {
            return Ok(Layout::Chain(stored(source)?.over_newest().clone()));
        }
        Free::read(source).map(Layout::Free)
    }

    /// The same, of a chain over its base, whatever it copies.
    pub(crate) fn over_base(request: &Value, name: &'static str) -> Result<Layout, Fault> {
        let source = request.object(name)?;
        if source.get("chain").is_some() {
            return Ok(Layout::Chain(stored(source)?.over_base()?));
        }
        Free::read(source).map(Layout::Free)
    }

    pub(crate) fn shape(&self) -> &[i64] {
        match self {
            Layout::Chain(tracker) => tracker.shape(),
            Layout::Free(free) => &free.shape,
        }
    }

    pub(crate) fn numel(&self) -> i64 {
        match self {
            Layout::Chain(tracker) => tracker.numel(),
            Layout::Free(free) => free.numel,
        }
    }

    /// A lower and an upper bound on the addresses; nothing where no address is read.
    pub(crate) fn bounds(&self) -> Option<(i64, i64)> {
        match self {
            // The tracker reads no address that the view next to memory does not read.
            Layout::Chain(tracker) => tracker.address_range().unwrap_or_else(|_| tracker.views()[0].address_range()),
            Layout::Free(free) => Some(free.graph.range(free.simple[0])),
        }
    }

    /// What there is too much of to walk all elements, in words; nothing where they can be walked.
    pub(crate) fn too_many(&self) -> Option<String> {
        let numel = self.numel();
        match self {
            _ if numel > MOST_ELEMENTS => Some(format!("{numel} elements")),
            Layout::Free(free) if numel > MOST_PARTS / free.parts => {
                Some(format!("{numel} elements of an expression with {} parts", free.parts))
            }
            _ => None,
        }
    }

    /// Whether so many elements can be looked at one by one.
    pub(crate) fn can_walk(&self, elements: i64) -> bool {
        match self {
            Layout::Chain(_) => elements <= MOST_ELEMENTS,
            Layout::Free(free) => elements <= MOST_ELEMENTS.min(MOST_PARTS / free.parts),
        }
    }

    /// How many elements a sample may have: an eighth of the work of the longest walk.
    pub(crate) fn most_samples(&self) -> i64 {
        match self {
            Layout::Chain(_) => MOST_ELEMENTS,
            Layout::Free(free) => MOST_PARTS / 8 / free.parts,
        }
    }

    /// The address of an index, which lies inside the shape; nothing where it is masked.
    pub(crate) fn address(&self, index: &[i64]) -> Result<Option<i64>, Fault> {
        match self {
            Layout::Chain(tracker) => Ok(tracker.address(index)),
            Layout::Free(free) => {
                let mut address = [None];
                free.addresses(|values| values.extend(free.values(index)), &mut address)?;
                Ok(address[0])
            }
        }
    }

    /// The addresses at row-major positions inside the shape; nothing where one is masked.
    pub(crate) fn addresses(&self, positions: &[i64]) -> Result<Vec<Option<i64>>, Fault> {
        let mut positions = positions.iter().map(|position| unravelled(*position, self.shape()));
        match self {
            Layout::Chain(tracker) => Ok(positions.map(|index| tracker.address(&index)).collect()),
            Layout::Free(free) => {
                let mut addresses = vec![None; positions.len()];
                let next = |values: &mut Vec<i64>| values.extend(positions.next().iter().flat_map(|i| free.values(i)));
                free.addresses(next, &mut addresses)?;
                Ok(addresses)
            }
        }
    }

    /// Calls `emit` with the addresses of all elements in row-major order.
    pub(crate) fn runs(&self, emit: &mut dyn FnMut(Run)) -> Result<(), Fault> {
        match self {
            Layout::Chain(tracker) => tracker.runs().for_each(|run| emit(run.into())),
            Layout::Free(free) => free.graph.evaluate_all(&free.simple, |columns| {
                for (&first, &valid) in columns[0].iter().zip(columns[1]) {
                    emit(Run { first, step: 0, count: 1, valid: valid == 1 });
                }
            })?,
        }
        Ok(())
    }

    /// The lowest and the highest address that is read, by going through all elements; nothing where none is.
    pub(crate) fn range_read(&self) -> Result<Option<(i64, i64)>, Fault> {
        let mut range: Option<(i64, i64)> = None;
        self.runs(&mut |run| {
            if run.valid {
                let last = run.first.wrapping_add(run.step.wrapping_mul(run.count - 1));
                let (low, high) = range.unwrap_or((run.first, run.first));
                range = Some((low.min(run.first).min(last), high.max(run.first).max(last)));
            }
        })?;
        Ok(range)
    }

    /// An index of the request inside the shape.
    pub(crate) fn index(&self, request: &Value) -> Result<Dims, Fault> {
        let index = request.numbers("index")?;
        let inside =
            index.len() == self.shape().len() && index.iter().zip(self.shape()).all(|(i, n)| (0..*n).contains(i));
        if inside { Ok(index) } else { Err(Fault::request("`index` lies inside the shape")) }
    }
}

/// The tensor after all operations of a source that is a chain.
fn stored(source: &Value) -> Result<Stored, Fault> {
    let text = source.text("chain").map_err(|fault| fault.in_field("chain"))?;
    let base = source.numbers_or_none("base")?;
    let chain = read(text, base.as_deref())?;
    let base = base.as_deref().filter(|_| chain.start() == &ChainStart::Nothing);
    chain.follow(base, |_, _| ()).map_err(|err| Fault::chain(&err, text))
}

/// The chain that a text is, perhaps over a base whose shape it does not say.
pub(crate) fn read(text: &str, base: Option<&[i64]>) -> Result<Chain, Fault> {
    let (chain, err) = Chain::read_from(text, base);
    err.map_or(Ok(chain), |err| Err(Fault::syntax(&err, "chain", text)))
}

/// Addresses `first, first + step, ..`, or as many masked elements.
pub(crate) struct Run {
    pub(crate) first: i64,
    pub(crate) step: i64,
    pub(crate) count: i64,
    pub(crate) valid: bool,
}

impl From<AddressRun> for Run {
    fn from(run: AddressRun) -> Run {
        match run {
            AddressRun::Valid { first, step, count } => Run { first, step, count, valid: true },
            AddressRun::Masked { count } => Run { first: -1, step: 0, count, valid: false },
        }
    }
}

#[cfg(not(feature = "free"))]
impl Free {
    pub(crate) fn read(_: &Value) -> Result<Free, Fault> {
        Err(Fault::request("this module has no expressions over variables"))
    }
}

impl Free {
    #[cfg(feature = "free")]
    pub(crate) fn read(source: &Value) -> Result<Free, Fault> {
        let syntax = syntax(source)?;
        let mut graph = Graph::new();
        let (mut ranges, mut numel) = (Vec::new(), Some(1i64));
        for (row, variable) in source.list("variables")?.iter().enumerate() {
            let range = declare(&mut graph, variable, row).map_err(|fault| fault.in_variable(row))?;
            numel = numel.zip(range.end.checked_sub(range.start)).and_then(|(numel, size)| numel.checked_mul(size));
            ranges.push(range);
        }
        let Some(numel) = numel else {
            let message = "the number of choices of the variables is past the range of 64-bit integers";
            return Err(Fault::new("overflow", message).in_field("variables"));
        };
        let text = source.text("index").map_err(|fault| fault.in_field("index"))?;
        let index = parse(&mut graph, text, "index", syntax)?;
        if graph.is_condition(index) {
            let message = "a number is needed here, not a condition";
            return Err(Fault::new("not_a_number", message).at("index", text, 0..text.len()));
        }
        let text = source.text_or_none("valid").map_err(|fault| fault.in_field("valid"))?.unwrap_or_default();
        let valid = if text.trim().is_empty() { graph.bool(true) } else { parse(&mut graph, text, "valid", syntax)? };
        let valid = graph.condition(valid);
        if !graph.is_condition(valid) {
            let message = "a condition is needed here, such as `x < 4`, not a number";
            return Err(Fault::new("not_a_condition", message).at("valid", text, 0..text.len()));
        }
        let simple: [Expr; 2] = graph.simplify_pair(index, valid).into();
        let shape = ranges.iter().map(|range| range.end - range.start).collect();
        let parts = graph.parts(&simple).len() as i64;
        Ok(Free { graph, written: [index, valid], simple, ranges, shape, numel, parts })
    }

    /// Fills in the addresses of elements; `next` appends the values of the variables of the next one.
    pub(crate) fn addresses(
        &self,
        mut next: impl FnMut(&mut Vec<i64>),
        addresses: &mut [Option<i64>],
    ) -> Result<(), Fault> {
        let rank = self.ranges.len();
        for addresses in addresses.chunks_mut(BLOCK) {
            let mut rows = Vec::with_capacity(rank * addresses.len());
            addresses.iter().for_each(|_| next(&mut rows));
            let columns = (0..rank).map(|axis| rows.iter().skip(axis).step_by(rank).copied().collect::<Vec<i64>>());
            let columns: Vec<Vec<i64>> = columns.collect();
            let columns: Vec<&[i64]> = columns.iter().map(|column| &column[..]).collect();
            let found = self.graph.evaluate_columns(&self.simple, &columns)?;
            // Without variables one value stands for all.
            for (address, (found, valid)) in
                addresses.iter_mut().zip(found[0].iter().cycle().zip(found[1].iter().cycle()))
            {
                *address = (*valid == 1).then_some(*found);
            }
        }
        Ok(())
    }

    /// The values of the variables at an index.
    pub(crate) fn values(&self, index: &[i64]) -> Vec<i64> {
        self.ranges.iter().zip(index).map(|(range, i)| range.start + i).collect()
    }
}

/// The syntax that a request names, else Python's.
#[cfg(feature = "free")]
pub(crate) fn syntax(request: &Value) -> Result<Syntax, Fault> {
    Ok(match request.text_or_none("syntax")? {
        Some("c") => Syntax::C,
        _ => Syntax::Python,
    })
}

/// Declares the variable of a row of the request, and returns its range.
#[cfg(feature = "free")]
fn declare(graph: &mut Graph, variable: &Value, row: usize) -> Result<Range<i64>, Fault> {
    if row >= MAX_RANK {
        return Err(Fault::new("too_many_axes", format!("more than {MAX_RANK} variables")));
    }
    let name = variable.text("name")?.trim();
    if graph.variables().iter().any(|known| known.name == name) {
        return Err(Fault::new("ranges_differ", format!("there is a variable `{name}` already")));
    }
    let bound = |field| {
        let message = format!("the {field} of `{name}` is a whole number within the range of 64-bit integers");
        variable.number(field).map_err(|_| Fault::new("syntax", message))
    };
    let range = bound("begin")?..bound("end")?;
    let made = graph.variable(name, range.clone());
    // What names there can be is the library's matter; that it is a matter of syntax is what the page knows.
    made.map_err(|err| if err.kind() == ErrorKind::Name { Fault::new("syntax", err.reason()) } else { err.into() })?;
    Ok(range)
}

#[cfg(feature = "free")]
fn parse(graph: &mut Graph, text: &str, field: &'static str, syntax: Syntax) -> Result<Expr, Fault> {
    graph.parse(text, syntax).map_err(|err| Fault::syntax(&err, field, text))
}

/// The row-major position of an index inside a shape.
pub(crate) fn ravelled(index: &[i64], shape: &[i64]) -> i64 {
    ravel_index(index, shape).unwrap_or_default()
}

/// The index at a row-major position of a shape, which has elements.
pub(crate) fn unravelled(position: i64, shape: &[i64]) -> Dims {
    unravel_index(position, shape).unwrap_or_default()
}
