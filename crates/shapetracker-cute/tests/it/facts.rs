//! Layouts by name: known answers, the examples of papers, and questions that users of CuTe have asked.

use shapetracker_cute::{Layout, Mismatch, NoComposition, NotTiled, Tiler, audit};

use crate::oracle::Tree;
use crate::{is_evidence, layout};

fn composed(a: &str, b: &str) -> String {
    layout(a).compose(&layout(b)).unwrap_or_else(|why| panic!("{a} o {b}: {why}")).to_string()
}

/// The reason why there is no composition, which its values show.
fn refused(a: &str, b: &str) -> NoComposition {
    let why = layout(a).compose(&layout(b)).unwrap_err();
    assert!(is_evidence(&Tree::parse(a), &Tree::parse(b), &why), "{a} o {b}: {why}");
    why
}

#[test]
fn the_documentation_of_cute_composes_by_reversing_nothing() {
    assert_eq!(composed("(6,2):(8,2)", "(4,3):(3,1)"), "((2,2),3):((24,2),8)");
    assert_eq!(composed("20:2", "(5,4):(4,1)"), "(5,4):(8,2)");
    assert_eq!(composed("(10,2):(16,4)", "(5,4):(1,5)"), "(5,(2,2)):(16,(80,4))");
}

#[test]
fn the_tests_of_the_python_reference_compose() {
    for (a, b, answer) in [
        ("1:0", "1:1", "1:0"),
        ("1:0", "4:1", "4:0"),
        ("4:2", "2:2", "2:4"),
        ("12:2", "(4,3):(3,1)", "(4,3):(6,2)"),
        ("(4,3):(3,1)", "12:1", "(4,3):(3,1)"),
        ("(4,3):(1,4)", "(6,2):(2,1)", "(6,2):(2,1)"),
        ("(4,3):(3,1)", "6:2", "(2,3):(6,1)"),
        ("(4,3):(3,1)", "(6,2):(2,1)", "((2,3),2):((6,1),3)"),
        ("((4,2)):((1,16))", "(4,2):(2,1)", "((2,2),2):((2,16),1)"),
        ("(2,2):(2,1)", "(2,2):(2,1)", "(2,2):(1,2)"),
        ("((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", "8:4", "(4,2):(4,2)"),
        ("(8,8):(8,1)", "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", "((2,2,2),(2,2,2)):((8,2,32),(1,16,4))"),
        ("(4,8,2):(2,8,1)", "(2,2,2):(1,8,2)", "(2,2,2):(2,16,4)"),
        ("(4,8,2):(2,8,1)", "(4,2,2):(2,8,1)", "(4,2,2):(4,16,2)"),
        ("(4,6,8):(1,4,7)", "6:1", "6:1"),
    ] {
        assert_eq!(composed(a, b), answer, "{a} o {b}");
    }
}

#[test]
fn layouts_that_no_chain_of_divisors_explains_compose() {
    // Examples around arXiv 2601.05972, where "tractable" layouts are those whose strides divide each other.
    assert_eq!(composed("12:1", "(2,2):(1,3)"), "(2,2):(1,3)");
    assert_eq!(composed("(4,6):(1,8)", "(2,2):(8,12)"), "(2,2):(16,24)");
    assert_eq!(composed("8:1", "(2,2):(1,1)"), "(2,2):(1,1)");
    assert_eq!(composed("(6,3):(21,7)", "4:3"), "(2,2):(63,7)");
}

#[test]
fn cutlass_2113_the_size_need_not_divide() {
    assert_eq!(composed("(10,2):(16,4)", "(3,4):(1,5)"), "(3,(2,2)):(16,(80,4))");
}

#[test]
fn cutlass_2432_the_last_stride_of_one_is_kept() {
    assert_eq!(composed("(32,128):(128,1)", "(30,128):(1,32)"), "(30,128):(128,1)");
}

#[test]
fn cutlass_2955_modes_that_interact_are_refused() {
    let why = refused("(6,2):(1,7)", "(3,2):(2,3)");
    assert_eq!(why, NoComposition::Interact { coordinate: (2, 1).into(), value: 8, sum: 7 });
}

#[test]
fn cutlass_3177_what_is_printed_is_not_the_composition() {
    // The values are 0, 6, 7, 8, 9, 15: a mode of 2, at the multiples of which a mode of 2 should follow.
    let (a, b) = ("(4,6,8):(2,3,5)", "6:3");
    let why = refused(a, b);
    assert!(matches!(why, NoComposition::Length { leaf: 0, unit: 2, run: 2, left: 3, value: 9, expected: 14, .. }));
    let at = audit(&layout(a), &layout(b), &layout("(2,3):(6,3)")).unwrap();
    assert_eq!(at, Some(Mismatch { coordinate: 2, expected: Some(7), found: Some(3) }));
}

#[test]
fn cutlass_3181_a_stride_that_no_size_divides_is_legal() {
    assert_eq!(composed("(4,2,8):(3,12,97)", "3:3"), "3:9");
    let why = refused("(4,2,8):(3,12,97)", "4:3");
    assert!(matches!(why, NoComposition::Length { run: 3, left: 4, value: 100, expected: 27, .. }));
    let why = refused("(4,2,8):(3,15,97)", "3:3");
    assert!(matches!(why, NoComposition::Length { run: 2, left: 3, value: 21, expected: 18, .. }));
}

