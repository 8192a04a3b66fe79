//! A hash table of places in an array.

/// The places of an array by the hashes of what is there, which stays in the array alone: a table by itself would hold
/// all of it a second time. Open addressing with linear probing; at most three quarters of the slots are taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// A place and one, or 0; as many as a power of two, or none.
    slots: Vec<u32>,
    taken: usize,
}

impl Places {
    /// The place whose hash is this one and for which `is_it` holds, if there is one. What is there is compared only at
    /// the few places whose hashes begin alike.
    pub(crate) fn find(&self, hash: u64, mut is_it: impl FnMut(usize) -> bool) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = hash as usize;
        loop {
            slot &= self.slots.len() - 1;
            match self.slots[slot] {
                0 => return None,
                place if is_it(place as usize - 1) => return Some(place as usize - 1),
                _ => slot += 1,
            }
        }
    }

    /// Adds the next place, after those from 0 that were added before it; `hash` is that of a place.
    pub(crate) fn push(&mut self, hash: impl Fn(usize) -> u64) {
        if self.taken * 4 >= self.slots.len() * 3 {
            self.slots = vec![0; (self.slots.len() * 2).max(64)];
            (0..self.taken).for_each(|place| self.put(place, hash(place)));
        }
        self.put(self.taken, hash(self.taken));
        self.taken += 1;
    }

    fn put(&mut self, place: usize, hash: u64) {
        let last = self.slots.len() - 1;
        let mut slot = hash as usize & last;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & last;
        }
        self.slots[slot] = place as u32 + 1;
    }
}

/// Makes room for more elements by a quarter of those that there are: a vector that doubles would hold twice what it needs.
// No rule: it divides numbers of elements.
pub(crate) fn make_room<T>(elements: &mut Vec<T>) {
    if elements.len() == elements.capacity() {
        elements.reserve_exact(elements.len() / 4 + 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_whatever_the_hashes_are() {
        for hash in
            [|place: usize| place as u64, |_| 7, |place| (place as u64 % 5) << 40, |place| u64::MAX - place as u64]
        {
            let mut places = Places::default();
            for place in 0..300 {
                assert_eq!(places.find(hash(place), |other| other == place), None);
                places.push(hash);
                assert!((0..=place).all(|each| places.find(hash(each), |other| other == each) == Some(each)));
            }
        }
    }
}
