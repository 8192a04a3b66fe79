//! What is read, what is printed, and every complaint, word for word.

use proptest::prelude::*;

use super::{Chain, ChainStart};
use crate::text::LONGEST_TEXT;
use crate::{Buffer, Dims, Movement, ShapeTracker, View};

fn dims(numbers: &[i64]) -> Dims {
    Dims::from_slice(numbers)
}

fn chain(text: &str) -> Chain {
    text.parse().unwrap_or_else(|err| panic!("{err}"))
}

/// The only operation of a chain without a start.
fn op(text: &str) -> Movement {
    let chain = chain(text);
    assert_eq!((chain.start(), chain.ops().len()), (&ChainStart::Nothing, 1), "{text}");
    chain.ops()[0].clone()
}

fn complaint(text: &str) -> String {
    text.parse::<Chain>().unwrap_err().to_string()
}

/// The complaint's sentence and the text under its carets.
fn fault(text: &str) -> (String, &str) {
    let err = text.parse::<Chain>().unwrap_err();
    (err.message().to_string(), &text[err.span()])
}

#[test]
fn the_chains_of_the_front_page() {
    let first = chain("(3, 2).permute(1, 0).reshape(3, 2)");
    assert_eq!(first.start(), &ChainStart::Shape(dims(&[3, 2])));
    assert_eq!(first.ops(), [Movement::Permute(dims(&[1, 0])), Movement::Reshape(dims(&[3, 2]))]);

    let text =
        "(8, 64, 56, 56).pad((0, 0), (0, 0), (1, 1), (1, 1)).shrink((0, 8), (0, 64), (0, 57), (1, 58)).flip(2, 3)";
    assert_eq!(chain(text).to_string(), text);
    assert_eq!(chain(text).tracker().unwrap().shape(), [8, 64, 57, 57]);
    assert_eq!(chain("(1, 4).expand(3, 4).step(1, -2)").tracker().unwrap().shape(), [3, 2]);
}

#[test]
fn every_operation_reads_in_all_its_forms() {
    let same = |texts: &[&str], meant: Movement| {
        for text in texts {
            assert_eq!(op(text), meant, "{text}");
        }
        assert_eq!(op(&meant.to_string()), meant);
        assert_eq!(texts[0], meant.to_string());
    };
    same(&["reshape(3, 2)", "view(3,2)", "reshape((3, 2))", "reshape([3, 2],)", ".reshape(3, 2,)"], {
        Movement::Reshape(dims(&[3, 2]))
    });
    same(&["reshape()", "reshape(())", "view([])"], Movement::Reshape(dims(&[])));
    same(&["reshape(1000, -1)", "reshape(1_000,-1)", "reshape ( + 1000 , -1 )".replace("+ ", "+").as_str()], {
        Movement::Reshape(dims(&[1000, -1]))
    });
    same(&["permute(1, 0)", "permute([1, 0])"], Movement::Permute(dims(&[1, 0])));
    same(&["expand(3, -1)"], Movement::Expand(dims(&[3, -1])));
    same(&["broadcast_to(2, 3)"], Movement::BroadcastTo(dims(&[2, 3])));
    same(&["pad((0, 1), (2, 3))", "pad(((0, 1), (2, 3)))", "pad([[0, 1], (2, 3,),],)"], {
        Movement::Pad([(0, 1), (2, 3)].into_iter().collect())
    });
    same(&["pad((0, 1))", "pad(((0, 1),))", "pad(((0, 1)))"], Movement::Pad([(0, 1)].into_iter().collect()));
    same(&["pad((0, 0), (1, 1))", "pad(None, (1, 1))", "pad((None, (1, 1)))"], {
        Movement::Pad([(0, 0), (1, 1)].into_iter().collect())
    });
    same(&["pad()", "pad(())"], Movement::Pad([].into_iter().collect()));
    same(&["shrink((0, 2))", "shrink([(0, 2)])"], Movement::Shrink([(0, 2)].into_iter().collect()));
    same(&["flip(2, 3)", "flip((2, 3))"], Movement::Flip(dims(&[2, 3])));
    same(&["flip()"], Movement::Flip(dims(&[])));
    same(&["flip(True, False)", "flip((True, False))", "flip(true, false)"], {
        Movement::FlipEach([true, false].into_iter().collect())
    });
    same(&["step(1, -2)"], Movement::Step(dims(&[1, -2])));
    same(&["transpose(0, -1)", "transpose((0, -1))"], Movement::Transpose(0, -1));
    same(&["squeeze()"], Movement::SqueezeAll);
    same(&["squeeze(())", "squeeze([])", "squeeze(axis=())"], Movement::Squeeze(dims(&[])));
    same(&["squeeze(0, 2)"], Movement::Squeeze(dims(&[0, 2])));
    same(&["unsqueeze(-1)", "unsqueeze((-1))"], Movement::Unsqueeze(-1));
    same(&["slice(1:3, ::-1, :, -2:)", "slice(1:3:1, ::-1, ::, -2::)", "slice((1:3, ::-1, :, -2:))"], {
        Movement::Slice(vec![(Some(1), Some(3), 1), (None, None, -1), (None, None, 1), (Some(-2), None, 1)])
    });
    same(&["as_strided((3, 3), (1, 1), 2)", "as_strided([3, 3], strides=(1, 1), offset=2)"], {
        Movement::AsStrided(dims(&[3, 3]), dims(&[1, 1]), 2)
    });
    same(&["as_strided((3,), (1,))", "as_strided(strides=(1), shape=(3))"], {
        Movement::AsStrided(dims(&[3]), dims(&[1]), 0)
    });
}

/// A copy is made where PyTorch makes one; the layout after it is that in the new buffer, and a tracker reads the base.
#[test]
fn copies_are_boundaries() {
    let progress = |text: &str| {
        let progress = chain(text).progress(None);
        let verdicts: Vec<_> = progress.verdicts.iter().map(|verdict| (verdict.name(), verdict.copies())).collect();
        (progress.steps.last().unwrap().clone(), verdicts)
    };
    let (none, merged, new) = (("no_new_view", None), ("merged", None), ("new_view", None));
    let copied = |elements| ("copied", Some(elements));
    for (text, tracker, verdicts) in [
        ("(3, 2).permute(1, 0).contiguous().reshape(6)", "(6)", vec![none, copied(6), none]),
        ("(3, 2).contiguous().reshape(6)", "(6)", vec![none, none]),
        // Where the tensor begins in its buffer is of no consequence to `contiguous`.
        ("(3, 2)[1:].contiguous()", "(2, 2):(2, 1) offset 2", vec![none, none]),
        ("(3, 2)[1:].copy()", "(2, 2)", vec![none, copied(4)]),
        ("(2).pad((1, 1)).contiguous()", "(4)", vec![none, copied(4)]),
        ("(1, 3).expand(2, 3).contiguous()", "(2, 3)", vec![none, copied(6)]),
        ("(3, 2).permute(1, 0).reshape(6).contiguous().flip(0)", "(6).flip(0)", vec![none, new, copied(6), none]),
        ("(3, 2).permute(1, 0).reshape(6).reshape(2, 3).permute(1, 0)", "(3, 2)", vec![none, new, merged, none]),
        ("(0, 3).permute(1, 0).contiguous()", "(3, 0)", vec![none, none]),
        ("().copy()", "()", vec![copied(1)]),
    ] {
        let (result, found) = progress(text);
        assert_eq!(
            (result.over_newest().to_string(), found),
            (chain(tracker).tracker().unwrap().to_string(), verdicts.clone()),
            "{text}"
        );
        let copy = verdicts.iter().rposition(|(_, elements)| elements.is_some());
        let buffer = copy.map_or(Buffer::Base, |op| Buffer::Copy { op, elements: verdicts[op].1.unwrap() });
        assert_eq!(result.buffer(), buffer, "{text}");
        // The elements of the base are the same ones without the copies.
        let without: String = text.replace(".contiguous()", "").replace(".copy()", "");
        let without = chain(&without).tracker().unwrap();
        assert_eq!(chain(text).tracker().unwrap(), without, "{text}");
        assert!(result.over_base().unwrap().addresses().eq(without.addresses()), "{text}");
        assert_eq!(chain(&chain(text).to_string()), chain(text));
    }
    assert_eq!(op("contiguous()"), Movement::Contiguous);
    assert_eq!(fault("contiguous(1)"), ("expected `)`, found `1`".into(), "1"));
}

#[test]
fn the_sugar_does_what_the_methods_do() {
    let shape = |text: &str| chain(text).tracker().unwrap().shape().to_vec();
    assert_eq!(shape("(1, 3, 1).squeeze()"), [3]);
    assert_eq!(shape("(1, 3, 1).squeeze(0)"), [3, 1]);
    assert_eq!(shape("(1, 3, 1).squeeze(())"), [1, 3, 1]);
    assert_eq!(shape("(3).unsqueeze(-1)"), [3, 1]);
    assert_eq!(shape("(3, 1).broadcast_to(2, 3, 4)"), [2, 3, 4]);
    assert_eq!(shape("(2, 3).transpose(0, 1)"), [3, 2]);
    assert_eq!(shape("(5, 5).slice(1:3, ::-2)"), [2, 3]);
    let flipped = |text: &str| chain(text).tracker().unwrap();
    assert_eq!(flipped("(2, 3).flip(False, True)"), flipped("(2, 3).flip(1)"));
    let err = chain("(2, 3).flip(True)").tracker().unwrap_err();
    assert_eq!(err.error().map(|err| err.kind()), Some(crate::ErrorKind::Rank));
}

#[test]
fn base_shapes() {
    let start = |text: &str| chain(text).start().clone();
    assert_eq!(start("(6)"), ChainStart::Shape(dims(&[6])));
    assert_eq!(start(" ( 6 , ) "), ChainStart::Shape(dims(&[6])));
    assert_eq!(start("[6, 1_0]\n"), ChainStart::Shape(dims(&[6, 10])));
    assert_eq!(start("()"), ChainStart::Shape(dims(&[])));
    assert_eq!(chain("(6,)").to_string(), "(6)");
    assert_eq!(chain("()").to_string(), "()");
    assert_eq!(chain("(3,2)\n    .permute(1, 0)\r\n\t.reshape(6)\n").to_string(), "(3, 2).permute(1, 0).reshape(6)");
}

