//! Small cases over every way in which bytes are moved, for Miri: `cargo +nightly miri test -p shapetracker-copy --test it
//! miri`.
//!
//! Miri runs the scalar kernels, and what depends on a number of bytes (tiles, threads, non-temporal stores) starts at few of
//! them there, so that these cases meet all of it. Elsewhere they are ordinary tests.

use shapetracker_copy::{Plan, Threads};

use crate::naive::{How, Tensor, check_read, check_write};

/// Reads and writes a tensor at some widths: from memory of any alignment, with one thread and with several.
fn check(text: &str, widths: &[usize]) {
    let tensor = Tensor::of(text);
    for (number, &width) in widths.iter().enumerate() {
        let threads = number % 2 * 2;
        let how = How::drawn(width, 7 * width as u64 + number as u64).on(threads);
        check_read(&tensor, how).unwrap_or_else(|why| panic!("{text}: {why}"));
        check_write(&tensor, how).unwrap_or_else(|why| panic!("{text}: {why}"));
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
    check("(600).shrink((3, 590))", &[4, 1]);
    check("(7).pad((600, 130))", &[3, 4]);
    check("(3, 1).pad((0, 0), (1, 1))", &[700, 300]);
}

#[test]
fn tiles_that_are_turned_over() {
    check("(5, 7).permute(1, 0)", &[1, 4]);
    check("(33, 20).permute(1, 0)", &[1, 2, 4]);
    check("(2, 17, 19).permute(0, 2, 1)", &[2, 8]);
    check("(40, 37).permute(1, 0)", &[4, 3]);
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
    let tensor = Tensor::of("(6, 7).step(2, 3)");
    for threads in [0, 2] {
        check_write(&tensor, How::plain(5).on(threads)).unwrap();
    }
    check("(2, 3, 4).permute(1, 2, 0).reshape(6, 4).step(1, 2)", &[1, 33]);
}

#[test]
fn masks() {
    check("(9, 9).pad((1, 1), (1, 1)).permute(1, 0)", &[1, 4]);
    check("(6, 6).pad((0, 0), (0, 6)).reshape(72).shrink((0, 66)).reshape(6, 11)", &[2, 4]);
    check("(4, 5).reshape(4, 1, 5, 1).pad((0, 0), (0, 1), (0, 0), (0, 1)).reshape(8, 10).permute(1, 0)", &[1, 8]);
    check("(3).pad((40, 0)).shrink((0, 30))", &[1, 4]);
}

#[test]
fn floors_and_leaps() {
    check("(7, 9).permute(1, 0).reshape(7, 9).permute(1, 0)", &[1, 4]);
    check("(6, 10).permute(1, 0).reshape(4, 15).pad((1, 2), (0, 3)).reshape(18, 7)", &[4, 3]);
    check("(37, 4).permute(1, 0).reshape(148).step(-7)", &[2, 33]);
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
