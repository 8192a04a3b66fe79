//! Arrays that no brute force reaches whole: a few elements of each chunk are looked at, and what a plan costs.

use shapetracker::{Chain, ChainStart, ShapeTracker};
use shapetracker_chunks::{ChunkPlan, Grid, choose_output, choose_output_around, choose_regular_output};

fn layout(text: &str) -> ShapeTracker {
    text.parse::<Chain>().unwrap().tracker().unwrap()
}

/// Output chunks that are images of whole input chunks, wherever those are boxes.
#[test]
fn chosen_chunks_are_images_of_chunks() {
    for (text, chunk, target, expected) in [
        ("(16384, 16384).permute(1, 0)", &[1024, 512][..], 1 << 19, &[512, 1024][..]),
        ("(16384, 16384).reshape(16384, 128, 128).permute(1, 0, 2)", &[1024, 512], 1 << 19, &[4, 1024, 128]),
        ("(16384, 16384).reshape(128, 128, 16384).permute(2, 0, 1)", &[1024, 512], 1 << 19, &[512, 8, 128]),
        ("(64, 512, 8192).permute(2, 0, 1).reshape(8192, 32768)", &[16, 512, 64], 1 << 19, &[64, 8192]),
        ("(4096, 4096).flip(0).permute(1, 0)", &[512, 512], 1 << 18, &[512, 512]),
    ] {
        let st = layout(text);
        let ChainStart::Shape(base) = text.parse::<Chain>().unwrap().start().clone() else { panic!() };
        let input = Grid::regular(&base, chunk).unwrap();
        let output = choose_output(&st, &input, target).unwrap();
        assert_eq!(output.regular_chunk().as_deref(), Some(expected), "{text}: {output}");
        assert_eq!(choose_regular_output(&st, &input, target).unwrap(), output);
        let plan = ChunkPlan::new(&st, input.clone(), output).unwrap();
        assert_eq!(plan.graph().unwrap().touches(), input.len(), "{text}");
        let schedule = plan.rounds(8 << 20, 4, 1).unwrap();
        assert_eq!((schedule.reads(), schedule.lower_bound()), (input.len(), input.len()));
    }
}

/// 1 GiB of four-byte elements in 2 MiB chunks, reshaped and transposed, with an eighth of it in memory.
#[test]
fn reads_stay_near_the_lower_bound() {
    let mut planned = 0;
    for (text, chunk) in [
        ("(16384, 16384).reshape(16384, 128, 128).permute(1, 0, 2)", &[1024, 512][..]),
        ("(16384, 16384).reshape(16384, 128, 128).permute(2, 1, 0)", &[1024, 512]),
        ("(16384, 16384).reshape(128, 128, 16384).permute(1, 2, 0)", &[512, 1024]),
        ("(16384, 16384).reshape(64, 256, 64, 256).permute(0, 2, 1, 3)", &[724, 724]),
        ("(16384, 16384).reshape(64, 256, 64, 256).permute(3, 1, 2, 0)", &[512, 1024]),
        ("(512, 512, 1024).permute(2, 1, 0).reshape(1024, 262144)", &[64, 128, 64]),
        ("(512, 512, 1024).reshape(262144, 1024).permute(1, 0)", &[64, 64, 128]),
        ("(512, 512, 1024).permute(1, 0, 2).reshape(512, 524288)", &[64, 64, 128]),
        ("(16777, 16000).reshape(16777, 125, 128).permute(1, 0, 2)", &[1000, 524]),
        ("(268435456).reshape(16384, 16384).permute(1, 0)", &[524288]),
        ("(8192, 32768).permute(1, 0).reshape(512, 64, 8192)", &[2048, 256]),
        ("(128, 1024, 2048).permute(0, 2, 1).reshape(2048, 128, 1024)", &[8, 256, 256]),
    ] {
        let st = layout(text);
        let ChainStart::Shape(base) = text.parse::<Chain>().unwrap().start().clone() else { panic!() };
        let input = Grid::regular(&base, chunk).unwrap();
        for output in
            [choose_output(&st, &input, 1 << 19).unwrap(), choose_regular_output(&st, &input, 1 << 19).unwrap()]
        {
            let plan = ChunkPlan::new(&st, input.clone(), output).unwrap();
            let schedule = plan.rounds(128 << 20, 4, 2).unwrap();
            let (reads, bound) = (schedule.reads(), schedule.lower_bound());
            assert!(plan.graph().unwrap().is_exact() && bound == input.len());
            assert!(10 * reads <= 11 * bound, "{text}: {reads} reads of {bound}, into {}", plan.output());
            assert!(schedule.peak_bytes() <= 128 << 20);
            planned += 1;
        }
    }
    assert_eq!(planned, 24);
}