/// The text that tinygrad prints, from the notes on its ShapeTracker.
#[test]
fn shapetracker_notes_multiview() {
    let pasted = "ShapeTracker(views=(View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False), \
                  View(shape=(3, 2), strides=(2, 1), offset=0, mask=None, contiguous=True)))";
    assert_eq!(chain(pasted).to_string(), pasted);
    let views = [View::new([2, 3], [1, 2], 0, None).unwrap(), View::contiguous([3, 2]).unwrap()];
    assert_eq!(chain(pasted).start(), &ChainStart::Views(views.to_vec()));

    // The same views as the notes recall them, a line each.
    let lines = "View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False)\n\
                 View(shape=(3, 2), strides=(2, 1), offset=0, mask=None, contiguous=True)";
    assert_eq!(chain(lines), chain(pasted));
    assert_eq!(chain(&lines.replace('\n', ",\n")), chain(pasted));
    assert_eq!(chain("(3, 2):(2, 1) over (2, 3):(1, 2)"), chain(pasted));
    assert_eq!(chain("ShapeTracker([View((2, 3), (1, 2)), View([3, 2], [2, 1],)],)"), chain(pasted));
}

#[test]
fn views_in_all_their_forms() {
    let view = View::new([4, 3], [1, 4], 2, Some(&[(0, 4), (1, 3)])).unwrap();
    for text in [
        "(4, 3):(1, 4) offset 2 mask ((0, 4), (1, 3))",
        "View(shape=(4, 3), strides=(1, 4), offset=2, mask=((0, 4), (1, 3)), contiguous=False)",
        "View((4, 3), (1, 4), 2, ((0, 4), (1, 3)), False)",
        "View((4, 3), (1, 4), mask=((0, 4), (1, 3)), offset=2)",
        "View(mask=[[0, 4], [1, 3]],\n  strides=[1, 4], shape=[4, 3], offset=2,)",
    ] {
        assert_eq!(text.parse::<View>().as_ref(), Ok(&view), "{text}");
        assert_eq!(chain(text).start(), &ChainStart::Views(vec![view.clone()]), "{text}");
    }
    assert_eq!("(3,):(1,)".parse::<View>(), "(3):(1)".parse());
    assert_eq!(chain("(3):(1) offset 3.flip(0)").ops(), [Movement::Flip(dims(&[0]))]);
}

#[test]
fn the_places_of_the_operations() {
    let text = " (3, 2) . permute( 1, 0 )\n.reshape((6,)) ";
    let chain = chain(text);
    assert_eq!(&text[chain.span(0)], "permute( 1, 0 )");
    assert_eq!(&text[chain.span(1)], "reshape((6,))");
    assert_eq!(chain.span(2), text.len()..text.len());
    assert_eq!(self::chain(".flip(0)").span(0), 1..8);
}

#[test]
fn every_complaint() {
    for (text, message, marked) in [
        ("", "expected a base shape such as `(3, 2)`, a view or an operation, found the end of the text", ""),
        ("x.mT\nx", "expected `.` and an operation, found the end of the text", ""),
        ("3, 2", "expected a base shape such as `(3, 2)`, a view or an operation, found `3`", "3"),
        ("(3, 2", "expected `,` or `)`, found the end of the text", ""),
        ("(3, 2]", "expected `,` or `)`, found `]`", "]"),
        ("[3 2]", "expected `,` or `]`, found `2`", "2"),
        ("(3,, 2)", "expected a size, found `,`", ","),
        (
            "(3, x)",
            "expected a size, found `x`, and nothing says which number that is: write the number in its place, or say it \
             before, as in `x = 2;`",
            "x",
        ),
        ("((3, 2))", "expected a size, found `(`", "("),
        ("(1.5)", "expected a size, which is a whole number, found `1.5`", "1.5"),
        ("(2e3)", "expected a size, which is a whole number, found `2e3`", "2e3"),
        (
            "(9223372036854775808)",
            "expected a size within the range of 64-bit integers, found `9223372036854775808`",
            "9223372036854775808",
        ),
        ("(3, 2) permute(1, 0)", "expected `.` and an operation, or the end of the text, found `permute`", "permute"),
        ("(3, 2))", "expected `.` and an operation, or the end of the text, found `)`", ")"),
        ("(3, 2).", "expected the name of an operation, found the end of the text", ""),
        ("(3, 2).(1, 0)", "expected the name of an operation, found `(`", "("),
        ("(3, 2).permute", "expected `(` after `permute`, found the end of the text", ""),
        ("(3, 2).permute[1, 0]", "expected `(` after `permute`, found `[`", "["),
        ("(3, 2).permute(1 0)", "expected `,` or `)`, found `0`", "0"),
        ("(3, 2).permute((1, 0), 1)", "expected `)`, found `1`", "1"),
        ("(3, 2).premute(1, 0)", "expected an operation, found `premute`: did you mean `permute`?", "premute"),
        ("(3, 2).Reshape(6)", "expected an operation, found `Reshape`: did you mean `reshape`?", "Reshape"),
        (
            "conv(3)",
            "expected an operation, found `conv`; there are reshape, view, permute, transpose, expand, broadcast_to, \
             pad, shrink, flip, step, slice, squeeze, unsqueeze, as_strided, contiguous, \
             copy",
            "conv",
        ),
        ("pad(1, 1)", "expected a pair `(before, after)`, found `1`", "1"),
        ("pad((1 1))", "expected `,` and the second number of a pair `(before, after)`, found `1`", "1"),
        ("pad((1, 1, 1))", "expected `)`, found `1`", "1"),
        (
            "pad((1, x))",
            "expected a number, found `x`, and nothing says which number that is: write the number in its place, or say \
             it before, as in `x = 2;`",
            "x",
        ),
        ("shrink(None)", "expected a range `(begin, end)`, found `None`", "None"),
        ("shrink((0, 1), 2)", "expected a range `(begin, end)`, found `2`", "2"),
        ("flip(True, 1)", "expected `True` or `False`, found `1`", "1"),
        ("flip(1, True)", "expected an axis, found `True`", "True"),
        ("transpose(1)", "expected two axes, found 1", "(1)"),
        ("unsqueeze()", "expected one axis, found 0", "()"),
        ("slice(2)", "expected `:`, found `)`", ")"),
        ("slice(x)", "expected a slice such as `1:3`, `::-1` or `:`, found `x`", "x"),
        (
            "slice(1:99999999999999999999)",
            "expected a bound within the range of 64-bit integers, found `99999999999999999999`",
            "99999999999999999999",
        ),
        ("as_strided()", "expected a shape such as `(2, 3)`, found `)`", ")"),
        ("as_strided((2))", "expected strides such as `(3, 1)`, found `)`", ")"),
        ("as_strided(2)", "expected a tuple such as `(2, 3)`, found `2`", "2"),
        ("as_strided((2), (1), 0, 0)", "expected `)`, found `0`", "0"),
        ("as_strided((2), (1), start=0)", "expected one of `shape`, `strides`, `offset`, found `start`", "start"),
        ("View", "expected `(` after `View`, found the end of the text", ""),
        ("View()", "expected `shape=(...)`, found `)`", ")"),
        ("View((2, 3))", "expected `strides=(...)`, found `)`", ")"),
        ("View(shape=(2), shape=(2))", "`shape` is given twice", "shape"),
        ("View(strides=(2), (3))", "expected the name of an argument, such as `shape=`, found `(`", "("),
        ("View((2), (1), contiguous=1)", "expected `True` or `False`, found `1`", "1"),
        ("View((2), (1), mask=1)", "expected a tuple of ranges such as `((0, 2), (1, 3))`, found `1`", "1"),
        ("View((2), (1), 0, None, True, 1)", "expected `)`, found `1`", "1"),
        (
            "View((2, 3), (3, 1), mask=((0, 3), (0, 3))).flip(0)",
            "view: axis 0 has size 2, so that the mask (0, 3) does not lie inside 0..2",
            "View((2, 3), (3, 1), mask=((0, 3), (0, 3)))",
        ),
        ("(2):x", "expected a tuple such as `(2, 3)`, found `x`", "x"),
        ("(2):(1) over (3)", "expected `:` and the strides, found the end of the text", ""),
        ("(2):(1) over 3", "expected a view such as `(2, 3):(3, 1)`, found `3`", "3"),
        (
            "(2):(1) offset x",
            "expected an offset, found `x`, and nothing says which number that is: write the number in its place, or say it \
             before, as in `x = 2;`",
            "x",
        ),
        ("ShapeTracker(views=())", "expected `View(...)`, found `)`", ")"),
        ("ShapeTracker(view=(View((2), (1))))", "expected `(` and views, found `view`", "view"),
        ("ShapeTracker(views(View((2), (1))))", "expected `=`, found `(`", "("),
        ("ShapeTracker(views=(View((2), (1)) 3", "expected `,` or `)`, found `3`", "3"),
        ("\u{1b}[31m", "expected a base shape such as `(3, 2)`, a view or an operation, found `\u{fffd}`", "\u{1b}"),
        ("(3\u{202e}2)", "expected `,` or `)`, found `\u{fffd}`", "\u{202e}"),
    ] {
        assert_eq!(fault(text), (message.to_string(), marked), "{text}");
    }
    let view = |text: &str| text.parse::<View>().unwrap_err().message().to_string();
    assert_eq!(
        view("flip(0)"),
        "expected a view such as `(2, 3):(3, 1)` or `View(shape=(2, 3), strides=(3, 1))`, found `flip`"
    );
    assert_eq!(view("(2)"), "expected `:` and the strides, found the end of the text");
    assert_eq!(view(" (2, 3):(1)"), View::new([2, 3], [1], 0, None).unwrap_err().to_string());
    assert_eq!(view("(2):(1).flip(0)"), "expected the end of the text after the view, found `.`");
}

#[test]
fn every_operation_is_among_those_that_are_guessed() {
    for text in [
        "reshap(1)",
        "veiw(1)",
        "Permute(0)",
        "tranpose(0, 1)",
        "expnd(1)",
        "broadcast_too(1)",
        "padd()",
        "shrnk()",
        "flipp()",
        "stepp()",
        "slise()",
        "sqeeze()",
        "unsqueze(0)",
        "asstrided()",
    ] {
        assert!(fault(text).0.contains("did you mean"), "{text}");
    }
}

#[test]
fn carets_under_a_line() {
    assert_eq!(
        complaint("(3, 2).permute(1, 0"),
        "expected `,` or `)`, found the end of the text\n  (3, 2).permute(1, 0\n                     ^"
    );
    // A tab counts as four columns, a wide character as two; what has no width is shown as a sign of its own.
    assert_eq!(
        complaint("\t(3, \u{0}\u{200b}日本)"),
        "expected a size, found `\u{fffd}`\n      (3, \u{fffd}\u{fffd}日本)\n          ^"
    );
    assert_eq!(
        complaint("(日本, 2)"),
        "expected a size, found `日本`, and nothing says which number that is: write the number in its place, or say it \
         before, as in `日本 = 2;`\n  (日本, 2)\n   ^^^^"
    );
    assert_eq!(complaint(""), format!("{}\n  \n  ^", fault("").0));
}

