//! Shapes around the edges of registers, cache lines and blocks, and shapes large enough for threads and streaming.

use shapetracker::Chain;
use shapetracker_copy::Plan;

use crate::naive::{How, Tensor, WIDTHS, check_read, check_write};
use shapetracker_testing::{drawn, is_entry_held, is_text_held};

/// Sizes on both sides of every power of two that a kernel may be built around.
const SIZES: [i64; 17] = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 257];

/// Reads and writes a tensor at each width that is held, laid out differently each time.
fn check(text: &str, widths: &[usize]) {
    let is_held = |number: usize| is_text_held(text, number);
    if !(0..widths.len()).any(is_held) {
        return;
    }
    let tensor = Tensor::of(text);
    let seed = text.bytes().fold(0, |seed, byte| (seed * 31 + u64::from(byte)) % 1009);
    for (number, &width) in widths.iter().enumerate().filter(|(number, _)| is_held(*number)) {
        for how in [How::plain(width), How::drawn(width, seed + number as u64)] {
            check_read(&tensor, how).unwrap_or_else(|why| panic!("{text}: {why}"));
        }
        let how = How::drawn(width, seed + 14 + number as u64);
        check_write(&tensor, how).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
}

/// Reads on one thread and on several, and writes.
fn check_large(text: &str, widths: &[usize]) {
    // With few cases, one width of each text.
    let is_held = |number: usize| if drawn(1_000) < 250 { is_entry_held(number) } else { is_text_held(text, number) };
    if !(0..widths.len()).any(is_held) {
        return;
    }
    let tensor = Tensor::of(text);
    for (number, &width) in widths.iter().enumerate().filter(|(number, _)| is_held(*number)) {
        // Once with a fill value whose bytes differ.
        for (threads, seed) in [(number % 2 * 3, 5 * number + 3), (1 + number % 2, number)] {
            let how = How::drawn(width, seed as u64).on(threads);
            check_read(&tensor, how).unwrap_or_else(|why| panic!("{text}: {why}"));
        }
        let how = How::drawn(width, 20 + number as u64).on(number % 4);
        check_write(&tensor, how).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
}

#[test]
fn transposes_of_every_pair_of_sizes() {
    for a in SIZES {
        for b in SIZES {
            check(&format!("({a}, {b}).permute(1, 0)"), if a * b < 5000 { &WIDTHS } else { &WIDTHS[..7] });
        }
    }
}

#[test]
fn batches_of_transposes() {
    for (a, b, c) in [(2, 33, 17), (3, 16, 64), (5, 9, 31), (7, 65, 3), (100, 3, 5), (2, 1, 257), (4, 128, 32)] {
        for axes in ["0, 2, 1", "1, 0, 2", "2, 1, 0", "1, 2, 0", "2, 0, 1"] {
            check(&format!("({a}, {b}, {c}).permute({axes})"), &WIDTHS);
        }
    }
}

#[test]
fn rows_of_every_size() {
    for size in SIZES {
        check(&format!("({size})"), &WIDTHS);
        check(&format!("({size}).flip(0)"), &WIDTHS);
        check(&format!("(3, {size}).flip(0)"), &WIDTHS);
        check(&format!("(3, {size}).flip(1)"), &WIDTHS);
        check(&format!("(5, {size}, 4).shrink((1, 4), (0, {size}), (1, 3))"), &WIDTHS);
        check(&format!("({size}, 3).pad((2, 1), (0, 2))"), &WIDTHS);
        check(&format!("(3, {size}).pad((0, 1), (3, 0))"), &WIDTHS);
    }
}

/// Elements that are put in order inside of a register, columns that are interleaved, and borders around such pixels.
#[test]
fn channels() {
    for size in SIZES {
        for channels in [2, 3, 4, 5, 7, 8] {
            check(&format!("({size}, {channels}).flip(1)"), &WIDTHS);
            check(&format!("({size}, {channels}).flip(0, 1)"), &WIDTHS);
            check(&format!("({size}, {channels}).flip(0)"), &WIDTHS);
            check(&format!("({channels}, {size}).permute(1, 0)"), &WIDTHS);
            check(&format!("({size}, 1).expand({size}, {channels})"), &WIDTHS);
            check(&format!("({size}, {channels}).shrink((0, {size}), (1, {channels}))"), &WIDTHS);
            check(&format!("(3, {size}, {channels}).pad((1, 0), (2, 1), (0, 0))"), &WIDTHS);
            check(&format!("(3, {size}, {channels}).flip(2).pad((0, 1), (1, 2), (0, 0))"), &WIDTHS);
        }
        check(&format!("({size}, 2, 2).permute(0, 2, 1)"), &WIDTHS);
        check(&format!("({size}, 2, 3).permute(0, 2, 1).flip(0)"), &WIDTHS);
        check(&format!("(3, {size}, 2, 2, 2).permute(0, 1, 4, 3, 2)"), &WIDTHS);
    }
}

#[test]
fn large_pixels() {
    check_large("(1700, 1700, 3).flip(2)", &[1]);
    check_large("(700, 1010, 3).flip(1)", &[4]);
    check_large("(3, 700, 1010).permute(1, 2, 0)", &[4]);
    check_large("(700, 1010, 3).pad((5, 5), (7, 9), (0, 0))", &[4]);
    check_large("(2120000).flip(0)", &[4]);
    check_large("(700, 1).expand(700, 3110)", &[4, 2]);
    check_large("(300, 1).expand(300, 3110)", &[16]);
}

/// Rows that begin anywhere in a line, and whose pieces are stored in two ways in turn.
#[test]
fn large_rows_in_two_ways() {
    check_large("(1500, 1501).flip(1)", &[4]);
    check_large("(1500, 3002).step(1, 2)", &[4]);
    check_large("(1100, 2102).step(1, 2)", &[8]);
    check_large("(900, 1802).step(1, 2)", &[12]);
    check_large("(2100, 14707).step(1, 7)", &[2]);
    check_large("(150000, 13).pad((0, 0), (1, 2))", &[4]);
    check_large("(1024, 2304).permute(1, 0).reshape(1152, 2048).permute(1, 0)", &[4]);
}

#[test]
fn every_step() {
    for size in [1, 6, 7, 8, 33, 64, 65, 257] {
        for step in [2, 3, 4, 5, 6, 7, 16, -1, -2, -3, -7] {
            check(&format!("({size}).step({step})"), &WIDTHS[..7]);
            check(&format!("(9, {size}).step(2, {step})"), &WIDTHS[..7]);
            check(&format!("({size}, 9).step({step}, 1)"), &WIDTHS[..7]);
            check(&format!("({size}, 10).step({step}, -3).permute(1, 0)"), &WIDTHS[..7]);
        }
    }
}

#[test]
fn broadcasts_on_every_axis() {
    for (base, to) in [("17", 17), ("64", 64), ("3", 3), ("1", 1)] {
        for times in [1, 2, 7, 16, 100] {
            check(&format!("(1, 5, {base}).expand({times}, 5, {to})"), &WIDTHS);
            check(&format!("(5, 1, {base}).expand(5, {times}, {to})"), &WIDTHS);
            check(&format!("(5, {base}, 1).expand(5, {to}, {times})"), &WIDTHS);
            check(&format!("(5, {base}, 1).expand(5, {to}, {times}).permute(1, 2, 0)"), &WIDTHS);
        }
    }
    check("(1, 1, 1).expand(7, 9, 33)", &WIDTHS);
    check("(1, 6, 1, 5).expand(4, 6, 3, 5).permute(3, 2, 1, 0).flip(1, 2)", &WIDTHS);
}

#[test]
fn flips_of_every_set_of_axes() {
    for axes in ["0", "1", "2", "3", "0, 1", "1, 3", "2, 3", "0, 1, 2, 3"] {
        check(&format!("(3, 4, 5, 6).flip({axes})"), &WIDTHS);
        check(&format!("(3, 4, 5, 6).permute(3, 1, 0, 2).flip({axes})"), &WIDTHS);
    }
}

#[test]
fn many_axes() {
    check("(7, 6, 5, 4, 3).permute(4, 3, 2, 1, 0)", &WIDTHS);
    check("(3, 4, 2, 5, 3, 4).permute(5, 4, 3, 2, 1, 0)", &WIDTHS);
    check("(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2).permute(10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)", &WIDTHS);
    check("(2, 3, 2, 3, 2, 3, 2, 3).permute(1, 3, 5, 7, 0, 2, 4, 6).flip(0, 4)", &WIDTHS);
    check("(1, 3, 1, 1, 5, 1, 7, 1).permute(7, 6, 5, 4, 3, 2, 1, 0)", &WIDTHS);
}

#[test]
fn stacks_of_views() {
    for text in [
        "(300, 7).permute(1, 0).reshape(60, 35)",
        "(6, 10).permute(1, 0).reshape(4, 15).pad((1, 2), (0, 3)).reshape(18, 7)",
        "(6, 10).permute(1, 0).reshape(4, 15).permute(1, 0).reshape(12, 5).permute(1, 0).reshape(60)",
        "(64, 96).permute(1, 0).reshape(48, 128)",
        "(64, 96).permute(1, 0).reshape(128, 48).permute(1, 0).reshape(6144)",
        "(37, 41).permute(1, 0).reshape(1517).shrink((13, 1400))",
        "(37, 41).permute(1, 0).reshape(1517).pad((5, 8)).reshape(18, 85).permute(1, 0)",
        "(37, 41).permute(1, 0).reshape(1517).flip(0).step(3)",
        "(8, 9, 10).permute(2, 0, 1).reshape(24, 30).permute(1, 0).reshape(720).step(-7)",
        "(5, 7).pad((0, 0), (0, 1)).reshape(40).shrink((0, 36)).reshape(6, 6)",
        "(5, 7).pad((1, 1), (2, 2)).reshape(77).shrink((3, 75)).reshape(8, 9).permute(1, 0)",
        "(16).as_strided((5, 4), (3, 1), 0).permute(1, 0).reshape(20).step(2)",
        "(200).as_strided((10, 10), (-9, 9), 90).reshape(4, 25).permute(1, 0)",
    ] {
        check(text, &WIDTHS);
    }
}

#[test]
fn masks() {
    for text in [
        "(9, 9).pad((1, 1), (1, 1))",
        "(9, 9).pad((0, 7), (7, 0)).permute(1, 0)",
        "(3, 5, 7).pad((1, 0), (0, 1), (2, 2)).flip(0, 2).permute(2, 0, 1)",
        // A triangle: row i of a matrix shifted by i.
        "(1).expand(24).pad((24, 0)).reshape(1, 48).expand(24, 48).reshape(1152).shrink((0, 1128)).reshape(24, 47).shrink((0, 24), (0, 24))",
        "(24, 24).pad((0, 0), (0, 24)).reshape(1152).shrink((0, 1128)).reshape(24, 47)",
        "(24, 24).pad((0, 0), (0, 23)).reshape(1128).pad((0, 24)).reshape(24, 48).permute(1, 0)",
        // A pooling's windows with rows that hang over.
        "(2, 13, 13).pad((0, 0), (1, 1), (1, 1)).as_strided((2, 7, 7, 3, 3), (225, 30, 2, 15, 1), 0)",
        // Zeros between elements, as a transposed convolution has them.
        "(6, 7).reshape(6, 1, 7, 1).pad((0, 0), (0, 1), (0, 0), (0, 2)).reshape(12, 21).shrink((0, 11), (0, 19))",
        "(6, 7).reshape(6, 1, 7, 1).pad((0, 0), (1, 1), (0, 0), (0, 2)).reshape(18, 21).permute(1, 0).flip(0)",
        "(1, 1).expand(3, 3).pad((1, 1), (1, 1)).reshape(25).permute(0).reshape(5, 5).permute(1, 0)",
    ] {
        check(text, &WIDTHS);
    }
}

/// Windows over padded images, by pixels: at the borders their rows, shorter than a register, begin late or end early.
#[test]
fn windows_by_pixels() {
    for (window, border, step) in [(2, 1, 1), (2, 1, 2), (3, 1, 1), (3, 2, 2), (4, 1, 1), (5, 2, 1), (5, 2, 3)] {
        for channels in [1, 3, 8] {
            let (height, width) = (30 + 2 * border, 31 + 2 * border);
            let (down, across) = ((height - window) / step + 1, (width - window) / step + 1);
            let image = format!("({channels}, 30, 31).pad((0, 0), ({border}, {border}), ({border}, {border}))");
            let windows = format!(
                "as_strided(({down}, {across}, {channels}, {window}, {window}), ({}, {step}, {}, {width}, 1), 0)",
                step * width,
                height * width,
            );
            check(&format!("{image}.{windows}"), &[1, 2, 3, 4, 6, 8]);
        }
    }
}

#[test]
fn large_transposes() {
    check_large("(300, 517).permute(1, 0)", &WIDTHS);
    check_large("(1024, 1024).permute(1, 0)", &[1, 2, 4, 3]);
    check_large("(257, 4096).permute(1, 0)", &[8, 4]);
    check_large("(4, 250000).permute(1, 0)", &[1, 2, 4, 8, 16]);
    check_large("(250000, 3).permute(1, 0)", &[1, 2, 4, 8, 16, 5]);
    check_large("(17, 256, 129).permute(0, 2, 1)", &[1, 4, 16, 12]);
    check_large("(67, 67, 67).permute(2, 1, 0)", &[1, 2, 4, 8, 16, 7]);
    check_large("(12, 14, 15, 13, 16).permute(4, 3, 2, 1, 0)", &[1, 2, 4, 8, 16, 3]);
    check_large("(8, 9, 6, 7, 10, 8).permute(5, 4, 3, 2, 1, 0)", &[1, 4, 8, 6]);
}

#[test]
fn large_images() {
    check_large("(2, 3, 224, 225).permute(0, 2, 3, 1)", &[1, 2, 4, 8]);
    check_large("(2, 224, 225, 3).permute(0, 3, 1, 2)", &[1, 2, 4, 8]);
    check_large("(4, 64, 28, 28).permute(0, 2, 3, 1)", &[1, 4, 16]);
    check_large("(4, 28, 28, 64).permute(0, 3, 1, 2)", &[1, 4, 20]);
    // Padded image patches: 3 x 3 windows of all channels in a row.
    let padded = "(2, 8, 30, 31).pad((0, 0), (0, 0), (1, 1), (1, 1))";
    let patches = format!("{padded}.as_strided((2, 30, 31, 8, 3, 3), (8448, 33, 1, 1056, 33, 1), 0).reshape(1860, 72)");
    check_large(&patches, &[1, 2, 4, 8, 24]);
    check_large("(3, 200, 300).flip(1, 2)", &[1, 2, 4, 8, 16, 3]);
    check_large("(3, 200, 300).pad((0, 0), (7, 9), (5, 3))", &[1, 4, 16, 33]);
    check_large("(300, 400).shrink((10, 290), (3, 398))", &[1, 4, 100]);
    check_large("(300, 800).step(1, 2)", &[1, 2, 4, 8, 16]);
    check_large("(700, 300).step(-3, 1)", &[1, 4, 7]);
}

#[test]
fn large_stacks_and_masks() {
    check_large("(300, 517).permute(1, 0).reshape(60, 2585)", &WIDTHS[..8]);
    check_large("(512, 300).permute(1, 0).reshape(400, 384).permute(1, 0)", &[1, 2, 4, 8, 16]);
    check_large("(300, 300).pad((0, 0), (0, 300)).reshape(180000).shrink((0, 179700)).reshape(300, 599)", &[1, 4, 8]);
    check_large("(300, 300).pad((3, 0), (0, 2)).permute(1, 0).reshape(453, 202)", &[1, 4, 12]);
    check_large(
        "(100, 100).reshape(100, 1, 100, 1).pad((0, 0), (0, 1), (0, 0), (0, 1)).reshape(200, 200).permute(1, 0)",
        &[1, 4, 8],
    );
}

/// Neighbours lie far from each other whichever way one goes: moved in two steps, through a stage.
#[test]
fn through_a_stage() {
    for text in [
        "(901, 900).permute(1, 0).reshape(901, 900).permute(1, 0)",
        "(901, 900).permute(1, 0).reshape(901, 900).permute(1, 0).flip(0, 1)",
        "(70, 90, 130).permute(2, 1, 0).reshape(91, 9000).permute(1, 0)",
        "(901, 900).permute(1, 0).reshape(901, 900).permute(1, 0).pad((2, 3), (0, 7))",
        "(901, 900).permute(1, 0).reshape(901, 1, 900).expand(901, 2, 900).permute(2, 1, 0)",
        "(900, 901).permute(1, 0).reshape(900, 901).permute(1, 0).reshape(900, 901).permute(1, 0)",
    ] {
        let chain: Chain = text.parse().unwrap();
        let plan = Plan::new(&chain.tracker().unwrap(), 4).unwrap().to_string();
        assert!(plan.contains("into a stage of"), "{text}: {plan}");
        check_large(text, &[4, 8, 3]);
    }
    // Rows of the stage would reach past the end of the buffer here.
    check_large("(901, 900).permute(1, 0).reshape(901, 900).shrink((3, 899), (5, 877)).permute(1, 0)", &[4]);
    // What is masked under the last view is no matter of a stage.
    check_large("(901, 898).pad((0, 0), (1, 1)).permute(1, 0).reshape(901, 900).permute(1, 0)", &[4]);
}

#[test]
fn large_rows() {
    check_large("(1500000)", &[1, 2, 4, 8, 3]);
    check_large("(1500000).flip(0)", &[1, 2, 4, 8]);
    check_large("(1).expand(2000000)", &[1, 2, 3, 4, 8]);
    check_large("(1, 1000).expand(1000, 1000)", &[1, 4, 5]);
    check_large("(1000, 1).expand(1000, 1000)", &[1, 4, 5]);
    check_large("(7).pad((1000000, 500000))", &[1, 2, 3, 4]);
    check_large("(1000, 999).shrink((0, 0), (0, 999)).pad((500, 500), (0, 0))", &[1, 4, 12]);
}

/// More bytes than caches hold: they are worth writing past the caches.
#[test]
fn larger_than_caches() {
    check_large("(3001, 2999).permute(1, 0)", &[1]);
    check_large("(1500, 1700).permute(1, 0)", &[4, 5]);
    check_large("(3, 1100, 1000).permute(1, 2, 0)", &[3, 4]);
    check_large("(1100, 1000, 3).permute(2, 0, 1)", &[3, 4]);
    check_large("(40, 36, 30, 28).permute(3, 2, 1, 0)", &[8, 12, 16]);
    check_large("(1500, 1600).permute(1, 0).reshape(1200, 2000)", &[4]);
    check_large("(2200000).flip(0)", &[4]);
    check_large("(3000000).shrink((3, 2999990))", &[3, 4]);
    check_large("(700000, 5).shrink((0, 700000), (1, 4))", &[4, 5]);
    check_large("(1, 1500).expand(1500, 1500)", &[4]);
    check_large("(1500, 1).expand(1500, 1500)", &[4]);
    // Rows of several axes that are gathered element by element.
    check_large("(10000, 10, 80).shrink((0, 10000), (0, 10), (0, 72)).step(1, 1, 3)", &[4]);
    check_large("(1700, 5, 900).shrink((0, 1700), (0, 5), (0, 897)).step(1, 1, 3)", &[4]);
    check_large("(9000, 17, 50).shrink((0, 9000), (0, 17), (0, 49)).step(1, 1, -7)", &[8, 12]);
}

#[test]
fn masked_and_larger_than_caches() {
    check_large("(2, 1000, 1100).pad((0, 0), (3, 5), (7, 1))", &[4, 7]);
    check_large("(1300, 1700).permute(1, 0).pad((3, 2), (1, 6))", &[4]);
    check_large("(400000, 3).pad((0, 0), (2, 1))", &[4, 12]);
    check_large("(1000, 1, 900).pad((0, 0), (0, 1), (0, 0)).reshape(2000, 900).permute(1, 0)", &[5, 8]);
    // Fill values that are longer than whatever gathers them.
    for width in [255, 700, 1500, 2500, 3000, 4000, 4095, 4096, 4097, 5000] {
        let count = 9_000_000 / width;
        check_large(&format!("({}, 1).pad((0, 0), (1, 1))", count / 3), &[width]);
        check_large(&format!("(100).pad(({count}, 7))"), &[width]);
    }
}
