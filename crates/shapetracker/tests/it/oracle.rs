//! The oracle: what views and movement operations mean, element by element, on plain vectors.
//!
//! Nothing here is clever and nothing here comes from the library but the conversions to and from its types. Every
//! procedure walks all indices, so that it is only of use on small tensors; the exceptions are [`look_up`] and
//! [`check_witness`], which look at single indices.

use std::collections::BTreeSet;
use std::fmt;

use shapetracker::{View, Witness};

/// A view as it is written down, canonical or not.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RawView {
    pub(crate) shape: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    pub(crate) offset: i64,
    pub(crate) mask: Option<Vec<(i64, i64)>>,
}

impl RawView {
    pub(crate) fn new(shape: &[i64], strides: &[i64], offset: i64, mask: Option<&[(i64, i64)]>) -> RawView {
        RawView { shape: shape.into(), strides: strides.into(), offset, mask: mask.map(Into::into) }
    }

    pub(crate) fn contiguous(shape: &[i64]) -> RawView {
        let strides = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect();
        RawView { shape: shape.into(), strides, offset: 0, mask: None }
    }

    /// The view that the library makes of it.
    pub(crate) fn view(&self) -> View {
        View::new(&self.shape, &self.strides, self.offset, self.mask.as_deref())
            .unwrap_or_else(|error| panic!("{self:?} is a view, but: {error}"))
    }

    /// What every index reads.
    pub(crate) fn array(&self) -> Array {
        evaluate(std::slice::from_ref(self))
    }

    pub(crate) fn numel(&self) -> i64 {
        self.shape.iter().product()
    }

    /// Whether a size is 0; the number of elements of a large shape need not be a number.
    pub(crate) fn has_no_elements(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The valid range of an axis.
    pub(crate) fn range(&self, axis: usize) -> (i64, i64) {
        self.mask.as_ref().map_or((0, self.shape[axis]), |mask| mask[axis])
    }

    /// Whether no index is valid.
    pub(crate) fn is_empty(&self) -> bool {
        // The empty mask is the mask of a masked scalar.
        self.mask.as_ref().is_some_and(Vec::is_empty)
            || (0..self.shape.len()).any(|axis| self.range(axis).0 == self.range(axis).1)
    }

    /// The canonical form of the view by the rules of its documentation, without walking it.
    pub(crate) fn canonical(&self) -> RawView {
        let rank = self.shape.len();
        if self.is_empty() {
            let mask = (!self.shape.contains(&0)).then(|| vec![(0, 0); rank]);
            return RawView { shape: self.shape.clone(), strides: vec![0; rank], offset: 0, mask };
        }
        let mut view = self.clone();
        for axis in 0..rank {
            let (begin, end) = self.range(axis);
            if end - begin == 1 {
                view.offset += begin * self.strides[axis];
                view.strides[axis] = 0;
            }
        }
        view.mask.take_if(|mask| mask.iter().zip(&self.shape).all(|(range, size)| *range == (0, *size)));
        view
    }

    /// The lowest and highest address of a valid index, relative to the offset.
    pub(crate) fn reach(&self) -> (i128, i128) {
        let (mut low, mut high) = (0, 0);
        for axis in 0..self.shape.len() {
            let (begin, end) = self.range(axis);
            let ends = [begin, end - 1].map(|i| i128::from(i) * i128::from(self.strides[axis]));
            low += ends[0].min(ends[1]);
            high += ends[0].max(ends[1]);
        }
        (low, high)
    }
}

/// The expression that makes it, so that a failing case can be pasted into a test.
impl fmt::Debug for RawView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RawView { shape, strides, offset, mask } = self;
        write!(f, "RawView::new(&{shape:?}, &{strides:?}, {offset}, ")?;
        match mask {
            None => f.write_str("None)"),
            Some(mask) => write!(f, "Some(&{mask:?}))"),
        }
    }
}

impl From<&View> for RawView {
    fn from(view: &View) -> RawView {
        RawView::new(view.shape(), view.strides(), view.offset(), view.mask())
    }
}

/// A view equals a raw one when all four parts are the same: this is how canonical forms are compared.
impl PartialEq<View> for RawView {
    fn eq(&self, view: &View) -> bool {
        let RawView { shape, strides, offset, mask } = self;
        (&shape[..], &strides[..], *offset, mask.as_deref())
            == (view.shape(), view.strides(), view.offset(), view.mask())
    }
}