#[test]
fn carets_in_a_text_of_many_lines() {
    assert_eq!(
        complaint("(3, 2)\r\n  .permute(1, 0)\r\n  .reshape(3 2)\r\n  .flip(0)\r\n"),
        "expected `,` or `)`, found `2` on line 3\n    .reshape(3 2)\n               ^"
    );
    // Where the fault is longer than its line, the carets end with the line.
    assert_eq!(
        complaint("(2).transpose(1,\n 2, 3)"),
        "expected two axes, found 3 on line 1\n  (2).transpose(1,\n               ^^^"
    );
    let err = chain("(3, 2)\n.flip(2\n)\n").tracker().unwrap_err();
    assert_eq!(err.to_string(), "  .flip(2\n   ^^^^^^\nflip: axis 2 does not exist: the tensor has 2 axes");
}

#[test]
fn a_long_line_is_cut_around_the_fault() {
    let text = format!("(2){}.flop(0){}", ".flip(0)".repeat(1000), ".flip(0)".repeat(1000));
    let shown = complaint(&text);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[1], format!("  ...{}.flop(0){}.flip...", &".flip(0)".repeat(5)[1..], ".flip(0)".repeat(6)));
    assert_eq!(lines[1].find("flop"), lines[2].find('^'));
    assert_eq!(lines[2].trim(), "^^^^");

    let start = complaint(&format!("(x{}", ".flip(0)".repeat(1000)));
    assert!(start.lines().nth(1).unwrap().starts_with("  (x.flip(0)"));
    let end = complaint(&format!("(2){}(", ".flip(0)".repeat(1000)));
    assert!(end.lines().nth(1).unwrap().ends_with(".flip(0)("));
    let word = complaint(&"x".repeat(1000));
    assert!(word.starts_with(&format!("expected an operation, found `{}...`; there are", "x".repeat(40))));
    assert_eq!(word.lines().nth(2).unwrap().trim(), "^".repeat(100));
}

#[test]
fn what_cannot_be_done() {
    let message = |text: &str| chain(text).tracker().unwrap_err().to_string();
    assert_eq!(
        message("(3, 2).permute(1, 0).reshape(4).flip(0)"),
        "  (3, 2).permute(1, 0).reshape(4).flip(0)\n                       ^^^^^^^^^^\n\
         reshape: shape (2, 3) has 6 elements, but shape (4,) needs 4"
    );
    assert_eq!(
        message("(3, -2).flip(0)"),
        "  (3, -2).flip(0)\n  ^^^^^^^\nshape: axis 1 has size -2, but a size cannot be negative"
    );
    assert_eq!(
        message("(9):(1) over (2, 3):(1, 2)"),
        "  (9):(1) over (2, 3):(1, 2)\n  ^^^^^^^^^^^^^^^^^^^^^^^^^^\n\
         views: the view reads addresses 0 to 8, but what it reads from has 6 elements"
    );
    assert!(message("flip(0)").starts_with("  flip(0)\n  ^\nthe chain starts with an operation"));
    assert_eq!(
        message("y.transpose(1, 2).view(2, -1)"),
        "  y.transpose(1, 2).view(2, -1)\n  ^\nthe shape of the array `y` is not known: write it in place of the name, as in \
         `(2, 3).permute(1, 0)`"
    );

    let tracker = "(3, 2).flip(2)".parse::<ShapeTracker>().unwrap_err();
    assert_eq!((tracker.message(), tracker.span()), ("flip: axis 2 does not exist: the tensor has 2 axes", 7..14));
    assert!(chain("(3, 2).flip(2)").steps().is_err());
}

#[test]
fn a_base_known_from_elsewhere() {
    let shape = |text: &str, base: &[i64]| chain(text).tracker_from(base).map(|tracker| tracker.shape().to_vec());
    assert_eq!(shape("reshape(6)", &[3, 2]), Ok(vec![6]));
    assert_eq!(shape("(3, 2).reshape(6)", &[3, 2]), Ok(vec![6]));
    assert_eq!(shape("(6):(1).flip(0)", &[3, 2]), Ok(vec![6]));
    let message = |text: &str, base: &[i64]| shape(text, base).unwrap_err().message();
    assert_eq!(message("(6)", &[3, 2]), "the chain starts from shape (6,), but the base has shape (3, 2)");
    assert_eq!(message("(6)", &[-1]), "shape: axis 0 has size -1, but a size cannot be negative");
    assert_eq!(
        message("(7):(1)", &[3, 2]),
        "compose: the view reads addresses 0 to 6, but what it reads from has 6 elements"
    );
}

#[test]
fn noise_of_any_size_is_a_complaint() {
    for text in ["(", "[", "View(", "(2).reshape(", ".", "(2):", "-", "1", "_", "\u{feff}", "é", "🙂", "a=", "slice(:"]
    {
        let many = text.repeat(100_000);
        let err = many.parse::<Chain>().unwrap_err();
        assert!(err.to_string().len() < 1000, "{text}");
    }
    assert_eq!(fault(&format!("({}", "1, ".repeat(300_000))).0, "expected at most 64 axes, found `1`");
    let limit = "the text has 1048577 bytes, more than the 1048576 that are read";
    let one_too_many = |text: String| text.clone() + &" ".repeat(LONGEST_TEXT + 1 - text.len());
    assert_eq!(fault(&one_too_many("(2).flip(0)".into())), (limit.into(), ""));
    let view = one_too_many("(2):(1)".into()).parse::<View>().unwrap_err();
    assert_eq!((view.message(), view.span()), (limit, LONGEST_TEXT..LONGEST_TEXT));
    let (nothing, _) = Chain::read(&"é".repeat(LONGEST_TEXT));
    assert_eq!((nothing.start(), nothing.ops().len()), (&ChainStart::Nothing, 0));
    let long = format!("(2){}", ".flip(0)".repeat(100_000));
    assert_eq!(chain(&long).tracker().unwrap(), chain("(2)").tracker().unwrap());
}

fn numbers() -> impl Strategy<Value = Dims> {
    prop::collection::vec(prop_oneof![-3i64..100, any::<i64>()], 0..5).prop_map(Dims::from_vec)
}

fn movement() -> impl Strategy<Value = Movement> {
    let pairs = || prop::collection::vec(any::<(i64, i64)>(), 0..4).prop_map(|pairs| pairs.into_iter().collect());
    prop_oneof![
        numbers().prop_map(Movement::Reshape),
        numbers().prop_map(Movement::Permute),
        numbers().prop_map(Movement::Expand),
        numbers().prop_map(Movement::BroadcastTo),
        numbers().prop_map(Movement::Flip),
        numbers().prop_map(Movement::Step),
        numbers().prop_map(Movement::Squeeze),
        Just(Movement::SqueezeAll),
        pairs().prop_map(Movement::Pad),
        pairs().prop_map(Movement::Shrink),
        prop::collection::vec(any::<bool>(), 1..5).prop_map(|each| Movement::FlipEach(each.into_iter().collect())),
        any::<(i64, i64)>().prop_map(|(a, b)| Movement::Transpose(a, b)),
        any::<i64>().prop_map(Movement::Unsqueeze),
        prop::collection::vec(any::<(Option<i64>, Option<i64>, i64)>(), 0..4).prop_map(Movement::Slice),
        (numbers(), numbers(), any::<i64>())
            .prop_map(|(shape, strides, offset)| { Movement::AsStrided(shape, strides, offset) }),
    ]
}

fn view() -> impl Strategy<Value = View> {
    let axis = (0i64..6, -20i64..20, 0i64..6, 0i64..6);
    (prop::collection::vec(axis, 0..5), -50i64..50, any::<bool>()).prop_filter_map(
        "a view",
        |(axes, offset, masked)| {
            let shape: Dims = axes.iter().map(|axis| axis.0).collect();
            let strides: Dims = axes.iter().map(|axis| axis.1).collect();
            let range = |&(size, _, a, b): &(i64, i64, i64, i64)| (a.min(b).min(size), a.max(b).min(size));
            let mask: Option<Vec<(i64, i64)>> = masked.then(|| axes.iter().map(range).collect());
            View::new(shape, strides, offset, mask.as_deref()).ok()
        },
    )
}

proptest! {
    #[test]
    fn operations_print_as_they_read(ops in prop::collection::vec(movement(), 1..5), base in prop::option::of(numbers())) {
        let mut text = base.as_ref().map_or(String::new(), |base| format!("{:?}", base.as_slice()));
        for op in &ops {
            text += &format!(".{op}");
        }
        let chain = chain(&text);
        prop_assert_eq!(chain.ops(), &ops[..]);
        prop_assert_eq!(chain.start(), &base.map_or(ChainStart::Nothing, ChainStart::Shape));
        prop_assert_eq!(&self::chain(&chain.to_string()), &chain);
        for (i, op) in ops.iter().enumerate() {
            prop_assert_eq!(&text[chain.span(i)], op.to_string());
        }
    }

    #[test]
    fn views_print_as_they_read(views in prop::collection::vec(view(), 1..4)) {
        for view in &views {
            prop_assert_eq!(&view.to_string().parse::<View>().unwrap(), view);
            prop_assert_eq!(&format!("{view:?}").parse::<View>().unwrap(), view);
        }
        let over: Vec<String> = views.iter().rev().map(View::to_string).collect();
        let chain = chain(&over.join(" over "));
        prop_assert_eq!(chain.start(), &ChainStart::Views(views));
        prop_assert_eq!(self::chain(&chain.to_string()), chain);
    }

    #[test]
    fn any_text_is_a_chain_or_a_complaint_that_points_into_it(text in "[(\\[)\\],.:=a-z_0-9 é\n\tView-]{0,40}|\\PC{0,40}") {
        match text.parse::<Chain>() {
            Ok(read) => prop_assert_eq!(chain(&read.to_string()), read),
            Err(err) => prop_assert!(text.get(err.span()).is_some() && !err.to_string().is_empty()),
        }
    }
}

