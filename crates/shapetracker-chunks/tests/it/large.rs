//! Arrays that no brute force reaches whole: a few elements of each chunk are looked at, and what a plan costs.

use shapetracker::{Chain, ChainStart, ShapeTracker};
use shapetracker_chunks::{ChunkPlan, Grid, choose_output, choose_regular_output};

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
