//! Chunks by brute force: every index is looked at.

use std::collections::BTreeSet;

use shapetracker::ShapeTracker;
use shapetracker_chunks::{ChunkPlan, Grid, Schedule, Step};
use shapetracker_copy::{Plan, Threads};

use crate::oracle::{Array, advance};
use crate::random::Tape;

/// How an array is cut: the sizes of the chunks along each axis.
pub(crate) type Sizes = Vec<Vec<i64>>;

/// An axis cut at random: evenly, unevenly, not at all, everywhere.
pub(crate) fn cuts(tape: &mut Tape, size: i64) -> Vec<i64> {
    let mut sizes = Vec::new();
    let mut left = size;
    let even = tape.chance(50);
    let chunk = tape.within(1, size.max(1));
    while left > 0 {
        let next = if even { chunk.min(left) } else { tape.within(1, left.min(1 + size / 2)) };
        sizes.push(next);
        left -= next;
    }
    sizes
}

pub(crate) fn grid_of(sizes: &Sizes) -> Grid {
    Grid::new(sizes.iter()).unwrap()
}

/// All boxes of a grid, in row-major order.
pub(crate) fn boxes(sizes: &Sizes) -> Vec<Vec<(i64, i64)>> {
    let mut all = vec![Vec::new()];
    for sizes in sizes {
        let mut next = Vec::new();
        for known in &all {
            let mut begin = 0;
            for size in sizes {
                let mut longer: Vec<(i64, i64)> = known.clone();
                longer.push((begin, begin + size));
                next.push(longer);
                begin += size;
            }
        }
        all = next;
    }
    all
}

/// The number of the chunk in which an address lies, and the address in the chunk's memory.
pub(crate) fn locate(sizes: &Sizes, address: i64) -> (usize, usize) {
    let mut index = Vec::new();
    let mut rest = address;
    for sizes in sizes.iter().rev() {
        let size: i64 = sizes.iter().sum();
        index.push(rest % size);
        rest /= size;
    }
    index.reverse();
    let (mut number, mut inside) = (0, 0);
    for (sizes, mut at) in sizes.iter().zip(index) {
        let mut place = 0;
        while at >= sizes[place] {
            at -= sizes[place];
            place += 1;
        }
        number = number * sizes.len() + place;
        inside = inside * sizes[place] as usize + at as usize;
    }
    (number, inside)
}

/// For each element of a box, in order, where it comes from: the chunk and the address in its memory.
pub(crate) fn sources(array: &Array, input: &Sizes, region: &[(i64, i64)]) -> Vec<Option<(usize, usize)>> {
    let shape: Vec<i64> = region.iter().map(|(begin, end)| end - begin).collect();
    let mut index = vec![0; shape.len()];
    (0..shape.iter().product())
        .map(|_| {
            let at: Vec<i64> = index.iter().zip(region).map(|(i, (begin, _))| i + begin).collect();
            advance(&mut index, &shape);
            array.at(&at).map(|address| locate(input, address))
        })
        .collect()
}