/// The address of one index, by the affine formula and the mask.
fn address(view: &RawView, index: &[i64]) -> Option<i128> {
    assert_eq!(index.len(), view.shape.len());
    let mut address = i128::from(view.offset);
    for (axis, &i) in index.iter().enumerate() {
        let (begin, end) = view.range(axis);
        if i < begin || i >= end {
            return None;
        }
        address += i128::from(i) * i128::from(view.strides[axis]);
    }
    let masked_scalar = view.mask.as_ref().is_some_and(Vec::is_empty);
    (!masked_scalar).then_some(address)
}

/// The address of the element at a position in row-major order.
fn address_at(view: &RawView, position: i128) -> Option<i128> {
    let mut rest = i64::try_from(position).expect("a position fits i64");
    let mut valid = view.mask.as_ref().is_none_or(|mask| !mask.is_empty());
    let mut address = i128::from(view.offset);
    for axis in (0..view.shape.len()).rev() {
        let digit = rest.rem_euclid(view.shape[axis]);
        rest = rest.div_euclid(view.shape[axis]);
        let (begin, end) = view.range(axis);
        valid &= begin <= digit && digit < end;
        address += i128::from(digit) * i128::from(view.strides[axis]);
    }
    assert_eq!(rest, 0, "position {position} is not inside shape {:?}", view.shape);
    valid.then_some(address)
}

/// The address that one index of a stack of views reads; the first view is next to memory.
pub(crate) fn look_up(stack: &[RawView], index: &[i64]) -> Option<i128> {
    let (last, earlier) = stack.split_last().expect("a stack has a view");
    earlier.iter().rev().try_fold(address(last, index)?, |position, view| address_at(view, position))
}

/// A tensor of addresses: what each index reads, in row-major order, `None` where it is masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<i64>,
    pub(crate) cells: Vec<Option<i64>>,
}

/// The array of a stack of views.
pub(crate) fn evaluate(stack: &[RawView]) -> Array {
    let shape = &stack[stack.len() - 1].shape;
    Array::from_fn(shape, |index| {
        look_up(stack, index).map(|address| i64::try_from(address).expect("an address fits i64"))
    })
}

impl Array {
    /// A buffer under a shape.
    pub(crate) fn contiguous(shape: &[i64]) -> Array {
        Array { shape: shape.into(), cells: (0..shape.iter().product()).map(Some).collect() }
    }

    fn from_fn(shape: &[i64], mut cell: impl FnMut(&[i64]) -> Option<i64>) -> Array {
        let mut cells = Vec::new();
        let mut index = vec![0; shape.len()];
        for _ in 0..shape.iter().product::<i64>() {
            cells.push(cell(&index));
            advance(&mut index, shape);
        }
        Array { shape: shape.into(), cells }
    }

    /// An array of another shape whose every index reads an old one. The closure turns the new index into the old one
    /// and says whether there is such an element.
    fn gather(&self, shape: &[i64], old: impl Fn(&mut [i64]) -> bool) -> Array {
        let mut scratch = vec![0; shape.len()];
        Array::from_fn(shape, |index| {
            scratch.copy_from_slice(index);
            if old(&mut scratch) { self.at(&scratch) } else { None }
        })
    }

    /// What an index reads.
    pub(crate) fn at(&self, index: &[i64]) -> Option<i64> {
        self.cells[self.position(index)]
    }

    fn position(&self, index: &[i64]) -> usize {
        let position = index.iter().zip(&self.shape).fold(0, |position, (i, size)| {
            assert!(0 <= *i && i < size, "{index:?} is not an index of {:?}", self.shape);
            position * size + i
        });
        position as usize
    }

    /// Calls back for every index, in row-major order.
    pub(crate) fn for_each_index(&self, mut f: impl FnMut(&[i64], Option<i64>)) {
        let mut index = vec![0; self.shape.len()];
        for &cell in &self.cells {
            f(&index, cell);
            advance(&mut index, &self.shape);
        }
    }

    pub(crate) fn reshape(&self, shape: &[i64]) -> Array {
        assert_eq!(shape.iter().product::<i64>(), self.cells.len() as i64);
        Array { shape: shape.into(), cells: self.cells.clone() }
    }

    pub(crate) fn permute(&self, axes: &[usize]) -> Array {
        let shape: Vec<i64> = axes.iter().map(|&axis| self.shape[axis]).collect();
        let mut old = vec![0; shape.len()];
        Array::from_fn(&shape, |index| {
            axes.iter().zip(index).for_each(|(&axis, i)| old[axis] = *i);
            self.at(&old)
        })
    }

