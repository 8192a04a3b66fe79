//! The ways to store a large tensor. Which of them is the fastest depends on the machine.

/// How large tensors are written. It changes how long that takes, never what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Columns that are moved from the first row of a tile to the last before the next ones, and as many lines are prefetched
    /// before they are read. Each column lies on a page of its own, or on several, and so does each row. Where few are moved at
    /// a time, the first-level translation buffer holds their pages and the caches what was prefetched of them, even where all
    /// columns compete for the same sets of a cache; where many are, longer parts of rows are written one after another.
    pub(crate) columns: usize,
    /// Whether blocks are stored right from registers, where rows allow it, and not gathered in a stage first.
    pub(crate) direct: bool,
    /// Whether stores are non-temporal. Where a cache holds all of the output, and it is there already, ordinary ones are faster,
    /// and on some machines they are so wherever what is stored is gathered first.
    pub(crate) stream: bool,
    /// Whether a large copy moves some pieces another way, too, and goes on the faster one (`trial`).
    pub(crate) tries: bool,
}

/// Few columns at a time, and many: each is the faster one on some processors.
const COLUMNS: [usize; 2] = [32, 256];

impl Tuning {
    /// All that are worth trying, with tiles and without; the first one is the default.
    pub(crate) fn all(tiles: bool) -> impl Iterator<Item = Tuning> {
        let fixed = Tuning { tries: false, ..Tuning::default() };
        let of_tiles = [64, 128, 256].map(|columns| Tuning { columns, ..fixed });
        let of_tiles = of_tiles.into_iter().chain([Tuning { direct: false, ..fixed }]);
        let of_tiles = of_tiles.filter(move |_| tiles);
        [Tuning::default(), fixed, Tuning { stream: false, ..fixed }].into_iter().chain(of_tiles)
    }

    /// The same with the other number of columns.
    pub(crate) fn with_other_columns(self) -> Tuning {
        Tuning { columns: if self.columns == COLUMNS[0] { COLUMNS[1] } else { COLUMNS[0] }, ..self }
    }
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { columns: COLUMNS[0], direct: true, stream: true, tries: true }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use shapetracker::ShapeTracker;
    use shapetracker_testing::is_text_held;

    use super::Tuning;
    use crate::cover::Reading;
    use crate::nest::Direction;
    use crate::plan::{Effort, planned};
    use crate::run::STREAM;
    use crate::{Threads, memory};

    /// Large tensors of all kinds are written the same in all ways, and in those that are tried in turn, wherever in a line the two
    /// sides begin.
    #[test]
    fn what_is_written_is_the_same() {
        let of = |sizes: &[i64]| ShapeTracker::contiguous(sizes).unwrap();
        // Rows that all begin at one place of a line, and rows that begin anywhere.
        for (width, rows, columns) in
            [(1, 2944, 3072), (2, 2112, 2080), (4, 1456, 1616), (8, 1064, 1040), (4, 1457, 1615)]
        {
            let transposed = of(&[rows, columns]).permute([1, 0]).unwrap();
            is_the_same(&transposed, width, Tuning::all(true).collect());
        }
        for (width, tracker) in [
            // Backwards, every other one, and one over and over; channels of pixels exchanged, and planes from and to pixels.
            (4, of(&[1500, 1501]).flip([1]).unwrap()),
            (4, of(&[1500, 3002]).step([1, 2]).unwrap()),
            (8, of(&[1100, 2102]).step([1, 2]).unwrap()),
            (2, of(&[2100, 7 * 2101]).step([1, 7]).unwrap()),
            (12, of(&[900, 2 * 901]).step([1, 2]).unwrap()),
            (4, of(&[1500, 1]).expand([1500, 1501]).unwrap()),
            (1, of(&[3000, 1]).expand([3000, 3001]).unwrap()),
            (1, of(&[3000, 1001, 3]).flip([2]).unwrap()),
            (1, of(&[3000, 1001, 3]).permute([2, 0, 1]).unwrap()),
            (1, of(&[3, 3000, 1001]).permute([1, 2, 0]).unwrap()),
            // Rows of bits and rows of many bytes, not all of which have data.
            (4, of(&[150_000, 13]).pad([(0, 0), (1, 2)]).unwrap()),
            (1, of(&[900, 9000]).pad([(1, 1), (300, 101)]).unwrap()),
            // Two views.
            (4, of(&[1024, 2304]).permute([1, 0]).unwrap().reshape([1152, 2048]).unwrap().permute([1, 0]).unwrap()),
        ] {
            is_the_same(&tracker, width, vec![Tuning::default(), Tuning { stream: false, ..Tuning::default() }]);
        }
    }

    fn is_the_same(tracker: &ShapeTracker, width: usize, ways: Vec<Tuning>) {
        let text = format!("{tracker} of {width} bytes");
        let places = [0, 16, 3 * width].into_iter().enumerate().filter(|(number, _)| is_text_held(&text, *number));
        let places: Vec<usize> = places.map(|(_, before)| before).collect();
        if places.is_empty() {
            return;
        }
        let plan = |whole| planned(Direction::Read, tracker, width, Effort::OfOneRun, whole);
        let reading = Reading::new(tracker.shape(), width, plan).unwrap();
        let bytes = tracker.numel() as usize * width;
        assert!(bytes > STREAM, "{text} is not large");
        let read = tracker.address_range().unwrap().map_or(0, |(_, last)| last + 1) as usize * width;
        let data: Vec<u8> = (0..64 + read).map(|at| ((at * 2_654_435_761) >> 12) as u8).collect();
        let fill: Vec<u8> = (1..=width as u8).collect();
        let addresses: Vec<Option<i64>> = tracker.addresses().collect();
        for before in places {
            let source = &data[before..][..read];
            let mut expected = Vec::with_capacity(bytes);
            for address in &addresses {
                let element = address.map_or(&fill[..], |address| &source[address as usize * width..][..width]);
                expected.extend_from_slice(element);
            }
            for (tuning, threads) in ways.iter().map(|tuning| (*tuning, 1)).chain([(Tuning::default(), 2)]) {
                let mut tensor = vec![0; before + bytes];
                // SAFETY: reading writes only bytes with values.
                let room: &mut [MaybeUninit<u8>] = unsafe { memory::room_of_bytes(&mut tensor[before..]) };
                reading.run(source, room, &fill, false, tuning, &Threads::new(threads).unwrap());
                let wrong = || (0..bytes).find(|&at| tensor[before + at] != expected[at]).map(|at| at / width);
                let element = if tensor[before..] == expected { None } else { wrong() };
                assert_eq!(element, None, "{text}, {tuning:?}, {before} bytes on, {threads} threads");
            }
        }
    }
}
