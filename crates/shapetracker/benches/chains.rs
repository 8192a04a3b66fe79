//! Every chain of movement operations that was recorded from real models, from its base shape to the fewest views.

mod corpus;

use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// All chains in a row; an item is an operation.
#[divan::bench]
fn all(bencher: Bencher) {
    let chains = corpus::chains();
    assert_eq!(chains.len(), 3_577, "all but the two chains that are past i64");
    let ops: usize = chains.iter().map(|chain| chain.ops.len()).sum();
    bencher.counter(ItemsCount::new(ops)).bench(|| {
        for chain in &chains {
            divan::black_box(divan::black_box(chain).run());
        }
    });
}
