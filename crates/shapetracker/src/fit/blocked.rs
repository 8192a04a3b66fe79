//! What stands between a view and a shape, with the smallest copy that clears it.

use shapetracker_base::int::gcd;
use shapetracker_base::list::sort_short_by_key;

use super::Misfit;
use super::blocks::{Joined, blocks, joined};
use super::buffer::{Buffer, Interleaved};
use super::obstacle::{Obstacle, obstacles_of};
use super::recipe::MOST_VIEWS;
use super::smallest::{smallest, walk};
use crate::error::Error;
use crate::merge::{Unmerged, Witness, reshape};
use crate::shape::{row_major, unravel};
use crate::{Dims, Ranges, ShapeTracker, View};

/// What stands between a view and a shape, and the copy that clears it.
///
/// The copy: write the elements of the views of [`Blocked::copied`], nearly always one view, into a fresh buffer, one
/// after another and each in row-major order; [`Blocked::view`] of that buffer has the new shape and the same elements
/// as the old view.
///
/// What is minimal about it: where [`Blocked::is_smallest`] says so, no buffer with fewer elements has any view of the
/// new shape with the elements of the old view, whatever they are. Strides may be zero or negative and axes may overlap
/// in any way; elements between the first and the last position count as the buffer's even if no index reads them. Two
/// elements are taken to be equal only if the old view reads them at one address.
///
/// That is known of all layouts whose elements have addresses of their own, apart from axes that the copy leaves
/// broadcast: of permuted, sliced, flipped and expanded arrays of any size. It is known as well where at most 65,536
/// indices remain of the new axes that go over broadcast axes or over windows that overlap, unless the search for a
/// better buffer meets its work limit. It is not known where masked elements are copied.
///
/// ```
/// use shapetracker::View;
/// use shapetracker::fit::{Misfit, fit};
///
/// // Eight broadcast copies of a transposed matrix: only one of them has to be copied.
/// let view = View::new([8, 3, 5], [0, 1, 3], 0, None)?;
/// let Err(Misfit::Blocked(blocked)) = fit(&view, [8, 15]) else { panic!() };
/// assert_eq!(blocked.copied(), [View::new([1, 3, 5], [0, 1, 3], 0, None)?]);
/// assert_eq!(*blocked.view(), View::new([8, 15], [0, 1], 0, None)?);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    old: View,
    witness: Witness,
    obstacles: Vec<Obstacle>,
    copied: Vec<View>,
    view: View,
    is_smallest: bool,
    /// The same with the smallest buffer whose view has no negative strides, where that is another.
    forward: Option<Box<Blocked>>,
}

