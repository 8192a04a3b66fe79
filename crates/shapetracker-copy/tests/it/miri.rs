//! Small cases over every way in which bytes are moved, for Miri: `cargo +nightly miri test -p shapetracker-copy --test it
//! miri`.
//!
//! Miri runs the scalar kernels, and what depends on a number of bytes (tiles, threads, non-temporal stores) starts at few of
//! them there, so that these cases meet all of it. Elsewhere they are ordinary tests.

use std::mem::MaybeUninit;

use shapetracker_copy::{Plan, Threads};

use crate::memory::noise;
use crate::naive::Tensor;

/// Reads a tensor into memory without values, and writes it, at some widths: at any alignment, by one thread and by several.
fn check(text: &str, widths: &[usize]) {
    let tensor = Tensor::of(text);
    for (number, &width) in widths.iter().enumerate() {
        check_plan(&tensor, &tensor.plan(width).unwrap(), number, text);
    }
}

fn check_plan(tensor: &Tensor, plan: &Plan, number: usize, text: &str) {
    let (width, before) = (plan.width(), [3, 0, 16, 61][(number + plan.width()) % 4]);
    let threads = Threads::new(1 + number % 2).unwrap();
    let source = noise(plan.buffer_len() * width, 1);
    let fill: Vec<u8> = (0..width).map(|byte| (byte * 37 + 11) as u8).collect();
    let expected = tensor.read(&source, &fill);
    let mut memory = vec![MaybeUninit::uninit(); before + expected.len()];
    let read = plan.read_uninit(&source, &mut memory[before..], &fill, &threads).unwrap();
    assert!(read == expected, "{text} of {width} bytes is read wrong");
    if tensor.is_injective() {
        let mut written = noise(before + source.len(), 2);
        let mut expected = written.clone();
        plan.write_bytes(read, &mut written[before..], &threads).unwrap();
        tensor.write(read, &mut expected[before..], width);
        assert!(written == expected, "{text} of {width} bytes is written wrong");
    }
}

#[test]
fn rows() {
    check("()", &[1, 3]);
    check("(0, 3)", &[4]);
    check("(70)", &[1, 12]);
    check("(9, 7).shrink((2, 8), (1, 6))", &[1, 8, 100]);
    check("(3, 5).pad((1, 0), (2, 1))", &[1, 4, 20]);
    check("(1, 40).expand(9, 40)", &[4]);
}

#[test]
fn long_rows_and_fills() {
    check("(300).shrink((3, 290))", &[4, 1]);
    check("(1, 300).expand(2, 300)", &[1, 2]);
    check("(7).pad((250, 90))", &[3, 4]);
    check("(1, 1).pad((0, 0), (1, 1))", &[300, 200]);
}

#[test]
fn tiles_that_are_turned_over() {
    check("(5, 7).permute(1, 0)", &[1, 4]);
    check("(33, 20).permute(1, 0)", &[1, 2, 4]);
    check("(2, 17, 19).permute(0, 2, 1)", &[2, 8]);
    check("(20, 37).permute(1, 0)", &[4, 3]);
    check("(16, 64).permute(1, 0)", &[16, 4]);
    check("(64, 16).flip(1).permute(1, 0)", &[8, 8]);
    check("(3, 4, 2, 5).permute(3, 2, 1, 0)", &[12, 1]);
}

#[test]
fn tiles_that_are_gathered() {
    check("(50).flip(0)", &[1, 4]);
    check("(9, 10).step(1, 3)", &[2, 5]);
    check("(60).step(-2)", &[4, 33]);
    check("(50, 1).expand(50, 6)", &[1, 4]);
    check("(100, 3).permute(1, 0)", &[3, 7]);
    check("(30, 3).shrink((0, 30), (1, 3)).permute(1, 0)", &[24, 64]);
}

#[test]
fn strides_on_both_sides() {
    check("(4, 5).as_strided((3, 2), (6, 3), 0).permute(1, 0)", &[4]);
    check("(6, 7).step(2, 3)", &[1, 5]);
}

#[test]
fn masks() {
    check("(9, 9).pad((1, 1), (1, 1)).permute(1, 0)", &[1, 4]);
    check("(3).pad((40, 0)).shrink((0, 30))", &[1, 4]);
}

// Several views: planning takes longer than moving.

#[test]
fn a_range_that_moves_from_row_to_row() {
    check("(3, 3).pad((0, 0), (0, 3)).reshape(18).shrink((0, 15)).reshape(3, 5)", &[4]);
}

#[test]
fn zeros_between_elements() {
    check("(3, 4).reshape(3, 1, 4, 1).pad((0, 0), (0, 1), (0, 0), (0, 1)).reshape(6, 8).permute(1, 0)", &[8]);
}

#[test]
fn leaps_over_floors() {
    let tensor = Tensor::of("(5, 3).permute(1, 0).reshape(15).step(2)");
    let plan = tensor.plan(9).unwrap();
    assert!(plan.to_string().contains("as far at a time as all below stays the same"));
    check_plan(&tensor, &plan, 1, "a leaping axis");
}

#[test]
fn leaps_inside_a_loop() {
    check("(3, 4).permute(1, 0).reshape(3, 4).permute(1, 0)", &[33]);
}

/// Values with a type, in memory of their own and into memory that is there.
#[test]
fn types() {
    let tracker = "(3, 2).permute(1, 0).pad((0, 0), (1, 0))".parse::<shapetracker::Chain>().unwrap().tracker().unwrap();
    let plan = Plan::new(&tracker, 4).unwrap();
    let threads = Threads::new(2).unwrap();
    let read = plan.read(&['a', 'b', 'c', 'd', 'e', 'f'], '.', &threads).unwrap();
    assert_eq!(read.iter().collect::<String>(), ".ace.bdf");
    let mut written = [0; 6];
    plan.write(&read.iter().map(|c| *c as u32).collect::<Vec<_>>(), &mut written, &threads).unwrap();
    assert_eq!(written, ['a', 'b', 'c', 'd', 'e', 'f'].map(u32::from));
}
