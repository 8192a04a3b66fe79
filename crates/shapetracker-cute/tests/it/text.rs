//! What is read and printed, and bad input.

use shapetracker_cute::{AccessPattern, ComposedLayout, IntTuple, Layout, LinearLayout, Order, Swizzle, Tiler, audit};

use crate::layout;
use crate::random::{cases, nested};

#[test]
fn layouts_are_read_in_every_spelling() {
    for (text, read) in [
        ("(_4,_8):(_1,_4)", "(4,8):(1,4)"),
        ("((_2,_2),_4):((_1,_8),_2)", "((2,2),4):((1,8),2)"),
        ("((2, 2), 4) : ((1, 8), 2)", "((2,2),4):((1,8),2)"),
        ("(_4,8):(_1,n)", ""),
        ("4:1", "4:1"),
        ("(4,):(1,)", "(4):(1)"),
        ("_4:_-1", "4:-1"),
        ("(4,2):(-1,4)", "(4,2):(-1,4)"),
        ("():()", "():()"),
        ("Layout<Shape<_2,_3>,Stride<_1,_2>>", "(2,3):(1,2)"),
        (
            "cute::Layout<cute::Shape<cute::_2, Shape<Int<3>, C<4>>>, cute::Stride<_1, Stride<_2,_6>>>{}",
            "(2,(3,4)):(1,(2,6))",
        ),
        ("make_layout(make_shape(Int<2>{}, 3), LayoutRight{})", "(2,3):(3,1)"),
        ("make_layout(make_shape(_2{}, 3))", "(2,3):(1,2)"),
        ("cute.make_layout((8, 4), stride=(4, 1))", "(8,4):(4,1)"),
        ("Layout((2, 3), (3, 1))", "(2,3):(3,1)"),
    ] {
        match text.parse::<Layout>() {
            Ok(layout) => assert_eq!(layout.to_string(), read),
            Err(err) => assert!(read.is_empty(), "{text}: {err}"),
        }
    }
    assert_eq!(layout("((2,2),4):((1,-8),2)").static_text().to_string(), "((_2,_2),_4):((_1,_-8),_2)");
    assert_eq!("(4, (2,), ())".parse::<IntTuple>().unwrap().to_string(), "(4,(2),())");
}

#[test]
fn swizzles_are_read_in_every_spelling() {
    for (text, read) in [
        ("Sw<3,3,3> o 0 o (8,8):(8,1)", "Sw<3,3,3> o 0 o (8,8):(8,1)"),
        ("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)", "Sw<3,4,3> o 0 o (8,64):(64,1)"),
        ("S<2,4,-3> o 16 o 4:1", "Sw<2,4,-3> o 16 o 4:1"),
        ("Sw<3,3,3> o (8,8):(8,1)", "Sw<3,3,3> o 0 o (8,8):(8,1)"),
        ("\u{feff}Sw<_3, _ 3,3>o 0o(8,8):(8,1)", "Sw<3,3,3> o 0 o (8,8):(8,1)"),
        ("composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_8>,Stride<_8,_1>>{})", "Sw<3,3,3> o 0 o (8,8):(8,1)"),
        ("ComposedLayout<Swizzle<1,0,1>, _4, Layout<_8,_1>>", "Sw<1,0,1> o 4 o 8:1"),
        ("(8,8):(8,1)", "(8,8):(8,1)"),
    ] {
        let composed = text.parse::<ComposedLayout>().unwrap_or_else(|err| panic!("{err}"));
        assert_eq!(composed.to_string(), read);
        assert_eq!(read.parse::<ComposedLayout>().unwrap(), composed);
    }
    assert_eq!("cute::S<_2,_3,_-4>".parse::<Swizzle>().unwrap().to_string(), "Sw<2,3,-4>");
    assert_eq!("Swizzle<2,3,4>{}".parse::<Swizzle>().unwrap().to_string(), "Sw<2,3,4>");
}

