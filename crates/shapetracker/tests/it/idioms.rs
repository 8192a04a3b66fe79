//! What others write, element by element: each idiom against its definition in the documentation of its library, over
//! many sizes. The array that it is done to holds its own positions, and nothing here comes from the library but the
//! addresses that are compared.

use std::collections::BTreeMap;

use proptest::prelude::*;
use shapetracker::Chain;

/// The shapes that idioms are done to.
const SHAPES: [&[i64]; 6] = [&[6], &[4, 5], &[3, 3], &[2, 3, 4], &[1, 4, 2], &[2, 1, 3, 2]];

/// Every index of a shape, the last axis fastest.
fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![Vec::new()], |all, &size| {
        all.iter().flat_map(|index| (0..size).map(|digit| [&index[..], &[digit]].concat())).collect()
    })
}

/// The position of an index in an array of a shape.
fn position(index: &[i64], shape: &[i64]) -> i64 {
    index.iter().zip(shape).fold(0, |position, (&digit, &size)| {
        assert!((0..size).contains(&digit), "{index:?} is no index of {shape:?}");
        position * size + digit
    })
}

/// Checks that a text has a shape, and at each of its indices the element that it should have: `None` where it is padding.
fn check(text: &str, shape: &[i64], element: impl Fn(&[i64]) -> Option<i64>) {
    let chain: Chain = text.parse().unwrap_or_else(|err| panic!("{text}\n{err}"));
    let tracker = chain.tracker().unwrap_or_else(|err| panic!("{text}\n{err}"));
    assert_eq!(tracker.shape(), shape, "{text}");
    assert_eq!(chain.steps().unwrap().last().unwrap().shape(), shape, "{text}");
    for index in indices(shape) {
        assert_eq!(tracker.address(&index), element(&index), "{text} at {index:?}");
    }
}

fn zeros(shape: &[i64]) -> String {
    let sizes: Vec<String> = shape.iter().map(i64::to_string).collect();
    format!("torch.zeros({})", sizes.join(", "))
}

fn with(shape: &[i64], axis: usize, size: i64) -> Vec<i64> {
    let mut shape = shape.to_vec();
    shape[axis] = size;
    shape
}

/// Each shape with each of its axes, as it may be written from either end.
fn axes() -> impl Iterator<Item = (&'static [i64], usize, i64)> {
    SHAPES.into_iter().flat_map(|shape| {
        let rank = shape.len();
        (0..rank).flat_map(move |axis| [(shape, axis, axis as i64), (shape, axis, axis as i64 - rank as i64)])
    })
}

#[test]
fn windows() {
    for (shape, axis, written) in axes() {
        for (size, step) in [(1, 1), (2, 1), (2, 3), (shape[axis], 1), (0, 2)] {
            if size > shape[axis] {
                continue;
            }
            let mut to = with(shape, axis, (shape[axis] - size) / step + 1);
            to.push(size);
            check(&format!("{}.unfold({written}, {size}, {step})", zeros(shape)), &to, |index| {
                let (inside, index) = index.split_last().unwrap();
                Some(position(&with(index, axis, index[axis] * step + inside), shape))
            });
            if step == 1 {
                check(&format!("sliding_window_view({}, {size}, axis={written})", zeros(shape)), &to, |index| {
                    let (inside, index) = index.split_last().unwrap();
                    Some(position(&with(index, axis, index[axis] + inside), shape))
                });
            }
        }
    }
    let text = "np.lib.stride_tricks.sliding_window_view(np.zeros((4, 5)), window_shape=(2, 3))[:, ::2]";
    check(text, &[3, 2, 2, 3], |index| Some(position(&[index[0] + index[2], index[1] * 2 + index[3]], &[4, 5])));
}

