//! What a placement says that a device holds, element by element.

use crate::oracle::{Word, axes, devices, held, sentences, words};
use crate::sharded;

fn compare(shape: &[i64], mesh: &[i64], words: &[Word]) {
    let tensor = sharded(shape, mesh, words);
    let contents = held(shape, mesh, words);
    let numel: i64 = shape.iter().product();
    for (device, expected) in devices(mesh).iter().zip(&contents) {
        let lengths: Vec<i64> = axes(shape, mesh, words, device).iter().map(|list| list.len() as i64).collect();
        assert_eq!(tensor.local_shape(device).unwrap(), lengths, "{tensor} on {device:?}");
        let got: Vec<i64> = (0..).map_while(|local| tensor.holds(device, local)).collect();
        assert_eq!(&got, expected, "{tensor} on {device:?}");
        assert_eq!(tensor.holds(device, -1), None);
        for position in -1..=numel {
            let local = expected.iter().position(|&held| held == position).map(|local| local as i64);
            assert_eq!(tensor.local(device, position), local, "{tensor} on {device:?}: {position}");
        }
    }
    for position in 0..numel {
        let owners = tensor.holders(position).unwrap();
        for (device, held) in devices(mesh).iter().zip(&contents) {
            let owns = owners.iter().zip(device).all(|(owner, at)| owner.is_none_or(|owner| owner == *at));
            assert_eq!(held.contains(&position), owns, "{tensor} on {device:?}: {position}");
        }
    }
}

#[test]
fn one_mesh_axis_cuts_as_the_lists_say() {
    for shape in [&[1][..], &[7], &[12], &[24], &[2, 9], &[5, 1, 4], &[3, 8]] {
        for size in 1..=5 {
            for word in words(shape, true) {
                compare(shape, &[size], &[word]);
            }
        }
    }
}

#[test]
fn two_mesh_axes_cut_one_after_the_other() {
    for shape in [&[7][..], &[12], &[3, 4]] {
        for mesh in [[2, 2], [2, 3], [3, 2], [4, 1], [2, 4]] {
            for words in sentences(shape, &mesh, true) {
                compare(shape, &mesh, &words);
            }
        }
    }
}

#[test]
fn more_pieces_than_indices_leave_everything_to_the_first_device() {
    compare(&[5], &[3], &[Word::Strided(0, 9)]);
    compare(&[5, 2], &[3, 2], &[Word::Strided(0, 9), Word::Strided(0, 7)]);
}

#[test]
fn three_mesh_axes_and_empty_tensors() {
    compare(&[26], &[2, 2, 3], &[Word::Strided(0, 3), Word::Shard(0), Word::Strided(0, 2)]);
    compare(&[4, 6], &[2, 3, 2], &[Word::Strided(1, 2), Word::Replicate, Word::Shard(1)]);
    compare(&[0, 4], &[2], &[Word::Shard(0)]);
    compare(&[4, 0], &[3], &[Word::Strided(0, 2)]);
    compare(&[], &[2], &[Word::Replicate]);
}
