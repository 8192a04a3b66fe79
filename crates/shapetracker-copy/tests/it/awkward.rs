//! Named cases: what looked likely to go wrong, and what once did.

use crate::naive::{How, Tensor, WIDTHS, check_read, check_write};
use shapetracker_testing::is_text_held;

/// Both directions, each width, one and several threads.
fn check(text: &str) {
    let tensor = Tensor::of(text);
    for (number, width) in WIDTHS.into_iter().enumerate() {
        for threads in [0, 2].into_iter().filter(|threads| is_text_held(text, 2 * number + threads / 2)) {
            for how in [How::plain(width), How::drawn(width, 7 + number as u64)] {
                check_read(&tensor, how.on(threads)).unwrap_or_else(|why| panic!("{text}: {why}"));
                check_write(&tensor, how.on(threads)).unwrap_or_else(|why| panic!("{text}: {why}"));
            }
        }
    }
}

/// The last element of the buffer is the last one of a register's row, and nothing lies behind it.
#[test]
fn the_last_row_ends_where_the_buffer_ends() {
    check("(5, 3).permute(1, 0)");
    check("(3, 1000).permute(1, 0)");
    check("(33, 7).shrink((0, 33), (6, 7)).permute(1, 0)");
    check("(9, 31).shrink((8, 9), (0, 31))");
    check("(9, 31).step(8, 3)");
    check("(9, 31).step(8, -3)");
}

/// A vector's worth of elements is loaded where only some of them are of the buffer.
#[test]
fn three_channels() {
    check("(3, 5, 7).permute(1, 2, 0)");
    check("(5, 7, 3).permute(2, 0, 1)");
    check("(3, 17, 19).permute(1, 2, 0).flip(2)");
    check("(5, 7, 4).shrink((0, 5), (0, 7), (0, 3)).permute(2, 0, 1)");
    check("(5, 7, 3).pad((0, 0), (0, 0), (0, 1))");
}

/// Axes fuse, or look as if they did.
#[test]
fn axes_that_nearly_fuse() {
    check("(4, 5, 6).flip(1, 2)");
    check("(4, 5, 6).flip(0, 1, 2)");
    check("(4, 5, 7).shrink((0, 4), (0, 5), (0, 6))");
    check("(4, 6, 6).shrink((0, 4), (0, 5), (0, 6))");
    check("(1, 1, 6).expand(4, 5, 6)");
    check("(4, 1, 6).expand(4, 5, 6).reshape(20, 6).permute(1, 0)");
    check("(120).as_strided((4, 5, 6), (30, 6, 1), 0)");
    check("(120).as_strided((4, 5, 6), (29, 6, 1), 0)");
    check("(200).as_strided((4, 5, 6), (1, 4, 20), 3)");
    check("(200).as_strided((4, 5, 6), (-1, -4, -20), 160)");
}

/// Valid parts of one element, one row, one column, or beginning and ending inside a block.
#[test]
fn thin_masks() {
    check("(1, 1).pad((17, 3), (40, 20))");
    check("(1, 70).pad((3, 3), (0, 0))");
    check("(70, 1).pad((0, 0), (3, 3))");
    check("(70, 1).pad((0, 0), (3, 3)).permute(1, 0)");
    check("(65, 67).pad((1, 1), (1, 1)).permute(1, 0)");
    check("(64, 64).permute(1, 0).pad((0, 1), (1, 0)).flip(0, 1)");
    check("(2, 3, 4).pad((1, 2), (3, 4), (5, 6)).permute(1, 2, 0)");
    check("(2, 3, 4).pad((0, 0), (1, 0), (0, 0)).reshape(8, 4).pad((0, 1), (0, 0)).permute(1, 0).reshape(6, 6)");
}

/// Rows of the later view begin and end in the middle of rows of the earlier one.
#[test]
fn views_that_share_no_boundaries() {
    check("(7, 11).permute(1, 0).reshape(77).shrink((1, 76)).reshape(3, 25)");
    check("(7, 11).permute(1, 0).reshape(77).shrink((1, 76)).reshape(25, 3).permute(1, 0)");
    check("(7, 11, 13).permute(2, 1, 0).reshape(91, 11).permute(1, 0).reshape(13, 77).flip(0)");
    check("(13, 8).permute(1, 0).reshape(104).step(5)");
    check("(13, 8).permute(1, 0).reshape(104).step(-9).pad((2, 1)).reshape(5, 3).permute(1, 0)");
    check("(2, 2).permute(1, 0).reshape(4).as_strided((3, 2), (1, 1), 0)");
    check("(4, 9).permute(1, 0).reshape(36).as_strided((5, 7), (6, 1), 2)");
    check("(97, 89).permute(1, 0).reshape(89, 97).permute(1, 0).reshape(89, 97)");
}

/// Three views and more.
#[test]
fn tall_stacks() {
    check("(6, 10).permute(1, 0).reshape(12, 5).permute(1, 0).reshape(10, 6).permute(1, 0).reshape(15, 4)");
    check("(6, 10).pad((0, 0), (0, 1)).permute(1, 0).reshape(6, 11).pad((1, 0), (0, 0)).permute(1, 0).reshape(7, 11)");
    check(
        "(12).as_strided((3, 3), (4, 1), 0).permute(1, 0).reshape(9).flip(0).pad((0, 1)).reshape(2, 5).permute(1, 0).reshape(10)",
    );
    check("(35, 6).permute(1, 0).pad((1, 0), (0, 1)).reshape(252).shrink((9, 250)).flip(0)");
}

/// Stacks whose index expressions as a whole leave what a plan can count with; their halves do not.
#[test]
fn stacks_too_tall_for_one_expression() {
    for (rows, columns, times) in [(16, 24, 13), (5, 7, 22)] {
        let turn = format!(".permute(1, 0).reshape({rows}, {columns})");
        let tensor = Tensor::of(&format!("({rows}, {columns}){}", turn.repeat(times)));
        check_read(&tensor, How::plain(4).on(2)).unwrap();
        check_write(&tensor, How::plain(4)).unwrap();
    }
}

/// One more than what is dealt out in equal pieces.
#[test]
fn more_threads_than_work() {
    for text in ["(2).flip(0)", "(1)", "(3, 2).permute(1, 0)", "(1, 4096).expand(2, 4096)", "(65537).flip(0)"] {
        check(text);
    }
}
