//! The languages that code is written in, and what they do not have.

use std::fmt;
use std::str::FromStr;

use shapetracker_base::text::{nearest, quoted};

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
    pub(super) fn names(self) -> &'static [&'static str] {
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

    /// Whether [`IndexExpr::kernel`] writes kernels in this language.
    pub(super) fn has_kernels(self) -> bool {
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
pub(super) enum Reason {
    /// What was wrong with a nest or its body: written where it is found.
    #[error("{0}")]
    Nest(Box<str>),
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

impl From<crate::nest::Mistake> for Reason {
    fn from(mistake: crate::nest::Mistake) -> Reason {
        Reason::Nest(mistake.to_string().into())
    }
}

impl From<crate::error::Error> for Reason {
    fn from(error: crate::error::Error) -> Reason {
        Reason::Nest(error.to_string().into())
    }
}
