//! Expressions in the languages that compilers emit.
//!
//! Code is written in two steps. [`lower`] turns the nodes of a graph into the operations that a language has, and
//! gives divisions that round as its own do. [`clike`] names what is used more than once, hoists what is
//! loop-invariant, and writes statements. MLIR has a writer of its own, since affine maps have no names for shared
//! parts.

mod clike;
mod cuda;
mod kernel;
pub(crate) mod language;
mod latex;
mod loops;
mod lower;
mod mlir;
mod nest;
mod order;
mod parts;
mod sized;
mod spread;

use crate::graph::{Expr, Graph};
use crate::index::IndexExpr;
use clike::{Root, Writer};
use language::Reason;
pub use language::{Language, UnknownLanguage, Unsupported};
use lower::{Dialect, Program};
pub use nest::Body;

impl Graph {
    /// Named expressions as code: what they share is computed once, under the names `t0`, `t1` and so on.
    ///
    /// All numbers are of one width, 32 bits if no intermediate value needs more and 64 otherwise. The variables may be of
    /// any integer type that holds their values: where 64 bits are needed and they may have fewer, they are cast. In C, CUDA, OpenCL and Metal a variable that is never negative is best unsigned,
    /// since its divisions and comparisons are cheaper then; the text is right for signed variables, too. The given
    /// names are signed. Divisions round down in every language. Names are printed as they are.
    ///
    /// In C and its relatives, whose division rounds towards zero, a dividend that can be negative is raised by a
    /// multiple of the divisor: an addition in place of a branch, which a constant that is there already absorbs. What
    /// is never negative is divided by a shift, or by a product and a shift where the product stays inside the type,
    /// which compilers cannot know.
    ///
    /// Cost: linear in the number of distinct expressions, except in MLIR, where shared parts are repeated.
    ///
    /// ```
    /// use indexpr::{Graph, Language, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", -7..100)?;
    /// let quotient = graph.parse("(x * 2 + 1) // 3", Syntax::Python)?;
    /// let remainder = graph.parse("(x * 2 + 1) % 3", Syntax::Python)?;
    /// let named = [("quotient", quotient), ("remainder", remainder)];
    /// assert_eq!(
    ///     graph.code(Language::C, &named)?,
    ///     "const unsigned t0 = x * 2 + 16;\n\
    ///      const unsigned t1 = (t0 * 171) >> 9;\n\
    ///      const int quotient = t1 - 5;\n\
    ///      const int remainder = t0 - t1 * 3;\n",
    /// );
    /// assert_eq!(
    ///     graph.code(Language::Python, &named)?,
    ///     "t0 = x * 2 + 1\nquotient = t0 // 3\nremainder = t0 % 3\n",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What the language has not: 64-bit integers in WGSL, and whatever is not affine in MLIR.
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn code(&self, language: Language, named: &[(&str, Expr)]) -> Result<String, Unsupported> {
        let variables: Vec<&str> = self.variables().iter().map(|variable| &variable.name[..]).collect();
        match language.dialect() {
            None => mlir::code(self, &variables, variables.len(), named),
            Some(Dialect::Latex) => latex::equations(self, named),
            Some(dialect) => {
                let exprs: Vec<Expr> = named.iter().map(|(_, expr)| *expr).collect();
                let (program, roots) = Program::new(self, &exprs, dialect)?;
                let roots: Vec<_> = named.iter().zip(roots).map(|((name, _), root)| Root::Named(name, root)).collect();
                let writer = Writer { program: &program, variables: &variables, levels: &[], foreign: true };
                Ok(writer.write(&roots).0.iter().map(|statement| format!("{}\n", statement.text)).collect())
            }
        }
    }
}

impl Graph {
    /// Numbers as the results of one affine map of MLIR, over all variables of the graph.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..16)?;
    /// graph.variable("j", 0..8)?;
    /// let results = [graph.parse("i // 4", Syntax::Python)?, graph.parse("j", Syntax::Python)?];
    /// assert_eq!(graph.affine_map(&results)?, "affine_map<(i, j) -> (i floordiv 4, j)>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What is not affine in MLIR.
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn affine_map(&self, results: &[Expr]) -> Result<String, Unsupported> {
        mlir::map(self, results)
    }
}

