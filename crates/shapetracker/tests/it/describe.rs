//! Descriptions of layouts, against all of their addresses.

use std::cell::Cell;
use std::collections::BTreeMap;

use shapetracker::describe::{Apart, Claim, Description, Memory, NoMatrix, NoTensorMap, Overlap, describe};
use shapetracker::{ShapeTracker, View};
use shapetracker_testing::held;

use crate::oracle::{Array, RawView, evaluate};
use crate::queries::same;
use crate::random::{Tape, cases, check, timed};

/// A layout, and how its elements lie in bytes.
#[derive(Clone, Debug)]
struct Case {
    stack: Vec<RawView>,
    memory: Memory,
}

fn case(tape: &mut Tape) -> Case {
    let stack = match tape.below(10) {
        0..3 => tape.stack(),
        3..5 => blocked(tape),
        _ => vec![laid_out(tape)],
    };
    let stack = if stack.iter().all(|view| view.numel() <= 400) { stack } else { vec![RawView::contiguous(&[2])] };
    let bytes = tape.pick(&[1, 2, 4, 8, 8, 2, 3, 16]) as u32;
    Case { stack, memory: Memory { bytes, alignment: tape.pick(&[256, 256, 256, 8]) as u64 } }
}

/// A view as arrays have them: axes in any order, now and then padded, repeated, backwards, or of the usual orders.
fn laid_out(tape: &mut Tape) -> RawView {
    let rank = tape.within(1, 5) as usize;
    let shape: Vec<i64> = (0..rank).map(|_| tape.pick(&[1, 2, 3, 4, 2, 4, 8, 5])).collect();
    let order: Vec<usize> = match (tape.below(4), rank) {
        (0, _) => (0..rank).rev().collect(),
        (1, _) => (0..rank).collect(),
        (2, 4) => vec![1, 3, 2, 0],
        (2, 5) => vec![1, 4, 3, 2, 0],
        _ => tape.permutation(rank),
    };
    let (mut strides, mut stride, mut offset) =
        (vec![0; rank], tape.pick(&[1, 1, 1, 1, 2]), tape.pick(&[0, 0, 8, 16, 3]));
    let odd = tape.chance(50);
    for axis in order {
        strides[axis] = stride;
        stride *= shape[axis];
        if odd {
            match tape.below(8) {
                0 => stride += tape.pick(&[1, 2, 4]),
                1 => stride = (stride + 7) / 8 * 8,
                2 => strides[axis] = 0,
                3 => {
                    offset += strides[axis] * (shape[axis] - 1);
                    strides[axis] = -strides[axis];
                }
                4 => strides[axis] = tape.within(1, 4),
                _ => {}
            }
        }
    }
    let mask: Vec<(i64, i64)> =
        shape.iter().map(|&size| if tape.chance(40) { tape.range(size) } else { (0, size) }).collect();
    RawView { shape, strides, offset, mask: tape.chance(15).then_some(mask) }
}

/// A layout whose axes are split, and the parts in another order in memory.
fn blocked(tape: &mut Tape) -> Vec<RawView> {
    let rank = tape.within(1, 4) as usize;
    let mut parts: Vec<(usize, i64)> = Vec::new();
    let mut shape = vec![1; rank];
    for (axis, size) in shape.iter_mut().enumerate() {
        for _ in 0..tape.within(1, 2) {
            let part = tape.pick(&[2, 4, 3, 1]);
            *size *= part;
            parts.push((axis, part));
        }
    }
    let (mut strides, mut stride) = (vec![0; parts.len()], 1);
    for place in tape.permutation(parts.len()) {
        strides[place] = stride;
        stride *= parts[place].1;
    }
    let sizes: Vec<i64> = parts.iter().map(|part| part.1).collect();
    let rows = RawView::contiguous(&shape);
    vec![RawView { shape: sizes, strides, offset: 0, mask: None }, rows]
}

fn tracker(stack: &[RawView]) -> ShapeTracker {
    ShapeTracker::from_views(stack.iter().map(RawView::view)).unwrap_or_else(|error| panic!("{stack:?}: {error}"))
}

/// How often each address is read.
fn reads(array: &Array) -> BTreeMap<i64, i64> {
    let mut reads = BTreeMap::new();
    array.cells.iter().flatten().for_each(|&address| *reads.entry(address).or_insert(0) += 1);
    reads
}

/// The addresses with the axes run through in an order, the first one outermost.
fn in_order(array: &Array, axes: &[usize]) -> Vec<Option<i64>> {
    array.permute(axes).cells
}