#[test]
fn parts() {
    for (shape, axis, written) in axes() {
        let (size, base) = (shape[axis], zeros(shape));
        let cut = |text: &str, begin: i64, end: i64| {
            check(text, &with(shape, axis, end - begin), |index| {
                Some(position(&with(index, axis, index[axis] + begin), shape))
            });
        };
        cut(&format!("{base}.narrow({written}, {}, 1)", size - 1), size - 1, size);
        cut(&format!("torch.narrow({base}, dim={written}, start=-1, length=1)"), size - 1, size);
        for parts in 1..5 {
            // PyTorch's chunks all have the same size but for the last, so that there may be fewer than asked for.
            let each = (size + parts - 1) / parts;
            let count = (size + each - 1) / each;
            for part in 0..count {
                let end = size.min((part + 1) * each);
                cut(&format!("{base}.chunk({parts}, dim={written})[{part}]"), part * each, end);
                cut(&format!("torch.split({base}, {each}, {written})[{}]", part - count), part * each, end);
            }
            assert!(format!("{base}.chunk({parts}, {written})[{count}]").parse::<Chain>().is_err());
            // NumPy's parts differ by one element at most, the larger ones first.
            let sizes: Vec<i64> = (0..parts).map(|part| size / parts + i64::from(part < size % parts)).collect();
            for part in 0..parts as usize {
                let begin = sizes[..part].iter().sum::<i64>();
                let end = begin + sizes[part];
                cut(&format!("np.array_split({base}, {parts}, {written})[{part}]"), begin, end);
                cut(&format!("{base}.tensor_split({parts}, {written})[{part}]"), begin, end);
                cut(&format!("{base}.split({sizes:?}, {written})[{part}]"), begin, end);
            }
        }
        let mut without = shape.to_vec();
        without.remove(axis);
        for at in 0..size {
            let element = |index: &[i64]| {
                let mut index = index.to_vec();
                index.insert(axis, at);
                Some(position(&index, shape))
            };
            check(&format!("{base}.select({written}, {})", at - size), &without, element);
            check(&format!("{base}.unbind({written})[{at}]"), &without, element);
        }
    }
}

#[test]
fn diagonals() {
    for (shape, first, written) in axes() {
        for second in (0..shape.len()).filter(|second| *second != first) {
            for offset in -6..=6i64 {
                // The elements whose index on the second axis is more than that on the first by the offset.
                let places: Vec<(i64, i64)> = (0..shape[first])
                    .map(|i| (i, i + offset))
                    .filter(|&(_, j)| (0..shape[second]).contains(&j))
                    .collect();
                let rest: Vec<usize> = (0..shape.len()).filter(|axis| *axis != first && *axis != second).collect();
                let mut to: Vec<i64> = rest.iter().map(|&axis| shape[axis]).collect();
                to.push(places.len() as i64);
                let text = format!("{}.diagonal({offset}, {written}, {second})", zeros(shape));
                check(&text, &to, |index| {
                    let mut at = vec![0; shape.len()];
                    rest.iter().zip(index).for_each(|(&axis, &digit)| at[axis] = digit);
                    (at[first], at[second]) = places[index[rest.len()] as usize];
                    Some(position(&at, shape))
                });
            }
        }
    }
}

#[test]
fn pads() {
    let inside = |index: Vec<i64>, shape: &[i64]| {
        index.iter().zip(shape).all(|(i, n)| (0..*n).contains(i)).then(|| position(&index, shape))
    };
    for shape in SHAPES {
        for pad in 0..3 {
            let to: Vec<i64> = shape.iter().map(|size| size + 2 * pad).collect();
            check(&format!("np.pad({}, {pad}, mode='constant')", zeros(shape)), &to, |index| {
                inside(index.iter().map(|i| i - pad).collect(), shape)
            });
            let to: Vec<i64> = shape.iter().map(|size| size + pad + 1).collect();
            check(&format!("np.pad({}, ({pad}, 1))", zeros(shape)), &to, |index| {
                inside(index.iter().map(|i| i - pad).collect(), shape)
            });
        }
        // PyTorch begins with the last axis, and cuts off where a number is less than 0.
        for given in (1..=shape.len()).map(|axes| &[1, 2, 0, -1, 3, 0, -1, 1][..2 * axes]) {
            let mut pairs: Vec<(i64, i64)> = given.chunks(2).map(|pair| (pair[0], pair[1])).collect();
            pairs.resize(shape.len(), (0, 0));
            pairs.reverse();
            let to: Vec<i64> = shape.iter().zip(&pairs).map(|(size, (a, b))| size + a + b).collect();
            if to.iter().any(|size| *size < 0) {
                continue;
            }
            let list: Vec<String> = given.iter().map(i64::to_string).collect();
            check(&format!("F.pad({}, ({}), value=1)", zeros(shape), list.join(", ")), &to, |index| {
                inside(index.iter().zip(&pairs).map(|(i, (before, _))| i - before).collect(), shape)
            });
        }
    }
}

