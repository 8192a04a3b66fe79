//! Nests that compilers write, as somebody read them.

use indexpr::{Body, Clip, Graph, Language, Nest, Signedness};

/// A padded convolution over rows: 56 rows, 3 taps, an edge of one row on each side.
fn convolution() -> Nest {
    let mut nest = Nest::new(Graph::new());
    nest.each("h", 56).unwrap();
    nest.reduce("r", 3).unwrap();
    let (x, inside) = (nest.parse("(h + r - 1) * 64").unwrap(), nest.parse("1 <= h + r < 57").unwrap());
    let [w, y] = ["r", "h"].map(|text| nest.parse(text).unwrap());
    nest.access("x", x, Some(inside)).unwrap();
    nest.access("w", w, None).unwrap();
    nest.access("y", y, None).unwrap();
    nest
}

/// Loops in all languages.
#[test]
fn a_convolution_is_clipped_in_every_language() {
    let mut nest = convolution();
    nest.clip(&["x"], Clip::Reduced).unwrap();
    let code = |language, body: &str| nest.code(language, &Body::new(body)).unwrap();
    let python = "\
for h in range(56):
    t0 = h - 1
    t1 = max(1 - h, 0)
    t2 = min(57 - h, 3)
    for r in range(t1, t2):
        index_x = (t0 + r) * 64
        y[h] += x[index_x] * w[r]
";
    assert_eq!(code(Language::Python, "y[{h}] += x[{x}] * w[{r}]"), python);
    let wgsl = "\
for (var h: i32 = 0; h < 56; h++) {
    let t0: i32 = h - 1;
    let t1: i32 = max(1 - h, 0);
    let t2: i32 = min(57 - h, 3);
    for (var r: i32 = t1; r < t2; r++) {
        let index_x: i32 = (t0 + r) * 64;
        y[h] += x[index_x] * w[r];
    }
}
";
    assert_eq!(code(Language::Wgsl, "y[{h}] += x[{x}] * w[{r}];"), wgsl);
    let mlir = "\
affine.for %h = 0 to 56 {
    affine.for %r = max affine_map<(h) -> (1 - h, 0)>(%h) to min affine_map<(h) -> (57 - h, 3)>(%h) {
        %index_x = affine.apply affine_map<(h, r) -> ((h + r - 1) * 64)>(%h, %r)
        %v = affine.load %x[%index_x]
    }
}
";
    assert_eq!(code(Language::Mlir, "%v = affine.load %x[{x}]"), mlir);
    let c = code(Language::C, "y[{h}] += x[{x}] * w[{r}];");
    for language in [Language::Cuda, Language::OpenCl, Language::Metal] {
        assert_eq!(code(language, "y[{h}] += x[{x}] * w[{r}];"), c);
    }
    nest.set_signedness(Signedness::Unsigned);
    let opencl = nest.code(Language::OpenCl, &Body::new("f({h});")).unwrap();
    assert!(opencl.starts_with("for (uint h = 0; h < 56; ++h) {\n"), "{opencl}");
    let refused = nest.code(Language::Latex, &Body::new("")).unwrap_err();
    assert_eq!(refused.to_string(), "latex: there are no loops in this language");
}

/// Most of the rows have neither a condition nor a bound that is not a number.
#[test]
fn a_convolution_has_an_interior_without_conditions() {
    let mut nest = convolution();
    nest.partition("h", &["x"]).unwrap();
    let body = "y[{y}] += ({x?} ? x[{x}] : 0) * w[{w}];";
    let code = nest.code(Language::C, &Body::new(body)).unwrap();
    let interior = "\
for (int h = 1; h < 55; ++h) {
    const int t0 = h - 1;
    const int index_y = h;
    for (int r = 0; r < 3; ++r) {
        const int index_x = (t0 + r) * 64;
        const int index_w = r;
        y[index_y] += (1 ? x[index_x] : 0) * w[index_w];
    }
}
";
    assert!(code.contains(interior), "{code}");
    assert_eq!(code.matches("for (int h").count(), 3, "{code}");
}

/// A causal mask, and a band of it.
#[test]
fn masks_of_triangles_and_bands_are_bounds() {
    let mut graph = Graph::new();
    let n = graph.variable("n", 1..4097).unwrap();
    let mut nest = Nest::new(graph);
    nest.each("i", n).unwrap();
    nest.each("j", n).unwrap();
    let (index, causal) = (nest.parse("i * n + j").unwrap(), nest.parse("j <= i and i - j < 128").unwrap());
    nest.access("s", index, Some(causal)).unwrap();
    nest.clip(&["s"], Clip::All).unwrap();
    let code = nest.code(Language::Rust, &Body::new("s[{s} as usize] += 1.0;")).unwrap();
    let expected = "\
for i in 0..n {
    let t0: i32 = n * i;
    let t1: i32 = n.min(i + 1);
    let t2: i32 = (i - 127).max(0);
    for j in t2..t1 {
        let index_s: i32 = t0 + j;
        s[index_s as usize] += 1.0;
    }
}
";
    assert_eq!(code, expected);
}