#[test]
pub(crate) fn descriptions_say_what_all_addresses_say() {
    let [dense, named, matrices, maps, wide, blocks] = [0; 6].map(Cell::new);
    let count = |cell: &Cell<u32>, counts: bool| cell.set(cell.get() + u32::from(counts));
    check(cases::DESCRIBED, case, |Case { stack, memory }| {
        let (st, array) = (tracker(stack), evaluate(stack));
        let found =
            timed("describe", || Ok::<_, ()>(describe(&st, Some(*memory)))).map_err(|()| "no answer".to_owned())?;
        let reads = reads(&array);
        let range = reads.keys().next().copied().zip(reads.keys().last().copied());
        same("range", found.range.map_err(|error| error.to_string())?, range)?;
        same("valid", found.valid, Some(array.cells.iter().flatten().count() as i64))?;
        same("distinct", found.distinct, Some(reads.len() as i64))?;
        let holes = range.map_or(0, |(low, high)| i128::from(high - low + 1) - reads.len() as i128);
        same("holes", found.holes(), Some(holes))?;
        let is_dense = holes == 0 && array.cells.iter().all(Option::is_some) && reads.values().all(|&times| times == 1);
        same("dense", found.is_dense(), Some(is_dense))?;
        count(&dense, is_dense);
        match is_dense {
            true => same("nothing dense is near", &found.nearest_dense, &None)?,
            false => nearest(&found, found.nearest_dense.as_ref(), |other| other.is_dense() == Some(true))?,
        }
        match found.collision.as_ref().map_err(ToString::to_string)? {
            None => same("injective", true, reads.values().all(|&times| times == 1))?,
            Some(shared) => {
                let [a, b] = [0, 1].map(|which| array.at(&shared.indices[which]));
                same("the collision", (a, b), (Some(shared.address), Some(shared.address)))?;
                same("two elements", shared.indices[0] != shared.indices[1], true)?;
            }
        }
        names(&found, &array)?;
        count(&named, found.order.as_ref().is_some_and(|order| !order.names.is_empty()));
        count(&blocks, found.is_named("blocked"));
        formats(&found, &array)?;
        claims(&found, &array)?;
        matrix(&found, &array)?;
        count(&matrices, found.matrix.is_ok());
        tensor_map(&found, &array, *memory)?;
        count(&maps, found.tensor_map.as_ref().is_some_and(Result::is_ok));
        vector(&found, &reads, *memory)?;
        count(&wide, found.vector.is_some_and(|vector| vector.elements > 1));
        jax(&found, &array)?;
        // The sentences are made of all this without a panic, and the document has the same.
        same("lines", found.to_string().lines().count(), found.lines().len())
    });
    let counts = [dense, named, matrices, maps, wide, blocks].map(|cell| cell.get());
    println!("dense, named, matrices, tensor maps, vectors, blocked: {counts:?}");
    assert!(counts.iter().all(|&count| count > held(cases::DESCRIBED) / 40), "{counts:?}");
}

/// A single view has the name of an order exactly where its addresses go up in that order.
fn names(found: &Description, array: &Array) -> Result<(), String> {
    if found.tracker.views().len() > 1 {
        return Ok(());
    }
    for (name, axes) in orders(array.shape.len()) {
        let addresses: Vec<i64> = in_order(array, &axes).into_iter().flatten().collect();
        same(name, found.is_named(name), addresses.windows(2).all(|two| two[0] < two[1]))?;
    }
    Ok(())
}

fn orders(rank: usize) -> Vec<(&'static str, Vec<usize>)> {
    let rows: Vec<usize> = (0..rank).collect();
    let mut orders = vec![("row-major", rows.clone()), ("column-major", rows.into_iter().rev().collect())];
    match rank {
        4 => orders.push(("channels_last", vec![0, 2, 3, 1])),
        5 => orders.push(("channels_last_3d", vec![0, 2, 3, 4, 1])),
        _ => {}
    }
    orders
}

