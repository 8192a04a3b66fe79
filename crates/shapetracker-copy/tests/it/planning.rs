//! What planning may cost: no more than it saves. Times are measured by `benches/planning.rs`; here nothing depends on them.

use shapetracker_copy::{Plan, Threads};

use crate::naive::{How, Tensor, check_read, check_write};

/// Tensors permuted, padded and reshaped in turn, of up to 83,204 elements: planning each took from half a second to a minute and a
/// half, and the text of a plan had up to 277,522 bytes.
const DEEP: [&str; 4] = [
    // 13 views, 83204 elements.
    "(10, 11).permute(1, 0).pad((0, 1), (1, 0)).reshape(1, 132).permute(1, 0).pad((1, 1), (1, 0))\
         .reshape(1, 2, 134, 1).permute(0, 3, 1, 2).pad((1, 0), (1, 0), (0, 1), (0, 0)).reshape(1608,).permute(0,)\
         .pad((0, 1)).reshape(1, 1609, 1).permute(0, 1, 2).pad((1, 1), (0, 1), (0, 1)).reshape(230, 1, 6, 7)\
         .permute(1, 3, 2, 0).pad((0, 1), (1, 1), (1, 0), (1, 0)).reshape(42, 21, 33).permute(1, 0, 2)\
         .pad((0, 1), (0, 1), (1, 0)).reshape(731, 1, 1, 44).permute(3, 2, 1, 0).pad((1, 0), (0, 1), (0, 0), (0, 1))\
         .reshape(732, 90).permute(0, 1).pad((0, 1), (0, 0)).reshape(10, 6597).permute(1, 0).pad((1, 1), (0, 1))\
         .reshape(11, 6599).permute(1, 0).pad((0, 1), (1, 0)).reshape(1, 36, 2, 1100).permute(0, 3, 2, 1)\
         .reshape(22, 120, 30).permute(0, 2, 1).pad((0, 0), (0, 1), (1, 1)).reshape(62, 2, 671, 1)\
         .permute(3, 1, 2, 0).reshape(11, 1891, 4).permute(2, 1, 0)",
    // 13 views, 12575 elements.
    "(11, 9).permute(1, 0).pad((1, 0), (0, 0)).reshape(55, 2).permute(1, 0).pad((1, 0), (1, 0)).reshape(84, 2)\
         .permute(0, 1).pad((0, 1), (0, 0)).reshape(1, 17, 10, 1).permute(3, 2, 0, 1)\
         .pad((1, 0), (0, 0), (1, 0), (1, 1)).reshape(760,).permute(0,).pad((1, 1)).reshape(2, 3, 127)\
         .permute(2, 1, 0).pad((1, 1), (1, 0), (0, 0)).reshape(3, 2, 1, 172).permute(1, 3, 2, 0)\
         .pad((0, 0), (0, 0), (1, 0), (0, 1)).reshape(2, 8, 4, 43).permute(1, 3, 2, 0)\
         .pad((1, 1), (0, 0), (1, 1), (0, 0)).reshape(20, 43, 2, 3).permute(1, 2, 3, 0)\
         .pad((0, 1), (0, 1), (1, 0), (0, 1)).reshape(1, 11088).permute(1, 0).reshape(11, 126, 8).permute(2, 1, 0)\
         .pad((0, 1), (0, 1), (0, 0)).reshape(12573,).permute(0,).pad((1, 1)).reshape(503, 25, 1).permute(2, 1, 0)\
         .reshape(1, 503, 25, 1).permute(1, 2, 0, 3)",
    // 4 views, 17604 elements.
    "(2, 7, 10).permute(0, 1, 2).pad((1, 0), (1, 1), (1, 1)).reshape(324,).permute(0,).pad((1, 1))\
         .reshape(163, 2, 1, 1).permute(2, 3, 0, 1).pad((0, 1), (1, 1), (0, 0), (0, 1)).reshape(1, 3, 978)\
         .permute(1, 2, 0).pad((1, 0), (0, 0), (1, 1)).reshape(2, 4, 1467).permute(2, 1, 0)\
         .pad((0, 0), (0, 0), (1, 0)).reshape(1, 1, 3, 5868)",
    // 6 views, 1672 elements.
    "(6, 9).permute(1, 0).pad((0, 1), (1, 0)).reshape(5, 1, 14).permute(0, 2, 1).pad((1, 0), (0, 1), (0, 1))\
         .reshape(15, 4, 3, 1).permute(1, 3, 2, 0).pad((1, 1), (1, 1), (0, 0), (1, 1)).reshape(34, 9, 3)\
         .permute(0, 1, 2).pad((1, 0), (0, 1), (1, 0)).reshape(14, 20, 5).permute(1, 2, 0)\
         .pad((1, 1), (0, 0), (0, 1)).reshape(11, 150).permute(1, 0).pad((1, 1), (0, 0))",
];

