//! What planning costs, and how many reads come of it: `cargo bench -p shapetracker-chunks`.

use std::time::Instant;

use shapetracker::{Chain, ChainStart};
use shapetracker_chunks::{ChunkPlan, Grid, choose_output};
use shapetracker_copy::{Plan, Threads};

/// A layout, the input's chunks, and those of the output, if they are not chosen.
type Case = (&'static str, &'static [i64], Option<&'static [i64]>);

const CASES: [Case; 12] = [
    ("(16384, 16384).reshape(16384, 128, 128).permute(1, 0, 2)", &[1024, 512], None),
    ("(16384, 16384).reshape(128, 128, 16384).permute(2, 0, 1)", &[1024, 512], None),
    ("(16384, 16384).permute(1, 0)", &[1024, 512], Some(&[1024, 512])),
    ("(16384, 16384).permute(1, 0)", &[724, 724], Some(&[800, 655])),
    ("(16384, 16384).permute(1, 0)", &[32, 16384], Some(&[32, 16384])),
    ("(512, 512, 1024).permute(2, 1, 0).reshape(1024, 262144)", &[64, 128, 64], Some(&[2, 262144])),
    ("(512, 512, 1024).permute(2, 1, 0).reshape(524288, 512)", &[64, 128, 64], Some(&[1024, 512])),
    ("(512, 512, 1024).permute(1, 0, 2).reshape(268435456)", &[64, 128, 64], Some(&[524288])),
    ("(16000, 16777).permute(1, 0).reshape(268432000)", &[1000, 524], Some(&[524288])),
    ("(16000, 16777).permute(1, 0).reshape(16000, 16777).permute(1, 0)", &[1000, 524], Some(&[1000, 524])),
    ("(16384, 16384).pad((5, 5), (5, 5)).flip(0).permute(1, 0)", &[1024, 512], None),
    ("(51200, 51200).reshape(51200, 512, 100).permute(1, 0, 2)", &[160, 160], Some(&[4, 80, 100])),
];

fn main() {
    println!(
        "chunks in/out | plan | touches | schedule | reads (bound) | peak MiB | rounds | pieces: find, plan | largest | layout"
    );
    for (text, chunk, output) in CASES {
        let chain: Chain = text.parse().expect("a chain");
        let ChainStart::Shape(base) = chain.start() else { panic!("a shape") };
        let tracker = chain.tracker().expect("a tracker");
        let input = Grid::regular(base, chunk).expect("a grid");
        let numel: i64 = base.iter().product();
        let start = Instant::now();
        let output = match output {
            Some(chunk) => Grid::regular(tracker.shape(), chunk),
            None => choose_output(&tracker, &input, chunk.iter().product()),
        };
        let output = output.expect("a grid");
        let chosen = start.elapsed();
        let start = Instant::now();
        let plan = ChunkPlan::new(&tracker, input, output).expect("a plan");
        let touches = plan.graph().expect("a graph").touches();
        let planned = start.elapsed();
        let start = Instant::now();
        let schedule = plan.rounds(numel as u64 * 4 / 8, 4, 1).expect("a schedule");
        let scheduled = start.elapsed();
        // Some pieces, found and planned.
        let (mut pieces, mut parts, mut found, mut copies) = (0, 0, 0.0, 0.0);
        let step = (plan.output().len() / 64).max(1);
        for number in (0..plan.output().len()).step_by(step) {
            let region = plan.output().chunk(number).expect("a chunk");
            for at in plan.graph().expect("a graph").inputs_of(number).iter().take(8) {
                let start = Instant::now();
                let piece = plan.piece(&region, *at).expect("a piece");
                found += start.elapsed().as_secs_f64();
                pieces += 1;
                for part in piece.sections() {
                    parts += 1;
                    let start = Instant::now();
                    let copy = Plan::new(part.tracker(), 4).expect("a copy");
                    copies += start.elapsed().as_secs_f64();
                    std::hint::black_box(&copy);
                }
            }
        }
        let per_piece = |seconds: f64| seconds * 1e6 / f64::from(pieces.max(1));
        println!(
            "{} / {} | {:.1?} + {:.1?} | {touches} | {:.1?} | {} ({}) | {} | {} | {:.1} + {:.1} us, {:.1} parts | {} MiB | {text} -> {}",
            plan.input().len(),
            plan.output().len(),
            chosen,
            planned,
            scheduled,
            schedule.reads(),
            schedule.lower_bound(),
            schedule.peak_bytes() >> 20,
            schedule.rounds(),
            per_piece(found),
            per_piece(copies),
            f64::from(parts) / f64::from(pieces.max(1)),
            schedule.largest_task() >> 20,
            plan.output(),
        );
    }
    moved();
}

/// 64 MiB from chunk to chunk in memory, as fast as the pieces are.
fn moved() {
    for (text, chunk, output) in [
        ("(4096, 4096).permute(1, 0)", &[1024, 512][..], &[1024, 512][..]),
        ("(4000, 4096).permute(1, 0).reshape(16384000)", &[500, 512], &[524288]),
        ("(4000, 4097).permute(1, 0).reshape(4000, 4097).permute(1, 0)", &[500, 512], &[500, 512]),
    ] {
        let chain: Chain = text.parse().expect("a chain");
        let ChainStart::Shape(base) = chain.start() else { panic!("a shape") };
        let tracker = chain.tracker().expect("a tracker");
        let (input, output) = (Grid::regular(base, chunk).expect("a grid"), Grid::regular(tracker.shape(), output));
        let plan = ChunkPlan::new(&tracker, input, output.expect("a grid")).expect("a plan");
        let chunks: Vec<Vec<f32>> =
            (0..plan.input().len()).map(|at| vec![1.0; plan.input().numel(at) as usize]).collect();
        let mut outputs: Vec<Vec<f32>> =
            (0..plan.output().len()).map(|at| vec![2.0; plan.output().numel(at) as usize]).collect();
        let start = Instant::now();
        for (number, output) in outputs.iter_mut().enumerate() {
            let region = plan.output().chunk(number).expect("a chunk");
            for at in plan.graph().expect("a graph").inputs_of(number) {
                for part in plan.piece(&region, *at).expect("a piece").sections() {
                    let copy = Plan::new(part.tracker(), 4).expect("a copy");
                    copy.read_over(&chunks[*at], &mut output[part.elements()], &Threads::one()).expect("a move");
                }
            }
        }
        let apart = start.elapsed();
        assert!(outputs.iter().flatten().all(|value| *value == 1.0));
        let whole = vec![1.0f32; base.iter().product::<i64>() as usize];
        let start = Instant::now();
        let copy = Plan::new(&tracker, 4).expect("a copy").read(&whole, 0.0, &Threads::one()).expect("a move");
        println!("{apart:.1?} in pieces, {:.1?} as a whole: {text}", start.elapsed());
        std::hint::black_box(copy);
    }
}
