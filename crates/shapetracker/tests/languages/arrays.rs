//! Chains as calls on arrays, run by the libraries themselves.

use shapetracker::expr::Language;
use shapetracker::{ArrayLibrary, Chain, ShapeTracker, View, fit};

use crate::tools::Tool;
use shapetracker_testing::Rng;

/// Chains with every operation, over shapes, views and bases; and what the base is where the chain does not say.
const CHAINS: [(&str, Option<&[i64]>); 33] = [
    ("()", None),
    ("(7)", None),
    ("(2, 0, 3)", None),
    ("(3, 2).permute(1, 0).reshape(3, 2)", None),
    ("(2, 3, 4).permute(-1, 0, 1)", None),
    ("(2, 3, 4).transpose(0, -1).reshape(-1)", None),
    ("(1, 4).expand(3, -1)", None),
    ("(3, 1).broadcast_to(2, 3, 4)", None),
    ("(3, 4).pad((0, 1), (2, 0)).slice(::-2, 1:3)", None),
    ("(4, 6).pad((1, 2), (0, 3)).permute(1, 0).reshape(7, 9).flip(1)", None),
    ("(2, 3).pad((1, 1), (0, 0)).shrink((0, 3), (1, 3)).flip(-1, 0)", None),
    ("(2, 3, 4).flip(True, False, True)", None),
    ("(5, 4).step(-2, 3)", None),
    ("(5).step(9223372036854775807)", None),
    ("(5).step(-9223372036854775808)", None),
    ("(10).slice(8:1:-3)", None),
    ("(10).slice(1:8:-3)", None),
    ("(10, 3).slice(-3::2, :-1)", None),
    ("(10).slice(:100:4)", None),
    ("(0).slice(::-1)", None),
    ("(1, 3, 1).squeeze(0).unsqueeze(-1).squeeze()", None),
    ("(16).as_strided((4, 3), (3, 2), 1)", None),
    ("(16).as_strided((4, 3), (-3, 2), 9).permute(1, 0).reshape(12).as_strided((3, 2), (-4, -1), 11)", None),
    ("(6, 6).permute(1, 0).reshape(36).as_strided((3, 2, 4), (12, 3, 2), 0)", None),
    ("(3, 4).flip(-1).unsqueeze(0).as_strided((2, 2), (1, 1), 3)", None),
    ("(4).as_strided((0, 3), (5, 5), 0)", None),
    ("View(shape=(3, 4), strides=(-5, 2), offset=13, mask=((0, 2), (1, 3)))", None),
    ("View((3, 2), (-1, 4), 1, mask=((0, 3), (1, 2)))", None),
    ("(3):(-1) offset 2", None),
    ("(5):(1) offset 4", None),
    ("(3, 2):(2, 1) over (2, 3):(1, 2) offset 4", None),
    ("permute(1, 0).reshape(6)", Some(&[2, 3])),
    ("(3, 2):(-1, 3) offset 2.flip(0)", Some(&[2, 3])),
];

/// What every element of a chain reads, with its shape, as Python prints them: an address counts from 1, and 0 stands
/// for a masked element.
fn expected(chain: &Chain, base: Option<&[i64]>) -> String {
    let tracker = base.map_or_else(|| chain.tracker(), |base| chain.tracker_from(base)).expect("the chain can be done");
    let values: Vec<i64> = tracker.addresses().map(|address| address.map_or(0, |address| address + 1)).collect();
    format!("{:?} {values:?}", tracker.shape())
}

fn run(library: ArrayLibrary, import: &str) {
    let Some(tool) = Tool::python() else { return };
    if !tool.runs(&format!("import_{}", library.name()), import) {
        println!("skipped: Python has no {library}");
        return;
    }
    let (mut program, mut lines) = (String::new(), Vec::new());
    for (text, base) in CHAINS {
        let chain: Chain = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let code = chain.calls(library, base).unwrap_or_else(|error| panic!("{text}: {error}"));
        // The elements of the first array are one more than their addresses, so that no address is a masked element's.
        let (import, calls) = code.split_once("\n\n").expect("an import and calls");
        let (first, rest) = calls.split_once('\n').expect("a first call");
        program += &format!("{import}\n{first}\nx = x + 1\n{rest}print(list(x.shape), x.reshape(-1).tolist())\n");
        lines.push(expected(&chain, base));
    }
    let printed = tool.lines(&format!("chains_{}", library.name()), &program);
    for ((text, _), (printed, expected)) in CHAINS.iter().zip(printed.iter().zip(&lines)) {
        assert_eq!(printed, expected, "{library}: {text}");
    }
    assert_eq!(printed.len(), CHAINS.len());
    println!("{library}: {} chains read what they should", lines.len());
}

#[test]
fn numpy() {
    run(ArrayLibrary::NumPy, "import numpy");
}

#[test]
fn pytorch() {
    run(ArrayLibrary::PyTorch, "import torch");
}

/// A view given by hand: strides of any sign, repeated and overlapping elements, an offset near where the lowest address is 0.
fn view(rng: &mut Rng) -> View {
    let shape: Vec<i64> = (0..rng.index(4)).map(|_| 1 + rng.index(4) as i64).collect();
    let strides: Vec<i64> = shape.iter().map(|_| rng.index(13) as i64 - 6).collect();
    let low: i64 = shape.iter().zip(&strides).map(|(size, stride)| ((size - 1) * stride).min(0)).sum();
    View::new(&shape, &strides, rng.index(9) as i64 - 3 - low, None).expect("a small view")
}