#[test]
fn what_others_write_is_read() {
    for (text, ours) in [
        ("np.arange(6).reshape(2, 3).T", "(6).reshape(2, 3).permute(1, 0)"),
        ("np.zeros((2, 3)).transpose(0, 1)", "(2, 3).permute(0, 1)"),
        ("torch.zeros(2, 3).transpose(0, 1)", "(2, 3).transpose(0, 1)"),
        ("torch.randn(2, 3, 4).transpose(0, 2, 1).flatten(1)", "(2, 3, 4).permute(0, 2, 1).reshape(2, 12)"),
        ("x.transpose(0, 1).reshape(3, 2)", "transpose(0, 1).reshape(3, 2)"),
        // Axes in a tuple are NumPy's, and so all axes in their new order.
        ("x.transpose((0, 1)).reshape(3, 2)", "permute(0, 1).reshape(3, 2)"),
        ("torch.empty(2, 3, 4).movedim(0, -1).mT", "(2, 3, 4).permute(1, 2, 0).transpose(-2, -1)"),
        ("torch.empty(2, 3, 4).movedim((0, 1), (2, 0))", "(2, 3, 4).permute(1, 2, 0)"),
        ("np.moveaxis(np.zeros((2, 3, 4)), [0, -1], destination=[-1, -2])", "(2, 3, 4).permute(1, 2, 0)"),
        ("(2, 3, 4).moveaxis(source=2, destination=0)", "(2, 3, 4).permute(2, 0, 1)"),
        ("np.expand_dims(np.zeros((2, 3)), (3, 0))", "(2, 3).unsqueeze(0).unsqueeze(3)"),
        ("np.expand_dims(np.zeros((2, 3)), axis=[-1, 1])", "(2, 3).unsqueeze(1).unsqueeze(3)"),
        ("torch.zeros(2, 3).swapdims(dim0=0, dim1=-1)", "(2, 3).transpose(0, -1)"),
        ("torch.zeros(2, 3, 4).transpose(dim0=1, dim1=2)", "(2, 3, 4).transpose(1, 2)"),
        ("torch.swapaxes(torch.zeros(2, 3), axis0=0, axis1=1)", "(2, 3).transpose(0, 1)"),
        ("np.swapaxes(np.zeros((2, 3)), 0, axis2=1)", "(2, 3).transpose(0, 1)"),
        ("np.swapaxes(np.zeros((2, 3)), axis1=0, axis2=1)", "(2, 3).transpose(0, 1)"),
        ("(2, 3, 4).swapaxes(0, 1).ravel()", "(2, 3, 4).transpose(0, 1).reshape(24)"),
        ("(2, 3)[:, ::-1]", "(2, 3).slice(:, ::-1)"),
        ("(2, 3, 4)[1, ..., None, -1].T", "(2, 3, 4).slice(1:2, :, 3:4).reshape(3, 1).permute(1, 0)"),
        ("(2, 3)[None, 1:]", "(2, 3).slice(1:, :).reshape(1, 1, 3)"),
        ("(2, 3)[np.newaxis, Ellipsis, 0, newaxis]", "(2, 3).slice(:, 0:1).reshape(1, 2, 1)"),
        ("((2, 3), (1, 2), 4)", "(2, 3):(1, 2) offset 4"),
        ("[[2, 3], [1, 2]].flip(0)", "(2, 3):(1, 2).flip(0)"),
        ("()[...]", "().slice()"),
        ("().flatten(0, 0)", "().reshape(1)"),
        ("(2, 3, 4).flatten(end_dim=-2)", "(2, 3, 4).reshape(6, 4)"),
        ("torch.ones(size=(2, 3)).flip(dims=[0]).unsqueeze(dim=0)", "(2, 3).flip(0).unsqueeze(0)"),
        ("torch.zeros(12).view(3, 4).as_strided(size=(2,), stride=(5,))", "(12).reshape(3, 4).as_strided((2), (5))"),
        ("torch.zeros(3, 1).expand(5, -1, 2).expand(-1, 3, 2)", "(3, 1).broadcast_to(5, 3, 2).expand(-1, 3, 2)"),
        ("torch.zeros(3, 1).squeeze(0).squeeze((-1, 0))", "(3, 1).squeeze(()).squeeze(-1)"),
        // In tinygrad `T` exchanges the first two axes, however many there are.
        ("Tensor.rand(2, 3, 4).T", "(2, 3, 4).transpose(0, 1)"),
        // A copy that keeps the order of memory is one between two permutations.
        ("np.copy(np.zeros((2, 3)).T)", "(2, 3).permute(1, 0).permute(1, 0).copy().permute(1, 0)"),
        ("torch.zeros(2, 3).T.clone()", "(2, 3).permute(1, 0).permute(1, 0).copy().permute(1, 0)"),
        ("np.zeros((2, 3)).copy(order='F')", "(2, 3).permute(1, 0).copy().permute(1, 0)"),
        ("np.zeros((2, 3)).T.copy()", "(2, 3).permute(1, 0).copy()"),
        ("np.ascontiguousarray(np.zeros(()))", "().reshape(1).contiguous()"),
        // The one library that a text names has the methods of all its arrays.
        ("np.flip(x.transpose(0, 1), 0)", "permute(0, 1).flip(0)"),
        ("(_2, _3):(_3, _-1)", "(2, 3):(3, -1)"),
        ("8:2.flip(0)", "(8):(2).flip(0)"),
        ("((2, 0), 3):((1, 2), 4)", "(0, 3):(0, 0)"),
    ] {
        let read: Chain = text.parse().unwrap_or_else(|err| panic!("{text}: {err}"));
        let ours: Chain = ours.parse().unwrap();
        assert_eq!(read.ops(), ours.ops(), "{text}");
        assert!(read == ours || read.tracker().unwrap().shape() == ours.tracker().unwrap().shape(), "{text}");
        assert_eq!(chain(&read.to_string()), read);
    }
}

/// The elements as NumPy 2.4 and PyTorch 2.15 give them.
#[test]
fn what_others_write_has_the_elements_that_it_has_there() {
    let cases: [(&str, &[i64], &[i64]); 30] = [
        ("np.arange(6).reshape(2, 3).transpose(0, 1)", &[2, 3], &[0, 1, 2, 3, 4, 5]),
        ("torch.arange(6).reshape(2, 3).transpose(0, 1)", &[3, 2], &[0, 3, 1, 4, 2, 5]),
        ("np.arange(6).reshape(1, 2, 3).T", &[3, 2, 1], &[0, 3, 1, 4, 2, 5]),
        ("np.arange(12).reshape(3, 4)[1:, ::-2]", &[2, 2], &[7, 5, 11, 9]),
        ("np.arange(12).reshape(3, 4)[-1, ..., None]", &[4, 1], &[8, 9, 10, 11]),
        ("np.arange(12).reshape(3, 4)[::-2][:, -99:1]", &[2, 1], &[8, 0]),
        ("np.arange(8).reshape([2, 2, -1])[..., 0].ravel()", &[4], &[0, 2, 4, 6]),
        ("torch.arange(8).view(2, 2, 2).movedim(0, -1).flatten(1)", &[2, 4], &[0, 4, 1, 5, 2, 6, 3, 7]),
        ("torch.arange(3).unsqueeze(1).expand(-1, 2).t()", &[2, 3], &[0, 1, 2, 0, 1, 2]),
        ("torch.arange(6).as_strided((2, 2), (1, 2), 1).mT", &[2, 2], &[1, 2, 3, 4]),
        ("torch.arange(3)[None].broadcast_to((2, 3))[1:, 1]", &[1], &[1]),
        // PyTorch's `as_strided` reads the memory, from where the tensor begins in it unless an offset is given.
        ("torch.arange(6).view(2, 3).T.as_strided((2, 2), (1, 3))", &[2, 2], &[0, 3, 1, 4]),
        ("torch.arange(6).view(2, 3)[1:].as_strided((2,), (1,))", &[2], &[3, 4]),
        ("torch.arange(6).view(2, 3)[1:].as_strided((4,), (1,), 1)", &[4], &[1, 2, 3, 4]),
        ("torch.arange(6).view(2, 3).T.contiguous().T.as_strided((3,), (1,))", &[3], &[0, 3, 1]),
        ("torch.arange(6).view(2, 3).T.clone().as_strided((3,), (1,))", &[3], &[0, 1, 2]),
        ("torch.arange(6).view(2, 3).T.flip(1).as_strided((3,), (1,))", &[3], &[3, 4, 5]),
        ("np.asfortranarray(np.broadcast_to(np.zeros(()), ()))", &[1], &[0]),
        ("np.rot90(np.arange(6).reshape(2, 3))", &[3, 2], &[2, 5, 1, 4, 0, 3]),
        ("torch.arange(6).view(2, 3).rot90(-1, [0, 1])", &[3, 2], &[3, 0, 4, 1, 5, 2]),
        ("np.arange(6).reshape(2, 3).rot90(k=2, axes=(1, 0))", &[2, 3], &[5, 4, 3, 2, 1, 0]),
        ("torch.arange(6).view(2, 3).rot90(4, (0, 1))", &[2, 3], &[0, 1, 2, 3, 4, 5]),
        ("np.rollaxis(np.arange(6).reshape(1, 2, 3), 2)", &[3, 1, 2], &[0, 3, 1, 4, 2, 5]),
        ("np.rollaxis(np.arange(6).reshape(1, 2, 3), 0, 3)", &[2, 3, 1], &[0, 1, 2, 3, 4, 5]),
        ("np.hsplit(np.arange(8).reshape(2, 4), 2)[1]", &[2, 2], &[2, 3, 6, 7]),
        ("np.hsplit(np.arange(6), [2, 3])[2]", &[3], &[3, 4, 5]),
        ("a, b = torch.arange(8).view(4, 2).vsplit(2); b", &[2, 2], &[4, 5, 6, 7]),
        ("np.dsplit(np.arange(8).reshape(2, 2, 2), 2)[0]", &[2, 2, 1], &[0, 2, 4, 6]),
        ("y = torch.zeros(3, 2); torch.arange(6).view_as(y).t()", &[2, 3], &[0, 2, 4, 1, 3, 5]),
        ("torch.arange(2).view(2, 1).expand_as(torch.zeros(1, 2, 2))", &[1, 2, 2], &[0, 0, 1, 1]),
    ];
    for (text, shape, elements) in cases {
        let tracker = chain(text).tracker().unwrap();
        assert_eq!(tracker.shape(), shape, "{text}");
        let all = (0..tracker.numel()).map(|position| tracker.address(&crate::shape::unravel(position, shape)));
        assert_eq!(all.collect::<Option<Vec<_>>>().as_deref(), Some(elements), "{text}");
    }
}

#[test]
fn modes_of_cute_run_colexicographically() {
    // Coordinate (i, j) of the layout: i is i0 + 2 i1.
    let layout: ShapeTracker = "((2, 4), 3):((_1, 16), 2)".parse().unwrap();
    assert_eq!(layout.shape(), [8, 3]);
    for (i, j) in (0..8).flat_map(|i| (0..3).map(move |j| (i, j))) {
        assert_eq!(layout.address(&[i, j]), Some(i % 2 + i / 2 * 16 + j * 2));
    }
    // The first mode need not be the one that nests.
    let later: ShapeTracker = "(3, (2, 4)):(2, (_1, 16))".parse().unwrap();
    assert_eq!(later.shape(), [3, 8]);
    assert!((0..8).all(|i| (0..3).all(|j| later.address(&[j, i]) == layout.address(&[i, j]))));
    let deeper: ShapeTracker = "(((2, 2), 2), 3):(((1, 8), 2), 20)".parse().unwrap();
    let expected = |i: i64, j: i64| i % 2 + i / 2 % 2 * 8 + i / 4 * 2 + j * 20;
    assert!((0..8).all(|i| (0..3).all(|j| deeper.address(&[i, j]) == Some(expected(i, j)))));
    // Modes that run on in memory are one axis of one view.
    let joined: ShapeTracker = "((2, 4), 3):((1, 2), 8)".parse().unwrap();
    assert_eq!(joined, "(8, 3):(1, 8)".parse().unwrap());
}