impl Blocked {
    /// The view that was asked about.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let transposed = View::new([4, 6], [1, 4], 0, None)?;
    /// let Err(Misfit::Blocked(blocked)) = fit(&transposed, [24]) else { panic!() };
    /// assert_eq!(*blocked.old(), transposed);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn old(&self) -> &View {
        &self.old
    }

    /// Proof that there is no such view, in indices of the new shape.
    ///
    /// ```
    /// use shapetracker::fit::{Misfit, fit};
    /// use shapetracker::{View, Witness};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([4, 6], [1, 4], 0, None)?, [24]) else { panic!() };
    /// assert!(matches!(blocked.witness(), Witness::UnevenStep { axis: 0, .. }));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// What is in the way, from the outermost axes to the innermost. There is at least one.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([4, 6], [1, 4], 0, None)?, [24]) else { panic!() };
    /// assert_eq!(blocked.obstacles().len(), 1);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// The elements to copy: views of the old buffer, whose elements come one after another. It is a single view but
    /// where a smaller buffer holds parts of repeated elements.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([4, 3], [0, 1], 0, None)?, [2, 6]) else { panic!() };
    /// assert_eq!(blocked.copied(), [View::new([2, 3], [0, 1], 0, None)?]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn copied(&self) -> &[View] {
        &self.copied
    }

    /// How many elements the fresh buffer has.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// // Rows of four, each of which begins two elements after the one before: `a a a a b b b b`.
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([2, 6], [5, 0], 0, None)?, [3, 4]) else { panic!() };
    /// assert_eq!(blocked.elements(), 8);
    /// assert_eq!(blocked.view().strides(), [2, 1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn elements(&self) -> i64 {
        self.copied.iter().map(View::numel).sum()
    }

    /// Whether no buffer with fewer elements serves. Otherwise one may, but none is known.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([2, 6], [5, 0], 0, None)?, [3, 4]) else { panic!() };
    /// assert!(blocked.is_smallest());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_smallest(&self) -> bool {
        self.is_smallest
    }

    /// The same with the smallest buffer of which a view without negative strides has the new shape, for libraries that
    /// have no others. `None` where the old view has negative strides itself, and [`Blocked::view`] too.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// // Rows `a b`, `c a` and `b c`: the buffer `b a c b` is enough when rows run backwards.
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([2, 3], [0, 1], 0, None)?, [3, 2]) else { panic!() };
    /// let forward = blocked.without_negative_strides().unwrap();
    /// assert_eq!((blocked.elements(), forward.elements()), (4, 5));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn without_negative_strides(&self) -> Option<&Blocked> {
        match &self.forward {
            Some(forward) => Some(forward),
            None => self.view.strides().iter().all(|&stride| stride >= 0).then_some(self),
        }
    }

    /// The view of the fresh buffer that has the new shape.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([4, 3], [0, 1], 0, None)?, [2, 6]) else { panic!() };
    /// assert_eq!(*blocked.view(), View::new([2, 6], [0, 1], 0, None)?);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The obstacles of a view that is not empty, and the smallest copy: each block of axes is kept where it is a view by
    /// itself, and else copied.
    pub(super) fn of(view: &View, to: &[i64], witness: Witness) -> Result<Blocked, Misfit> {
        let mut obstacles = Vec::new();
        let mut buffer = Buffer::at(view.offset());
        let mut mask: Ranges = to.iter().map(|&size| (0, size)).collect();
        let joined = joined(view);
        // How many elements of each group of joined old axes are copied: of a broadcast one, those that blocks need.
        let mut copied_of: Vec<i64> = joined.iter().map(|axes| if axes.stride == 0 { 1 } else { axes.size }).collect();
        let determined = determined(&joined);
        // The new axes, by whether their indices follow from the address that is read.
        let (mut apart, mut others) = (Vec::new(), Vec::new());
        for block in blocks(&joined, to) {
            let new = &to[block.new.clone()];
            let is_apart = block.pieces.iter().all(|piece| determined[piece.joined]);
            if is_apart { &mut apart } else { &mut others }.extend(block.new.clone().filter(|&axis| to[axis] != 1));
            match reshape(&block.view()?, new) {
                Ok(fitting) => {
                    buffer.offset += i128::from(fitting.offset());
                    for (i, &stride) in fitting.strides().iter().enumerate() {
                        let axis = block.new.start + i;
                        mask[axis] = fitting.range(i);
                        if stride != 0 {
                            buffer.keep(axis, stride, mask[axis]);
                        }
                    }
                }
                Err(Unmerged::Witness(_)) => {
                    obstacles.extend(obstacles_of(view, &joined, &block, to));
                    for piece in block.pieces.iter().filter(|piece| joined[piece.joined].stride == 0) {
                        copied_of[piece.joined] *= piece.size;
                    }
                    buffer.copy(&block, new);
                }
                Err(Unmerged::Undecided) => return Err(Misfit::Undecided),
                Err(Unmerged::Error(err)) => return Err(Misfit::Error(err)),
            }
        }
        buffer.share_overlaps();
        let new_view = buffer.view(to, mask.clone())?;
        let copied = if buffer.numel() == view.numel() {
            vec![view.clone()]
        } else if view.mask().is_none() && !buffer.shared {
            vec![shortened(view, &joined, &copied_of)?]
        } else {
            buffer.copied()?
        };
        // Each element of the buffer is read. If no two are copied from one address, no buffer can have fewer.
        let distinct =
            copied.iter().all(|view| view.mask().is_none() && ShapeTracker::from(view.clone()).collision() == Ok(None));
        let mut blocked = Blocked {
            old: view.clone(),
            witness,
            obstacles,
            copied,
            view: new_view,
            is_smallest: distinct,
            forward: None,
        };
        if !distinct && view.mask().is_none() {
            let moving =
                |axes: Vec<usize>| axes.into_iter().filter(|&axis| blocked.view.strides()[axis] != 0).collect();
            let rearranging =
                Rearranging { view, to, apart: moving(apart), others: moving(others), known: buffer.numel() };
            let smallest = |negative: bool| -> Result<Blocked, Misfit> {
                let mut blocked = blocked.clone();
                let (part, is_smallest) = rearranging.smallest(negative);
                blocked.is_smallest = is_smallest;
                // A copy in very many parts that is not even the smallest is of no use.
                if let Some(part) = part.filter(|part| is_smallest || part.pieces() <= MOST_VIEWS) {
                    let mut buffer = buffer.clone();
                    buffer.interleave(&part);
                    blocked.copied = buffer.copied()?;
                    blocked.view = buffer.view(to, mask.clone())?;
                }
                Ok(blocked)
            };
            let any = smallest(true)?;
            let negative = |view: &View| view.strides().iter().any(|&stride| stride < 0);
            let forward = (negative(&any.view) && !negative(view)).then(|| smallest(false)).transpose()?;
            blocked = match forward {
                Some(forward) if forward.elements() <= any.elements() => {
                    Blocked { is_smallest: any.is_smallest, ..forward }
                }
                forward => Blocked { forward: forward.map(Box::new), ..any },
            };
        }
        Ok(blocked)
    }
}