/// A claim holds exactly where the addresses say so; the others are those of the description.
fn claims(found: &Description, array: &Array) -> Result<(), String> {
    let claim = |word: &str| found.holds(&word.parse().unwrap());
    let named = orders(array.shape.len());
    for name in ["row-major", "column-major", "channels_last", "channels_last_3d"] {
        let axes = named.iter().find(|(order, _)| *order == name).map(|(_, axes)| axes);
        let holds = axes.is_some_and(|axes| {
            let addresses = in_order(array, axes);
            let low = addresses.first().copied().flatten().unwrap_or(0);
            addresses.iter().zip(low..).all(|(address, expected)| *address == Some(expected))
        });
        same(name, claim(name), Some(holds))?;
        // What is said to be near is the copy in that order.
        let reason = found.reason(&name.parse().unwrap());
        same("what is near", reason.ends_with(&format!(" is {name}")), !holds && axes.is_some())?;
        if let (false, Some(axes)) = (holds, axes) {
            let mut strides = vec![0; axes.len()];
            let mut stride = 1;
            for &axis in axes.iter().rev() {
                strides[axis] = stride;
                stride *= array.shape[axis];
            }
            let strides = shapetracker::text::tuple(&strides).to_string();
            same("its strides", reason.ends_with(&format!("with strides {strides} is {name}")), true)?;
        }
    }
    same("dense", claim("dense"), found.is_dense())?;
    same("matrix", claim("matrix"), Some(found.matrix.is_ok()))?;
    for format in &found.formats {
        same(&format.name, claim(&format.name), Some(true))?;
    }
    let lines: Vec<_> = found.lines().into_iter().map(|line| line.topic).collect();
    let told = |word: &str| lines.contains(&word.parse::<Claim>().unwrap().topic());
    same("every claim has a line", CLAIMS.iter().all(|word| told(word)), true)
}

const CLAIMS: [&str; 9] =
    ["dense", "contiguous", "blocked", "injective", "matrix", "tma", "vector=4", "NHWC", "aBcd8b"];

#[test]
fn claims_are_words_and_what_is_none_is_told_the_words() {
    for word in CLAIMS.iter().filter(|word| **word != "contiguous") {
        assert_eq!(word.parse::<Claim>().unwrap().to_string(), *word);
    }
    assert_eq!("contiguous".parse(), Ok(Claim::Order("row-major")));
    for wrong in ["", "bad", "acc", "vector=3", "vector=32", "vector=", "NCWH", "abm", "a8m", "Dense"] {
        let sentence = wrong.parse::<Claim>().unwrap_err();
        assert!(
            sentence.starts_with(&format!("`{wrong}` is no claim about a layout: those are dense, row-major")),
            "{sentence}"
        );
    }
}

/// The address that an index has in a dense tensor of oneDNN with a tag, from the lowest one on.
fn address_of_tag(tag: &str, shape: &[i64], index: &[i64]) -> i64 {
    // Parts of axes from the outermost inwards: the axis, and the size of a block, or none for what is outside of them.
    let (mut parts, mut digits) = (Vec::new(), String::new());
    for c in tag.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let axis = (c.to_ascii_lowercase() as u8 - b'a') as usize;
        parts.push((axis, digits.parse::<i64>().ok()));
        digits.clear();
    }
    let (mut rest, mut left) = (index.to_vec(), shape.to_vec());
    let (mut address, mut stride) = (0, 1);
    for (axis, block) in parts.into_iter().rev() {
        let size = block.unwrap_or(left[axis]);
        address += rest[axis] % size * stride;
        (rest[axis], left[axis]) = (rest[axis] / size, left[axis] / size);
        stride *= size;
    }
    address
}

/// Every tag gives all addresses by the rule of its letters, and every dense view that walks forwards has one.
fn formats(found: &Description, array: &Array) -> Result<(), String> {
    let low = found.range.ok().flatten().map_or(0, |(low, _)| low);
    let mut wrong = None;
    for format in found.formats.iter().filter(|format| format.library == "oneDNN") {
        array.for_each_index(|index, address| {
            if address != Some(low + address_of_tag(&format.name, &array.shape, index)) {
                wrong = Some(format!("{} at {index:?}", format.name));
            }
        });
    }
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    let plain = found.tracker.as_view().is_some_and(|view| view.strides().iter().all(|&stride| stride >= 0));
    let is_dense = found.is_dense() == Some(true) && plain && !array.shape.is_empty();
    if is_dense && found.formats.is_empty() { Err("a dense view has no format".into()) } else { Ok(()) }
}

