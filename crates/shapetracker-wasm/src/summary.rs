//! What blocks of elements read: the library's summaries, or those of all or some elements of each block where it has none.

use shapetracker::{AddressLines, AddressRun, Dims, Joined, Summary};

use crate::coverage::scattered;
use crate::fault::Fault;
use crate::json::{Answer, Numbers, Value, object};
use crate::layout::Layout;
use crate::request::Fields as _;
use crate::tile::{Axes, fixed, lowest};

/// The most blocks of a summary.
const MOST: i64 = 1 << 20;
/// How many elements all samples together have, as far as a block has some.
const SAMPLE: i64 = 1 << 19;
/// The most elements of a block's sample.
const MOST_OF_A_BLOCK: i64 = 1 << 10;
/// How many elements are looked at at a time.
const AT_ONCE: usize = 1 << 12;

/// The rows or the columns of a summary: some axes joined, and the blocks they are cut into.
struct Side {
    axes: Axes,
    edges: Dims,
}

impl Side {
    fn of(request: &Value, axes: &'static str, edges: &'static str, layout: &Layout) -> Result<Side, Fault> {
        let axes = Axes::of(request, axes, layout)?;
        let mut edges = request.numbers(edges)?;
        edges.iter_mut().for_each(|edge| *edge = (*edge).clamp(0, axes.size));
        if !edges.is_sorted() {
            return Err(Fault::request("the edges of blocks ascend"));
        }
        if layout.numel() == 0 {
            edges = Dims::new();
        }
        Ok(Side { axes, edges })
    }

    fn blocks(&self) -> i64 {
        self.edges.len().saturating_sub(1) as i64
    }

    fn joined(&self) -> Joined {
        Joined::new(&self.axes.axes[..], &self.edges[..])
    }

    /// The first entry of a block, and how many it has.
    fn block(&self, number: i64) -> (i64, i64) {
        let begin = self.edges[number as usize];
        (begin, self.edges[number as usize + 1] - begin)
    }
}

/// What is known of the elements of a block.
#[derive(Clone, Copy)]
struct Block {
    elements: i64,
    valid: i64,
    low: i64,
    high: i64,
    sum: i128,
}

impl Block {
    const EMPTY: Block = Block { elements: 0, valid: 0, low: i64::MAX, high: i64::MIN, sum: 0 };

    fn add(&mut self, address: Option<i64>) {
        self.elements += 1;
        if let Some(address) = address {
            self.valid += 1;
            (self.low, self.high) = (self.low.min(address), self.high.max(address));
            self.sum += i128::from(address);
        }
    }
}

impl From<Summary> for Block {
    fn from(summary: Summary) -> Block {
        let (low, high) = summary.range().unwrap_or_default();
        Block { elements: summary.elements(), valid: summary.valid(), low, high, sum: summary.sum() }
    }
}

pub(crate) fn summary(request: &Value) -> Result<Answer, Fault> {
    let layout = Layout::of(request, "source")?;
    let rows = Side::of(request, "rows", "row", &layout)?;
    let columns = Side::of(request, "columns", "column", &layout)?;
    let index = fixed(request, &layout, [&rows.axes, &columns.axes])?;
    let lowest = lowest(request)?;
    if rows.blocks().checked_mul(columns.blocks()).is_none_or(|blocks| blocks > MOST) {
        return Err(Fault::limit(format!("a summary has at most {MOST} blocks")));
    }
    let known = match &layout {
        Layout::Chain(tracker) => tracker.summaries(lowest, &rows.joined(), &columns.joined(), &index).ok(),
        Layout::Free(_) => None,
    };
    let (blocks, sampled) = match known {
        Some(blocks) => (blocks.into_iter().map(Block::from).collect(), None),
        None => looked_at(&layout, lowest, [&rows, &columns], index)?,
    };
    let mut numbers = Numbers::default();
    let share = |block: &Block| block.valid as f64 / block.elements as f64;
    let valid = numbers.floats(blocks.iter().map(share));
    let mut of_valid = |value: fn(&Block) -> f64| {
        numbers.floats(blocks.iter().map(|block| if block.valid == 0 { f64::NAN } else { value(block) }))
    };
    let document = object! {
        "rows": rows.blocks(),
        "columns": columns.blocks(),
        "valid": valid,
        "low": of_valid(|block| block.low as f64),
        "high": of_valid(|block| block.high as f64),
        "mean": of_valid(|block| block.sum as f64 / block.valid as f64),
        "exact": sampled.is_none(),
        "sampled": sampled,
    };
    Ok(Answer { document, numbers })
}

/// The blocks by looking at their elements: at all of them where they are few enough, otherwise at so many of each as is
/// returned.
fn looked_at(
    layout: &Layout,
    lowest: usize,
    [rows, columns]: [&Side; 2],
    mut index: Dims,
) -> Result<(Vec<Block>, Option<i64>), Fault> {
    let number = rows.blocks() * columns.blocks();
    let span = |side: &Side| side.edges.last().zip(side.edges.first()).map_or(0, |(last, first)| last - first);
    let all = span(rows).saturating_mul(span(columns));
    let limit = (layout.most_samples() / number.max(1)).max(1);
    let most =
        if layout.can_walk(all) { i64::MAX } else { (SAMPLE / number.max(1)).clamp(1, MOST_OF_A_BLOCK).min(limit) };
    let mut blocks = vec![Block::EMPTY; number as usize];
    let (mut waiting, mut indices) = (Vec::with_capacity(AT_ONCE), Vec::with_capacity(AT_ONCE));
    let mut sampled = None;
    for row in 0..rows.blocks() {
        for column in 0..columns.blocks() {
            let ((top, height), (left, width)) = (rows.block(row), columns.block(column));
            let cells = height * width;
            let count = cells.min(most);
            if count < cells {
                sampled = Some(most);
            }
            for sample in 0..count {
                // One element of each of equally long stretches of the block, the same every time.
                let place = |sample: i64| (i128::from(cells) * i128::from(sample) / i128::from(count)) as i64;
                let (begin, end) = (place(sample), place(sample + 1));
                let place = begin + scattered(begin) % (end - begin);
                rows.axes.place(top + place / width, &mut index);
                columns.axes.place(left + place % width, &mut index);
                waiting.push((row * columns.blocks() + column) as usize);
                indices.push(index.clone());
                if waiting.len() == AT_ONCE {
                    read(layout, lowest, &mut waiting, &mut indices, &mut blocks)?;
                }
            }
        }
    }
    read(layout, lowest, &mut waiting, &mut indices, &mut blocks)?;
    Ok((blocks, sampled))
}

/// Reads elements, each for its block.
fn read(
    layout: &Layout,
    lowest: usize,
    waiting: &mut Vec<usize>,
    indices: &mut Vec<Dims>,
    blocks: &mut [Block],
) -> Result<(), Fault> {
    match layout {
        Layout::Chain(tracker) => {
            let lines = AddressLines::of(tracker, lowest);
            for (number, index) in waiting.iter().zip(&*indices) {
                blocks[*number].add(match lines.follow(index, 0, 1, 1).next() {
                    Some(AddressRun::Valid { first, .. }) => Some(first),
                    _ => None,
                });
            }
        }
        Layout::Free(free) => {
            let mut addresses = vec![None; waiting.len()];
            let mut next = indices.iter();
            free.addresses(
                |values| values.extend(next.next().into_iter().flat_map(|index| free.values(index))),
                &mut addresses,
            )?;
            for (number, address) in waiting.iter().zip(addresses) {
                blocks[*number].add(address);
            }
        }
    }
    waiting.clear();
    indices.clear();
    Ok(())
}
