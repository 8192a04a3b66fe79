//! Kernels of real programs as nests: what the benchmarks of nests measure.

use indexpr::{Body, Clip, Graph, IndexExpr, Language, Nest, Width};
use shapetracker_symbolic::{Error, ShapeTracker, Sym};

pub(crate) type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// A tensor in a kernel, after movement operations: the element that is taken, for each axis as an expression over the loops.
struct Tensor {
    name: &'static str,
    layout: ShapeTracker,
    at: &'static [&'static str],
}

/// `out[..] = sum(product of the factors) + the summands`, or minus infinity where a mask does not hold.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    loops: Vec<(&'static str, Sym)>,
    reduced: Vec<(&'static str, Sym)>,
    factors: Vec<Tensor>,
    summands: Vec<Tensor>,
    out: Tensor,
    mask: Option<&'static str>,
}

/// What a nest is made of: texts of sizes, and the index of each tensor in its own loops.
pub(crate) struct Prepared {
    parameters: Vec<(String, i64, i64)>,
    loops: Vec<(&'static str, String, bool)>,
    accesses: Vec<(&'static str, IndexExpr, &'static [&'static str])>,
    factors: Vec<&'static str>,
    mask: Option<&'static str>,
    body: Body,
}

impl Program {
    /// Sizes as texts, and the indices that the trackers give.
    pub(crate) fn prepared(&self) -> Result<Prepared> {
        let loops = self.loops.iter().map(|one| (one, false)).chain(self.reduced.iter().map(|one| (one, true)));
        let (scope, _) = Sym::united("program", loops.clone().map(|((_, size), _)| size.clone()))?;
        let mut parameters = Vec::new();
        for name in scope.names() {
            let (Some(low), Some(high)) = (name.lo, name.hi) else { return Err("a name needs two ends".into()) };
            parameters.push((name.name.to_string(), i64::try_from(low)?, i64::try_from(high)?));
        }
        let mut accesses = Vec::new();
        for tensor in self.factors.iter().chain(&self.summands).chain([&self.out]) {
            accesses.push((tensor.name, tensor.layout.index_expr()?, tensor.at));
        }
        let of = |tensor: &Tensor| format!("{0}[{{{0}}}]", tensor.name);
        let product: Vec<String> = self.factors.iter().map(of).collect();
        let added: String = self.summands.iter().map(|tensor| format!(" + {}", of(tensor))).collect();
        let masked = if self.mask.is_some() { "{mask?} ? " } else { "" };
        let other = if self.mask.is_some() { " : -INFINITY" } else { "" };
        let body = match self.factors.is_empty() {
            true => Body::new(format!("out[{{out}}] = {};", added.trim_start_matches(" + "))),
            false => Body::new(format!("sum += {};", product.join(" * ")))
                .before("float sum = 0;")
                .after(format!("out[{{out}}] = {masked}sum{added}{other};")),
        };
        Ok(Prepared {
            parameters,
            loops: loops.map(|((name, size), is_reduced)| (*name, size.to_string(), is_reduced)).collect(),
            accesses,
            factors: self.factors.iter().map(|tensor| tensor.name).collect(),
            mask: self.mask,
            body,
        })
    }
}

impl Prepared {
    /// The nest with all accesses.
    pub(crate) fn nest(&self) -> Result<Nest> {
        let mut graph = Graph::new();
        for (name, low, high) in &self.parameters {
            graph.variable(name, *low..high + 1)?;
        }
        let mut nest = Nest::new(graph);
        for (name, size, is_reduced) in &self.loops {
            let size = nest.parse(size)?;
            if *is_reduced {
                nest.reduce(name, size)?
            } else {
                nest.each(name, size)?
            };
        }
        for (name, code, at) in &self.accesses {
            let axes = at.iter().map(|text| nest.parse(text)).collect::<Result<Vec<_>, _>>()?;
            nest.read(name, code, &axes)?;
        }
        if let Some(mask) = self.mask {
            let mask = nest.parse(mask)?;
            nest.guard("mask", mask)?;
        }
        Ok(nest)
    }

    /// Splits what is merged, and has guards shorten the sums. What is only moved may run over any shape.
    pub(crate) fn lowered(&self, nest: &mut Nest) -> Result<()> {
        if self.loops.iter().all(|(_, _, is_reduced)| !is_reduced) {
            nest.fuse(&self.loops.iter().map(|one| one.0).collect::<Vec<_>>(), "all")?;
        }
        let splits = nest.split_where_affine()?;
        if let Some(left) = splits.unserved.first() {
            return Err(left.to_string().into());
        }
        nest.clip(&self.factors, Clip::Reduced)?;
        if self.mask.is_some() {
            nest.clip(&["mask"], Clip::Reduced)?;
            let inner = nest.loops().iter().rfind(|one| !one.is_reduced).ok_or("no loop")?.name.clone();
            nest.partition(&inner, &["mask"])?;
        }
        Ok(())
    }

    /// The loops in C.
    pub(crate) fn code(&self, nest: &Nest) -> Result<String> {
        Ok(nest.code(Language::C, &self.body)?)
    }

    /// A function in C, from the layouts to its text.
    pub(crate) fn function(&self, name: &str) -> Result<String> {
        let mut nest = self.nest()?;
        self.lowered(&mut nest)?;
        let integer = if nest.width()? == Width::Bits32 { "int" } else { "long long" };
        let buffers = self.accesses.iter().filter(|(name, ..)| *name != "out");
        let buffers = buffers.map(|(name, ..)| format!("const float *restrict {name}"));
        let names = self.parameters.iter().map(|(name, ..)| format!("{integer} {name}"));
        let arguments: Vec<String> = buffers.chain(["float *restrict out".into()]).chain(names).collect();
        Ok(format!("void {name}({}) {{\n{}}}\n", arguments.join(", "), self.code(&nest)?))
    }
}

fn tensor(name: &'static str, layout: Result<ShapeTracker, Error>, at: &'static [&'static str]) -> Result<Tensor> {
    Ok(Tensor { name, layout: layout?, at })
}

fn row_major(shape: &[&Sym]) -> Result<ShapeTracker, Error> {
    ShapeTracker::contiguous(shape.iter().map(|size| (*size).clone()).collect::<Vec<Sym>>())
}

/// A layer of a perceptron: rows of 24 numbers times a matrix that is stored transposed. `more` is how many times as many columns
/// there are.
pub(crate) fn matmul(rows: Sym, more: i64) -> Result<Program> {
    let (columns, sum) = (Sym::from(40 * more), Sym::from(24));
    Ok(Program {
        name: "matmul",
        loops: vec![("i", rows.clone()), ("j", columns.clone())],
        reduced: vec![("k", sum.clone())],
        factors: vec![
            tensor("a", row_major(&[&rows, &sum]), &["i", "k"])?,
            tensor("b", row_major(&[&columns, &sum])?.permute([1, 0]), &["k", "j"])?,
        ],
        summands: vec![
            tensor("bias", row_major(&[&columns]), &["j"])?,
            tensor("old", row_major(&[&rows, &columns]), &["i", "j"])?,
        ],
        out: tensor("out", row_major(&[&rows, &columns]), &["i", "j"])?,
        mask: None,
    })
}

/// Windows of 3 by 3 over images of 3 channels with a border of zeros.
pub(crate) fn convolution(images: Sym, more: i64) -> Result<Program> {
    let (channels, filters, height, width) = (Sym::from(3), Sym::from(4), Sym::from(20 * more), Sym::from(18 * more));
    let (taps, both) = (Sym::from(3), [0, 0, 1, 1].map(|pad| (Sym::from(pad), Sym::from(pad))));
    let output = [&images, &filters, &height, &width];
    Ok(Program {
        name: "convolution",
        loops: ["n", "f", "y", "x"].into_iter().zip(output.map(Sym::clone)).collect(),
        reduced: vec![("c", channels.clone()), ("dy", taps.clone()), ("dx", taps.clone())],
        factors: vec![
            tensor(
                "image",
                row_major(&[&images, &channels, &height, &width])?.pad(both),
                &["n", "c", "y + dy", "x + dx"],
            )?,
            tensor("filters", row_major(&[&filters, &channels, &taps, &taps]), &["f", "c", "dy", "dx"])?,
        ],
        summands: vec![
            tensor("bias", row_major(&[&filters]), &["f"])?,
            tensor("old", row_major(&output), &["n", "f", "y", "x"])?,
        ],
        out: tensor("out", row_major(&output), &["n", "f", "y", "x"])?,
        mask: None,
    })
}

/// Scores of 2 heads of 8 features: a token sees itself and those before it.
pub(crate) fn attention(tokens: Sym, more: i64) -> Result<Program> {
    let (heads, features, all) = (Sym::from(2 * more), Sym::from(8), Sym::from(16 * more));
    let split = |x: ShapeTracker| x.reshape([tokens.clone(), heads.clone(), features.clone()])?.permute([1, 0, 2]);
    let output = [&heads, &tokens, &tokens];
    Ok(Program {
        name: "attention",
        loops: vec![("h", heads.clone()), ("i", tokens.clone()), ("j", tokens.clone())],
        reduced: vec![("d", features.clone())],
        factors: vec![
            tensor("q", split(row_major(&[&tokens, &all])?), &["h", "i", "d"])?,
            tensor("k", split(row_major(&[&tokens, &all])?), &["h", "j", "d"])?,
        ],
        summands: vec![
            tensor("slope", row_major(&[&heads]), &["h"])?,
            tensor("old", row_major(&output), &["h", "i", "j"])?,
        ],
        out: tensor("out", row_major(&output), &["h", "i", "j"])?,
        mask: Some("j <= i"),
    })
}

/// What 2 heads of 8 features give, side by side for each token, times a matrix.
pub(crate) fn projection(batch: Sym, tokens: Sym, more: i64) -> Result<Program> {
    let rows = batch.clone() * &tokens;
    let (heads, features, merged, columns) = (Sym::from(2), Sym::from(8), Sym::from(16), Sym::from(6 * more));
    let layout = row_major(&[&batch, &heads, &tokens, &features])?.permute([0, 2, 1, 3])?;
    Ok(Program {
        name: "projection",
        loops: vec![("r", rows.clone()), ("e", columns.clone())],
        reduced: vec![("c", merged.clone())],
        factors: vec![
            tensor("heads", layout.reshape([rows.clone(), merged.clone()]), &["r", "c"])?,
            tensor("w", row_major(&[&columns, &merged]), &["e", "c"])?,
        ],
        summands: vec![
            tensor("bias", row_major(&[&columns]), &["e"])?,
            tensor("old", row_major(&[&rows, &columns]), &["r", "e"])?,
        ],
        out: tensor("out", row_major(&[&rows, &columns]), &["r", "e"])?,
        mask: None,
    })
}

/// The same convolution as a product of matrices: the windows of the images with their border are the rows of one.
pub(crate) fn im2col(images: Sym, more: i64) -> Result<Program> {
    let (height, width) = (10 * more, 8 * more);
    let (pixels, rows) = (Sym::from(height * width), images.clone() * (height * width));
    let border = [0, 0, 1, 1].map(|pad| (Sym::from(pad), Sym::from(pad)));
    let windows: [Sym; 6] = [images.clone(), height.into(), width.into(), 3.into(), 3.into(), 3.into()];
    let (row, plane) = (width + 2, (height + 2) * (width + 2));
    let image = row_major(&[&images, &3.into(), &height.into(), &width.into()])?.pad(border)?;
    let image = image.as_strided(windows, [3 * plane, row, 1, plane, row, 1], 0)?.reshape([rows.clone(), 27.into()]);
    let out = || row_major(&[&images, &4.into(), &pixels])?.permute([0, 2, 1])?.reshape([rows.clone(), 4.into()]);
    Ok(Program {
        name: "im2col",
        loops: vec![("p", rows.clone()), ("f", 4.into())],
        reduced: vec![("r", 27.into())],
        factors: vec![
            tensor("image", image, &["p", "r"])?,
            tensor("filters", row_major(&[&4.into(), &27.into()]), &["f", "r"])?,
        ],
        summands: vec![tensor("bias", row_major(&[&4.into()]), &["f"])?, tensor("old", out(), &["p", "f"])?],
        out: tensor("out", out(), &["p", "f"])?,
        mask: None,
    })
}

/// The transpose of a matrix under another shape, copied.
pub(crate) fn transposed() -> Result<Program> {
    let (rows, columns, merged) = (Sym::from(96), Sym::from(80), Sym::from(80 * 96));
    Ok(Program {
        name: "transposed",
        loops: vec![("i", Sym::from(320)), ("j", Sym::from(24))],
        reduced: vec![],
        factors: vec![],
        summands: vec![tensor(
            "x",
            row_major(&[&rows, &columns])?.permute([1, 0])?.reshape([Sym::from(320), Sym::from(24)]),
            &["i", "j"],
        )?],
        out: tensor("out", row_major(&[&merged])?.reshape([Sym::from(320), Sym::from(24)]), &["i", "j"])?,
        mask: None,
    })
}