/// Products of the matrix and a vector, by the rules of BLAS and by the elements; and no form where there is said to be none.
fn matrix(found: &Description, array: &Array) -> Result<(), String> {
    let rank = array.shape.len();
    if rank < 2 {
        return same("no matrix", found.matrix.as_ref().is_err(), true);
    }
    let [rows, columns] = [array.shape[rank - 2], array.shape[rank - 1]];
    let value = |address: i64| address * address % 101 + 7;
    let weight = |column: i64| column * 3 + 1;
    // The lowest address of each matrix, and its elements.
    let matrices: Vec<&[Option<i64>]> = match rows * columns {
        0 => Vec::new(),
        size => array.cells.chunks(size as usize).collect(),
    };
    let product = |base: i64, transposed: bool, leading: i64| -> Vec<i64> {
        let at = |i: i64, j: i64| if transposed { base + i * leading + j } else { base + i + j * leading };
        (0..rows).map(|i| (0..columns).map(|j| value(at(i, j)) * weight(j)).sum()).collect()
    };
    let plain = |matrix: &[Option<i64>]| -> Option<Vec<i64>> {
        let row = |i: i64| {
            (0..columns).map(|j| Some(value(matrix[(i * columns + j) as usize]?) * weight(j))).sum::<Option<i64>>()
        };
        (0..rows).map(row).collect()
    };
    match &found.matrix {
        Ok(matrix) => {
            same("the sizes", (matrix.rows, matrix.columns), (rows, columns))?;
            for form in &matrix.forms {
                let least = if form.transposed { columns } else { rows }.max(1);
                same("the leading dimension is long enough", form.leading >= least, true)?;
                for elements in &matrices {
                    let base = elements[0].ok_or("a masked element")?;
                    same("the product", Some(product(base, form.transposed, form.leading)), plain(elements))?;
                }
            }
            // The bases are those that the batch has.
            let (mut bases, sizes): (Vec<i64>, i64) = (vec![0], matrix.batch.iter().map(|part| part.0).product());
            for &(size, stride) in &matrix.batch {
                bases = bases.iter().flat_map(|&base| (0..size).map(move |i| base + i * stride)).collect();
            }
            if !matrices.is_empty() {
                same("matrices in the batch", sizes as usize, matrices.len())?;
                let first = matrices[0][0].unwrap_or_default();
                let found: Vec<Option<i64>> = bases.iter().map(|&base| Some(first + base)).collect();
                same("their bases", found, matrices.iter().map(|matrix| matrix[0]).collect())?;
            }
        }
        Err(NoMatrix::Several { .. }) => {}
        Err(why) => {
            let longest = array.cells.iter().flatten().max().unwrap_or(&0) + rows + columns + 1;
            for transposed in [false, true] {
                let least = if transposed { columns } else { rows }.max(1);
                for leading in least..=longest {
                    let does = |matrix: &&[Option<i64>]| {
                        let mut places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
                        let Some(base) = matrix[0] else { return false };
                        places.all(|(i, j)| {
                            let at = if transposed { base + i * leading + j } else { base + i + j * leading };
                            matrix[(i * columns + j) as usize] == Some(at)
                        })
                    };
                    if matrices.iter().all(does) {
                        return Err(format!("{why}, but {leading} will do (transposed: {transposed})"));
                    }
                }
            }
            nearest(found, found.nearest_matrix.as_ref(), |other| other.matrix.is_ok())?;
        }
    }
    Ok(())
}

/// A layout that would do does, and has as many addresses as elements are copied.
fn nearest(
    found: &Description,
    nearest: Option<&shapetracker::describe::Nearest>,
    does: impl Fn(&Description) -> bool,
) -> Result<(), String> {
    let Some(nearest) = nearest else { return Err("nothing is near".into()) };
    let other: ShapeTracker = nearest.view.clone().into();
    let told = describe(&other, found.memory.map(|memory| Memory { alignment: 256, ..memory }));
    same("the nearest does", does(&told), true)?;
    same("its shape", other.shape(), found.tracker.shape())?;
    same("what is copied", told.distinct, Some(nearest.elements))
}

