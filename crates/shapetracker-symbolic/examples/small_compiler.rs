//! A small compiler: sums of products over tensors of any layout become loops in C, which are compiled, run, and compared with
//! plain loops. A size is a `Sym`, a number or a name; nothing below asks which.
//!
//! `cargo run -p shapetracker-symbolic --example small_compiler`

use std::process::{self, Command};
use std::{env, fs};

use indexpr::{Body, Clip, Language, Nest, Width};
use shapetracker_symbolic::{Error, ShapeTracker, Sym};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// A tensor in a kernel: how its buffer lies in memory, the layout that movement operations made of that, and the element that is
/// taken, for each axis as an expression over the loops.
struct Tensor {
    name: &'static str,
    buffer: ShapeTracker,
    layout: ShapeTracker,
    at: &'static [&'static str],
}

/// `out[..] = sum(product of the inputs)`, or minus infinity where a mask does not hold.
struct Kernel {
    name: &'static str,
    loops: Vec<(&'static str, Sym)>,
    reduced: Vec<(&'static str, Sym)>,
    inputs: Vec<Tensor>,
    out: Tensor,
    mask: Option<&'static str>,
}

impl Tensor {
    /// The tensor after movement operations.
    fn moved(mut self, by: impl Fn(&ShapeTracker) -> Result<ShapeTracker, Error>) -> Result<Tensor> {
        self.layout = by(&self.layout)?;
        Ok(self)
    }
}

/// A kernel as a function in C with its name and a number.
fn lower(kernel: &Kernel, number: usize) -> Result<String> {
    let mut nest = nest(kernel)?;
    // Axes that were joined become loops of their own, so that no division is left.
    let splits = nest.split_where_affine()?;
    if let Some(left) = splits.unserved.first() {
        return Err(format!("{}: {left}", kernel.name).into());
    }
    // Padding adds nothing to a sum: only what is inside is run.
    let inputs: Vec<&str> = kernel.inputs.iter().map(|tensor| tensor.name).collect();
    nest.clip(&inputs, Clip::Reduced)?;
    let product: Vec<String> = inputs.iter().map(|name| format!("{name}[{{{name}}}]")).collect();
    let mut result = "sum";
    if kernel.mask.is_some() {
        // A mask is true in one part of the innermost loop that is not reduced, and false in the other, where nothing is summed.
        nest.clip(&["mask"], Clip::Reduced)?;
        let inner = nest.loops().iter().rfind(|one| !one.is_reduced).ok_or("no loop")?.name.clone();
        nest.partition(&inner, &["mask"])?;
        result = "{mask?} ? sum : -INFINITY";
    }
    let body = Body::new(format!("sum += {};", product.join(" * ")))
        .before("float sum = 0;")
        .after(format!("out[{{out}}] = {result};"));
    let code = nest.code(Language::C, &body)?;

    let integer = if nest.width()? == Width::Bits32 { "int" } else { "long long" };
    let buffers = inputs.iter().map(|name| format!("const float *restrict {name}"));
    let names = nest.parameters().iter().map(|parameter| format!("{integer} {}", parameter.name));
    let arguments: Vec<String> = buffers.chain(["float *restrict out".into()]).chain(names).collect();
    Ok(format!(
        "/* splits: {} */\nstatic void {}_{number}({}) {{\n{code}}}\n",
        splits.text(nest.graph()),
        kernel.name,
        arguments.join(", "),
    ))
}

/// The loops of a kernel and its accesses.
fn nest(kernel: &Kernel) -> Result<Nest> {
    // The names are declared once; those of the trackers are the same.
    let loops = kernel.loops.iter().chain(&kernel.reduced);
    let (scope, _) = Sym::united("kernel", loops.clone().map(|(_, size)| size.clone()))?;
    let mut nest = Nest::new(scope.graph()?);
    for (at, (name, size)) in loops.enumerate() {
        let size = size.expr(nest.graph_mut())?;
        if at < kernel.loops.len() {
            nest.each(name, size)?
        } else {
            nest.reduce(name, size)?
        };
    }
    for tensor in kernel.inputs.iter().chain([&kernel.out]) {
        let axes = tensor.at.iter().map(|text| nest.parse(text)).collect::<Result<Vec<_>, _>>()?;
        if !tensor.layout.needs().is_empty() {
            return Err("a layout that is right for some values of the names only".into());
        }
        nest.read(tensor.name, &tensor.layout.index_expr()?, &axes)?;
    }
    if let Some(mask) = kernel.mask {
        let mask = nest.parse(mask)?;
        nest.guard("mask", mask)?;
    }
    Ok(nest)
}

// The programs.

/// A tensor that lies in memory in row-major order.
fn tensor(name: &'static str, shape: &[Sym], at: &'static [&'static str]) -> Result<Tensor> {
    let buffer = ShapeTracker::contiguous(shape.to_vec())?;
    Ok(Tensor { name, layout: buffer.clone(), buffer, at })
}

/// Rows of 24 numbers times a matrix that is stored transposed.
fn matmul(rows: Sym) -> Result<Kernel> {
    Ok(Kernel {
        name: "matmul",
        loops: vec![("i", rows.clone()), ("j", 40.into())],
        reduced: vec![("k", 24.into())],
        inputs: vec![
            tensor("a", &[rows.clone(), 24.into()], &["i", "k"])?,
            tensor("b", &[40.into(), 24.into()], &["k", "j"])?.moved(|b| b.permute([1, 0]))?,
        ],
        out: tensor("out", &[rows, 40.into()], &["i", "j"])?,
        mask: None,
    })
}

/// A convolution by 3 by 3 as a product of matrices: the windows of images of (3, 10, 8) with a border of zeros are the rows of one.
fn conv2d(images: Sym) -> Result<Kernel> {
    let (rows, shape) = (images.clone() * 80, [images.clone(), 3.into(), 10.into(), 8.into()]);
    let windows = |image: &ShapeTracker| {
        let border = [0, 0, 1, 1].map(|pad| (Sym::from(pad), Sym::from(pad)));
        let windows: [Sym; 6] = [images.clone(), 10.into(), 8.into(), 3.into(), 3.into(), 3.into()];
        image.pad(border)?.as_strided(windows, [360, 10, 1, 120, 10, 1], 0)?.reshape([rows.clone(), 27.into()])
    };
    let out = |image: &ShapeTracker| image.permute([0, 2, 1])?.reshape([rows.clone(), 4.into()]);
    Ok(Kernel {
        name: "conv2d",
        loops: vec![("p", rows.clone()), ("f", 4.into())],
        reduced: vec![("r", 27.into())],
        inputs: vec![
            tensor("image", &shape, &["p", "r"])?.moved(windows)?,
            tensor("filters", &[4.into(), 27.into()], &["f", "r"])?,
        ],
        out: tensor("out", &[images.clone(), 4.into(), 80.into()], &["p", "f"])?.moved(out)?,
        mask: None,
    })
}

/// Attention scores of 2 heads of 8 features: a token sees itself and those before it.
fn scores(tokens: Sym) -> Result<Kernel> {
    let heads = |x: &ShapeTracker| x.reshape([tokens.clone(), 2.into(), 8.into()])?.permute([1, 0, 2]);
    let shape = [tokens.clone(), 16.into()];
    Ok(Kernel {
        name: "scores",
        loops: vec![("h", 2.into()), ("i", tokens.clone()), ("j", tokens.clone())],
        reduced: vec![("d", 8.into())],
        inputs: vec![
            tensor("q", &shape, &["h", "i", "d"])?.moved(heads)?,
            tensor("k", &shape, &["h", "j", "d"])?.moved(heads)?,
        ],
        out: tensor("out", &[2.into(), tokens.clone(), tokens.clone()], &["h", "i", "j"])?,
        mask: Some("j <= i"),
    })
}

/// What 2 heads of 8 features give, side by side for each token, times a matrix.
fn projected(batch: Sym, tokens: Sym) -> Result<Kernel> {
    let rows = batch.clone() * &tokens;
    let merged = |x: &ShapeTracker| x.permute([0, 2, 1, 3])?.reshape([rows.clone(), 16.into()]);
    Ok(Kernel {
        name: "projected",
        loops: vec![("r", rows.clone()), ("e", 6.into())],
        reduced: vec![("c", 16.into())],
        inputs: vec![
            tensor("heads", &[batch.clone(), 2.into(), tokens.clone(), 8.into()], &["r", "c"])?.moved(merged)?,
            tensor("w", &[6.into(), 16.into()], &["e", "c"])?,
        ],
        out: tensor("out", &[rows.clone(), 6.into()], &["r", "e"])?,
        mask: None,
    })
}

// The same by plain loops.

/// Small integers, so that sums are exact in any order. The program in C has the same function.
fn filled(seed: usize, length: usize) -> Vec<f32> {
    (0..length).map(|at| ((at * 7 + seed * 5) % 11) as f32 - 5.0).collect()
}

fn plain_matmul(rows: usize) -> Vec<f32> {
    let (a, b) = (filled(0, rows * 24), filled(1, 40 * 24));
    let element = |i: usize, j: usize| (0..24).map(|k| a[i * 24 + k] * b[j * 24 + k]).sum();
    (0..rows * 40).map(|at| element(at / 40, at % 40)).collect()
}

fn plain_conv2d(images: usize) -> Vec<f32> {
    let (image, filters) = (filled(0, images * 240), filled(1, 4 * 27));
    let mut out = vec![0.0; images * 4 * 80];
    for (at, out) in out.iter_mut().enumerate() {
        let (n, f, y, x) = (at / 320, at / 80 % 4, at / 8 % 10, at % 8);
        for (c, dy, dx) in (0..27).map(|r| (r / 9, r / 3 % 3, r % 3)) {
            if (1..11).contains(&(y + dy)) && (1..9).contains(&(x + dx)) {
                let pixel = image[n * 240 + c * 80 + (y + dy - 1) * 8 + x + dx - 1];
                *out += pixel * filters[f * 27 + c * 9 + dy * 3 + dx];
            }
        }
    }
    out
}

fn plain_scores(tokens: usize) -> Vec<f32> {
    let (q, k) = (filled(0, tokens * 16), filled(1, tokens * 16));
    let element = |h: usize, i: usize, j: usize| match j <= i {
        true => (0..8).map(|d| q[i * 16 + h * 8 + d] * k[j * 16 + h * 8 + d]).sum(),
        false => f32::NEG_INFINITY,
    };
    let all = 0..2 * tokens * tokens;
    all.map(|at| element(at / tokens / tokens, at / tokens % tokens, at % tokens)).collect()
}

fn plain_projected(batch: usize, tokens: usize) -> Vec<f32> {
    let (heads, w) = (filled(0, batch * tokens * 16), filled(1, 6 * 16));
    let feature = |b: usize, t: usize, c: usize| heads[((b * 2 + c / 8) * tokens + t) * 8 + c % 8];
    let element = |b: usize, t: usize, e: usize| (0..16).map(|c| feature(b, t, c) * w[e * 16 + c]).sum();
    (0..batch * tokens * 6).map(|at| element(at / 6 / tokens, at / 6 % tokens, at % 6)).collect()
}

const HEAD: &str = "\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static float *filled(long seed, long length) {
    float *all = malloc(length * sizeof *all);
    for (long at = 0; at < length; ++at) all[at] = (at * 7 + seed * 5) % 11 - 5;
    return all;
}
";

/// Lines of C that call a kernel and print what it has computed.
fn call(kernel: &Kernel, number: usize, values: &[(&str, i64)]) -> Result<String> {
    let mut arguments = String::new();
    let length = |tensor: &Tensor| tensor.buffer.at(values.iter().copied()).map(|buffer| buffer.numel());
    for (seed, tensor) in kernel.inputs.iter().enumerate() {
        arguments += &format!("filled({seed}, {}), ", length(tensor)?);
    }
    let values: String = values.iter().map(|(_, value)| format!(", {value}")).collect();
    let (name, length) = (kernel.name, length(&kernel.out)?);
    Ok(format!(
        "    out = filled(0, {length});\n    {name}_{number}({arguments}out{values});\n    \
         for (long at = 0; at < {length}; ++at) printf(\"%g \", out[at]);\n    puts(\"\");\n"
    ))
}

fn main() -> Result<()> {
    let name = |name| Sym::new(name, 1..1025);
    let runs = [
        (matmul(5.into())?, vec![], plain_matmul(5)),
        (matmul(name("M"))?, vec![("M", 5)], plain_matmul(5)),
        (conv2d(2.into())?, vec![], plain_conv2d(2)),
        (conv2d(name("N"))?, vec![("N", 3)], plain_conv2d(3)),
        (scores(7.into())?, vec![], plain_scores(7)),
        (scores(name("T"))?, vec![("T", 9)], plain_scores(9)),
        (projected(3.into(), 5.into())?, vec![], plain_projected(3, 5)),
        (projected(name("B"), name("T"))?, vec![("B", 2), ("T", 7)], plain_projected(2, 7)),
    ];
    let (mut program, mut calls) = (HEAD.to_owned(), String::new());
    for (number, (kernel, values, _)) in runs.iter().enumerate() {
        program += &lower(kernel, number)?;
        calls += &call(kernel, number, values)?;
    }
    println!("{program}");
    program += &format!("int main(void) {{\n    float *out;\n{calls}    return 0;\n}}\n");

    if Command::new("cc").arg("--version").output().is_err() {
        println!("There is no `cc`, so that nothing was run.");
        return Ok(());
    }
    let folder = env::temp_dir().join(format!("small-compiler-{}", process::id()));
    fs::create_dir_all(&folder)?;
    let (source, binary) = (folder.join("kernels.c"), folder.join("kernels"));
    fs::write(&source, program)?;
    assert!(Command::new("cc").args(["-std=c11", "-O1", "-o"]).arg(&binary).arg(&source).status()?.success());
    let printed = String::from_utf8(Command::new(&binary).output()?.stdout)?;
    fs::remove_dir_all(folder)?;
    assert_eq!(printed.lines().count(), runs.len());
    for ((kernel, values, expected), line) in runs.iter().zip(printed.lines()) {
        let found = line.split_whitespace().map(str::parse).collect::<Result<Vec<f32>, _>>()?;
        assert_eq!(found, *expected, "{} {values:?}", kernel.name);
        println!("{} {values:?}: {} elements are right", kernel.name, found.len());
    }
    Ok(())
}