    pub(crate) fn expand(&self, shape: &[i64]) -> Array {
        self.gather(shape, |index| {
            index.iter_mut().zip(&self.shape).filter(|(_, size)| **size == 1).for_each(|(i, _)| *i = 0);
            true
        })
    }

    pub(crate) fn pad(&self, pads: &[(i64, i64)]) -> Array {
        let shape: Vec<i64> =
            self.shape.iter().zip(pads).map(|(size, (before, after))| before + size + after).collect();
        self.gather(&shape, |index| {
            index.iter_mut().zip(pads).for_each(|(i, (before, _))| *i -= before);
            index.iter().zip(&self.shape).all(|(i, size)| (0..*size).contains(i))
        })
    }

    pub(crate) fn shrink(&self, ranges: &[(i64, i64)]) -> Array {
        let shape: Vec<i64> = ranges.iter().map(|(begin, end)| end - begin).collect();
        self.gather(&shape, |index| {
            index.iter_mut().zip(ranges).for_each(|(i, (begin, _))| *i += begin);
            true
        })
    }

    pub(crate) fn flip(&self, axes: &[usize]) -> Array {
        self.gather(&self.shape, |index| {
            axes.iter().for_each(|&axis| index[axis] = self.shape[axis] - 1 - index[axis]);
            true
        })
    }

    pub(crate) fn step(&self, steps: &[i64]) -> Array {
        let shape: Vec<i64> =
            self.shape.iter().zip(steps).map(|(size, step)| (size + step.abs() - 1) / step.abs()).collect();
        self.gather(&shape, |index| {
            for (axis, (i, step)) in index.iter_mut().zip(steps).enumerate() {
                *i = if *step > 0 { *i * step } else { self.shape[axis] - 1 + *i * step };
            }
            true
        })
    }

    pub(crate) fn as_strided(&self, shape: &[i64], strides: &[i64], offset: i64) -> Array {
        Array::from_fn(shape, |index| {
            let position = index.iter().zip(strides).fold(offset, |position, (i, stride)| position + i * stride);
            self.cells[usize::try_from(position).expect("as_strided stays inside")]
        })
    }

    /// What this tensor reads when its addresses are positions of another one.
    pub(crate) fn over(&self, earlier: &Array) -> Array {
        let cells = self.cells.iter().map(|cell| cell.and_then(|position| earlier.cells[position as usize])).collect();
        Array { shape: self.shape.clone(), cells }
    }

    /// The one strided view that reads the same addresses, in canonical form, if there is one.
    pub(crate) fn single_view(&self) -> Option<RawView> {
        let rank = self.shape.len();
        let mut bounds: Option<(Vec<i64>, Vec<i64>)> = None; // The least and greatest valid entries.
        let mut valid = 0;
        self.for_each_index(|index, cell| {
            if cell.is_some() {
                valid += 1;
                let (low, high) = bounds.get_or_insert_with(|| (index.into(), index.into()));
                for axis in 0..rank {
                    low[axis] = low[axis].min(index[axis]);
                    high[axis] = high[axis].max(index[axis]);
                }
            }
        });
        let Some((low, high)) = bounds else {
            let mask = if self.cells.is_empty() { None } else { Some(vec![(0, 0); rank]) };
            return Some(RawView { shape: self.shape.clone(), strides: vec![0; rank], offset: 0, mask });
        };
        if low.iter().zip(&high).map(|(low, high)| high - low + 1).product::<i64>() != valid {
            return None; // The valid set is not its bounding box.
        }
        let first = self.at(&low)?;
        let mut offset = first;
        let mut strides = vec![0; rank];
        for axis in 0..rank {
            if low[axis] < high[axis] {
                let mut next = low.clone();
                next[axis] += 1;
                strides[axis] = self.at(&next)? - first;
                offset -= strides[axis] * low[axis];
            }
        }
        let ranges: Vec<_> = low.iter().zip(&high).map(|(low, high)| (*low, high + 1)).collect();
        let full = ranges.iter().zip(&self.shape).all(|(range, size)| *range == (0, *size));
        let view = RawView { shape: self.shape.clone(), strides, offset, mask: (!full).then_some(ranges) };
        let mut same = true;
        self.for_each_index(|index, cell| same &= address(&view, index) == cell.map(i128::from));
        same.then_some(view)
    }