#[test]
fn linear_layouts_are_read_as_triton_prints_them() {
    let printed = "\n - register=1 -> (0, 1)\n   register=2 -> (0, 2)\n - lane=1 -> (0, 4)\n   lane=2 -> (1, 0)\n - warp is a size 1 \
                   dimension\n - block is a size 1 dimension\nwhere out dims are: [dim0 (size 2), dim1 (size 8)]";
    let linear: LinearLayout = printed.parse().unwrap();
    assert_eq!(linear.to_string(), printed[1..]);
    let attribute = "#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0]], warp = [], block = []}>";
    assert_eq!(attribute.parse::<LinearLayout>().unwrap(), linear);
    let attribute = attribute.replace("lane", "_12");
    assert_eq!(attribute.parse::<LinearLayout>().unwrap().to_string(), printed[1..].replace("lane", "_12"));
    for text in ["(empty layout)", "(empty layout with out-dims [dim0 (size 2)])"] {
        assert_eq!(text.parse::<LinearLayout>().unwrap().to_string(), text);
    }
}

#[test]
fn mistakes_are_sentences_with_their_place() {
    let layout = |text: &str| text.parse::<Layout>().unwrap_err().to_string();
    assert_eq!(layout("(4,8):(1,x)"), "expected a stride, found `x`\n  (4,8):(1,x)\n           ^");
    assert_eq!(layout("(4,8)"), "expected `:`, found the end of the text\n  (4,8)\n       ^");
    assert_eq!(layout("(4,8:(1,4)"), "expected `,` or `)`, found `:`\n  (4,8:(1,4)\n      ^");
    assert_eq!(
        layout("(4,8):(1,(4,2))"),
        "the shape (4,8) and the strides (1,(4,2)) have different parentheses\n  (4,8):(1,(4,2))\n  ^^^^^^^^^^^^^^^"
    );
    assert_eq!(layout("(4,8):(1,->)"), "expected a stride, found `->`\n  (4,8):(1,->)\n           ^^");
    assert_eq!(layout("(4,1.5):(1,4)"), "expected `,` or `)`, found `.`\n  (4,1.5):(1,4)\n      ^");
    assert_eq!(layout("4:-_-1"), "expected a stride, found `_-1`\n  4:-_-1\n     ^^^");
    assert_eq!(layout("-4:1"), "a size is -4, but a size cannot be negative\n  -4:1\n  ^^^^");
    assert!(layout("(4,?):(1,4)").starts_with("`?` is known only when the program runs"));
    assert!(layout("(4,8):(1@0,1@1)").starts_with("`@` makes a stride along one of several axes"));
    assert!(layout("99999999999999999999:1").starts_with("expected a size within the range of 64-bit integers"));
    assert!(layout("(4294967296,4294967296):(0,0)").starts_with("the number of coordinates is past the range"));
    assert!(layout("((4294967296,4294967296),0):((0,0),0)").starts_with("the number of coordinates is past the range"));
    assert!(layout("(2,2):(9223372036854775807,1)").starts_with("a value is past the range of 64-bit integers"));
    assert!(layout("4:1 4").starts_with("expected the end of the text, found `4`"));
    let many = format!("({}):({})", vec!["1"; 65].join(","), vec!["0"; 65].join(","));
    assert!(layout(&many).starts_with("65 leaves are more than the 64 that a layout may have"));
    let composed = |text: &str| text.parse::<ComposedLayout>().unwrap_err().to_string();
    assert!(composed("Sw<3,3,2> o 0 o 4:1").starts_with("the swizzle <3,3,2> moves bits onto themselves"));
    assert!(composed("Sw<-3,3,3> o 0 o 4:1").starts_with("a swizzle is `<bits,base,shift>`, where bits"));
    assert!(composed("Sw<3,0,3> o smem_ptr[16b](unset) o 4:1").starts_with(
        "a swizzle of a pointer acts on bytes, and Sw<3,0,3> would change bytes inside of an element of 16 bits"
    ));
    assert!(
        composed("Sw<3,4,3> o smem_ptr[4b](unset) o 4:1")
            .starts_with("a swizzle of a pointer acts on bytes, and elements of 4 bits are no power of two of bytes")
    );
    assert!(composed("ptr[32b](0x7f00 o 4:1").starts_with("expected `)`, found the end of the text"));
    assert!(composed("ptr[32b](0x7f00) o ptr[32b](0x7f00) o 4:1").starts_with("expected a size, found `ptr`"));
    assert!(composed("Sw<3,4,3> _0 o 4:1").starts_with("expected `o` and a layout"));
    assert!(composed("Sw<3,3,3> o 0 o 4:-1").starts_with("coordinate 3 has address -3"));
    let linear = |text: &str| text.parse::<LinearLayout>().unwrap_err().to_string();
    assert!(linear("{lane = [[1], [2, 3]]}").starts_with("expected a number for each of 1 outputs, found 2"));
    assert!(linear(" - lane=1 -> (1)\n   lane=3 -> (2)\nwhere").starts_with("expected 2, the next power of two"));
    assert!(
        linear(" - lane=1 -> (4)\nwhere out dims are: [x (size 4)]").starts_with("basis [4] of lane is not inside")
    );
}

