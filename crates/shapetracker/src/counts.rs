//! How many elements of a view are valid, and how many runs of consecutive addresses they read: in closed form.

use crate::View;

impl View {
    /// How many indices are valid.
    ///
    /// ```
    /// let padded = shapetracker::View::contiguous([3, 4])?.pad([(1, 1), (0, 0)])?;
    /// assert_eq!((padded.numel(), padded.valid_count()), (20, 12));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Cost
    /// A multiplication per axis.
    pub fn valid_count(&self) -> i64 {
        if self.is_empty() {
            return 0;
        }
        // At most the number of elements, which fits.
        (0..self.rank()).map(|axis| self.range(axis).1 - self.range(axis).0).product()
    }

    /// How many runs of consecutive addresses (each one more than the one before) the valid elements read, taken in
    /// row-major order. Reading them in that order takes so many copies of contiguous memory.
    ///
    /// ```
    /// use shapetracker::View;
    ///
    /// let matrix = View::contiguous([3, 4])?;
    /// assert_eq!(matrix.run_count(), 1);
    /// assert_eq!(matrix.shrink([(0, 3), (1, 4)])?.run_count(), 3);
    /// assert_eq!(matrix.permute([1, 0])?.run_count(), 12);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Cost
    /// A division per axis.
    pub fn run_count(&self) -> i64 {
        if self.is_empty() {
            return 0;
        }
        // From one valid element to the next, one axis turns by one entry and those inside of it turn back to their
        // first: `back` is how far they move the address. Either the run goes on wherever that axis turns, or nowhere.
        let total = i128::from(self.valid_count());
        let (mut back, mut inside, mut runs) = (0i128, 1i128, 1);
        for axis in (0..self.rank()).rev() {
            let (begin, end) = self.range(axis);
            let (size, stride) = (i128::from(end - begin), i128::from(self.strides()[axis]));
            if stride - back != 1 {
                runs += total / (inside * size) * (size - 1);
            }
            back += stride * (size - 1);
            inside *= size;
        }
        // At most one run per valid element.
        runs as i64
    }
}