/// The dimensions read the same bytes and keep the rules; where a view has none, the rule that is named is broken.
fn tensor_map(found: &Description, array: &Array, memory: Memory) -> Result<(), String> {
    let bytes = i128::from(memory.bytes);
    match found.tensor_map.as_ref().ok_or("bytes are known")? {
        Ok(map) => {
            same("the rank", (1..=5).contains(&map.dims.len()), true)?;
            same("the address", (map.address % 16, memory.alignment % 16), (0, 0))?;
            same("the innermost stride", map.dims[0].stride, bytes)?;
            let keeps = |stride: i128| stride > 0 && stride % 16 == 0 && stride < 1 << 40;
            same("the strides", map.dims.iter().skip(1).all(|dim| keeps(dim.stride)), true)?;
            same("the box", i128::from(map.box_multiple) * bytes % 16, 0)?;
            let mut addresses = vec![map.address];
            for dim in &map.dims {
                addresses = (addresses.iter())
                    .flat_map(|&address| (0..i128::from(dim.size)).map(move |i| address + i * dim.stride))
                    .collect();
            }
            addresses.sort_unstable();
            let mut cells: Vec<i128> = array.cells.iter().flatten().map(|&cell| i128::from(cell) * bytes).collect();
            cells.sort_unstable();
            same("the addresses", addresses, cells)
        }
        Err(why) => {
            let stride =
                |axis: usize| array.stride(axis).flatten().map_or(0, |ratio| i128::from(ratio.rise / ratio.run));
            let long = |axis: usize| array.shape[axis] > 1;
            let single = found.tracker.views().len() == 1;
            let broken = match why {
                NoTensorMap::Bytes { .. } => ![1, 2, 4, 8].contains(&bytes),
                NoTensorMap::Several { views } => *views > 1,
                NoTensorMap::Masked { .. } => array.cells.contains(&None),
                NoTensorMap::Empty { axis } => array.shape[*axis] == 0,
                NoTensorMap::NoAxis => array.shape.is_empty(),
                NoTensorMap::Rank { dims } => *dims > 5,
                NoTensorMap::NoUnitStride { .. } if single => {
                    (0..array.shape.len()).all(|axis| long(axis) && stride(axis) != 1)
                }
                NoTensorMap::NoUnitStride { .. } => true,
                NoTensorMap::NotPositive { axis, .. } => !single || stride(*axis) <= 0,
                NoTensorMap::Stride { axis, stride: told } => {
                    told % 16 != 0 && (!single || *told == stride(*axis) * bytes)
                }
                NoTensorMap::Address { address } => address % 16 != 0,
                NoTensorMap::Alignment { alignment } => alignment % 16 != 0,
                _ => false,
            };
            same(&format!("the rule is broken: {why}"), broken, true)?;
            match why {
                NoTensorMap::Bytes { .. } | NoTensorMap::Empty { .. } | NoTensorMap::NoAxis => {
                    same("nothing is near", &found.nearest_tensor_map, &None)
                }
                _ => nearest(found, found.nearest_tensor_map.as_ref(), |other| matches!(other.tensor_map, Some(Ok(_)))),
            }
        }
    }
}

/// Of a view that walks forwards and repeats nothing: the longest power of two for which the addresses fall apart into aligned
/// groups of so many neighbours.
fn vector(found: &Description, reads: &BTreeMap<i64, i64>, memory: Memory) -> Result<(), String> {
    let Some(order) = &found.order else { return Ok(()) };
    if !order.backwards.is_empty() || found.tracker.views().len() > 1 {
        return Ok(());
    }
    let vector = found.vector.ok_or("a view has vectors")?;
    let is_read = |address: i64| reads.contains_key(&address);
    let bytes = i64::from(memory.bytes);
    let mut widest = 1;
    if !reads.is_empty() && bytes.count_ones() == 1 {
        for width in [2, 4, 8, 16] {
            let groups = |&address: &i64| (0..width).all(|i| is_read(address.div_euclid(width) * width + i));
            let is_aligned = memory.alignment as i64 % (width * bytes) == 0;
            if width * bytes <= 16 && is_aligned && reads.keys().all(groups) {
                widest = width;
            }
        }
    }
    same("the vector", vector.elements, widest)?;
    // Every run is as long as the lowest one, or longer where the next one begins right behind it.
    let runs = reads.keys().filter(|&&address| !is_read(address - 1));
    let runs: Vec<i64> =
        runs.map(|&address| (address..).take_while(|&address| is_read(address)).count() as i64).collect();
    same("the lowest run", vector.run, runs.first().copied().unwrap_or(0))?;
    same("the other runs", runs.iter().all(|run| run % vector.run == 0), true)
}

/// An array of JAX has its elements one after another in the order that it reports.
fn jax(found: &Description, array: &Array) -> Result<(), String> {
    let Some(axes) = found.reported.iter().find_map(|report| report.minor_to_major.as_ref()) else { return Ok(()) };
    let axes: Vec<usize> = axes.iter().rev().map(|&axis| axis as usize).collect();
    let low = found.range.ok().flatten().map_or(0, |(low, _)| low);
    let expected: Vec<Option<i64>> = (0..array.cells.len() as i64).map(|place| Some(low + place)).collect();
    same("minor_to_major", in_order(array, &axes), expected)
}

