//! Chains as calls on arrays, run by the libraries themselves.

use shapetracker::{ArrayLibrary, Chain};

use crate::tools::Tool;

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
    ("(3):(-1)", None),
    ("(5):(1) offset 4", None),
    ("(3, 2):(2, 1) over (2, 3):(1, 2) offset 4", None),
    ("permute(1, 0).reshape(6)", Some(&[2, 3])),
    ("(3, 2):(-1, 3) offset 2.flip(0)", Some(&[2, 3])),
];

/// What every element of a chain reads, with its shape, as Python prints them: an address counts from 1, and 0 stands
/// for a masked element. Addresses below 0 count from the lowest one.
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
