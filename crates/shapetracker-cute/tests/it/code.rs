//! Expressions of layouts against their values, and C that a compiler runs.

use std::fmt::Write;
use std::process::Command;

use shapetracker_cute::expr::Language;
use shapetracker_cute::{ComposedLayout, IntTuple, Layout, Swizzle};

use crate::layout;
use crate::oracle::Tree;
use crate::random::{cases, modes, nested};
use shapetracker_testing::Rng;

/// A swizzled layout with its addresses, by the definitions.
fn drawn(rng: &mut Rng) -> (ComposedLayout, Vec<i64>) {
    let drawn = modes(rng, 4, 6);
    let text = nested(rng, &drawn);
    let values = Tree::parse(&text).values();
    let offset = rng.int(9) - values.iter().min().copied().unwrap_or(0);
    let swizzle = loop {
        if let Ok(swizzle) = Swizzle::new(rng.int(4) as u32, rng.int(4) as u32, rng.int(9) as i32 - 4) {
            break swizzle;
        }
    };
    let moved = |address: i64| {
        (0..swizzle.bits()).fold(address, |moved, bit| {
            let source = swizzle.base() + bit + swizzle.shift().max(0) as u32;
            let target = swizzle.base() + bit + swizzle.shift().min(0).unsigned_abs();
            moved ^ (address >> source & 1) << target
        })
    };
    let addresses = values.into_iter().map(|value| moved(value + offset)).collect();
    (ComposedLayout::new(swizzle, offset, layout(&text)).unwrap(), addresses)
}

/// The numbers of the items at a number of the layout, the first item fastest.
fn entries(layout: &Layout, number: usize) -> Vec<i64> {
    let mut rest = number as i64;
    let entry = |item: &Layout| {
        let entry = rest % item.size();
        rest /= item.size();
        entry
    };
    layout.items().iter().map(entry).collect()
}

#[test]
fn expressions_have_the_values_of_the_layout() {
    let (mut drawn_in_all, mut exclusive) = (0, 0);
    for mut rng in cases(5_000) {
        drawn_in_all += 1;
        let (composed, addresses) = drawn(&mut rng);
        let code = composed.index_expr().unwrap();
        assert_eq!(code.extents().len(), composed.layout().rank());
        for (number, address) in addresses.iter().enumerate() {
            let at = entries(composed.layout(), number);
            assert_eq!(code.graph().evaluate(code.index(), &at), Ok(*address), "{composed} at {at:?}");
            assert_eq!(code.graph().evaluate(code.valid(), &at), Ok(1));
        }
        exclusive += u32::from(code.code(Language::C).unwrap().contains('^'));
        // One variable, the number.
        let whole = Layout::concat([composed.layout()]).unwrap();
        let whole = ComposedLayout::new(composed.swizzle(), composed.offset(), whole).unwrap().index_expr().unwrap();
        for (number, address) in addresses.iter().enumerate() {
            assert_eq!(whole.graph().evaluate(whole.index(), &[number as i64]), Ok(*address), "{composed} at {number}");
        }
    }
    assert!(exclusive > drawn_in_all / 5, "{exclusive} of {drawn_in_all}");
}

#[test]
fn what_is_left_of_a_swizzle_is_as_little_as_can_be() {
    let text = |text: &str| {
        let code = text.parse::<ComposedLayout>().unwrap().index_expr().unwrap();
        code.graph().text(code.index(), shapetracker_cute::expr::Syntax::Python).unwrap()
    };
    // The row is what the bits are taken from.
    assert_eq!(text("Sw<3,3,3> o 0 o (8,64):(64,1)"), "idx0 * 8 ^ idx0 * 64 + idx1");
    assert_eq!(text("Sw<3,3,3> o 0 o (64,64):(64,1)"), "idx0 * 64 + idx1 ^ idx0 % 8 * 8");
    // No bit that is read is ever set.
    assert_eq!(text("Sw<3,3,3> o 0 o (8,8):(8,1)"), "idx0 * 8 + idx1");
    assert_eq!(text("Sw<0,0,0> o 5 o 4:2"), "idx0 * 2 + 5");
    assert!("Sw<2,0,2> o 0 o 0:1".parse::<ComposedLayout>().unwrap().index_expr().is_ok());
}

#[test]
fn a_compiler_of_c_gets_the_same_values() {
    let Some(compiler) =
        ["cc", "gcc", "clang"].into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())
    else {
        println!("skipped: there is no C compiler");
        return;
    };
    let (mut program, mut expected) = ("#include <stdio.h>\nint main(void) {\n".to_owned(), String::new());
    for mut rng in cases(5_000).take(200) {
        let (composed, addresses) = drawn(&mut rng);
        let code = composed.index_expr().unwrap();
        program += "{\n";
        // The first item is the fastest in the numbers of a layout, and the innermost loop.
        for (item, extent) in code.extents().iter().enumerate().rev() {
            writeln!(program, "for (int idx{item} = 0; idx{item} < {extent}; ++idx{item}) {{").unwrap();
        }
        program += &code.code(Language::C).unwrap();
        writeln!(program, "(void)valid; printf(\"%lld \", (long long)index);").unwrap();
        program += &"}\n".repeat(code.extents().len());
        program += "printf(\"\\n\");\n}\n";
        addresses.iter().for_each(|address| write!(expected, "{address} ").unwrap());
        expected += "\n";
    }
    program += "return 0;\n}\n";
    let folder = std::env::temp_dir().join(format!("shapetracker-cute-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, binary) = (folder.join("layouts.c"), folder.join("layouts"));
    std::fs::write(&source, program).unwrap();
    let compiled = Command::new(compiler).args(["-std=c11", "-O1", "-o"]).arg(&binary).arg(&source).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = Command::new(&binary).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout), expected);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn coordinates_of_items_are_those_of_the_layout() {
    let composed: ComposedLayout = "Sw<1,1,2> o 3 o ((2,2),4):((1,8),2)".parse().unwrap();
    for number in 0..16 {
        let at = entries(composed.layout(), number as usize);
        assert_eq!(composed.at_coordinate(&IntTuple::tuple(at)), composed.at(number));
    }
}
