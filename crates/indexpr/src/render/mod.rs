//! Expressions in the languages that compilers emit.
//!
//! Code is written in two steps. [`lower`] turns the nodes of a graph into the operations that a language has, and
//! gives divisions that round as its own do. [`clike`] names what is used more than once, hoists what is
//! loop-invariant, and writes statements. MLIR has a writer of its own, since affine maps have no names for shared
//! parts.

mod clike;
mod cuda;
mod kernel;
mod latex;
mod lower;
mod mlir;
mod order;
mod parts;
mod sized;
mod spread;

use std::fmt;
use std::str::FromStr;

use crate::graph::{Expr, Graph};
use crate::index::IndexExpr;
use crate::text::{nearest, quoted};
use clike::{Root, Writer};
use lower::{Dialect, Program};

/// A language that expressions and kernels are written in.
///
/// ```
/// use indexpr::Language;
///
/// assert_eq!("cuda".parse(), Ok(Language::Cuda));
/// assert_eq!(Language::Cuda.to_string(), "cuda");
/// assert_eq!(
///     "rost".parse::<Language>().unwrap_err().to_string(),
///     "there is no language `rost`: did you mean `rust`?",
/// );
/// assert!(Language::ALL.contains(&Language::Mlir));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// Python 3; kernels use NumPy.
    Python,
    /// C99 and later.
    C,
    /// CUDA C++.
    Cuda,
    /// OpenCL C.
    OpenCl,
    /// The Metal shading language.
    Metal,
    /// The WebGPU shading language, which has no 64-bit integers.
    Wgsl,
    /// Rust.
    Rust,
    /// MLIR's `affine_map` and `affine_set`, for what is affine.
    Mlir,
    /// Mathematics, for papers and notebooks.
    Latex,
}

impl Language {
    /// All languages.
    pub const ALL: &'static [Language] = &[
        Language::Python,
        Language::C,
        Language::Cuda,
        Language::OpenCl,
        Language::Metal,
        Language::Wgsl,
        Language::Rust,
        Language::Mlir,
        Language::Latex,
    ];

    /// The names by which a language is known; the first is printed.
    fn names(self) -> &'static [&'static str] {
        match self {
            Language::Python => &["python", "py", "numpy"],
            Language::C => &["c"],
            Language::Cuda => &["cuda", "cu"],
            Language::OpenCl => &["opencl", "cl"],
            Language::Metal => &["metal", "msl"],
            Language::Wgsl => &["wgsl", "webgpu"],
            Language::Rust => &["rust", "rs"],
            Language::Mlir => &["mlir"],
            Language::Latex => &["latex", "tex"],
        }
    }

    /// What begins a comment that goes up to the end of the line.
    ///
    /// ```
    /// assert_eq!(indexpr::Language::Python.comment(), "#");
    /// ```
    pub const fn comment(self) -> &'static str {
        match self {
            Language::Python => "#",
            Language::Latex => "%",
            _ => "//",
        }
    }

    /// The dialect in which expressions are written, for a language whose expressions look like those of C.
    fn dialect(self) -> Option<Dialect> {
        match self {
            Language::Python => Some(Dialect::Python),
            Language::C => Some(Dialect::C),
            Language::Cuda => Some(Dialect::Cuda),
            Language::OpenCl => Some(Dialect::OpenCl),
            Language::Metal => Some(Dialect::Metal),
            Language::Wgsl => Some(Dialect::Wgsl),
            Language::Rust => Some(Dialect::Rust),
            Language::Latex => Some(Dialect::Latex),
            Language::Mlir => None,
        }
    }

    /// Whether [`IndexExpr::kernel`] writes kernels in this language.
    fn has_kernels(self) -> bool {
        !matches!(self, Language::Mlir | Language::Latex)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.names()[0])
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Language, UnknownLanguage> {
        let name = text.to_ascii_lowercase();
        let named = Language::ALL.iter().copied().find(|language| language.names().contains(&&name[..]));
        named.ok_or_else(|| UnknownLanguage(text.chars().take(40).collect()))
    }
}