    /// The one difference that a unit step along the axis makes wherever the address is affine along it: `None` if
    /// two pairs of valid indices that differ only on the axis disagree, `Some(None)` if there is no such pair.
    pub(crate) fn stride(&self, axis: usize) -> Option<Option<Ratio>> {
        let mut stride: Option<Ratio> = None;
        let mut affine = true;
        self.for_each_line(axis, |line| {
            let valid: Vec<(i64, i64)> = (0i64..).zip(line).filter_map(|(i, cell)| Some((i, (*cell)?))).collect();
            for pair in valid.windows(2) {
                let ratio = Ratio { rise: pair[1].1 - pair[0].1, run: pair[1].0 - pair[0].0 };
                affine &= *stride.get_or_insert(ratio) == ratio;
            }
        });
        affine.then_some(stride)
    }

    /// Whether some step along the axis leads from a valid to an invalid index or back.
    pub(crate) fn validity_depends_on(&self, axis: usize) -> bool {
        let mut depends = false;
        self.for_each_line(axis, |line| depends |= line.iter().any(|cell| cell.is_some() != line[0].is_some()));
        depends
    }

    /// Calls back with the cells of every line along an axis, in row-major order of where they begin.
    fn for_each_line(&self, axis: usize, mut f: impl FnMut(&[Option<i64>])) {
        let size = self.shape[axis] as usize;
        // As many lines lie beside each other, and a step along one of them leads over all of these.
        let beside: usize = self.shape[axis + 1..].iter().map(|size| *size as usize).product();
        let mut line = vec![None; size];
        let mut begin = 0;
        while begin < self.cells.len() {
            for first in begin..begin + beside {
                line.iter_mut().zip(self.cells[first..].iter().step_by(beside)).for_each(|(to, cell)| *to = *cell);
                f(&line);
            }
            begin += size * beside;
        }
    }

    /// How long a buffer must be for every address to lie in it.
    pub(crate) fn buffer_len(&self) -> i64 {
        self.cells.iter().flatten().map(|address| address + 1).max().unwrap_or(0)
    }

    /// Whether no two valid indices read the same address.
    pub(crate) fn is_injective(&self) -> bool {
        let mut addresses: Vec<i64> = self.cells.iter().copied().flatten().collect();
        let (Some(&low), Some(&high)) = (addresses.iter().min(), addresses.iter().max()) else { return true };
        if high.abs_diff(low) / 64 <= addresses.len() as u64 {
            let mut seen = vec![false; high.abs_diff(low) as usize + 1];
            return addresses
                .iter()
                .all(|&address| !std::mem::replace(&mut seen[address.abs_diff(low) as usize], true));
        }
        addresses.sort_unstable();
        addresses.windows(2).all(|pair| pair[0] != pair[1])
    }
}

/// A difference of addresses over a difference of indices; equal when the fractions are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub(crate) rise: i64,
    pub(crate) run: i64,
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Ratio) -> bool {
        self.rise * other.run == other.rise * self.run
    }
}

/// The linear equations that the strides of an unmasked earlier view of a shape must satisfy for the pair to be one
/// view: along each axis of the later view, every unit step moves the address as far as the first one does.
///
/// The rows are coefficients of the strides, in reduced echelon form over the integers: two sets of equations have the
/// same solutions exactly when these rows are equal.
pub(crate) fn conditions(earlier: &[i64], later: &RawView) -> Vec<Vec<i64>> {
    let positions = evaluate(std::slice::from_ref(later));
    let digits = |mut position: i64| {
        let mut digits = vec![0; earlier.len()];
        for (digit, size) in digits.iter_mut().zip(earlier).rev() {
            *digit = position % size;
            position /= size;
        }
        digits
    };
    let mut equations = BTreeSet::new();
    for axis in 0..later.shape.len() {
        let mut first: Option<Vec<i64>> = None;
        positions.for_each_line(axis, |line| {
            for step in line.windows(2) {
                if let &[Some(from), Some(to)] = step {
                    let moved: Vec<i64> = digits(to).iter().zip(digits(from)).map(|(to, from)| to - from).collect();
                    let first = first.get_or_insert_with(|| moved.clone());
                    equations.insert(moved.iter().zip(first).map(|(a, b)| a - *b).collect::<Vec<i64>>());
                }
            }
        });
    }
    reduced(equations.into_iter().collect())
}

