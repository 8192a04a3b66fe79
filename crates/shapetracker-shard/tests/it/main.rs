//! Every answer of the crate, compared with lists: `oracle` writes out what each device holds, from the definitions, and
//! tries all placements that there are.

mod moved;
mod movements;
mod oracle;
mod placements;
mod specs;
mod views;

use shapetracker_shard::{Mesh, Placement, Sharded};

use oracle::Word;

/// A tensor of the crate from words of the oracle.
fn sharded(shape: &[i64], mesh: &[i64], words: &[Word]) -> Sharded {
    let placements = words.iter().map(|&word| match word {
        Word::Replicate => Placement::Replicate,
        Word::Shard(axis) => Placement::Shard(axis),
        Word::Strided(axis, pieces) => Placement::StridedShard { axis, pieces },
    });
    Sharded::new(shape, Mesh::of_sizes(mesh).unwrap(), placements).unwrap()
}

/// The words of the oracle from an answer of the crate.
fn words_of(tensor: &Sharded) -> Vec<Word> {
    let word = |placement: &Placement| match *placement {
        Placement::Replicate => Word::Replicate,
        Placement::Shard(axis) => Word::Shard(axis),
        Placement::StridedShard { axis, pieces } => Word::Strided(axis, pieces),
        Placement::Partial => panic!("nothing here is a summand"),
    };
    tensor.placements().iter().map(word).collect()
}