#[test]
fn tilers_are_layouts_numbers_and_tuples_of_them() {
    for (text, read) in [
        ("4", "4"),
        ("4:2", "4:2"),
        ("(4,8)", "(4,8)"),
        ("(_4,(_2,_2))", "(4,(2,2))"),
        ("(2,4):(1,8)", "(2,4):(1,8)"),
        ("(3:3,(2,4):(1,8))", "(3:3,(2,4):(1,8))"),
        ("<3:3, 4>", "(3:3,4)"),
        ("Tile<Layout<_4,_2>,_8>", "(4:2,8)"),
        ("make_tile(make_layout(4), 8)", ""),
        ("((2:1,3),)", "((2:1,3))"),
    ] {
        match text.parse::<Tiler>() {
            Ok(tiler) => assert_eq!(tiler.to_string(), read),
            Err(err) => assert!(read.is_empty(), "{text}: {err}"),
        }
    }
    for (text, why) in [
        ("(3:3,x)".to_owned(), "expected a tile, such as `4:2`, found `x`"),
        ("(3:3,4".to_owned(), "expected `,` or `)`, found the end of the text"),
        (format!("{}4{}", "(".repeat(40), ")".repeat(40)), "the modes of a tiler nest deeper than 32 times"),
        (format!("{}4:1{}", "(".repeat(40), ")".repeat(40)), "the modes of a tiler nest deeper than 32 times"),
    ] {
        assert_eq!(text.parse::<Tiler>().unwrap_err().message(), why, "{text}");
    }
}

#[test]
fn texts_that_nest_deep_are_read_without_recursion_and_refused_as_layouts() {
    let deep = |depth: usize, number: i64| format!("{}{number}{}", "(".repeat(depth), ")".repeat(depth));
    let shape: IntTuple = deep(100_000, 4).parse().unwrap();
    assert_eq!(shape.to_string(), deep(100_000, 4));
    let why = format!("{}:{}", deep(100_000, 4), deep(100_000, 1)).parse::<Layout>().unwrap_err();
    assert_eq!(why.message(), "100001 tuples and numbers are more than the 1024 that a layout may nest");
    let layout = layout(&format!("{}:{}", deep(1000, 4), deep(1000, 1)));
    assert_eq!((layout.size(), layout.at_coordinate(&3.into())), (4, Some(3)));
    assert_eq!(layout.compose(&layout).unwrap().at(3), Some(3));
    assert!(layout.coalesce_by(&shape).is_err());
}

#[test]
fn what_is_printed_is_read_again() {
    for mut rng in cases(20_000) {
        let modes: Vec<(i64, i64)> = (0..rng.int(6)).map(|_| (rng.int(9), rng.int(99) - 40)).collect();
        let text = nested(&mut rng, &modes);
        let layout = layout(&text);
        assert_eq!(layout.to_string(), text);
        assert_eq!(layout.static_text().to_string().parse::<Layout>().unwrap(), layout);
    }
}