#[test]
fn repeats_and_pixels() {
    for (shape, axis, written) in axes() {
        let times = with(&vec![1; shape.len()], axis, 3);
        let list: Vec<String> = times.iter().map(i64::to_string).collect();
        let to = with(shape, axis, 3 * shape[axis]);
        let base = zeros(shape);
        for text in [format!("{base}.repeat({})", list.join(", ")), format!("np.tile({base}, ({},))", list.join(", "))]
        {
            check(&text, &to, |index| Some(position(&with(index, axis, index[axis] % shape[axis]), shape)));
        }
        for text in
            [format!("{base}.repeat_interleave(3, dim={written})"), format!("np.repeat({base}, 3, axis={written})")]
        {
            check(&text, &to, |index| Some(position(&with(index, axis, index[axis] / 3), shape)));
        }
    }
    check("np.tile(np.zeros((2, 3)), (2, 1, 2))", &[2, 2, 6], |i| Some(i[1] * 3 + i[2] % 3));
    check("np.repeat(np.zeros((2, 3)), 2)", &[12], |i| Some(i[0] / 2));
    for (channels, rows, columns, r) in [(2, 2, 3, 2), (1, 1, 2, 3), (3, 2, 2, 1)] {
        let (deep, wide) = ([2, channels * r * r, rows, columns], [2, channels, rows * r, columns * r]);
        // As PyTorch's page on PixelShuffle has it: channel c r r + i r + j is row i and column j of each block.
        check(&format!("F.pixel_shuffle({}, {r})", zeros(&deep)), &wide, |at| {
            Some(position(&[at[0], at[1] * r * r + at[2] % r * r + at[3] % r, at[2] / r, at[3] / r], &deep))
        });
        check(&format!("{}.pixel_unshuffle({r})", zeros(&wide)), &deep, |at| {
            let (c, i, j) = (at[1] / (r * r), at[1] / r % r, at[1] % r);
            Some(position(&[at[0], c, at[2] * r + i, at[3] * r + j], &wide))
        });
    }
}

/// `memref`, XLA and CuTe: the address of an index by the strides that each says.
#[test]
fn layout_types() {
    check("memref<2x3xf32, strided<[1, 2], offset: 4>>", &[2, 3], |i| Some(4 + i[0] + 2 * i[1]));
    for (order, [i, j, k]) in [("0,1,2", [1, 2, 6]), ("2,1,0", [12, 4, 1]), ("1,2,0", [12, 1, 3]), ("2,0,1", [4, 8, 1])]
    {
        check(&format!("f32[2,3,4]{{{order}}}"), &[2, 3, 4], |at| Some(at[0] * i + at[1] * j + at[2] * k));
    }
    check("Layout<Shape<_2,_3>>", &[2, 3], |at| Some(at[0] + 2 * at[1]));
    check("make_layout(make_shape(2, make_shape(_3{}, Int<4>{})), LayoutRight{})", &[2, 12], |at| {
        // The mode that stands first inside of an axis runs fastest along it.
        Some(at[0] * 12 + at[1] % 3 * 4 + at[1] / 3)
    });
    check("Layout<Shape<Shape<_2,_4>,_3>, Stride<Stride<_3,_6>,_1>>", &[8, 3], |at| {
        Some(at[0] % 2 * 3 + at[0] / 2 * 6 + at[1])
    });
}

/// Statements give the same array as the expression that they amount to, and a name has the value it was last given.
#[test]
fn statements() {
    let text = "import torch\nB, T, C = 2, 3, 12\nH = C // 4\nx = torch.zeros(B, T, C)  # activations\n\
                x = x.view(B, T, H, C // H)\ny = x.transpose(1, 2)\nx = y[:, 1]\nx.shape[0]; x.reshape(-1)";
    let err = text.parse::<Chain>().unwrap_err();
    assert!(text[err.span()].contains("x.shape") || err.message().contains("shape"), "{err}");
    let text = text.replace("x.shape[0]; ", "n = x.shape[0] * x.shape[1]\n").replace("(-1)", "(n, -1)");
    // Rows of head 1: batch b, step t, channels 4 to 7.
    check(&text, &[6, 4], |at| Some(position(&[at[0] / 3, at[0] % 3, 4 + at[1]], &[2, 3, 12])));
    let text = "x = torch.zeros(2, 9)\nq, k, v = x.chunk(3, dim=-1)\nv = v.t()\nq.flip(0)\nv";
    check(text, &[3, 2], |at| Some(position(&[at[1], 6 + at[0]], &[2, 9])));
    for (sum, value) in [
        ("2 * 3 + 4", 10),
        ("2 + 3 * 4", 14),
        ("20 - 6 - 4", 10),
        ("20 // 6", 3),
        ("2 * (5 - 12) // 5 + 9", 6),
        ("9 + -7 // 2", 5),
        ("9 + 7 // -2", 5),
        ("9 + -7 % 5", 12),
        ("7 - 7 // 2", 4),
        ("7 -7 // 2", 4),
        ("17 % 5", 2),
        ("2 * (3 + 4) // 5", 2),
        ("n * n - 1", 8),
        ("-n + 9", 6),
        ("1 + 1", 2),
        ("n+1", 4),
        ("9-n", 6),
        ("9 - 2*n-n", 0),
        ("x.shape[0]-n+x.size(1)", 4),
    ] {
        let given = "x = np.zeros((2, 5))\nn = 3";
        check(&format!("{given}\nm = {sum}\nnp.zeros(m)"), &[value], |at| Some(at[0]));
        check(&format!("{given}\nnp.zeros((2, {sum}))"), &[2, value], |at| Some(at[0] * value + at[1]));
    }
}