impl IndexExpr {
    /// Both expressions as code that defines `valid` and `index`, to be pasted where the variables are known.
    ///
    /// All numbers are of one width, 32 bits if no intermediate value needs more and 64 otherwise; the variables may be of
    /// any integer type ([`Graph::code`] says of which they are best). In MLIR it is an `affine_map` and an
    /// `affine_set`, in which [parameters](IndexExpr::parameters) are symbols, in LaTeX an equation.
    ///
    /// ```
    /// use indexpr::{Graph, IndexExpr, Language, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..4)?;
    /// graph.variable("j", 0..6)?;
    /// let index = graph.parse("i * 4 + j - 1", Syntax::Python)?;
    /// let valid = graph.parse("1 <= j < 5", Syntax::Python)?;
    /// let code = IndexExpr::new(graph, index, valid, [4, 6])?.code(Language::Rust)?;
    /// assert_eq!(code, "let valid: bool = (1..5).contains(&j);\nlet index: i32 = i * 4 + j - 1;\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What the language has not: 64-bit integers in WGSL, and whatever is not affine in MLIR.
    pub fn code(&self, language: Language) -> Result<String, Unsupported> {
        let named = [("valid", self.valid), ("index", self.index)];
        match language {
            Language::Mlir => {
                let names: Vec<&str> = self.graph.variables().iter().map(|variable| &variable.name[..]).collect();
                mlir::code(&self.graph, &names, self.extents.len(), &named)
            }
            Language::Latex => latex::address(self),
            _ => self.graph.code(language, &named),
        }
    }

    /// A complete kernel `gather` that fills `out` in the order of the loops (row-major) with what the index reads from
    /// a buffer of 32-bit floats; elements that read nothing are 0.
    ///
    /// In C and Rust it is a [`Nest`](crate::Nest): loops are split where that leaves no floor, a loop that decides where something is
    /// read has its edges beside its interior, and what is invariant in the inner loops is hoisted out of them. In Python it is a
    /// NumPy function of the buffer, which may be of any type. In CUDA, OpenCL, Metal and WGSL every thread writes one element:
    /// start at least as many threads as there are elements, in one dimension (in WGSL in one or two, 64 per workgroup; in CUDA
    /// in blocks of 256). The index comes from the loop variables, which are computed from the number of the thread, or from that
    /// number at once, whichever is cheaper by [`Cost`](crate::Cost).
    ///
    /// In CUDA a kernel of loops that run as often as numbers say may do with fewer threads, and says so in its first line. Where
    /// neighbours in the output are read with a step, and others side by side, as in a transposition, blocks of 256 threads move
    /// tiles of 32 x 32 elements through shared memory. Where fours of neighbours are read side by side from multiples of four,
    /// a thread moves four at once, and both buffers must begin at a multiple of 16 bytes, as what `cudaMalloc` returns does.
    ///
    /// [Parameters](IndexExpr::parameters) are arguments after the buffers, of the one width that all numbers have: in CUDA,
    /// OpenCL and Metal unsigned where they are never negative, in WGSL the members of a uniform buffer.
    ///
    /// ```
    /// use indexpr::{Graph, IndexExpr, Language, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..2)?;
    /// graph.variable("j", 0..3)?;
    /// let (index, valid) = (graph.parse("i + j * 2", Syntax::Python)?, graph.bool(true));
    /// assert_eq!(
    ///     IndexExpr::new(graph, index, valid, [2, 3])?.kernel(Language::Cuda)?,
    ///     "\
    /// extern \"C\" __global__ void gather(const float *__restrict__ in, float *__restrict__ out) {
    ///     const unsigned gid = blockIdx.x * blockDim.x + threadIdx.x;
    ///     if (gid >= 6u) return;
    ///     const int index = gid * 2 - ((gid * 3) >> 3) * 5;
    ///     out[gid] = in[index];
    /// }
    /// ",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A language without kernels (MLIR, LaTeX), numbers past 32 bits in WGSL, more elements than a grid of Metal has; an
    /// index that is known to [go below 0](IndexExpr::reading_from). Of an index of which that is not known it is the caller
    /// who answers for it that all that is read lies in the buffer.
    pub fn kernel(&self, language: Language) -> Result<String, Unsupported> {
        if self.lowest < 0 && language.has_kernels() {
            return Err(Reason::Before { language, lowest: self.lowest }.into());
        }
        self.writer.0.unwrap_or(kernel::kernel)(self, language)
    }
}