/// The shape that is given from outside is that of the array of the text, and of no other that has a name only.
#[test]
fn another_array_has_not_the_shape_of_the_first() {
    for (text, known) in [
        ("x.view_as(y)", false),
        ("x.T.expand_as(y.T)", false),
        ("x.reshape_as(x.T)", true),
        ("y = x.T; x.view_as(y)", true),
        ("y = x.T; z = y.view_as(w)", false),
    ] {
        let (chain, err) = Chain::read_from(text, Some(&[2, 3]));
        assert_eq!(err.is_none(), known, "{text}: {err:?}");
        match err {
            Some(err) => assert!(err.message().starts_with("the shape of `"), "{text}: {}", err.message()),
            None => assert_eq!(chain.tracker_from(&[2, 3]).unwrap().shape(), [3, 2], "{text}"),
        }
    }
}

#[test]
fn what_others_write_wrongly_is_pointed_at() {
    let shape = "what stands here depends on the shape: write the shape in front, as in `(2, 3).T`";
    let makers = "expected one of arange, zeros, ones, empty, rand, randn, or in place of a function a shape and \
                  methods, as in `(2, 3).permute(1, 0)`, found";
    let around = " is no function that moves elements, or it is not read: write the array and then its operations, as in \
                  `(6,).flip(0)`, or an index, as in `(6,)[::-1]`";
    for (text, message, marked) in [
        ("x.T", shape, "T"),
        ("größe.flatten(1)", shape, "flatten(1)"),
        ("x[0]", shape, "[0]"),
        ("y = x.T", shape, "T"),
        ("(2, 3)[2]", "axis 0 has size 2, so that there is no index 2", "2"),
        ("np.arange(6).vsplit(2)[0]", "`vsplit` is for arrays of at least 2 axes, and this one has 1", "vsplit"),
        ("(2, 3).hsplit(2)[0]", "axis 1 has size 3, which is not cut into 2 equal parts", "hsplit(2)"),
        ("(2, 3).rot90(1, (0, -2))", "a plane has two different axes", "rot90(1, (0, -2))"),
        (
            "torch.zeros(6).view_as(y)",
            "the shape of `y` is not known: say it before, as in `y = torch.zeros(2, 3);`, or write the sizes",
            "y",
        ),
        ("(2, 3).ravel(1)", "expected `)`, found `1`", "1"),
        ("(2, 3).ravel(axis=1)", "expected `)`, found `axis`", "axis"),
        ("(2, 3)[0, ..., -4]", "axis 1 has size 3, so that there is no index -4", "-4"),
        ("(2, 3)[0, 1, 2]", "expected at most 2 entries, one per axis", "2"),
        ("(2, 3)[..., ...]", "`...` stands for all axes that are not named, so that it can stand only once", "..."),
        ("(2, 3)[True]", "expected an index, a slice, `None` or `...`, found `True`", "True"),
        ("(2, 3)[np.x]", "expected `newaxis`, found `x`", "x"),
        ("(2, 3)[..]", "expected an index, a slice, `None` or `...`, found `..`", ".."),
        ("((2, 3), 4):((1, 2, 3), 4)", "the strides must have the same parentheses as the shape", "((1, 2, 3), 4)"),
        ("(2, (3, 4))", "expected a size, found `(`", "("),
        ("np.linspace(6)", &format!("{makers} `linspace`"), "linspace"),
        ("np.polish(np.arange(6))", &format!("`polish`{around}"), "polish"),
        ("torch.polish(x, 0, 1)", &format!("`polish`{around}"), "polish"),
        ("polish(np.arange(6))", &format!("`polish`{around}"), "polish"),
        ("np.arange(2, 6, 0)", "the step is 0; a step is 1 or more, or -1 or less to count backwards", "(2, 6, 0)"),
        ("x.flip(0).as_strided((2), (1))", shape, "as_strided((2), (1))"),
        ("(2, 3).narrow(0, 1)", "expected a number for `length`, found `)`", ")"),
        (
            "torch.zeros(2, 3).clone(memory_format=torch.channels_last)",
            "`torch.channels_last` is for tensors of 4 axes, and this one has 2",
            "clone(memory_format=torch.channels_last",
        ),
        (
            "np.zeros((2, 3)).reshape((3, 2), order='K')",
            "NumPy's `reshape` has the orders 'C', 'F' and 'A', and raises a ValueError for 'K'",
            "reshape((3, 2), order='K')",
        ),
        (
            "torch.zeros(4, 6).T.view(torch.int16)",
            "PyTorch raises a RuntimeError: to view float32 as int16, of another size, the last axis must have stride 1, and \
             axis 1 has stride 6; `x.contiguous()` has it",
            "view(torch.int16)",
        ),
        (
            "torch.zeros(4, 5)[:, :4].view(torch.float64)",
            "PyTorch raises a RuntimeError: to view float32 as float64, of another size, the stride of axis 0 must be a multiple \
             of 2, and it is 5",
            "view(torch.float64)",
        ),
        (
            "torch.zeros(5).view(torch.int64)",
            "PyTorch raises a RuntimeError: to view float32 as int64, of another size, the bytes of the last axis must be whole \
             elements: axis 0 has 5 of 4 bytes, and one takes 8",
            "view(torch.int64)",
        ),
        (
            "np.zeros(()).view(np.int8)",
            "NumPy raises a ValueError: to view float64 as int8, of another size, an array needs an axis, and this one has none",
            "view(np.int8)",
        ),
        (
            "np.zeros((4, 5), 'i4')[:, :4].view(np.int64)",
            "the stride of axis 0 is 5 elements of int32, which are no whole number of int64: NumPy makes that view, and no layout \
             in elements has its addresses",
            "view(np.int64)",
        ),
        (
            "torch.zeros(6, 4).T.contiguous().view(torch.int16)",
            "`view` of float32 as int16, of another size, is read over the memory that the chain begins with, and something is \
             copied before: begin with the copy, as an array of shape (4, 6) and type float32",
            "view(torch.int16)",
        ),
        (
            "np.zeros(2, 'S6').view('S4')",
            "NumPy raises a ValueError: to view S6 as S4, of another size, smaller elements must have a size that divides the old \
             one, and 4 bytes do not divide 6",
            "view('S4')",
        ),
        (
            "np.zeros(4).view(np.recarray)",
            "the size of the elements of `np.recarray` is not known: write a type of numbers, such as `np.float32`; to change \
             the shape write `reshape`",
            "np.recarray",
        ),
        (
            "x.view(torch.int32)",
            "`view` reads the bytes of the elements as int32, and nothing says which type they have: begin with an array that has \
             one, as in `torch.zeros(4, 6)`; where both types have one size, leave it out, and to change the shape write \
             `reshape`",
            "view(torch.int32)",
        ),
        (
            "torch.zeros(2, 3).roll((1, 2), (0, 1))",
            "`roll` is read along one axis: write a call for each, as in `x.roll(1, 0).roll(2, 1)`",
            "roll((1, 2)",
        ),
        (
            "np.array([2, 3])",
            "the elements of an array are not read: write its shape, as in `np.array(np.zeros((2, 3)))`",
            "[",
        ),
        (
            "np.asarray(x, dtype=float)",
            "whether a copy is made depends on the type that the array has, which is not known: write `astype` where one is",
            "dtype",
        ),
        (
            "x.astype(float, copy=False)",
            "expected `True`: whether another value copies depends on more than the layout, found `False`",
            "False",
        ),
        (
            "torch.matmul(x, y)",
            "`matmul` is not read: it computes new values, and an array of them has a layout of its own",
            "matmul",
        ),
        ("(2, 3).reshape((6), order=1)", "expected `)` and no argument with a name, found `order`", "order"),
        (
            "(2, 3).flip(x=1)",
            "expected an axis, or one of the names `shape`, `size`, `dim`, `dims`, `axis`, `axes` in front of all of \
             them, found `x`",
            "x",
        ),
        ("(2, 3).t(0)", "expected `)`, found `0`", "0"),
        (
            "(2, 3, 4).t()",
            "`t` is for at most two axes, and this array has 3: write `transpose` with two of them",
            "t()",
        ),
        ("(2, 3).swapaxes(0)", "expected two axes, found 1", "swapaxes(0)"),
        ("(2, 3).moveaxis(0, 2)", "moveaxis: axis 2 does not exist: the tensor has 2 axes", "moveaxis(0, 2)"),
        (
            "(2, 3).flatten(1, 0)",
            "`flatten` from axis 1 to axis 0: the first must not come after the last",
            "flatten(1, 0)",
        ),
        ("(2, 3).movedim((0, -2), (1, 0))", "moveaxis: axis 0 is named twice", "movedim((0, -2), (1, 0))"),
        (
            "np.expand_dims(np.zeros((2, 3)), (0, 0))",
            "expand_dims: axis 0 is named twice",
            "np.expand_dims(np.zeros((2, 3)), (0, 0))",
        ),
        ("(2, 3).movedim((0, 1), 1)", "moveaxis: 2 axes and 1 places: each axis takes one", "movedim((0, 1), 1)"),
        ("().flatten(1)", "flatten: axis 1 does not exist: the tensor has 1 axis", "flatten(1)"),
        ("(2, 3).permute(0, 0).flatten()", "permute: axis 0 is named twice, at places 0 and 1", "permute(0, 0)"),
        ("(2, -3).flatten()", "shape: axis 1 has size -3, but a size cannot be negative", "(2, -3)"),
    ] {
        assert_eq!(fault(text), (message.to_string(), marked), "{text}");
    }
    // What needs the number of axes alone is read, and the operation before it is refused where it is done.
    let read = chain("(2, 3).permute(0, 0).T");
    let err = read.tracker().unwrap_err();
    assert_eq!((err.op(), err.message()), (Some(0), "permute: axis 0 is named twice, at places 0 and 1".into()));
}

