//! The memory as a strip: the addresses that drawn elements read, in order.

use std::collections::BTreeMap;

/// Up to so many addresses in a row that nobody reads are drawn one by one: the first that makes a strip of up to so
/// many items, or the last.
const HOLES: [i64; 3] = [16, 4, 1];
const ITEMS: usize = 256;

/// One place of a list of numbers in order: a number of it, or those between two of them.
#[derive(Clone, Copy)]
pub(super) enum Item {
    Number(i64),
    Gap(i64, i64),
}

impl Item {
    /// The number, if it is one.
    pub(super) fn number(&self) -> Option<i64> {
        match *self {
            Item::Number(number) => Some(number),
            Item::Gap(..) => None,
        }
    }
}

/// The addresses that are drawn, from 0 or the lowest one.
pub(super) struct Strip {
    pub(super) items: Vec<Item>,
    /// How many drawn elements read an address.
    pub(super) readers: BTreeMap<i64, usize>,
    /// Where addresses lie between the first, 0, and the last, 1.
    places: BTreeMap<i64, f64>,
}

impl Strip {
    /// The strip of the addresses that are read, in any order and as often as they are.
    pub(super) fn new(read: impl Iterator<Item = i64>) -> Strip {
        let mut readers = BTreeMap::new();
        for address in read {
            *readers.entry(address).or_insert(0) += 1;
        }
        let mut items = Vec::new();
        for holes in HOLES {
            items = with_gaps(readers.keys().copied(), holes);
            if items.len() <= ITEMS {
                break;
            }
        }
        let numbers = items.iter().filter_map(Item::number);
        let last = (numbers.clone().count().max(2) - 1) as f64;
        let places = numbers.enumerate().map(|(at, address)| (address, at as f64 / last)).collect();
        Strip { items, readers, places }
    }

    /// Where an address lies in the order of memory, from 0 to 1.
    pub(super) fn place(&self, address: i64) -> f64 {
        self.places.get(&address).copied().unwrap_or(0.0)
    }

    /// What the strip shows; `whole` says whether every element of the tensor is drawn.
    pub(super) fn title(&self, whole: bool) -> String {
        let (Some(low), Some(high)) = (self.readers.keys().next(), self.readers.keys().next_back()) else {
            return if whole { "memory: nothing is read" } else { "memory: no drawn element reads any" }.to_owned();
        };
        let hole = |item: &Item| item.number().is_some_and(|address| !self.readers.contains_key(&address));
        let holes = match (self.items.iter().any(hole), whole) {
            (false, _) => "",
            (true, true) => "; empty: never read",
            (true, false) => "; empty: not read by what is drawn",
        };
        let often = match self.readers.values().max() {
            Some(&most) if most > 1 => format!("; ×{most}: read {most} times"),
            _ => String::new(),
        };
        format!("memory, addresses {} to {high}{often}{holes}", low.min(&0))
    }
}

/// Numbers in order, from 0 or the lowest, and the gaps between them. Numbers in a gap of up to `holes` are listed one
/// by one.
pub(super) fn with_gaps(numbers: impl Iterator<Item = i64>, holes: i64) -> Vec<Item> {
    let mut items = Vec::new();
    let mut next = 0;
    for number in numbers {
        if i128::from(number) - i128::from(next) > i128::from(holes) {
            items.push(Item::Gap(next, number - 1));
        } else {
            items.extend((next..number).map(Item::Number));
        }
        items.push(Item::Number(number));
        next = number.saturating_add(1);
    }
    items
}