/// A pattern of einops by names, sizes, an order and where axes are joined on either side.
fn pattern() -> impl Strategy<Value = (Vec<i64>, Vec<usize>, u32, u32, u32)> {
    (1usize..6).prop_flat_map(|names| {
        (
            prop::collection::vec(1i64..4, names),
            Just((0..names).collect::<Vec<_>>()).prop_shuffle(),
            any::<u32>(),
            any::<u32>(),
            any::<u32>(),
        )
    })
}

/// Names as a side of a pattern: those that a bit joins with the one before stand in one pair of parentheses.
fn side(names: &[usize], sizes: &[i64], joins: u32) -> (String, Vec<Vec<usize>>, Vec<i64>) {
    let mut axes: Vec<Vec<usize>> = Vec::new();
    for (place, &name) in names.iter().enumerate() {
        match axes.last_mut() {
            Some(axis) if joins >> place & 1 == 1 => axis.push(name),
            _ => axes.push(vec![name]),
        }
    }
    let word = |name: &usize| ["a", "b1", "height", "w_", "c"][*name].to_owned();
    let texts: Vec<String> = axes
        .iter()
        .map(|axis| {
            let words = axis.iter().map(word).collect::<Vec<_>>().join(" ");
            if axis.len() > 1 { format!("({words})") } else { words }
        })
        .collect();
    let shape = axes.iter().map(|axis| axis.iter().map(|&name| sizes[name]).product()).collect();
    (texts.join(" "), axes, shape)
}

/// What each name's digit is at an index.
fn digits(index: &[i64], axes: &[Vec<usize>], sizes: &[i64]) -> BTreeMap<usize, i64> {
    let mut digits = BTreeMap::new();
    for (&place, axis) in index.iter().zip(axes) {
        let mut rest = place;
        for &name in axis.iter().rev() {
            digits.insert(name, rest % sizes[name]);
            rest /= sizes[name];
        }
    }
    digits
}

proptest! {
    #[test]
    fn patterns_of_einops((sizes, order, left, right, given) in pattern()) {
        let names: Vec<usize> = (0..sizes.len()).collect();
        let (from, axes_from, shape_from) = side(&names, &sizes, left);
        let (to, axes_to, shape_to) = side(&order, &sizes, right);
        // All sizes but at most one of each axis must be given; more may be.
        let mut text = format!("rearrange({}, '{from} -> {to}'", zeros(&shape_from));
        for axis in &axes_from {
            let open = axis[given as usize % axis.len()];
            for &name in axis {
                if name != open || given & 1 == 0 {
                    text += &format!(", {}={}", ["a", "b1", "height", "w_", "c"][name], sizes[name]);
                }
            }
        }
        text += ")";
        check(&text, &shape_to, |index| {
            let digits = digits(index, &axes_to, &sizes);
            let back: Vec<i64> =
                axes_from.iter().map(|axis| axis.iter().fold(0, |at, name| at * sizes[*name] + digits[name])).collect();
            Some(position(&back, &shape_from))
        });
        // With `repeat` a new axis in front has the same elements at each of its indices.
        let repeated = text.replace("rearrange", "einops.repeat").replace("-> ", "-> new ").replace("')", "', new=3)");
        let repeated = if repeated.contains("new=3") { repeated } else { repeated.replace("',", "', new=3,") };
        check(&repeated, &[&[3], &shape_to[..]].concat(), |index| {
            let digits = digits(&index[1..], &axes_to, &sizes);
            let back: Vec<i64> =
                axes_from.iter().map(|axis| axis.iter().fold(0, |at, name| at * sizes[*name] + digits[name])).collect();
            Some(position(&back, &shape_from))
        });
    }
}