/// What an incomplete text is while it is typed, and what a wrong one was probably meant to be.
#[test]
fn what_is_begun_is_no_mistake_yet() {
    let err = |text: &str| text.parse::<Chain>().unwrap_err();
    for text in [
        "",
        "(3",
        "(3, 2",
        "(3, 2).",
        "(3, 2).perm",
        "(3, 2).permute",
        "(3, 2).permute(",
        "(3, 2).permute(1",
        "(3, 2).permute(1, 0).resh",
        "(3, 2).flip(Tr",
        "(3, -",
        "(3, 2):(1, 2) off",
        "(3, 2):(1, 2) over ",
        "torc",
        "np.ara",
        "np.arange(6)[",
        "np.arange(6)[1:",
        "ShapeTr",
        "View(shape=(2, 3), stri",
        "flip(dim",
    ] {
        assert!(err(text).is_unfinished(), "{text}");
    }
    for text in [
        "(3, 2]",
        "(3 2",
        "(3, x",
        "(3, 2).premute",
        "(3, 2).premute(1, 0)",
        "(3, 2).perm(1",
        "3",
        "View(shape=(2), )",
        "(1.5",
    ] {
        assert!(!err(text).is_unfinished(), "{text}");
    }
}

/// Every text as it comes to be, letter by letter, is unfinished or a chain, but where a name or a number is a wrong one
/// before it is complete.
#[test]
fn typing_a_chain_is_no_mistake() {
    for text in [
        "(3, 2).permute(1, 0).reshape(3, 2)",
        "(8, 64).pad((0, 0), (1, 1)).shrink((0, 8), (1, 58)).flip(0)[::2]",
        "np.arange(6).reshape(2, 3).T",
        "(3, 2):(2, 1) over (2, 3):(1, 2) offset 0",
        "View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False)",
        "((2, 4), 8):((1, 16), 2)",
    ] {
        for (end, _) in text.char_indices() {
            let typed = &text[..end];
            if let Err(err) = typed.parse::<Chain>() {
                assert!(err.is_unfinished(), "{typed}\n{err}");
            }
        }
    }
}

#[test]
fn suggestions_can_be_read() {
    for (text, meant) in [
        ("(3, 2", "(3, 2)"),
        ("(3, 2]", "(3, 2)"),
        ("[3 2]", "[3, 2]"),
        ("(3,, 2)", "(3,2)"),
        ("(3, 2) permute(1, 0)", "(3, 2).permute(1, 0)"),
        ("(3, 2))", "(3, 2)"),
        ("(3, 2).permute(1 0)", "(3, 2).permute(1, 0)"),
        ("(3, 2).premute(1, 0)", "(3, 2).permute(1, 0)"),
        ("(3, 2).premute(1, 0).reshpe(6)", "(3, 2).permute(1, 0).reshpe(6)"),
        ("(3, 2).Reshape(6)", "(3, 2).reshape(6)"),
        ("(3, 2).permute((1, 0", "(3, 2).permute((1, 0))"),
        ("(3, 2).pad((0, 1), (1, 1)", "(3, 2).pad((0, 1), (1, 1))"),
    ] {
        let err = text.parse::<Chain>().unwrap_err();
        let (span, with) = err.suggestion().unwrap_or_else(|| panic!("{text}"));
        assert_eq!([&text[..span.start], with, &text[span.end..]].concat(), meant, "{text}");
    }
    for text in ["", "(3, x)", "conv(3)", "(3, 2).", "(3, 2).permute", "pad(1, 1)", "3, 2"] {
        assert_eq!(text.parse::<Chain>().unwrap_err().suggestion(), None, "{text}");
    }
}

#[test]
fn the_name_of_an_array_and_the_modes_of_a_layout() {
    assert_eq!(chain("x.transpose(1, 2).view(2, -1)").start_name(), Some("x"));
    assert_eq!(chain("x[0:1].flip(0)".replace("[0:1]", "").as_str()).start_name(), Some("x"));
    for text in ["(3, 2).flip(0)", "flip(0)", ".flip(0)", "np.zeros(3)"] {
        assert_eq!(chain(text).start_name(), None, "{text}");
    }
    let modes =
        |text: &str| chain(text).modes().map(|modes| modes.iter().map(|axis| axis.to_vec()).collect::<Vec<_>>());
    assert_eq!(modes("((2, 4), 8):((1, 16), 2)"), Some(vec![vec![2, 4], vec![8]]));
    assert_eq!(modes("8:1"), Some(vec![vec![8]]));
    assert_eq!(modes("(2, 3):(3, 1)"), None);
}