#[test]
fn carries_that_cancel() {
    assert_eq!(composed("(4,6,8,10):(2,3,5,7)", "6:12"), "(2,3):(9,5)");
    assert_eq!(composed("(4,9,10):(13,11,140)", "6:9"), "6:35");
    // Always, and every second time.
    assert_eq!(composed("(5,3,9):(0,1,2)", "6:9"), "(3,2):(1,4)");
}

#[test]
fn two_modes_that_are_needed_at_once() {
    assert_eq!(composed("(6,10):(16,8)", "(9,10):(8,12)"), "((3,3),10):((40,32),16)");
}

#[test]
fn a_last_mode_of_one_coordinate_says_what_follows() {
    let (a, b) = (layout("(4,1):(1,7)"), layout("8:1"));
    assert_eq!(a.compose(&b).unwrap().to_string(), "(4,2):(1,7)");
    assert_eq!(a.compose_strict(&b), Err(NoComposition::Outside { coordinate: 7, value: 7, size: 4 }));
    // As a function of its own numbers it is another matter.
    assert_eq!(a.coalesce().to_string(), "4:1");
}

#[test]
fn without_the_parentheses_of_the_second_layout_there_may_be_a_composition() {
    let (a, b) = ("(3,2):(1,10)", "(2,3):(1,2)");
    assert!(matches!(refused(a, b), NoComposition::Length { leaf: 1, unit: 1, run: 2, left: 3, .. }));
    assert_eq!(layout(a).compose(&layout(b).coalesce()).unwrap().to_string(), "(3,2):(1,10)");
}

#[test]
fn equations_that_take_a_search_are_decided() {
    let why = layout("(1024,3,1600):(4800,1600,1)").compose(&layout("(128,1048576):(1,38400)"));
    assert!(!matches!(why, Err(NoComposition::Undecided | NoComposition::Error(_))), "{why:?}");
}

#[test]
fn the_documentation_of_cute_takes_complements() {
    let complement = |a: &str, cotarget| layout(a).complement(cotarget).unwrap().to_string();
    assert_eq!(complement("4:1", 24), "6:4");
    assert_eq!(complement("6:4", 24), "4:1");
    assert_eq!(complement("(4,6):(1,4)", 24), "1:0");
    assert_eq!(complement("4:2", 24), "(2,3):(1,8)");
    assert_eq!(complement("(2,4):(1,6)", 24), "3:2");
    assert_eq!(complement("(2,2):(1,6)", 24), "(3,2):(2,12)");
}

#[test]
fn the_documentation_of_cute_divides_and_multiplies() {
    let tiler = |text: &str| Tiler::from(layout(text));
    let a = layout("(4,2,3):(2,1,8)");
    assert_eq!(a.logical_divide(&tiler("4:2")).unwrap().to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    let a = layout("(9,(4,8)):(59,(13,1))");
    let by_item = Tiler::by_item([tiler("3:3"), tiler("(2,4):(1,8)")]);
    assert_eq!(a.logical_divide(&by_item).unwrap().to_string(), "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))");
    assert_eq!(a.zipped_divide(&by_item).unwrap().to_string(), "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))");
    assert_eq!(a.tiled_divide(&by_item).unwrap().to_string(), "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))");
    let tile = layout("(2,2):(4,1)");
    assert_eq!(tile.logical_product(&tiler("6:1")).unwrap().to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    assert_eq!(tile.logical_product(&tiler("(4,2):(2,1)")).unwrap().to_string(), "((2,2),(4,2)):((4,1),(8,2))");
    let (block, grid) = (layout("(2,5):(5,1)"), layout("(3,4):(1,3)"));
    assert_eq!(block.blocked_product(&grid).unwrap().to_string(), "((2,3),(5,4)):((5,10),(1,30))");
    assert_eq!(block.raked_product(&grid).unwrap().to_string(), "((3,2),(4,5)):((10,5),(30,1))");
}

#[test]
fn the_python_reference_divides_where_it_should_multiply() {
    // Its `logical_product` with an integer calls `logical_divide`.
    let product = layout("(2,2):(4,1)").logical_product(&3.into());
    assert!(matches!(product, Err(NotTiled::Composition(NoComposition::Length { .. }))), "{product:?}");
    assert_eq!(layout("4:1").logical_product(&3.into()).unwrap().to_string(), "(4,3):(1,4)");
}

#[test]
fn the_documentation_of_cute_coalesces() {
    let a = layout("(2,(1,6)):(1,(6,2))");
    assert_eq!(a.coalesce().to_string(), "12:1");
    assert_eq!(a.coalesce_by(&(1, 1).into()).unwrap().to_string(), "(2,6):(1,2)");
    assert!(
        a.coalesce_by(&(1, 1, 1).into())
            .unwrap_err()
            .to_string()
            .contains("the profile has 3 modes, but the layout has 2")
    );
}

#[test]
fn thread_value_layouts_of_a_tensor_core() {
    // The C matrix of an SM70 quad pair, 8 by 8: threads and values to the coordinates of the tile.
    let tv = layout("((2,2,2),(2,2,2)):((1,16,4),(8,2,32))");
    assert_eq!(tv.bijective(), Ok(()));
    let inverse = tv.right_inverse().unwrap();
    assert!(inverse.is_longest && inverse.layout.size() == 64);
    let back = Layout::column_major((8, 8)).unwrap().compose(&tv).unwrap();
    assert_eq!(back.difference(&tv), None);
}
