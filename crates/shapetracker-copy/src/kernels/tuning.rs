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

    /// Transposes are written the same whichever way they are streamed, wherever in a line the two sides begin.
    #[test]
    fn what_is_written_is_the_same() {
        // Rows that all begin at one place of a line, and rows that begin anywhere.
        for (width, rows, columns) in
            [(1, 2944, 3072), (2, 2112, 2080), (4, 1456, 1616), (8, 1064, 1040), (4, 1457, 1615)]
        {
            let tracker = ShapeTracker::contiguous([rows, columns]).unwrap().permute([1, 0]).unwrap();
            let plan = |whole| planned(Direction::Read, &tracker, width, Effort::OfOneRun, whole);
            let reading = Reading::new(tracker.shape(), width, plan).unwrap();
            let (rows, columns) = (rows as usize, columns as usize);
            let bytes = rows * columns * width;
            assert!(bytes > STREAM);
            let values: Vec<u8> = (0..bytes).map(|at| ((at * 2_654_435_761) >> 12) as u8).collect();
            let mut transposed = vec![0; bytes];
            for (row, from) in values.chunks_exact(columns * width).enumerate() {
                let to = transposed[row * width..].chunks_mut(rows * width);
                for (to, from) in to.zip(from.chunks_exact(width)) {
                    to[..width].copy_from_slice(from);
                }
            }
            let mut source = vec![0; 64 + bytes];
            for (number, before) in [0, 16, 3 * width].into_iter().enumerate() {
                let source = &mut source[before..][..bytes];
                source.copy_from_slice(&values);
                // Where forms share them, each has every way and every beginning.
                let is_held = |way: usize| is_text_held(&format!("{rows} of {width} bytes"), number + way);
                for (_, tuning) in Tuning::all(true).enumerate().filter(|(way, _)| is_held(*way)) {
                    let mut tensor = vec![0; before + bytes];
                    // SAFETY: reading writes only bytes with values.
                    let room: &mut [MaybeUninit<u8>] = unsafe { memory::room_of_bytes(&mut tensor[before..]) };
                    reading.run(source, room, &vec![0; width], false, tuning, &Threads::one());
                    let wrong = || (0..bytes).find(|&at| tensor[before + at] != transposed[at]).map(|at| at / width);
                    let element = if tensor[before..] == transposed { None } else { wrong() };
                    assert_eq!(element, None, "{rows} x {columns} of {width} bytes, {tuning:?}, {before} bytes on");
                }
            }
        }
    }
}
