//! The examples of "CuTe Layout Representation and Algebra" (Cecka, arXiv 2603.02298), by section, as a public
//! translation of it quotes them. Where the paper has a weaker notion than ours the tests say so.

use shapetracker_cute::{Layout, NoComplement, NoComposition, Tiler};

use crate::layout;
use crate::oracle::Tree;
use crate::random::cases;

fn composed(a: &str, b: &str) -> String {
    layout(a).compose(&layout(b)).unwrap_or_else(|why| panic!("{a} o {b}: {why}")).to_string()
}

#[test]
fn section_2_4_1_coordinates_of_three_kinds_have_one_value() {
    let a = layout("((2,2),(4,2)):((1,8),(2,16))");
    assert_eq!(a.at(22), Some(26));
    assert_eq!(a.at_coordinate(&(2, 5).into()), Some(26));
    assert_eq!(a.at_coordinate(&((0, 1), (1, 1)).into()), Some(26));
}

#[test]
fn section_2_4_3_every_function_is_a_chain_of_layouts() {
    // (2,2,2,..):(f(1),f(2),..) o (3,1):(1,4) o (4,1):(1,6) o .. o (N-1,1):(1,2(N-2)).
    for mut rng in cases(200) {
        let size = 4 + rng.int(20);
        let values: Vec<i64> = (0..size).map(|x| if x > 0 { rng.int(100) } else { 0 }).collect();
        let twos = vec![2; size as usize - 1];
        let mut chain = vec![Layout::new(twos, values[1..].to_vec()).unwrap()];
        chain.extend((3..size).map(|k| Layout::new((k, 1), (1, 2 * (k - 1))).unwrap()));
        for x in 0..size {
            let value = chain.iter().rev().try_fold(x, |x, layout| layout.at_extended(x));
            assert_eq!(value, Some(values[x as usize]), "{values:?} at {x}");
        }
    }
}

#[test]
fn section_3_2_coalesces() {
    let a = layout("(2,(1,6)):(1,(6,2))");
    assert_eq!(a.coalesce().to_string(), "12:1");
    assert_eq!(a.coalesce_by(&(0, 0).into()).unwrap().to_string(), "(2,6):(1,2)");
    let a = layout("((4,3),5):((15,1),3)");
    assert_eq!(a.coalesce().to_string(), "(4,15):(15,1)");
    assert_eq!(a.coalesce_by(&(0, 0).into()).unwrap(), a);
}

#[test]
fn section_3_3_1_identities() {
    for text in ["24:1", "(4,6):(1,4)", "(3,(4,2)):(1,(3,12))"] {
        assert_eq!(layout(text).difference(&layout("24:1")), None, "{text}");
        // From the left each is one for all layouts with values below 24, from the right for those of its shape.
        let b = layout("(3,4):(2,6)");
        assert_eq!(layout(text).compose(&b).unwrap(), b, "{text}");
        let a = Layout::row_major(layout(text).shape()).unwrap();
        assert_eq!(a.compose(&layout(text)).unwrap(), a, "{text}");
    }
}

#[test]
fn section_3_3_3_intuition_and_divisibility() {
    // With one mode on the left nothing has to divide, or to be in range, or to be disjoint.
    assert_eq!(composed("7:11", "3:4"), "3:44");
    assert_eq!(composed("7:11", "(3,5):(6,3)"), "(3,5):(66,33)");
    assert_eq!(composed("(4,6,8,10):(2,3,5,7)", "6:12"), "(2,3):(9,5)");
    // What violates the conditions on strides and on shapes is no layout indeed.
    for b in ["6:3", "6:1"] {
        let why = layout("(4,6,8):(2,3,5)").compose(&layout(b)).unwrap_err();
        assert!(matches!(why, NoComposition::Length { .. } | NoComposition::Mode { .. }), "{why}");
    }
    // What only seems to violate them is one.
    assert_eq!(composed("(4,2,8):(3,12,97)", "3:3"), "3:9");
}

#[test]
fn section_3_3_4_threads_and_values_of_a_tensor_core() {
    let tv = "((4,8),2):((16,1),8)";
    assert_eq!(composed("(8,8):(1,8)", tv), "((4,8),2):((16,1),8)");
    assert_eq!(composed("(8,8):(8,1)", tv), "((4,8),2):((2,8),1)");
    assert_eq!(composed("(8,8):(1,9)", tv), "((4,8),2):((18,1),9)");
}

#[test]
fn section_3_4_1_right_inverses() {
    for (a, inverse) in [
        ("(4,8):(1,4)", "32:1"),
        ("(4,8):(8,1)", "(8,4):(4,1)"),
        ("(3,7,5):(5,15,1)", "(5,21):(21,1)"),
        ("(4,8):(1,5)", "4:1"),
    ] {
        let found = layout(a).right_inverse().unwrap();
        assert_eq!((found.layout.to_string().as_str(), found.is_longest), (inverse, true), "{a}");
    }
    // Modes of stride 0 contribute nothing.
    let a = layout("((2,2),(2,4)):((0,1),(0,2))");
    let found = a.right_inverse().unwrap().layout;
    assert_eq!(found.to_string(), "(2,4):(2,8)");
    assert!((0..8).all(|i| a.at(found.at(i).unwrap()) == Some(i)));
}

#[test]
fn section_3_4_3_left_inverses() {
    for (a, inverse) in [("(4,8):(1,4)", "32:1"), ("(4,8):(8,1)", "(8,4):(4,1)"), ("(4,8):(1,5)", "(5,8):(1,4)")] {
        assert_eq!(layout(a).left_inverse().unwrap().to_string(), inverse, "{a}");
    }
}

#[test]
fn section_3_5_complements() {
    // The paper's complements go on for ever: 1:32, (2,1):(4,64), (2,1):(1,16). Ours end, here after two repeats.
    for (a, cotarget, complement) in [
        ("(4,8):(1,4)", 64, "2:32"),
        ("(4,8):(8,1)", 64, "2:32"),
        ("(4,8):(1,8)", 128, "(2,2):(4,64)"),
        ("((2,2),(2,4)):((0,2),(0,4))", 32, "(2,2):(1,16)"),
    ] {
        assert_eq!(layout(a).complement(cotarget).unwrap().to_string(), complement, "{a}");
    }
    // The paper's complement of a padded layout, 1:40, leaves its gaps empty; ours has to fill them, and cannot.
    let why = layout("(4,8):(1,5)").complement(40).unwrap_err();
    assert_eq!(why, NoComplement::Overlap { block: 4, stride: 5 });
}

#[test]
fn section_3_5_1_products() {
    let product = layout("(3,4):(4,1)").logical_product(&layout("(2,5):(1,2)").into()).unwrap();
    assert_eq!(product.to_string(), "((3,4),(2,5)):((4,1),(12,24))");
}

#[test]
fn section_3_5_2_divisions() {
    let divided = layout("24:3").logical_divide(&layout("8:3").into()).unwrap();
    assert_eq!(divided.to_string(), "(8,3):(9,3)");
    let tiler = Tiler::by_item([layout("4:1"), layout("8:2")]);
    let divided = layout("(8,16):(20,1)").logical_divide(&tiler).unwrap();
    assert_eq!(divided.to_string(), "((4,2),(8,2)):((20,80),(2,1))");
    let zipped = Tree::of(&layout("(8,16):(20,1)").zipped_divide(&tiler).unwrap());
    assert_eq!(zipped.items()[0].values(), Tree::parse("(4,8):(20,2)").values());
}
