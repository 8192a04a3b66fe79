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
        let plan = tensor.plan(width).unwrap();
        let (threads, before) = (Threads::new(1 + number % 2).unwrap().eager(), [16, 0, 4, 61][(number + width) % 4]);
        let read = check_read(&tensor, &plan, &threads, before);
        check_write(&tensor, &plan, &read, &threads, before);
    }
}

/// Reads into memory that begins some bytes after the start of a line, and returns what was read.
fn check_read(tensor: &Tensor, plan: &Plan, threads: &Threads, before: usize) -> Vec<u8> {
    let width = plan.width();
    let source = noise(plan.buffer_len() * width, 1);
    let fill: Vec<u8> = (0..width).map(|byte| (byte * 37 + 11) as u8).collect();
    let expected = tensor.read(&source, &fill);
    // So many bytes after the start of a line.
    let mut memory = vec![MaybeUninit::uninit(); 64 + before + expected.len()];
    let before = memory.as_ptr().addr().wrapping_neg() % 64 + before;
    let memory = &mut memory[before..][..expected.len()];
    let read = plan.read_uninit(&source, memory, &fill, threads).unwrap();
    assert!(read == expected, "{} of {width} bytes is read wrong", tensor.tracker);
    check_read_over(tensor, plan, &source, threads, before);
    expected
}

/// Reads over values, of which those stay that are masked.
fn check_read_over(tensor: &Tensor, plan: &Plan, source: &[u8], threads: &Threads, before: usize) {
    let numel = tensor.array.cells.len();
    let mut read = noise(before + numel * plan.width(), 3);
    let mut expected = read.clone();
    plan.read_over_bytes(source, &mut read[before..], threads).unwrap();
    tensor.read_over(source, &mut expected[before..], plan.width());
    assert!(read == expected, "{} of {} bytes is read over wrong", tensor.tracker, plan.width());
}

fn check_write(tensor: &Tensor, plan: &Plan, source: &[u8], threads: &Threads, before: usize) {
    if tensor.is_injective() {
        let mut written = noise(before + plan.buffer_len() * plan.width(), 2);
        let mut expected = written.clone();
        plan.write_bytes(source, &mut written[before..], threads).unwrap();
        tensor.write(source, &mut expected[before..], plan.width());
        assert!(written == expected, "{} of {} bytes is written wrong", tensor.tracker, plan.width());
    }
}

#[test]
fn rows() {
    check("()", &[3]);
    check("(0, 3)", &[4]);
    check("(70)", &[1, 12]);
    check("(6, 5).shrink((2, 5), (1, 4))", &[8, 100]);
    check("(3, 5).pad((1, 0), (2, 1))", &[1, 20]);
    check("(1, 40).expand(9, 40)", &[4]);
}

#[test]
fn long_rows_and_fills() {
    check("(200).shrink((3, 190))", &[4, 1]);
    check("(7).pad((150, 90))", &[3]);
    check("(1, 1).pad((0, 0), (1, 1))", &[300, 200]);
}

#[test]
fn tiles_that_are_turned_over() {
    check("(5, 7).permute(1, 0)", &[4]);
    check("(33, 20).permute(1, 0)", &[1]);
    check("(2, 17, 9).permute(0, 2, 1)", &[3]);
    // Rows that are whole lines, and rows that are parts of lines, both of several tiles.
    check("(48, 16).permute(1, 0)", &[4]);
    check("(47, 16).flip(1).permute(1, 0)", &[2]);
    check("(3, 2, 2, 3).permute(3, 2, 1, 0)", &[12]);
}

#[test]
fn tiles_that_are_gathered() {
    check("(50).flip(0)", &[1]);
    check("(5, 10).step(1, 3)", &[2, 5]);
    check("(20).step(-2)", &[33]);
    // Of several tiles, which are stored in two ways in turn, and meet where a line begins.
    check("(9, 66).step(1, 2)", &[4, 4]);
    check("(12, 1).expand(12, 6)", &[4]);
    check("(5, 1).expand(5, 70)", &[4, 8, 1]);
    check("(5, 4, 13).shrink((0, 5), (0, 4), (0, 9)).step(1, 1, 3)", &[8, 12]);
    check("(30, 3).permute(1, 0)", &[7]);
    check("(10, 3).shrink((0, 10), (1, 3)).permute(1, 0)", &[24, 64]);
}

/// The channels of pixels: put in order in a register, interleaved, and with a border.
#[test]
fn channels() {
    check("(11, 3).flip(1)", &[1, 2]);
    check("(9, 4).flip(0, 1)", &[1]);
    check("(150).flip(0)", &[1, 3]);
    check("(12, 1).expand(12, 3)", &[1]);
    check("(7, 4).shrink((0, 7), (1, 4))", &[2]);
    check("(3, 40).permute(1, 0)", &[1, 4]);
    check("(4, 20, 3).pad((1, 0), (2, 1), (0, 0))", &[1]);
    check("(3, 11, 3).flip(2).pad((0, 1), (1, 2), (0, 0))", &[1]);
}