/// Scores of attention under a causal mask: two loops, and a sum.
fn scores() -> Nest {
    let mut nest = Nest::new(Graph::new());
    nest.each("i", 8).unwrap();
    nest.each("j", 8).unwrap();
    nest.reduce("d", 4).unwrap();
    let [address, mask, s] = ["i * 4 + d", "j <= i", "i * 8 + j"].map(|text| nest.parse(text).unwrap());
    nest.access("q", address, Some(mask)).unwrap();
    nest.access("s", s, None).unwrap();
    nest
}

/// Of a loop that is run in parts the mask is true in one and false in the other.
#[test]
fn a_mask_is_false_in_the_edges_that_it_makes() {
    let mut nest = scores();
    nest.partition("j", &["q"]).unwrap();
    let body = Body::new("").after("s[{s}] = {q?};");
    let code = nest.code(Language::C, &body).unwrap();
    let lines: Vec<&str> = code.lines().map(str::trim).filter(|line| line.starts_with("s[")).collect();
    assert_eq!(lines, ["s[index_s] = 1;", "s[index_s] = 0;"], "{code}");
    // Two masks: where one of them fails the other may hold.
    let second = nest.parse("j >= 2").unwrap();
    nest.guard("m", second).unwrap();
    nest.partition("j", &["q", "m"]).unwrap();
    let code = nest.code(Language::C, &body).unwrap();
    assert!(code.contains("valid_q = j <= i"), "{code}");
}

/// What is done for each element may ask for a guard that the reduced loops are bounded by, if it is known there.
#[test]
fn a_guard_is_what_it_is_around_the_loops_that_it_shortens() {
    let mut nest = scores();
    nest.clip(&["q"], Clip::Reduced).unwrap();
    let body = Body::new("sum += q[{q}]; f({q?});").before("sum = 0;").after("s[{s}] = {q?} ? sum : -1;");
    let code = nest.code(Language::C, &body).unwrap();
    let inside = "\
        const int valid_q = i >= j;
        const int index_s = t1 + j;
        sum = 0;
        if (valid_q) {
            for (int d = 0; d < 4; ++d) {
                const int index_q = t0 + d;
                sum += q[index_q]; f(1);
            }
        }
        s[index_s] = valid_q ? sum : -1;
";
    assert!(code.contains(inside), "{code}");
    // Where all loops are shortened it holds for each element that there is.
    nest.clip(&["q"], Clip::All).unwrap();
    let code = nest.code(Language::C, &body).unwrap();
    assert!(code.contains("s[index_s] = 1 ? sum : -1;"), "{code}");
    // The guard of a convolution is about the taps.
    let mut nest = convolution();
    nest.clip(&["x"], Clip::Reduced).unwrap();
    assert_eq!(
        nest.code(Language::C, &Body::new("").after("f({x?});")).unwrap_err().to_string(),
        "body: `x` depends on `r`, a loop inside of which it does not stand"
    );
}

/// Where a mask fails nothing is summed, and there is no loop that would: neither in the text nor in the levels.
#[test]
fn what_never_runs_is_left_out() {
    let mut nest = scores();
    nest.clip(&["q"], Clip::Reduced).unwrap();
    nest.partition("j", &["q"]).unwrap();
    let body = Body::new("sum += q[{q}];").before("sum = 0;").after("s[{s}] = {q?} ? sum : -1;");
    let code = nest.code(Language::C, &body).unwrap();
    let edge = "\
    for (int j = t2; j < 8; ++j) {
        const int index_s = t1 + j;
        sum = 0;
        s[index_s] = 0 ? sum : -1;
    }
";
    assert!(code.contains(edge) && !code.contains("if (0)") && code.matches("sum +=").count() == 1, "{code}");
    let innermost = |nest: &Nest| nest.levels().unwrap().all().iter().filter(|level| level.is_innermost).count();
    assert_eq!(innermost(&nest), 1);
    // Without lines around the sum its loops go, too.
    let code = nest.code(Language::C, &Body::new("sum += q[{q}];")).unwrap();
    assert_eq!(code.matches("for (int j").count(), 1, "{code}");
    // Loops of size 0, and a name that nothing has all the same.
    let mut nest = Nest::new(Graph::new());
    nest.each("i", 4).unwrap();
    nest.each("none", 0).unwrap();
    assert_eq!(nest.levels().unwrap().all().len(), 1);
    assert_eq!(nest.code(Language::C, &Body::new("f({i});")).unwrap(), "");
    assert_eq!(
        nest.code(Language::C, &Body::new("f({k});")).unwrap_err().to_string(),
        "body: nothing is called `k`; there are `i`, `none`"
    );
    // A sum of nothing is there for each element.
    let mut nest = Nest::new(Graph::new());
    nest.each("i", 4).unwrap();
    nest.reduce("none", 0).unwrap();
    let code = nest.code(Language::Python, &Body::new("sum += {none}").after("f({i}, sum)")).unwrap();
    assert_eq!(code, "for i in range(4):\n    f(i, sum)\n");
}

