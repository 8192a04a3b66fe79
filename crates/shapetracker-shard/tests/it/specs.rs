//! JAX's `PartitionSpec`: for each axis of the tensor the mesh axes that cut it, the major one first.

use std::collections::HashMap;

use shapetracker_shard::{Mesh, Sharded};

use crate::oracle::{Word, devices, held, positions, sentences};
use crate::sharded;

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Every way to cut the axes of a tensor with some of the axes of a mesh, in every order.
fn specs(rank: usize, mesh: usize) -> Vec<Vec<Vec<usize>>> {
    let mut all = vec![vec![vec![]; rank]];
    for mesh_axis in 0..mesh {
        all = (all.iter())
            .flat_map(|spec| {
                let cut = |(axis, at): (usize, usize)| {
                    let mut spec = spec.clone();
                    spec[axis].insert(at, mesh_axis);
                    spec
                };
                let places = (0..rank).flat_map(|axis| (0..=spec[axis].len()).map(move |at| (axis, at)));
                [spec.clone()].into_iter().chain(places.map(cut)).collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

/// What a specification says that each device holds; nothing where sizes do not divide.
fn contents(shape: &[i64], mesh: &[i64], spec: &[Vec<usize>]) -> Option<Vec<Vec<i64>>> {
    let on = |device: &Vec<i64>| {
        let axis = |(size, by): (&i64, &Vec<usize>)| {
            let parts: i64 = by.iter().map(|&axis| mesh[axis]).product();
            let part = by.iter().fold(0, |part, &axis| part * mesh[axis] + device[axis]);
            (size % parts == 0).then(|| (part * (size / parts)..(part + 1) * (size / parts)).collect())
        };
        let axes: Option<Vec<Vec<i64>>> = shape.iter().zip(spec).map(axis).collect();
        Some(positions(shape, &axes?))
    };
    devices(mesh).iter().map(on).collect()
}

fn named(mesh: &[i64]) -> Mesh {
    Mesh::new(NAMES.iter().copied().zip(mesh.iter().copied())).unwrap()
}

fn of_spec(shape: &[i64], mesh: &[i64], spec: &[Vec<usize>]) -> Result<Sharded, shapetracker_shard::Error> {
    let names: Vec<Vec<&str>> = spec.iter().map(|by| by.iter().map(|&axis| NAMES[axis]).collect()).collect();
    let names: Vec<&[&str]> = names.iter().map(Vec::as_slice).collect();
    Sharded::from_spec(shape, named(mesh), &names)
}

fn held_by(tensor: &Sharded) -> Vec<Vec<i64>> {
    let on = |device: &Vec<i64>| (0..).map_while(|local| tensor.holds(device, local)).collect();
    devices(tensor.mesh().sizes()).iter().map(on).collect()
}

#[test]
fn a_specification_is_read_as_jax_does() {
    for mesh in [&[2][..], &[2, 3], &[2, 2], &[2, 3, 2], &[1, 4]] {
        for shape in [&[12][..], &[24], &[4, 6], &[2, 12], &[3, 2, 4], &[7]] {
            for spec in specs(shape.len(), mesh.len()) {
                match (of_spec(shape, mesh, &spec), contents(shape, mesh, &spec)) {
                    (Ok(tensor), Some(contents)) => assert_eq!(held_by(&tensor), contents, "{tensor} {spec:?}"),
                    (Err(_), None) => {}
                    (got, expected) => panic!("{shape:?} {mesh:?} {spec:?}: {got:?}, not {expected:?}"),
                }
            }
        }
    }
}

#[test]
fn placements_are_a_specification_where_one_says_the_same() {
    for (mesh, strided) in
        [(&[2][..], true), (&[3], true), (&[2, 2], true), (&[2, 3], true), (&[2, 2, 2], false), (&[1, 2], true)]
    {
        for shape in [&[8][..], &[12], &[2, 6], &[6, 2]] {
            let said: HashMap<_, _> = (specs(shape.len(), mesh.len()).into_iter())
                .filter_map(|spec| Some((contents(shape, mesh, &spec)?, spec)))
                .collect();
            for words in sentences(shape, mesh, strided) {
                let tensor =
                    Sharded::new(shape, named(mesh), sharded(shape, mesh, &words).placements().iter().copied());
                let tensor = tensor.unwrap();
                let expected = held(shape, mesh, &words);
                match tensor.spec() {
                    Some(spec) => {
                        let numbers = |names: &Vec<&str>| {
                            names.iter().map(|name| NAMES.iter().position(|known| known == name).unwrap()).collect()
                        };
                        let spec: Vec<Vec<usize>> = spec.iter().map(numbers).collect();
                        assert_eq!(contents(shape, mesh, &spec).as_ref(), Some(&expected), "{tensor}: {spec:?}");
                    }
                    None => assert!(!said.contains_key(&expected), "{tensor}: {:?}", said[&expected]),
                }
            }
        }
    }
}

#[test]
fn what_is_summed_up_is_no_specification() {
    let summands = Sharded::new([4], named(&[2]), [shapetracker_shard::Placement::Partial]).unwrap();
    assert_eq!(summands.spec(), None);
    assert_eq!(sharded(&[4], &[2], &[Word::Replicate]).spec(), Some(vec![vec![]]));
}