/// Positions near 2^62, chunks without number, and steps that jump over most of them.
#[test]
fn sizes_without_end() {
    let size = 1i64 << 31;
    let st = ShapeTracker::contiguous([size, size]).unwrap().permute([1, 0]).unwrap().reshape([size * size]).unwrap();
    let input = Grid::regular([size, size], [1 << 10, 1 << 12]).unwrap();
    let plan = ChunkPlan::new(&st, input, Grid::regular([size * size], [1 << 40]).unwrap()).unwrap();
    // 512 columns, which all lie in the first chunks of columns.
    let touches = plan.touched(&[(0, 1 << 40)]).unwrap();
    assert_eq!((touches.numbers().len(), touches.is_exact()), (1 << 21, true));
    let last = plan.touched(&[(size * size - 1, size * size)]).unwrap();
    assert_eq!(last.numbers(), [plan.input().len() - 1]);
    let step = st.step([size * 1024 * 512 + 3]).unwrap();
    let plan = ChunkPlan::new(&step, plan.input().clone(), Grid::whole(step.shape()).unwrap()).unwrap();
    assert_eq!(plan.needed().unwrap().numbers().len() as i64, step.numel());
    assert!(!plan.filled(&[(0, step.numel())]).unwrap());
}

/// As many views as a tracker may have, on a thread with little memory.
#[test]
fn stacks_of_many_views() {
    let mut st = ShapeTracker::contiguous([12, 10]).unwrap();
    while st.views().len() < 200 {
        let turned = st.permute([1, 0]).unwrap().pad([(0, 1), (1, 0)]).unwrap();
        st = turned
            .shrink([(0, turned.shape()[0] - 1), (1, turned.shape()[1])])
            .unwrap()
            .reshape([12, 10])
            .unwrap()
            .flip([0])
            .unwrap();
    }
    let grid = Grid::regular([12, 10], [5, 4]).unwrap();
    let plan = ChunkPlan::new(&st, grid.clone(), grid.clone()).unwrap();
    let touched =
        move || plan.graph().map(|graph| (0..9).map(|chunk| graph.inputs_of(chunk).to_vec()).collect::<Vec<_>>());
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(touched).unwrap();
    let found = thread.join().unwrap().unwrap();
    for (chunk, found) in found.into_iter().enumerate() {
        let part = st.shrink(grid.chunk(chunk).unwrap()).unwrap();
        let mut expected: Vec<usize> =
            part.addresses().flatten().map(|address| grid.locate(&[address / 10, address % 10]).unwrap()).collect();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(found, expected, "{chunk}");
    }
}