/// What is asked of a place where it is not known is refused, and so is a guard where there are none.
#[test]
fn bodies_ask_for_what_is_known() {
    let nest = convolution();
    let refused = |body: Body| nest.code(Language::C, &body).unwrap_err().to_string();
    assert_eq!(
        refused(Body::new("").after("out[{x}] = 0;")),
        "body: `x` depends on `r`, a loop inside of which it does not stand"
    );
    assert_eq!(refused(Body::new("{q}")), "body: nothing is called `q`; there are `x`, `w`, `y`, `h`, `r`");
    assert_eq!(refused(Body::new("{h?}")), "body: no access is called `h`; there are `x`, `w`, `y`");
    let mlir = nest.code(Language::Mlir, &Body::new("{x?}")).unwrap_err().to_string();
    assert_eq!(
        mlir,
        "mlir: the guard of `x` is no value there; loops and conditions can take its place (`Nest::clip`)"
    );
    // Other braces are what they are.
    let code = nest.code(Language::C, &Body::new("if (1) { f({h}); } /* {} {1} { h } */")).unwrap();
    assert!(code.contains("if (1) { f(h); } /* {} {1} { h } */"), "{code}");
}

/// Windows over rows with a stride, read as a matrix: the loops are split, and no division is left.
#[test]
fn windows_are_split() {
    // im2col of (16, 18) with windows of 3 in the second axis: rows (16 * 16, 3).
    let mut nest = Nest::new(Graph::new());
    nest.each("row", 256).unwrap();
    nest.each("k", 3).unwrap();
    let index = nest.parse("row // 16 * 18 + row % 16 + k").unwrap();
    nest.access("x", index, None).unwrap();
    assert_eq!(nest.split_where_affine().unwrap().text(nest.graph()), "row = 16 x 16");
    let code = nest.code(Language::C, &Body::new("f({row}, {x});")).unwrap();
    let expected = "\
for (int row0 = 0; row0 < 16; ++row0) {
    const int t0 = row0 * 16;
    const int t1 = row0 * 18;
    for (int row1 = 0; row1 < 16; ++row1) {
        const int t2 = t1 + row1;
        const int row = t0 + row1;
        for (int k = 0; k < 3; ++k) {
            const int index_x = t2 + k;
            f(row, index_x);
        }
    }
}
";
    assert_eq!(code, expected);
}

/// Loops of named sizes that were fused, and split again where they met, are called by their names without a division.
#[test]
fn loops_that_were_fused_are_digits_again() {
    let mut graph = Graph::new();
    let [n, m] = ["n", "m"].map(|name| graph.variable(name, 1..65).unwrap());
    let mut nest = Nest::new(graph);
    nest.each("i", n).unwrap();
    nest.each("j", m).unwrap();
    let index = nest.parse("j * n + i").unwrap();
    nest.access("x", index, None).unwrap();
    nest.fuse(&["i", "j"], "f").unwrap();
    assert_eq!(nest.split_where_affine().unwrap().text(nest.graph()), "f = n x m");
    let code = nest.code(Language::C, &Body::new("f({i}, {j}, {f}, {x});")).unwrap();
    assert!(!code.contains(['/', '%']), "{code}");

    let refused = |names: &[&str], fused: &str| nest.clone().fuse(names, fused).unwrap_err().to_string();
    assert_eq!(refused(&[], "g"), "fuse: there are no loops to be fused");
    assert_eq!(refused(&["f0", "f0"], "g"), "fuse: `f0` is named twice");
    assert_eq!(refused(&["f0", "k"], "g"), "fuse: there is no loop `k`; there are `f0`, `f1`");
    assert_eq!(refused(&["f0", "f1"], "x"), "fuse: something of the nest is called `x` already");
    nest.reduce("k", 3).unwrap();
    let refused = |names: &[&str]| nest.clone().fuse(names, "g").unwrap_err().to_string();
    assert_eq!(refused(&["k", "f0"]), "fuse: `k` is reduced, and `f0` is not");
    let mut graph = Graph::new();
    let n = graph.variable("n", 0..9).unwrap();
    let mut nest = Nest::new(graph);
    nest.each("i", 4).unwrap();
    nest.each("j", n).unwrap();
    let refused = nest.fuse(&["i", "j"], "g").unwrap_err().to_string();
    assert_eq!(refused, "fuse: the size of `j` may be 0, and only the outermost of fused loops may have no index");
}

/// A negative literal beside an unsigned number would be converted, of which nvcc warns.
#[test]
fn found_by_nvcc_what_is_beside_a_negative_literal_is_signed() {
    let mut nest = Nest::new(Graph::new());
    nest.each("i", 8).unwrap();
    nest.each("j", 6).unwrap();
    let index = nest.parse("i // 3 * -2 - j + 40").unwrap();
    nest.access("a", index, None).unwrap();
    nest.set_signedness(Signedness::Unsigned);
    let code = nest.code(Language::Cuda, &Body::new("sum += a[{a}];")).unwrap();
    let expected = "\
for (unsigned i = 0; i < 8; ++i) {
    const unsigned t0 = (int)((i * 3) >> 3) * -2 + 40;
    for (unsigned j = 0; j < 6; ++j) {
        const int index_a = t0 - j;
        sum += a[index_a];
    }
}
";
    assert_eq!(code, expected);
}