#[test]
fn no_text_panics() {
    let texts = [
        "((_2,_2),_4):((_1,_8),_2)",
        "cute::Layout<cute::Shape<_2,Int<3>>,Stride<_1,_-2>>{}",
        "make_layout(make_shape(Int<2>{}, 3), LayoutRight{})",
        "composition(Swizzle<3,3,3>{}, 16, Layout<Shape<_8,_8>>{})",
        "Sw<3,4,-3> o 9223372036854775807 o (8,64):(64,1)",
        " - lane=1 -> (0, 1)\n   lane=2 -> (1, 0)\n - warp is a size 1 dimension\nwhere out dims are: [dim0 (size 2), dim1 (size 2)]",
        "#ttg.linear<{lane = [[0, 1], [9223372036854775807, 0]], warp = []}>",
    ];
    let pieces = [
        "(",
        ")",
        "<",
        ">",
        ",",
        ":",
        "_",
        "-",
        "0",
        "9223372036854775807",
        "{",
        "}",
        " o ",
        "é",
        "?",
        "@",
        "[",
        "]",
        "=",
        "é(",
    ];
    for mut rng in cases(60_000) {
        let mut text = texts[rng.int(texts.len() as i64) as usize].to_owned();
        for _ in 0..1 + rng.int(4) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let from = places[rng.int(places.len() as i64) as usize];
            let to = places[rng.int(places.len() as i64) as usize];
            let piece = pieces[rng.int(pieces.len() as i64) as usize];
            match rng.int(3) {
                0 => text.insert_str(from, piece),
                1 if from < to && to - from < 9 => text.replace_range(from..to, ""),
                _ => text.replace_range(from..from + text[from..].chars().next().map_or(0, char::len_utf8), piece),
            }
        }
        let read = text.parse::<Layout>();
        if let Ok(layout) = &read {
            // What can be read can be asked about.
            let _ = (layout.coalesce(), layout.collision(), layout.complement(i64::MAX), layout.bijective());
            let _ = (layout.left_inverse(), layout.right_inverse(), layout.compose(layout), layout.cosize());
            let _ = (layout.to_linear(&["a"], "b"), layout.logical_divide(&layout.clone().into()));
            let _ = layout.logical_product(&layout.clone().into());
        }
        for err in [
            read.err(),
            text.parse::<ComposedLayout>().err(),
            text.parse::<LinearLayout>().err(),
            text.parse::<Swizzle>().err(),
            text.parse::<Tiler>().err(),
        ]
        .into_iter()
        .flatten()
        {
            assert!(!err.to_string().is_empty());
        }
    }
}