pub(crate) fn touched(sources: &[Option<(usize, usize)>]) -> Vec<usize> {
    sources.iter().flatten().map(|(chunk, _)| *chunk).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Holds a plan to brute force: all output chunks, some other boxes, all pieces.
pub(crate) fn check(array: &Array, tracker: &ShapeTracker, input: &Sizes, output: &Sizes) -> Result<ChunkPlan, String> {
    let plan = ChunkPlan::new(tracker, grid_of(input), grid_of(output)).map_err(|error| error.to_string())?;
    let graph = plan.graph().map_err(|error| error.to_string())?;
    let regions = boxes(output);
    if !graph.is_exact() || graph.outputs() != regions.len() {
        return Err(format!("{} chunks, exact: {}", graph.outputs(), graph.is_exact()));
    }
    let mut all = BTreeSet::new();
    for (number, region) in regions.iter().enumerate() {
        if plan.output().chunk(number).map_err(|error| error.to_string())?[..] != region[..] {
            return Err(format!("output chunk {number} is not {region:?}"));
        }
        let expected = check_box(&plan, array, input, region)?;
        if graph.inputs_of(number) != expected {
            return Err(format!("chunk {number} touches {:?}, not {expected:?}", graph.inputs_of(number)));
        }
        all.extend(expected);
    }
    if !plan.needed().unwrap().numbers().iter().eq(&all) {
        return Err(format!("{:?} are needed, not {all:?}", plan.needed()));
    }
    Ok(plan)
}

/// Holds a box to brute force: its touches, whether it is filled, its pieces; returns the touches.
pub(crate) fn check_box(
    plan: &ChunkPlan,
    array: &Array,
    input: &Sizes,
    region: &[(i64, i64)],
) -> Result<Vec<usize>, String> {
    let sources = sources(array, input, region);
    let expected = touched(&sources);
    let touches = plan.touched(region).map_err(|error| error.to_string())?;
    if touches.numbers() != expected || !touches.is_exact() {
        return Err(format!("{region:?} touches {touches:?}, not {expected:?}"));
    }
    let filled = sources.contains(&None);
    if plan.filled(region).unwrap() != filled {
        return Err(format!("{region:?} is filled: {filled}"));
    }
    let mut taken = vec![None; sources.len()];
    for chunk in 0..plan.input().len() {
        let piece = plan.piece(region, chunk).map_err(|error| error.to_string())?;
        if piece.sections().is_empty() != expected.binary_search(&chunk).is_err() {
            return Err(format!("{region:?} takes {} sections of chunk {chunk}", piece.sections().len()));
        }
        for section in piece.sections() {
            if section.elements().len() as i64 != section.tracker().numel() {
                return Err(format!("{section:?} has {:?}", section.elements()));
            }
            let valid: Vec<Option<i64>> = section.tracker().addresses().collect();
            let packed: Vec<i64> = valid.iter().flatten().copied().collect();
            if section.taken() != packed.len() {
                return Err(format!("{section:?} takes {}, not {}", section.taken(), packed.len()));
            }
            if let Some([only, places]) = section.packed() {
                let found: Vec<Option<i64>> = places.addresses().map(|place| Some(packed[place? as usize])).collect();
                if found != valid || !only.addresses().eq(packed.iter().copied().map(Some)) {
                    return Err(format!("{section:?} is packed as {only} and {places}"));
                }
            }
            for (taken, address) in taken[section.elements()].iter_mut().zip(section.tracker().addresses()) {
                if let Some(address) = address
                    && taken.replace((chunk, address as usize)).is_some()
                {
                    return Err(format!("{region:?} takes an element twice, from chunk {chunk}"));
                }
            }
        }
    }
    if taken != sources {
        return Err(format!("{region:?} is put together of {taken:?}, not {sources:?}"));
    }
    Ok(expected)
}

/// The bytes of an input in which every element is another one, by chunks.
fn stored(input: &Sizes, width: usize) -> Vec<Vec<u8>> {
    let numel: i64 = input.iter().map(|sizes| sizes.iter().sum::<i64>()).product();
    let sizes = boxes(input).into_iter().map(|region| region.iter().map(|(b, e)| e - b).product::<i64>() as usize);
    let mut chunks: Vec<Vec<u8>> = sizes.map(|size| vec![0; size * width]).collect();
    for address in 0..numel {
        let (chunk, at) = locate(input, address);
        chunks[chunk][at * width..][..width].copy_from_slice(&value(address, width));
    }
    chunks
}

fn value(address: i64, width: usize) -> Vec<u8> {
    (0..width).map(|byte| (address + 1).wrapping_mul(0x9e37_79b9 + byte as i64).to_le_bytes()[2]).collect()
}

/// Does what the steps of a schedule say, and returns the chunks that were written; counts what the schedule claims.
pub(crate) fn follow(
    plan: &ChunkPlan,
    schedule: &Schedule,
    input: &Sizes,
    width: usize,
    limit: u64,
) -> Result<(), String> {
    const FILL: u8 = 0xEE;
    let store = stored(input, width);
    let mut open: Vec<Option<Vec<u8>>> = vec![None; plan.output().len()];
    let mut written: Vec<Option<Vec<u8>>> = vec![None; plan.output().len()];
    let mut memory: Vec<Option<&[u8]>> = vec![None; plan.input().len()];
    let (mut reads, mut bytes, mut peak, mut read_bytes) = (0, 0u64, 0u64, 0u64);
    let size = |grid: &Grid, chunk: usize| grid.numel(chunk) as u64 * width as u64;
    for step in schedule.steps() {
        match step {
            Step::Open(outputs) => {
                for output in outputs {
                    let region = plan.output().chunk(*output).unwrap();
                    let room = vec![
                        if plan.filled(&region).unwrap() { FILL } else { 0 };
                        size(plan.output(), *output) as usize
                    ];
                    if written[*output].is_some() || open[*output].replace(room).is_some() {
                        return Err(format!("output chunk {output} is opened twice"));
                    }
                    bytes += size(plan.output(), *output);
                }
            }
            Step::Read(inputs) => {
                for input in inputs {
                    if memory[*input].replace(&store[*input]).is_some() {
                        return Err(format!("input chunk {input} is read while it is in memory"));
                    }
                    reads += 1;
                    bytes += size(plan.input(), *input);
                    read_bytes += size(plan.input(), *input);
                }
            }
            Step::Move(moves) => {
                if !moves.is_sorted_by_key(|(output, _)| *output) {
                    return Err(format!("{moves:?} are not in order"));
                }
                for (output, input) in moves {
                    let region = plan.output().chunk(*output).unwrap();
                    let from = memory[*input].ok_or(format!("input chunk {input} is not in memory"))?;
                    let to = open[*output].as_mut().ok_or(format!("output chunk {output} is not open"))?;
                    for section in plan.piece(&region, *input).unwrap().sections() {
                        let copy = Plan::new(section.tracker(), width).map_err(|error| error.to_string())?;
                        copy.read_over_bytes(from, &mut to[section.bytes(width)], &Threads::one())
                            .map_err(|error| error.to_string())?;
                    }
                }
            }
            Step::Forget(inputs) => {
                for input in inputs {
                    memory[*input].take().ok_or(format!("input chunk {input} is forgotten and was not in memory"))?;
                    bytes -= size(plan.input(), *input);
                }
            }
            Step::Write(outputs) => {
                for output in outputs {
                    written[*output] = Some(open[*output].take().ok_or(format!("chunk {output} is not open"))?);
                    bytes -= size(plan.output(), *output);
                }
            }
        }
        peak = peak.max(bytes);
    }
    let counted = (reads, read_bytes, peak);
    let claimed = (schedule.reads(), schedule.read_bytes(), schedule.peak_bytes());
    if bytes != 0 || counted != claimed || peak > limit || schedule.reads() < schedule.lower_bound() {
        return Err(format!("{bytes} left, {counted:?} counted, {claimed:?} claimed, {limit} allowed"));
    }
    for output in schedule.untouched() {
        written[*output] = Some(vec![FILL; size(plan.output(), *output) as usize]);
    }
    // The whole array, moved at once.
    let numel: i64 = plan.input().shape().iter().product();
    let whole: Vec<u8> = (0..numel).flat_map(|address| value(address, width)).collect();
    for (number, chunk) in written.iter().enumerate() {
        let region = plan.output().chunk(number).unwrap();
        let part = plan.tracker().shrink(&region).unwrap();
        let mut expected = vec![0; part.numel() as usize * width];
        let copy = Plan::new(&part, width).map_err(|error| error.to_string())?;
        copy.read_bytes(&whole, &mut expected, &vec![FILL; width], &Threads::one())
            .map_err(|error| error.to_string())?;
        if chunk.as_ref() != Some(&expected) {
            return Err(format!("chunk {number} is {chunk:?}, not {expected:?}"));
        }
    }
    Ok(())
}