/// What a stranger pasted and was refused, and what it says in our own notation.
#[test]
fn real_code_is_read() {
    for (text, ours) in [
        ("View.create((2, 3))", "(2, 3):(3, 1)"),
        ("View.create(shape=(2, 3), strides=(1, 2), offset=4, mask=None)", "(2, 3):(1, 2) offset 4"),
        ("ShapeTracker.from_shape((2, 3)).permute((1, 0))", "(2, 3):(3, 1).permute(1, 0)"),
        ("np.broadcast_to(np.arange(3), (4, 3))", "(3).broadcast_to(4, 3)"),
        ("sliding_window_view(np.arange(6), 3)", "(6).as_strided((4, 3), (1, 1))"),
        (
            "np.lib.stride_tricks.sliding_window_view(np.zeros((4, 5)), (2, 3))",
            "(4, 5).as_strided((3, 3, 2, 3), (5, 1, 5, 1))",
        ),
        ("sliding_window_view(np.zeros((4, 5)), 2, axis=0)", "(4, 5).as_strided((3, 5, 2), (5, 1, 5))"),
        ("torch.as_strided(torch.arange(6), (2, 2), (1, 2), 1)", "(6).as_strided((2, 2), (1, 2), 1)"),
        ("torch.zeros(2, 9).unfold(1, 3, 2)", "(2, 9).as_strided((2, 4, 3), (9, 2, 1))"),
        ("torch.zeros(4, 5).narrow(1, 1, 3)", "(4, 5).shrink((0, 4), (1, 4))"),
        ("torch.narrow(torch.zeros(4, 5), 0, -2, 2)", "(4, 5).shrink((2, 4), (0, 5))"),
        ("torch.zeros(4, 5).select(1, -1)", "(4, 5).shrink((0, 4), (4, 5)).reshape(4)"),
        ("torch.zeros(4, 6).unflatten(-1, (2, -1))", "(4, 6).reshape(4, 2, 3)"),
        ("torch.zeros(4, 5).diagonal()", "(4, 5).as_strided((4), (6))"),
        ("np.diagonal(np.zeros((4, 5)), offset=2)", "(4, 5).as_strided((3), (6), 2)"),
        ("torch.zeros(4, 5, 2).diagonal(-1, 1, 2)", "(4, 5, 2).as_strided((4, 2), (10, 3), 2)"),
        ("torch.zeros(2, 9).chunk(3, -1)[1]", "(2, 9).shrink((0, 2), (3, 6))"),
        ("torch.zeros(7).chunk(3)[-1]", "(7).shrink((6, 7))"),
        ("torch.zeros(7).split(3)[2]", "(7).shrink((6, 7))"),
        ("torch.zeros(7).split([3, 4])[1]", "(7).shrink((3, 7))"),
        ("np.split(np.arange(6), 3)[1]", "(6).shrink((2, 4))"),
        ("np.split(np.arange(6), [1, 4])[1]", "(6).shrink((1, 4))"),
        ("np.array_split(np.arange(7), 3)[1]", "(7).shrink((3, 5))"),
        ("torch.zeros(3, 4).unbind(0)[1]", "(3, 4).shrink((1, 2), (0, 4)).reshape(4)"),
        ("(3, 2).contiguous()", "(3, 2).contiguous()"),
        ("x = torch.arange(6).view(2, 3)\ny = x.T\ny.reshape(6)", "(6).reshape(2, 3).permute(1, 0).reshape(6)"),
        (
            "import numpy as np\n\n# A base.\nx = np.zeros((2, 3))  # rows\nx = x.T; x.ravel()",
            "(2, 3).permute(1, 0).reshape(6)",
        ),
        (
            "B, T, C = 2, 3, 8\nH = 4\nx = torch.zeros(B, T, C)\nx.view(B, T, H, C // H)",
            "(2, 3, 8).reshape(2, 3, 4, 2)",
        ),
        (
            "x = torch.randn(2, 3, 12, device='cuda', dtype=torch.float16)\nB, T, C = x.shape\n\
             q, k, v = x.chunk(3, dim=-1)\nk = k.view(B, T, 2, C // 6).transpose(1, 2)",
            "(2, 3, 12).shrink((0, 2), (0, 3), (4, 8)).reshape(2, 3, 2, 2).transpose(1, 2)",
        ),
        ("x = np.zeros((2, 3))\nx.reshape(x.shape[0] * x.shape[1])", "(2, 3).reshape(6)"),
        ("x = torch.zeros(2, 3, 4)\nx.view(*x.shape[:-1], 2, 2)", "(2, 3, 4).reshape(2, 3, 2, 2)"),
        ("x = torch.zeros(2, 3, 4)\nx.view(x.size(0), -1)", "(2, 3, 4).reshape(2, -1)"),
        ("shape = (2, 3)\nn = 2\nnp.zeros(shape)[:n - 1]", "(2, 3).slice(:1, :)"),
        ("x.transpose(1, 2).view(2, -1)", "transpose(1, 2).reshape(2, -1)"),
        ("F.pad(torch.zeros(2, 3), (1, 2))", "(2, 3).pad((0, 0), (1, 2))"),
        (
            "torch.nn.functional.pad(torch.zeros(2, 3), (1, 2, 3, 4), mode='constant', value=0.5)",
            "(2, 3).pad((3, 4), (1, 2))",
        ),
        ("F.pad(torch.zeros(2, 3), (-1, 2), 'constant', 0)", "(2, 3).shrink((0, 2), (1, 3)).pad((0, 0), (0, 2))"),
        ("np.pad(np.zeros((2, 3)), 1)", "(2, 3).pad((1, 1), (1, 1))"),
        ("np.pad(np.zeros((2, 3)), ((1, 2), (0, 3)), mode=\"constant\")", "(2, 3).pad((1, 2), (0, 3))"),
        ("np.pad(np.zeros((2, 3)), (1, 2), constant_values=7)", "(2, 3).pad((1, 2), (1, 2))"),
        ("np.transpose(np.zeros((2, 3)))", "(2, 3).permute(1, 0)"),
        ("np.transpose(np.zeros((2, 3, 4)), (2, 0, 1))", "(2, 3, 4).permute(2, 0, 1)"),
        ("torch.permute(torch.zeros(2, 3), (1, 0))", "(2, 3).permute(1, 0)"),
        (
            "torch.transpose(torch.zeros(2, 3), 0, 1).contiguous().view(6)",
            "(2, 3).transpose(0, 1).contiguous().reshape(6)",
        ),
        ("torch.t(torch.flip(torch.zeros(2, 3), [0]))", "(2, 3).flip(0).permute(1, 0)"),
        ("np.flip(np.zeros((2, 3)))", "(2, 3).flip(True, True)"),
        ("np.ascontiguousarray(np.zeros((2, 3)).T)", "(2, 3).permute(1, 0).contiguous()"),
        ("np.expand_dims(np.moveaxis(np.zeros((2, 3)), 0, -1), axis=0)", "(2, 3).permute(1, 0).unsqueeze(0)"),
        ("np.squeeze(np.zeros((1, 3)), axis=0)", "(1, 3).squeeze(0)"),
        ("rearrange(torch.zeros(2, 3, 4), 'b c h -> b h c')", "(2, 3, 4).permute(0, 2, 1)"),
        ("einops.rearrange(x, 'b (h d) -> h b d', h=2)", "reshape(3, 2, 2).permute(1, 0, 2)"),
        ("rearrange(np.zeros((4, 6)), '(a b) ... -> a ... b', a=2)", "(4, 6).reshape(2, 2, 6).permute(0, 2, 1)"),
        ("rearrange(np.zeros((2, 3, 4)), 'b ... -> b (...)')", "(2, 3, 4).reshape(2, 12)"),
        ("rearrange(np.zeros((2, 3)), 'a b -> (b a) 1')", "(2, 3).permute(1, 0).reshape(6, 1)"),
        ("rearrange(np.zeros((2, 3)), 'a b -> a b')", "(2, 3).reshape(2, 3)"),
        ("einops.repeat(np.zeros((2, 3)), 'h w -> h w c', c=3)", "(2, 3).reshape(2, 3, 1).expand(2, 3, 3)"),
        ("repeat(np.zeros((2, 3)), 'h w -> (h 2) w')", "(2, 3).reshape(2, 1, 3).expand(2, 2, 3).reshape(4, 3)"),
        (
            "F.pixel_shuffle(torch.zeros(1, 8, 2, 3), 2)",
            "(1, 8, 2, 3).reshape(1, 2, 2, 2, 2, 3).permute(0, 1, 4, 2, 5, 3).reshape(1, 2, 4, 6)",
        ),
        (
            "F.pixel_unshuffle(torch.zeros(1, 2, 4, 6), 2)",
            "(1, 2, 4, 6).reshape(1, 2, 2, 2, 3, 2).permute(0, 1, 3, 5, 2, 4).reshape(1, 8, 2, 3)",
        ),
        ("torch.zeros(2, 3).repeat(2, 1)", "(2, 3).reshape(1, 2, 1, 3).expand(2, 2, 1, 3).reshape(4, 3).copy()"),
        ("np.tile(np.zeros(3), 2)", "(3).reshape(1, 3).expand(2, 3).reshape(6).copy()"),
        ("np.repeat(np.zeros((2, 3)), 2, axis=0)", "(2, 3).reshape(2, 1, 3).expand(2, 2, 3).reshape(4, 3).copy()"),
        ("x.repeat(2, axis=0)", "reshape(3, 1, 4, 5).expand(3, 2, 4, 5).reshape(6, 4, 5).copy()"),
        // Elements that come round from the other end are part of the axis repeated once.
        ("np.roll(np.arange(5), 2)", "(5).reshape(1, 5).expand(2, 5).reshape(10).shrink((3, 8)).copy()"),
        (
            "x.roll(-1, 1)",
            "reshape(3, 1, 4, 5).expand(3, 2, 4, 5).reshape(3, 8, 5).shrink((0, 3), (1, 5), (0, 5)).copy()",
        ),
        (
            "torch.roll(x, shifts=60)",
            "reshape(1, 60).expand(2, 60).reshape(120).shrink((60, 120)).reshape(3, 4, 5).copy()",
        ),
        // An order is that of the axes: reversed for F, and for A and K that of the memory.
        ("np.zeros((2, 3)).reshape((3, 2), order='F')", "(2, 3).permute(1, 0).reshape(2, 3).permute(1, 0)"),
        ("np.arange(6).reshape(2, 3, order='F')", "(6).reshape(3, 2).permute(1, 0)"),
        ("np.zeros((2, 3)).reshape(6, order='F')", "(2, 3).permute(1, 0).reshape(6)"),
        ("np.reshape(np.zeros((2, 3)), (-1, 2), 'C')", "(2, 3).reshape(-1, 2)"),
        ("np.zeros((2, 3)).ravel('F')", "(2, 3).permute(1, 0).reshape(6)"),
        ("np.zeros((2, 3)).flatten('A')", "(2, 3).reshape(6)"),
        ("np.zeros((2, 3)).T.flatten(order='A')", "(2, 3).permute(1, 0).permute(1, 0).reshape(6)"),
        ("np.zeros((2, 3, 4)).swapaxes(0, 1).ravel('K')", "(2, 3, 4).transpose(0, 1).permute(1, 0, 2).reshape(24)"),
        ("np.zeros((2, 3, 4)).swapaxes(0, 1).ravel('A')", "(2, 3, 4).transpose(0, 1).reshape(24)"),
        ("torch.zeros(6).view(2, 3).clone()", "(6).reshape(2, 3).copy()"),
        (
            "torch.zeros(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)",
            "(2, 3, 4, 5).permute(0, 2, 3, 1).copy().permute(0, 3, 1, 2)",
        ),
        (
            "torch.zeros(2, 4, 5, 3).permute(0, 3, 1, 2).to(memory_format=torch.channels_last)",
            "(2, 4, 5, 3).permute(0, 3, 1, 2)",
        ),
        ("torch.zeros(2, 3).T.to(memory_format=torch.contiguous_format)", "(2, 3).permute(1, 0)"),
        ("torch.zeros(2, 3).T.clone(memory_format=torch.contiguous_format)", "(2, 3).permute(1, 0).copy()"),
        ("memref<2x3xf32, strided<[1, 2], offset: 4>>", "(2, 3):(1, 2) offset 4"),
        ("memref<2x3xf32>", "(2, 3)"),
        ("memref<f32>", "()"),
        ("memref<4xi8, strided<[2]>, 1>.flip(0)", "(4):(2).flip(0)"),
        // Found by an audit: what MLIR prints of the space of a memory, and types of elements other than numbers.
        ("memref<2x3xf32, strided<[1, 2]>, #gpu.address_space<workgroup>>", "(2, 3):(1, 2)"),
        ("memref<2x3xf32, #gpu.address_space<workgroup>>.T", "(2, 3).T"),
        ("memref<2x3xf32, #spirv.storage_class<StorageBuffer>>", "(2, 3)"),
        ("memref<2x3xf32, strided<[1, 2]>, #space>", "(2, 3):(1, 2)"),
        ("memref<2x3xf32, 1 : i32>", "(2, 3)"),
        ("memref<2x3xf32, strided<[1, 2], offset: 4>, 3 : i64>", "(2, 3):(1, 2) offset 4"),
        (r#"memref<2x3xf32, "shared">"#, "(2, 3)"),
        ("memref<2x3xcomplex<f32>>", "(2, 3)"),
        ("memref<complex<f64>, 1>", "()"),
        ("memref<2x3xvector<4xf32>, strided<[1, 2]>>", "(2, 3):(1, 2)"),
        ("memref<2x3xindex>.T", "(2, 3).T"),
        ("memref<2x3x!llvm.ptr>", "(2, 3)"),
        ("memref<2x!llvm.ptr<3>, strided<[5]>>", "(2):(5)"),
        ("memref<2x!fir.type<t{a:f32,b:!fir.ref<i32>}>>.flip(0)", "(2).flip(0)"),
        ("memref<!llvm.ptr>", "()"),
        ("memref<4x2xtuple<i32, f32>>.T", "(4, 2).T"),
        ("f32[2,3]{0,1}", "(2, 3):(1, 2)"),
        ("bf16[2,3,4]{1,2,0}", "(2, 3, 4):(12, 1, 3)"),
        ("f32[2,3]", "(2, 3)"),
        // Of an array of which nothing is known but its name.
        ("x.expand(2, -1, 4, 5)", "broadcast_to(2, 3, 4, 5)"),
        ("x.expand(3, -1, 5)", "expand(3, -1, 5)"),
        ("Layout<Shape<_2,_3>, Stride<_1,_2>>", "(2, 3):(1, 2)"),
        ("Layout<Shape<_2,_3>, Stride<_3,_1>>{}", "(2, 3):(3, 1)"),
        ("cute::Layout<cute::Shape<_2,_3>>", "(2, 3):(1, 2)"),
        ("make_layout(make_shape(Int<2>{}, _3{}), make_stride(3, 1))", "(2, 3):(3, 1)"),
        ("make_layout(make_shape(2, 3), LayoutRight{})", "(2, 3):(3, 1)"),
        ("make_layout(8)", "(8):(1)"),
        ("Layout<Shape<Shape<_2,_4>,_8>, Stride<Stride<_1,_16>,_2>>", "((2, 4), 8):((1, 16), 2)"),
    ] {
        let is_named = text.starts_with("x.") || text.contains("(x,");
        let base = is_named.then_some(&[3, 4, 5][..]);
        let base = if text.contains("einops.rearrange(x") { base.map(|_| &[3, 4][..]) } else { base };
        let (read, error) = Chain::read_from(text, base);
        assert_eq!(error.map(|err| err.to_string()), None, "{text}");
        assert_eq!(read.ops(), chain(ours).ops(), "{text}");
        match base {
            Some(_) => assert_eq!(read.start(), &ChainStart::Nothing),
            None => assert_eq!(read.tracker().unwrap(), chain(ours).tracker().unwrap(), "{text}"),
        }
        assert_eq!(chain(&read.to_string()), read, "{text}");
        for op in 0..read.ops().len() {
            assert!(text.get(read.span(op)).is_some_and(|span| !span.is_empty()));
        }
    }
    let modes =
        |text: &str| chain(text).modes().map(|modes| modes.iter().map(|axis| axis.to_vec()).collect::<Vec<_>>());
    assert_eq!(modes("Layout<Shape<Shape<_2,_4>,_8>, Stride<Stride<_1,_16>,_2>>"), Some(vec![vec![2, 4], vec![8]]));
}

/// Found by an audit: PyTorch leaves an axis of another size than 1 alone, and NumPy refuses it. What no library is named
/// for is read as PyTorch's; a chain of this crate is strict.
#[test]
fn squeeze_is_that_of_pytorch_where_nothing_says_numpy() {
    let shape = |text: &str, base: &[i64]| {
        let (read, error) = Chain::read_from(text, Some(base));
        assert_eq!(error.map(|err| err.to_string()), None, "{text}");
        let start = crate::ShapeTracker::contiguous(base).unwrap();
        let done = read.ops().iter().try_fold(start, |st, op| st.apply(op));
        done.map(|st| st.shape().to_vec()).map_err(|err| err.to_string())
    };
    for (text, expected) in [
        ("x.squeeze(0)", &[2, 1, 3][..]),
        ("x.squeeze(1)", &[2, 3]),
        ("x.squeeze(-1).squeeze(-2)", &[2, 3]),
        ("x.squeeze((0, 1))", &[2, 3]),
        ("torch.squeeze(x, 0)", &[2, 1, 3]),
    ] {
        assert_eq!(shape(text, &[2, 1, 3]).unwrap(), expected, "{text}");
    }
    assert!(
        Chain::read_from("x.squeeze(3)", Some(&[2, 1, 3])).1.is_some() || shape("x.squeeze(3)", &[2, 1, 3]).is_err()
    );
    for text in ["np.squeeze(x, 0)", "np.zeros((2, 1, 3)).squeeze(0)", "(2, 1, 3).squeeze(0)"] {
        let base = text.contains("(x").then_some(&[2, 1, 3][..]);
        let (read, error) = Chain::read_from(text, base);
        let start = crate::ShapeTracker::contiguous([2, 1, 3]).unwrap();
        let done = read.ops().iter().try_fold(start, |st, op| st.apply(op));
        assert!(error.is_some() || done.is_err(), "{text} is refused");
    }
}

/// What has no meaning here says why, and real mistakes in what others write are pointed at.
#[test]
fn what_has_no_meaning_says_why() {
    let swizzle = "a swizzle combines bits of the address by exclusive or, which no strides say: write its index as an \
                   expression over variables";
    for (text, message, marked) in [
        ("Swizzle<3, 4, 3>", swizzle, "Swizzle"),
        ("ComposedLayout<Swizzle<3,4,3>, _0, Layout<_8,_1>>", swizzle, "ComposedLayout"),
        ("memref<?x3xf32>", "`?` is known only when the program runs: write a number in its place", "?"),
        (
            "memref<2x3xf32, #map>",
            "`#map` stands for an attribute that is defined elsewhere: write a layout as strides, as in \
             `strided<[1, 2], offset: 4>`, and the space of a memory as a number, or leave it away",
            "#map",
        ),
        (
            "memref<2x3xf32, #tile.layout<(d0) -> (d0)>>",
            "`#tile.layout` is not read as a layout: write the strides, as in `strided<[1, 2], offset: 4>`",
            "#tile.layout<(d0) -> (d0)>",
        ),
        (
            "tensor<2x3xf32, #blocked>",
            "the encoding `#blocked` of a tensor is not read, and what it says of the layout is not known",
            "#blocked",
        ),
        ("memref<2x3xcomplex<f32, 1", "expected `>`, found the end of the text", ""),
        ("memref<2x?xf32>", "`?` is known only when the program runs: write a number in its place", "?"),
        (
            "memref<2x3xf32, strided<[?, 1]>>",
            "`?` is known only when the program runs: write a number in its place",
            "?",
        ),
        (
            "memref<2x3xf32, affine_map<(d0, d1) -> (d1, d0)>>",
            "an affine map is not read: write the strides, as in `strided<[1, 2], offset: 4>`",
            "affine_map",
        ),
        (
            "f32[8,128]{1,0:T(8,128)}",
            "tiles are not strides: write `{..}` with the order of the axes alone, or the tiles as axes",
            ":",
        ),
        ("f32[2,3]{0,0}", "expected each of the 2 axes once", "0"),
        (
            "np.pad(np.zeros(3), 1, mode='reflect')",
            "`'reflect'` repeats elements of the array in another order, which is no mask and no stride: only 'constant' is \
             read",
            "'reflect'",
        ),
        (
            "np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))",
            "NumPy's `as_strided` has strides in bytes: write `torch.as_strided` with strides in elements",
            "as_strided",
        ),
        (
            "torch.zeros(6).chunk(3)",
            "expected `[` and the number of a part, as in `x.chunk(3, -1)[0]`, or a name for each \
          part, found the end of the text",
            "",
        ),
        ("torch.zeros(6).chunk(3)[3]", "there is no part 3: the 3 parts are counted from 0", "3"),
        (
            "q, k = torch.zeros(6).chunk(3)",
            "there are 3 parts, but 2 names: write one for each",
            "torch.zeros(6).chunk(3)",
        ),
        ("torch.zeros(4, 5).select(1, 5)", "axis 1 has size 5, so that there is no index 5", "select(1, 5)"),
        (
            "torch.zeros(4, 6).unflatten(1, (4, -1))",
            "axis 1 has size 6, which is not divisible by 4, the product of the other sizes",
            "unflatten(1, (4, -1))",
        ),
        ("torch.zeros(5).unfold(0, 6, 1)", "axis 0 has size 5: no window of 6 at a step of 1", "unfold(0, 6, 1)"),
        (
            "rearrange(np.zeros((4, 6)), 'a b c -> c b a')",
            "the pattern begins with 3 axes, but the array has 2",
            "a b c -> c b a",
        ),
        (
            "rearrange(np.zeros((4, 6)), 'a b -> b')",
            "`a` does not stand on the right side: `reduce` would compute new values",
            "a b -> b",
        ),
        ("rearrange(np.zeros((4, 6)), 'a b -> b a c')", "`c` does not stand on the left side", "c"),
        (
            "rearrange(np.zeros((4, 6)), '(a c) b -> a b c')",
            "the size of `c` is not known: write it behind the pattern",
            "c",
        ),
        (
            "rearrange(np.zeros((4, 6)), '(a c) b -> a b c', a=3)",
            "axis 0 has size 4, which is not divisible by 3, the product of the sizes that are given",
            "a",
        ),
        (
            "F.pixel_shuffle(torch.zeros(6, 2, 2), 2)",
            "6 channels are not a multiple of 2 * 2",
            "F.pixel_shuffle(torch.zeros(6, 2, 2), 2)",
        ),
        ("for i in x: pass", "`for` is not read: write assignments and operations, one after the other", "for"),
        (
            "einops.reduce(x, 'a b -> a', 'sum')",
            "`reduce` is not read: it computes new values, and an array of them has a layout of its own",
            "reduce",
        ),
        ("B = 2\nnp.zeros((B / 2, 3))", "expected another `/`: sizes are whole numbers, found `2`", "2"),
        ("B = 2\nnp.zeros((B // 0, 3))", "the divisor is 0", "B // 0"),
    ] {
        assert_eq!(fault(text), (message.to_string(), marked), "{text}");
    }
}

/// Texts that would nest, multiply or copy without end are refused or end soon.
#[test]
fn programs_of_any_size_end_soon() {
    let deep = format!("{}x", "np.flip(".repeat(100_000));
    assert_eq!(fault(&deep).0, "this nests deeper than the 32 levels that are read");
    assert_eq!(fault(&"(".repeat(1 << 19)).0, "expected at most 64 tuples in one another, found `(`");
    // As deep as tuples and a sum within them may be, and one more.
    let nested = |depth: usize| {
        let sum = format!("{}2{}", "(1+".repeat(depth), ")".repeat(depth));
        let [sizes, strides] =
            [("(1,", &sum[..]), ("(0,", "1")].map(|(outer, inner)| outer.repeat(60) + inner + &")".repeat(60));
        format!("{sizes}:{strides}").parse::<Chain>()
    };
    assert_eq!(nested(32).unwrap().tracker().unwrap().numel(), 34);
    assert_eq!(nested(33).unwrap_err().message(), "this nests deeper than the 32 levels that are read");
    let sum = format!("(1+{}", "(1+".repeat(100_000));
    assert!(sum.parse::<Chain>().is_err());
    let many: String = (0..1000).map(|n| format!("x{n} = np.zeros(3)\n")).collect();
    assert_eq!(fault(&many).0, "a text gives at most 256 names, and this is one more");
    let again = format!("x = np.zeros(3)\n{}", "x = x.flip(0)\n".repeat(20_000));
    assert!(fault(&again).0.starts_with("arrays with names have more than 65536 operations in all"));
    let negated = format!("n = 1\n({}n)", "-".repeat(100_000));
    assert_eq!(negated.parse::<Chain>().unwrap().to_string(), "(1)");
    for text in [
        "x = ",
        "x, ",
        "rearrange(",
        "'",
        "x = y\n",
        "memref<",
        "Layout<Shape<",
        "f32[",
        "np.pad(",
        "n = 1\n",
        "#",
        "*x",
    ] {
        let _ = Chain::read(&text.repeat(50_000));
    }
}

#[test]
fn an_operation_around_an_array_ends_with_its_parenthesis() {
    for text in
        ["np.ravel(torch.empty(2, 3))", "np.squeeze(d)", "np.copy(d)", "np.transpose(d, (1, 0))", "torch.flip(d, (0,))"]
    {
        let chain: Chain = text.parse().unwrap();
        assert_eq!(&text[chain.span(0)], text);
    }
    let err = "torch.mT(d)".parse::<Chain>().unwrap_err();
    assert_eq!((err.message(), err.span()), ("`mT` is no function: write it after the array, as in `x.mT`", 6..8));
}

#[test]
fn a_name_that_is_no_number_is_named_with_what_would_work() {
    let read = |text: &str| Chain::read_from(text, Some(&[2, 4, 8, 8])).1;
    for (text, name) in [
        ("y.transpose(1,2).contiguous().view(B,T,C)", "B"),
        ("y.transpose(1,2).contiguous().view(2,T,C)", "T"),
        ("y.reshape(2, 4 * rows, -1)", "rows"),
        ("y[:, start:]", "start"),
        ("y.permute(0, 1, k, 3)", "k"),
        ("y.reshape((N, -1))", "N"),
        ("y.pad((0, p), (0, 0), (0, 0), (0, 0))", "p"),
    ] {
        let wrong = read(text).unwrap();
        assert_eq!(&text[wrong.span()], name, "{text}");
        assert!(wrong.message().contains(&format!("found `{name}`")), "{text}: {wrong}");
        assert!(wrong.message().contains("write the number in its place"), "{text}: {wrong}");
    }
    // Both ways that the sentence names are read.
    assert_eq!(read("B, T, C = 2, 8, 32; y.transpose(1,2).contiguous().view(B,T,C)"), None);
    assert_eq!(read("y.transpose(1,2).contiguous().view(2,8,32)"), None);
    // What is no name of a number, and what is only begun, is spoken of as before.
    assert_eq!(read("y.permute(0, None)").unwrap().message(), "expected an axis, found `None`");
    assert!(Chain::read("(3, 2).reshape(Non").1.unwrap().is_unfinished());
}