#[test]
pub(crate) fn two_layouts_overlap_exactly_when_they_read_one_address() {
    let [shared, ranges, residues, searched] = [0; 4].map(Cell::new);
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    let two = |tape: &mut Tape| {
        let first = case(tape).stack;
        let mut second = if tape.chance(30) { first.clone() } else { case(tape).stack };
        second[0].offset += tape.within(0, 24);
        [first, second]
    };
    check(cases::DESCRIBED, two, |[a, b]| {
        let (first, second) = (tracker(a), tracker(b));
        let [a, b] = [evaluate(a), evaluate(b)];
        let [reads_a, reads_b] = [reads(&a), reads(&b)];
        let both = || reads_a.keys().filter(|address| reads_b.contains_key(address));
        let found = timed("overlap", || first.overlap(&second)).map_err(|error| error.to_string())?;
        match found {
            Overlap::Shared { indices: [i, j], address } => {
                count(&shared);
                same("the address", (a.at(&i), b.at(&j)), (Some(address), Some(address)))
            }
            Overlap::Apart(why) => {
                same("they are apart", both().next(), None)?;
                match why {
                    Apart::Nothing => same("one reads nothing", reads_a.is_empty() || reads_b.is_empty(), true),
                    Apart::Ranges { ranges: told } => {
                        count(&ranges);
                        let range =
                            |reads: &BTreeMap<i64, i64>| (*reads.keys().next().unwrap(), *reads.keys().last().unwrap());
                        same("the ranges", told, [range(&reads_a), range(&reads_b)])
                    }
                    Apart::Residues { modulus, residues: told } => {
                        count(&residues);
                        let all = |reads: &BTreeMap<i64, i64>, rest: i64| {
                            reads.keys().all(|address| address.rem_euclid(modulus) == rest)
                        };
                        let holds = all(&reads_a, told[0]) && all(&reads_b, told[1]) && told[0] != told[1];
                        same("the remainders", holds, true)
                    }
                    _ => {
                        count(&searched);
                        Ok(())
                    }
                }
            }
        }
    });
    let counts = [shared, ranges, residues, searched].map(|cell| cell.get());
    println!("shared, ranges, residues, searched: {counts:?}");
    assert!(counts.iter().all(|&count| count > held(cases::DESCRIBED) / 200), "{counts:?}");
}

#[test]
fn layouts_that_people_ask_about_are_described() {
    let st = |text: &str| text.parse::<shapetracker::Chain>().unwrap().tracker().unwrap();
    let told = |text: &str, topic: &str| {
        let found = describe(&st(text), Some(Memory::of(2)));
        found.lines().into_iter().find(|line| line.topic == topic).unwrap().text
    };
    let order = |text: &str| told(text, "order");
    assert_eq!(order("(5, 4)[2:]"), "dense, row-major");
    assert_eq!(order("(5, 4).T"), "dense, column-major");
    assert_eq!(order("(8, 32, 32, 3).permute(0, 3, 1, 2)"), "dense, channels_last");
    assert_eq!(order("(2, 3, 4).permute(1, 0, 2)"), "dense, axes 1, 0, 2 from the outermost inwards");
    assert_eq!(order("(4, 6)[:, :3]"), "not dense, 9 addresses in between not read; row-major");
    assert_eq!(order("(4, 6).flip(0)"), "dense, axes 0, 1 from the outermost inwards, backwards along axis 0");
    assert_eq!(
        order("(1, 6).expand(4, 6)"),
        "not dense, 24 elements read 6 addresses; along axis 1, repeated along axis 0"
    );
    assert_eq!(
        told("(8, 32, 64)[:, :, :60].transpose(1, 2)", "BLAS"),
        "matrices of 60 x 32, N with leading dimension 64; 8 of them, batch stride 2048"
    );
    assert_eq!(
        told("(64, 25)", "TMA"),
        "no tensor map: the stride of axis 0 is 50 bytes, which is no multiple of 16; a copy of 1600 elements \
         (3200 bytes) with strides (32, 1) is one"
    );
    // The question of a thousand threads: rows of a matrix, every other column.
    assert_eq!(told("(6)[::2]", "BLAS"), "a vector with increment 2");
    let view: ShapeTracker = View::new([2, 3], [1, 1], 0, None).unwrap().into();
    assert!(describe(&view, None).lines()[2].text.ends_with("undefined, and a copy of 6 elements has them apart"));
}