/// How many indices are looked at one by one at most.
const MOST_INDICES: i64 = 1 << 16;

/// The search for the smallest buffer of a view without a mask.
struct Rearranging<'a> {
    view: &'a View,
    to: &'a [i64],
    /// New axes whose indices follow from the address that is read.
    apart: Vec<usize>,
    /// The other new axes along which something changes.
    others: Vec<usize>,
    /// The length of a buffer that serves, in which the former are laid out densely.
    known: i64,
}

impl Rearranging<'_> {
    /// What is to be laid out in another way, where something is, and whether the buffer is then the smallest: of all,
    /// or of those without negative strides.
    ///
    /// Two indices on one position of a buffer read one address, and so agree on the axes that follow from it. For each
    /// index of these the positions of the other axes are others, at least as many as the others need by themselves. So
    /// the product of both is a lower bound, and a buffer of the others by themselves, in which each element is replaced
    /// by all of those axes, attains it where it has no holes.
    fn smallest(&self, negative: bool) -> (Option<Interleaved>, bool) {
        let sizes = |axes: &[usize]| axes.iter().map(|&axis| self.to[axis]).collect::<Vec<i64>>();
        let dense: i64 = sizes(&self.apart).iter().product();
        let known = self.known / dense;
        let numel: i64 = sizes(&self.others).iter().product();
        if known <= 1 + sizes(&self.others).iter().map(|size| size - 1).sum::<i64>() {
            return (None, true);
        }
        if numel > MOST_INDICES {
            return (None, false);
        }
        let reads = self.reads(&self.others);
        let found = smallest(&sizes(&self.others), &reads, known, negative);
        let known = found.better.as_ref().map_or(known, |&(_, len)| len);
        let backwards = self.view.strides().iter().any(|&stride| stride < 0);
        let part = found.better.map(|better| Interleaved::new(&self.others, self.to, better, &reads, backwards));
        if found.positions == known || self.apart.is_empty() {
            return (part, found.positions == known || found.complete);
        }
        if numel * dense > MOST_INDICES {
            return (part, false);
        }
        let mut all = [&self.apart[..], &self.others].concat();
        sort_short_by_key(&mut all, |axis| *axis);
        let reads = self.reads(&all);
        let found = smallest(&sizes(&all), &reads, known * dense, negative);
        let whole = found.better.map(|better| Interleaved::new(&all, self.to, better, &reads, backwards));
        (whole.or(part), found.complete)
    }

    /// The address that each index of some axes reads where the others are at 0, in row-major order.
    fn reads(&self, axes: &[usize]) -> Vec<i64> {
        let sizes: Dims = axes.iter().map(|&axis| self.to[axis]).collect();
        let weights = row_major(self.to);
        let weights: Dims = axes.iter().map(|&axis| weights[axis]).collect();
        let address = |position| self.view.address(&unravel(position, self.view.shape()));
        walk(&sizes, &weights, 0).filter_map(address).collect()
    }
}

/// The old view with its broadcast axes cut short, so that the joined axes have the given numbers of elements.
fn shortened(view: &View, joined: &[Joined], copied_of: &[i64]) -> Result<View, Error> {
    let mut shape: Dims = view.shape().into();
    for (axes, &copied) in joined.iter().zip(copied_of) {
        // A number that divides a product of sizes is a product of divisors of the sizes, the innermost taken first.
        let mut rest = copied;
        for axis in (axes.outer..=axes.inner).rev() {
            shape[axis] = gcd(rest.into(), shape[axis].into()) as i64;
            rest /= shape[axis];
        }
    }
    View::new(shape, view.strides(), view.offset(), None)
}

/// For each of the joined axes, whether the index along it follows from the address that is read. If all smaller strides
/// together move by less than a set of axes moves by at least, the greatest common divisor of its strides, then the
/// address determines how far these axes have moved, and how far the others; and an axis by itself, its index.
fn determined(joined: &[Joined]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..joined.len()).filter(|&axis| joined[axis].stride != 0).collect();
    sort_short_by_key(&mut order, |&axis| joined[axis].stride.unsigned_abs());
    let moves = |axis: &usize| i128::from(joined[*axis].stride.unsigned_abs()) * i128::from(joined[*axis].size - 1);
    let mut determined = vec![false; joined.len()];
    let (mut count, mut divisor) = (0, 0);
    while let Some(axis) = order.pop() {
        count += 1;
        divisor = gcd(divisor, joined[axis].stride.into());
        if divisor > order.iter().map(moves).sum() {
            determined[axis] = count == 1;
            (count, divisor) = (0, 0);
        }
    }
    determined
}