/// Gauss's and Jordan's elimination over the integers: each row divided by its greatest common divisor, its first
/// coefficient positive and the only one in its column.
pub(crate) fn reduced(mut rows: Vec<Vec<i64>>) -> Vec<Vec<i64>> {
    fn simplify(row: &mut [i64]) {
        let divisor = row.iter().fold(0, |a, &b| gcd(a, b.abs()));
        let sign = row.iter().find(|x| **x != 0).map_or(1, |x| x.signum());
        row.iter_mut().filter(|x| **x != 0).for_each(|x| *x /= divisor * sign);
    }
    let columns = rows.first().map_or(0, Vec::len);
    let mut done = 0;
    for column in 0..columns {
        let Some(pivot) = (done..rows.len()).find(|&row| rows[row][column] != 0) else { continue };
        rows.swap(done, pivot);
        simplify(&mut rows[done]);
        let pivot = rows[done].clone();
        for row in (0..rows.len()).filter(|&row| row != done) {
            let (keep, take) = (pivot[column], rows[row][column]);
            if take != 0 {
                rows[row].iter_mut().zip(&pivot).for_each(|(x, p)| *x = *x * keep - p * take);
                simplify(&mut rows[row]);
            }
        }
        done += 1;
    }
    rows.truncate(done);
    rows
}

/// Whole vectors that span the solutions of equations in reduced echelon form.
pub(crate) fn solutions(rows: &[Vec<i64>], columns: usize) -> Vec<Vec<i64>> {
    let pivots: Vec<usize> = rows.iter().filter_map(|row| row.iter().position(|x| *x != 0)).collect();
    let multiple = rows.iter().zip(&pivots).fold(1, |m, (row, &pivot)| m / gcd(m, row[pivot]) * row[pivot]);
    let free = (0..columns).filter(|column| !pivots.contains(column));
    let solution = |column: usize| {
        let mut solution = vec![0; columns];
        solution[column] = multiple;
        for (row, &pivot) in rows.iter().zip(&pivots) {
            solution[pivot] = -row[column] * (multiple / row[pivot]);
        }
        let divisor = solution.iter().fold(0, |a, &b| gcd(a, b.abs()));
        solution.iter().map(|x| x / divisor).collect()
    };
    free.map(solution).collect()
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The next index in row-major order.
pub(crate) fn advance(index: &mut [i64], shape: &[i64]) {
    for axis in (0..index.len()).rev() {
        index[axis] += 1;
        if index[axis] < shape[axis] {
            return;
        }
        index[axis] = 0;
    }
}

/// Says what is wrong with a witness, given what every index of the shape reads.
pub(crate) fn check_witness(
    witness: &Witness,
    shape: &[i64],
    look_up: impl Fn(&[i64]) -> Option<i128>,
) -> Result<(), String> {
    let outside =
        |index: &[i64]| index.len() != shape.len() || index.iter().zip(shape).any(|(i, size)| !(0..*size).contains(i));
    let read = |index: &[i64]| {
        if outside(index) { Err(format!("{index:?} is outside {shape:?}")) } else { Ok(look_up(index)) }
    };
    match witness {
        Witness::UnevenStep { axis, steps } => {
            let mut moves = Vec::new();
            for step in steps {
                let mut next = step.index.to_vec();
                *next.get_mut(*axis).ok_or(format!("there is no axis {axis}"))? += 1;
                for (index, claim) in [(&step.index[..], step.from), (&next[..], step.to)] {
                    let found = read(index)?;
                    if found != Some(claim.into()) {
                        return Err(format!("{index:?} reads {found:?}, not {claim}"));
                    }
                }
                moves.push(i128::from(step.to) - i128::from(step.from));
            }
            if moves[0] == moves[1] { Err(format!("both steps move by {}", moves[0])) } else { Ok(()) }
        }
        Witness::NotABox { valid: [a, b], invalid } => {
            for index in [a, b] {
                if read(index)?.is_none() {
                    return Err(format!("{index:?} is not valid"));
                }
            }
            if let Some(address) = read(invalid)? {
                return Err(format!("{invalid:?} is valid and reads {address}"));
            }
            let between = (0..shape.len()).all(|axis| {
                let (low, high) = (a[axis].min(b[axis]), a[axis].max(b[axis]));
                (low..=high).contains(&invalid[axis])
            });
            if between { Ok(()) } else { Err(format!("{invalid:?} is not between {a:?} and {b:?}")) }
        }
        other => Err(format!("no oracle knows {other:?}")),
    }
}