/// A shape of so many elements.
fn shape(rng: &mut Rng, numel: i64) -> Vec<i64> {
    let outer = (1..=numel).filter(|outer| numel % outer == 0).nth(rng.index(3)).unwrap_or(1);
    [vec![outer], vec![1; rng.index(2)], vec![numel / outer]].concat()
}

/// Where code is written for a view, or for what helps it to a shape, everything that it makes lies within the memory of its
/// array, by NumPy's own count of bytes; where some address lies outside, there is none.
#[test]
fn code_for_views_stays_inside_of_the_array() {
    let Some(tool) = Tool::python() else { return };
    if !tool.runs("import_numpy", "import numpy") {
        println!("skipped: Python has no NumPy");
        return;
    }
    let mut program = "import numpy as np\n\
        bounds = getattr(np.lib, 'array_utils', np).byte_bounds\n\
        as_strided = np.lib.stride_tricks.as_strided\n\
        def inside(x, shape, strides):\n    \
            found = as_strided(x, shape, strides)\n    \
            while getattr(x, 'base', None) is not None: x = x.base\n    \
            (low, high), (first, last) = bounds(found), bounds(x)\n    \
            assert first <= low < high <= last, (shape, strides)\n    \
            return found\n\
        np.lib.stride_tricks.as_strided = inside\n"
        .to_owned();
    let (mut rng, mut expected, mut refused, mut without) = (Rng(0x30), Vec::new(), 0, 0);
    for number in 0..1500 {
        let view = view(&mut rng);
        let (low, high) = view.address_range().expect("it has elements");
        // Of known length, or of one that nothing says.
        let len = (rng.index(2) == 0).then(|| (high + rng.index(4) as i64 - 1).max(0));
        let fits = low >= 0 && len.is_none_or(|len| high < len);
        let chain: Chain = view.to_string().parse().expect("the text of a view");
        let base = len.map(|len| [len]);
        let calls = chain.calls(ArrayLibrary::NumPy, base.as_ref().map(|base| &base[..]));
        assert_eq!(calls.is_ok(), fits, "{view} over {len:?}");
        let text = match calls {
            Ok(calls) => calls,
            Err(_) => {
                refused += 1;
                continue;
            }
        };
        let lines: Vec<&str> = text.lines().skip(2).collect();
        program += &format!("# {number}: {view} over {len:?}\n{}\nprint(x.ravel().tolist())\n", lines.join("\n"));
        let addresses: Vec<i64> = ShapeTracker::from(view.clone()).addresses().flatten().collect();
        expected.push(format!("{addresses:?}"));
        // What helps it to another shape, on the array that it is.
        let to = shape(&mut rng, view.numel());
        let answer = fit::explain(&view.clone().into(), &to).expect("as many elements");
        let Some(recipe) = answer.recipe(ArrayLibrary::NumPy) else {
            without += 1;
            continue;
        };
        program += &format!("x = {recipe}\nprint(x.ravel().tolist())\n");
        expected.push(format!("{addresses:?}"));
    }
    let printed = tool.lines("inside", &program);
    for (printed, expected) in printed.iter().zip(&expected) {
        assert_eq!(printed, expected);
    }
    assert_eq!(printed.len(), expected.len());
    println!("{} texts stay inside, {refused} views have none, {without} shapes", expected.len());
    assert!(refused > 300 && expected.len() > 1200 && without < 50);
}

#[test]
fn found_by_a_review_no_code_reads_before_an_array() {
    for text in ["(3, 4):(-5, 1)", "(3, 4):(5, 1) offset -7", "(3, 4):(4, 1) offset -1", "(5):(1) offset -3"] {
        let (chain, tracker) = (text.parse::<Chain>().unwrap(), text.parse::<ShapeTracker>().unwrap());
        let low = tracker.address_range().unwrap().unwrap().0;
        let reads = format!("from address {low} on, {} before the beginning of", low.abs());
        for &library in ArrayLibrary::ALL {
            let refused = chain.calls(library, None).unwrap_err().to_string();
            assert!(refused.contains(&reads), "{refused}");
            let answer = fit::explain(&tracker, [tracker.numel()]).unwrap();
            assert_eq!(answer.recipe(library), None);
            assert!(answer.report(Some(library)).to_string().contains(&reads));
        }
        let code = tracker.index_expr().unwrap();
        for &language in Language::ALL {
            // The address itself is known in every language, and no kernel reads there.
            assert!(code.code(language).is_ok());
            let refused = code.kernel(language).unwrap_err().to_string();
            assert!(refused.contains(&reads) || refused.contains("no kernels in this language"), "{refused}");
        }
    }
    // The view next to memory reaches below 0; of the rows from the second on no element reads there.
    let kernel = |text: &str| text.parse::<ShapeTracker>().unwrap().index_expr().unwrap().kernel(Language::C);
    assert!(kernel("(3, 2):(2, 1) over (2, 3):(1, 2) offset -1").is_err());
    assert!(kernel("(3, 2):(2, 1) over (2, 3):(1, 2) offset -1.shrink((1, 3), (0, 2))").is_ok());
}