#[test]
fn strides_on_both_sides() {
    check("(4, 5).as_strided((3, 2), (6, 3), 0).permute(1, 0)", &[4]);
    check("(6, 7).step(2, 3)", &[1, 5]);
}

#[test]
fn masks() {
    check("(5, 6).pad((1, 1), (0, 2)).permute(1, 0)", &[4]);
    check("(3).pad((9, 0)).shrink((0, 7))", &[1]);
}

/// Stacks of views, of which planning takes longer than moving: the loops that a plan must have, and reading alone.
fn check_stack(text: &str, loops: &str, width: usize) {
    let tensor = Tensor::of(text);
    let plan = Plan::with_loops(&tensor.tracker, width).unwrap();
    assert!(plan.to_string().contains(loops), "{plan}");
    check_read(&tensor, &plan, &Threads::new(2).unwrap().eager(), 1);
}

/// Stacks of few elements, which are walked by default.
#[test]
fn walks() {
    for (text, width, threads, before) in [
        ("(3, 4).reshape(3, 1, 4, 1).pad((0, 0), (0, 1), (0, 0), (0, 1)).reshape(6, 8).permute(1, 0)", 8, 3, 4),
        ("(5, 3).permute(1, 0).reshape(15).step(2)", 33, 1, 0),
        ("(3, 3).permute(1, 0).reshape(9).pad((2, 1)).flip(0).reshape(4, 3).permute(1, 0)", 5, 3, 4),
    ] {
        let tensor = Tensor::of(text);
        let plan = tensor.plan(width).unwrap();
        assert!(plan.to_string().contains("walked"), "{plan}");
        let threads = Threads::new(threads).unwrap().eager();
        let read = check_read(&tensor, &plan, &threads, before);
        check_write(&tensor, &plan, &read, &threads, before);
    }
}

#[test]
fn a_range_that_moves_from_row_to_row() {
    let text = "(9, 3).pad((0, 0), (0, 9)).reshape(108).shrink((0, 99)).reshape(9, 11)";
    check_stack(text, "for i0 in 0..9", 4);
}

#[test]
fn zeros_between_elements() {
    let text = "(3, 4).reshape(3, 1, 4, 1).pad((0, 0), (0, 1), (0, 0), (0, 1)).reshape(6, 8).permute(1, 0)";
    check_stack(text, "the rest filled in rows", 8);
}

#[test]
fn leaps_over_floors() {
    let leaps = "as far at a time as all below stays the same";
    check_stack("(5, 3).permute(1, 0).reshape(15).step(2)", leaps, 33);
    check_stack("(2, 3).permute(1, 0).reshape(2, 3).permute(1, 0)", leaps, 50);
}

/// In two steps, where no order of the loops has neighbours near each other.
#[test]
fn through_a_stage() {
    check_stack(
        "(18, 17).permute(1, 0).reshape(18, 17).permute(1, 0)",
        if cfg!(miri) { "into a stage" } else { "" },
        4,
    );
}

/// Elements that are listed: runs, others, and none.
#[test]
fn few_elements() {
    check("(3, 2).permute(1, 0).reshape(3, 2).permute(1, 0)", &[4]);
    check("(2, 3).pad((0, 1), (1, 0))", &[1, 12]);
}

/// Short rows that follow each other, but for what is masked.
#[test]
fn rows_that_follow_each_other() {
    check("(5, 9).pad((1, 1), (1, 0)).shrink((0, 7), (0, 9))", &[1, 4]);
    check("(4, 9).pad((1, 1), (1, 1))", &[2]);
}

/// Rows shorter than a register, which are listed: small images with borders.
#[test]
fn rows_that_are_listed() {
    for (text, width) in [
        ("(5, 4, 3).pad((0, 0), (1, 1), (1, 0))", 4),
        ("(5, 4, 3).pad((0, 0), (1, 1), (1, 0))", 8),
        ("(5, 4, 3).pad((0, 0), (1, 1), (1, 1)).flip(1)", 3),
        ("(5, 3, 4).pad((0, 0), (1, 1), (1, 0)).permute(0, 2, 1).flip(2).permute(0, 2, 1)", 1),
    ] {
        let tensor = Tensor::of(text);
        let plan = Plan::with_loops(&tensor.tracker, width).unwrap();
        check_read(&tensor, &plan, &Threads::one(), width);
    }
}

/// Values with a type, in memory of their own and into memory that is there.
#[test]
fn types() {
    let tracker = "(3, 2).permute(1, 0).pad((0, 0), (1, 0))".parse::<shapetracker::Chain>().unwrap().tracker().unwrap();
    let plan = Plan::new(&tracker, 4).unwrap();
    let threads = Threads::new(2).unwrap().eager();
    let read = plan.read(&['a', 'b', 'c', 'd', 'e', 'f'], '.', &threads).unwrap();
    assert_eq!(read.iter().collect::<String>(), ".ace.bdf");
    let mut written = [0; 6];
    plan.write(&read.iter().map(|c| *c as u32).collect::<Vec<_>>(), &mut written, &threads).unwrap();
    assert_eq!(written, ['a', 'b', 'c', 'd', 'e', 'f'].map(u32::from));
}