/// The inside of windows is whole where that costs no more than a few reads, wherever it stands and whatever was done to the input
/// before; what is no window is not taken for one.
#[test]
fn the_inside_of_windows_is_not_cut() {
    let chosen = |st: &ShapeTracker, input: &Grid, target: i64| {
        let output = choose_output(st, input, target).unwrap();
        (0..st.rank()).map(|axis| output.sizes(axis).max().unwrap()).collect::<Vec<_>>()
    };
    let st = ShapeTracker::contiguous([2000, 200]).unwrap();
    let input = Grid::regular([2000, 200], [100, 100]).unwrap();
    // Windows of 50 rows, the inside first, in the middle and last; every second window, in reverse; over a margin.
    for (shape, strides, inner) in [
        ([50, 1951, 200], [200, 200, 1], 0),
        ([1951, 50, 200], [200, 200, 1], 1),
        ([1951, 200, 50], [200, 1, 200], 2),
        ([976, 50, 200], [400, 200, 1], 1),
    ] {
        let windows = st.as_strided(shape, strides, 0).unwrap();
        for windows in [windows.flip([0, 1]).unwrap(), windows] {
            assert_eq!(chosen(&windows, &input, 10_000)[inner], 50, "{shape:?}");
        }
    }
    let margin = st.pad([(25, 24), (0, 0)]).unwrap().as_strided([2000, 50, 200], [200, 200, 1], 0).unwrap();
    assert_eq!(chosen(&margin, &input, 10_000)[1], 50);
    // Windows of 3 by 3, apart and as rows of a matrix.
    let image = ShapeTracker::contiguous([4, 200, 200]).unwrap();
    let input = Grid::regular([4, 200, 200], [1, 50, 50]).unwrap();
    let windows = image.as_strided([4, 198, 198, 3, 3], [40_000, 200, 1, 200, 1], 0).unwrap();
    assert_eq!(chosen(&windows, &input, 2500)[3..], [3, 3]);
    assert_eq!(chosen(&windows.reshape([4, 198 * 198, 9]).unwrap(), &input, 2500)[2], 9);
    // Chunks of single rows: windows of many of them would be read 50 times each, in small pieces.
    let rows = Grid::regular([2000, 200], [1, 200]).unwrap();
    let windows = st.as_strided([1951, 50, 200], [200, 200, 1], 0).unwrap();
    assert_eq!(chosen(&windows, &rows, 200)[2], 200);
    let larger = choose_output_around(&windows, &rows, 200, 10_000, &[None, None, None], false).unwrap();
    assert_eq!(larger, Grid::regular([1951, 50, 200], [1, 50, 200]).unwrap());
    // A row that is repeated is no window.
    let repeated = ShapeTracker::contiguous([1, 2000]).unwrap().expand([500, 2000]).unwrap();
    assert!(chosen(&repeated, &Grid::regular([1, 2000], [1, 100]).unwrap(), 100)[0] < 500);
}

/// What is given stays, and the rest is chosen around it.
#[test]
fn grids_around_given_axes() {
    let st = ShapeTracker::contiguous([64, 48]).unwrap().permute([1, 0]).unwrap().reshape([12, 4, 64]).unwrap();
    let input = Grid::regular([64, 48], [16, 12]).unwrap();
    for given in [
        vec![None, Some(vec![4]), None],
        vec![None, None, Some(vec![64])],
        vec![Some(vec![5, 7]), None, Some(vec![1, 63])],
        vec![Some(vec![12]), Some(vec![1; 4]), Some(vec![64])],
    ] {
        let output = choose_output_around(&st, &input, 192, 192, &given, false).unwrap();
        for (axis, sizes) in given.iter().enumerate() {
            assert!(
                sizes.as_ref().is_none_or(|sizes| output.sizes(axis).eq(sizes.iter().copied())),
                "{given:?}: {output}"
            );
        }
        let regular = choose_output_around(&st, &input, 192, 192, &given, true).unwrap();
        assert_eq!(regular.shape(), st.shape());
    }
    let nothing =
        ShapeTracker::contiguous([2, 2]).unwrap().pad([(0, 6), (0, 0)]).unwrap().shrink([(2, 8), (0, 2)]).unwrap();
    let input = Grid::whole([2, 2]).unwrap();
    let output = choose_output_around(&nothing, &input, 4, 4, &[None, Some(vec![1, 1])], false).unwrap();
    assert_eq!(output, Grid::new([vec![4, 2], vec![1, 1]]).unwrap());
    for wrong in [vec![Some(vec![5]), None], vec![None], vec![None, None, None], vec![Some(vec![6, 0]), None]] {
        assert!(choose_output_around(&nothing, &input, 4, 4, &wrong, false).is_err(), "{wrong:?}");
    }
}