/// The name of a language that there is no code in.
///
/// ```
/// let err = "fortran".parse::<indexpr::Language>().unwrap_err();
/// assert_eq!(
///     err.to_string(),
///     "there is no language `fortran`; there are python, c, cuda, opencl, metal, wgsl, rust, mlir, latex",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLanguage(Box<str>);

impl fmt::Display for UnknownLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no language {}", quoted(&self.0))?;
        match nearest(&self.0, Language::ALL.iter().flat_map(|language| language.names()).copied()) {
            Some(meant) => write!(f, ": did you mean `{meant}`?"),
            None => write!(
                f,
                "; there are {}",
                Language::ALL.iter().map(Language::to_string).collect::<Vec<_>>().join(", ")
            ),
        }
    }
}

impl std::error::Error for UnknownLanguage {}

/// Why an expression cannot be written in a language: what it has that the language has not, and what would work.
///
/// ```
/// use indexpr::{Graph, Language, Syntax};
///
/// let mut graph = Graph::new();
/// graph.variable("row", 0..2)?;
/// let far = graph.parse("row * 5999999999", Syntax::Python)?;
/// assert_eq!(
///     graph.code(Language::Wgsl, &[("index", far)]).unwrap_err().to_string(),
///     "wgsl: its integers have 32 bits, and a value ranges from 0 to 5999999999; \
///      move the start of the buffer or split the tensor so that all values fit",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Unsupported(#[from] Reason);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error(
        "wgsl: its integers have 32 bits, and a value ranges from {low} to {high}; \
         move the start of the buffer or split the tensor so that all values fit"
    )]
    Narrow { low: i64, high: i64 },
    #[error(
        "{language}: the sizes that the ranges of the parameters allow are past 64-bit integers; give the parameters \
         smaller ranges"
    )]
    Sizes { language: Language },
    #[error(
        "{language}: a kernel would read from address {lowest} on, {before} before the beginning of its buffer; with an \
         offset that is {before} more it reads from there", before = .lowest.unsigned_abs()
    )]
    Before { language: Language, lowest: i64 },
    #[error("{language}: {elements} elements are more than the {most} that one grid can have; split the tensor")]
    Grid { language: Language, elements: i64, most: i64 },
    #[error(
        "{language}: there are no kernels in this language; `code` gives the expressions, and the kernels are in {}",
        Language::ALL.iter().filter(|language| language.has_kernels()).map(|language| language.to_string())
            .collect::<Vec<_>>().join(", ")
    )]
    NoKernel { language: Language },
    #[error("mlir: {what} is not affine; {instead}")]
    NotAffine { what: &'static str, instead: &'static str },
    #[error(
        "mlir: affine expressions cannot share parts, and written out this one has more than {most} operations; \
         simplify it, or choose a language with variables"
    )]
    TooLong { most: usize },
}

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

/// What writes the kernel of an [`IndexExpr`] in one language: nothing for the ordinary one, so that a program that makes
/// expressions and writes no kernels, as the explorer's engine, is linked without what writes them.
#[derive(Clone, Copy)]
pub(crate) struct KernelWriter(Option<WriteKernel>);

/// A function that writes a kernel in a language.
type WriteKernel = fn(&IndexExpr, Language) -> Result<String, Unsupported>;

impl KernelWriter {
    /// Loops that run as often as numbers say.
    pub(crate) const PLAIN: KernelWriter = KernelWriter(None);
    /// Loops that run as often as arguments say.
    pub(crate) const SIZED: KernelWriter = KernelWriter(Some(sized::kernel));
}

impl fmt::Debug for KernelWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KernelWriter")
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
    /// In C and Rust it is a loop nest, and what is invariant in the inner loops is hoisted out of them. In Python it is a
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