#[test]
fn no_numbers_panic() {
    let numbers =
        [0, 1, 2, 3, 4, 7, 8, 1 << 20, (1 << 31) - 1, 1 << 32, 1 << 40, 1 << 61, 1 << 62, i64::MAX - 1, i64::MAX];
    let mut read = 0;
    for mut rng in cases(10_000) {
        let mut drawn = || {
            let modes: Vec<(i64, i64)> = (0..rng.int(5))
                .map(|_| {
                    let size = if rng.int(3) > 0 { rng.int(9) } else { *rng.pick(&numbers) };
                    let stride = if rng.int(3) > 0 { rng.int(40) } else { *rng.pick(&numbers) };
                    (size, if rng.int(4) == 0 { -stride - i64::from(stride == i64::MAX) } else { stride })
                })
                .collect();
            nested(&mut rng, &modes).parse::<Layout>().ok()
        };
        let (Some(a), Some(b), Some(c)) = (drawn(), drawn(), drawn()) else { continue };
        read += 1;
        let tiler = Tiler::from(b.clone());
        let by_item = Tiler::by_item([*rng.pick(&numbers), -1, 4]);
        let _ =
            (a.coalesce(), a.collision(), a.bijective(), a.left_inverse(), a.right_inverse(), a.range(), a.cosize());
        let _ = (
            a.compose(&b),
            a.compose_strict(&b),
            audit(&a, &b, &c),
            a.difference(&b),
            a.complement(*rng.pick(&numbers)),
        );
        let _ = (a.logical_divide(&tiler), a.zipped_divide(&by_item), a.tiled_divide(&tiler), a.compose_by(&by_item));
        let _ = (a.logical_product(&tiler), a.zipped_product(&by_item), a.blocked_product(&b), a.raked_product(&b));
        let x = *rng.pick(&numbers);
        let _ = (a.at(x), a.at_extended(x), a.at_extended(-x), a.coordinate(x), a.at_coordinate(&x.into()));
        let _ = (a.at_coordinate(&b.shape()), a.coalesce_by(&b.shape()), Layout::concat([&a, &b]));
        let _ = (Layout::row_major(a.shape()), Layout::column_major(b.shape()));
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let _ = (a.to_view(order, x), a.to_tracker(order, -x));
        }
        if let Ok(linear) = a.to_linear(&["a"], "b") {
            let _ = (linear.to_layout(Order::RowMajor), linear.at(&[x]));
        }
        let swizzle = Swizzle::new(rng.int(4) as u32, rng.int(62) as u32, rng.int(62) as i32 - 31);
        let composed = swizzle.and_then(|swizzle| ComposedLayout::new(swizzle, x, a.clone()));
        if let Ok(composed) = composed {
            let _ = (composed.plain(), composed.compose(&b), composed.at(x));
            // With a wide swizzle an analysis goes on to its work limit, which takes a while.
            if rng.int(20) == 0
                && let Ok(pattern) = AccessPattern::new(composed, 1 << rng.int(5))
            {
                let _ = (pattern.widest_vector(), pattern.bank_conflicts(), pattern.sectors(), pattern.with_vector(2));
            }
        }
        if let Ok(pattern) = AccessPattern::new(a, 2) {
            let _ = (pattern.widest_vector(), pattern.bank_conflicts(), pattern.sectors());
        }
    }
    assert!(read > 0);
}

#[test]
fn tensors_are_read_as_they_are_printed() {
    let read = |text: &str| text.parse::<ComposedLayout>().unwrap_or_else(|err| panic!("{err}")).to_string();
    assert_eq!(read("ptr[32b](0x7f00) o (4,8):(1,4)"), "(4,8):(1,4)");
    assert_eq!(read("gmem_ptr[16b](0x7f5a0c000000) o (_4,_8):(_1,_4)"), "(4,8):(1,4)");
    assert_eq!(read("smem_ptr[16b](0x7f00) o Sw<2,0,2> o 4 o (4,4):(4,1)"), "Sw<2,0,2> o 4 o (4,4):(4,1)");
    assert_eq!(read("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"), "Sw<3,3,3> o 0 o (8,64):(64,1)");
    assert_eq!(read("Sw<3,4,3>_smem_ptr[16b](0x7f00) o (_8,_64):(_64,_1)"), "Sw<3,3,3> o 0 o (8,64):(64,1)");
    // The element that begins at a byte is the one whose first byte the swizzle of bytes moves there.
    for k in 0..5 {
        for (bits, base, shift) in [(3, 4, 3), (2, 4, 3), (1, 4, 3), (3, 5, -4), (2, 5, 2)] {
            let of_bytes = Swizzle::new(bits, base, shift).unwrap();
            let text = format!("{of_bytes} o smem_ptr[{}b](unset) o 4096:1", 8 << k);
            let of_elements: ComposedLayout = text.parse().unwrap();
            for x in 0..4096 {
                assert_eq!(of_elements.at(x).unwrap() << k, of_bytes.apply(x << k), "{text} at {x}");
            }
        }
    }
    // What is printed as a type is read as it is.
    for text in ["Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<2,0,2> o 4 o ((4,2),4):((4,16),1)", "(4,8):(8,1)"] {
        let composed: ComposedLayout = text.parse().unwrap();
        assert_eq!(read(&composed.static_text().to_string()), text);
    }
}