#[test]
fn found_by_an_audit_deep_stacks_of_few_elements_are_walked() {
    for text in DEEP {
        let tensor = Tensor::of(text);
        let plan = tensor.plan(4).unwrap();
        let (numel, views) = (tensor.tracker.numel(), tensor.tracker.views().len());
        let walk =
            format!("{numel} elements walked through {views} views, a run of equally spaced addresses at a time\n");
        assert_eq!(plan.to_string(), walk);
        let buffer: Vec<u64> = (0..plan.buffer_len() as u64).collect();
        let expected: Vec<u64> = tensor.array.cells.iter().map(|cell| cell.map_or(u64::MAX, |at| at as u64)).collect();
        for threads in [Threads::one(), Threads::new(3).unwrap().eager()] {
            assert!(plan_of(text, 8).read(&buffer, u64::MAX, &threads).unwrap() == expected, "{text}");
        }
    }
}

fn plan_of(text: &str, width: usize) -> Plan {
    Plan::new(&Tensor::of(text).tracker, width).unwrap()
}

/// A part for each stage would be millions of loops here, or loops for an element each.
#[test]
fn stages_are_few_and_large() {
    let plan_of = |text: &str, width| {
        let tracker = text.parse::<shapetracker::Chain>().unwrap().tracker().unwrap();
        Plan::new(&tracker, width).unwrap()
    };
    for (text, width) in [
        ("(999983, 1000003).permute(1, 0).reshape(999983, 1000003).permute(1, 0)", 4),
        (
            "(3000, 3001).permute(1, 0).reshape(9003000, 1).expand(9003000, 100000).reshape(900300000000).step(1000003)",
            4,
        ),
        ("(4095, 4096).permute(1, 0).reshape(4095, 4096).permute(1, 0)", 9_000_000),
    ] {
        assert!(!plan_of(text, width).to_string().contains("stage"), "{text}");
    }
    let text = "(4095, 4096).permute(1, 0).reshape(4095, 4096).permute(1, 0)";
    assert!(plan_of(text, 4).to_string().starts_with("box 1 of 33, from element 0 on\n  into a stage"));
}

/// Both directions, by one thread and by several.
#[test]
fn walks_move_elements_of_any_width() {
    let walked = [
        "(5, 3).permute(1, 0).reshape(15).step(2)",
        "(7, 5).permute(1, 0).pad((1, 2), (0, 3)).reshape(80).flip(0).reshape(5, 16).permute(1, 0)",
        "(3, 4).reshape(3, 1, 4, 1).pad((0, 0), (0, 1), (0, 0), (0, 1)).reshape(6, 8).permute(1, 0)",
    ];
    for text in walked {
        let tensor = Tensor::of(text);
        assert!(tensor.plan(4).unwrap().to_string().contains("walked"), "{text}");
        for width in crate::naive::WIDTHS {
            for threads in [0, 2] {
                check_read(&tensor, How::drawn(width, 5).on(threads)).unwrap();
                check_write(&tensor, How::drawn(width, 6).on(threads)).unwrap();
            }
        }
    }
}

/// A walk shares its elements between threads wherever in a row a part begins.
#[test]
fn threads_share_a_walk() {
    let tensor = Tensor::of(DEEP[0]);
    for width in [4, 33] {
        check_read(&tensor, How::plain(width).on(3)).unwrap();
    }
}

#[test]
fn found_by_an_audit_the_text_of_a_plan_is_a_few_pages() {
    // Recorded from a model: sixty boxes, most of them with floors of their own.
    let text = "(1, 1, 1).expand(2, 72, 256).reshape(2, 8, 3, 3, 16, 16).permute(0, 1, 4, 5, 2, 3).permute(0, 1, 4, 2, 5, 3)\
                .reshape(2, 8, 3, 16, 1, 3, 16, 1).pad((0, 0), (0, 0), (0, 0), (0, 0), (0, 1), (0, 0), (0, 0), (0, 1))\
                .reshape(2, 8, 3, 32, 3, 32).pad((0, 0), (0, 0), (0, 0), (0, 3), (0, 0), (0, 3)).reshape(2, 8, 105, 105)\
                .pad((0, 0), (0, 0), (0, 31), (0, 31)).reshape(1, 2, 1, 8, 4, 34, 4, 34).permute(0, 1, 2, 3, 5, 7, 4, 6)";
    let tensor = Tensor::of(text);
    let plan = Plan::with_loops(&tensor.tracker, 4).unwrap().to_string();
    assert!(plan.len() < 8_000, "{} bytes", plan.len());
    let last = plan.lines().last().unwrap();
    assert!(plan.starts_with("box 1 of ") && last.starts_with("and ") && last.ends_with(" elements in all"), "{plan}");
}

/// The whole of a stack whose numbers no loops can count with used to be cut in halves, thousands of times, and refused.
#[test]
fn found_by_an_audit_what_no_loops_cover_is_walked_instead_of_refused() {
    let turns = ".permute(1, 0).reshape(16, 24)".repeat(13);
    let plan = plan_of(&format!("(16, 24){turns}"), 4);
    assert!(plan.to_string().starts_with("384 elements walked through "), "{plan}");
}
