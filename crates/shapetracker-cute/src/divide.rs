//! Dividing a layout into tiles, and repeating one.

use crate::error::Fault;
use crate::{Error, IntTuple, Layout, NoComplement, NoComposition};

/// What a layout is composed with, divided by or repeated along: a layout, or one for each of its first modes.
///
/// A layout, or an integer `n` for `n:1`, becomes one by `into`, and a text by `parse`: `4:2`, `(3:3,(2,4):(1,8))`,
/// `(4,8)`.
///
/// ```
/// use shapetracker_cute::{Layout, Tiler};
///
/// let a = Layout::row_major((8, 12))?;
/// let tiler = Tiler::by_item([Tiler::from(4), Tiler::from(3)]);
/// assert_eq!(a.zipped_divide(&tiler).unwrap().to_string(), "((4,3),(2,4)):((12,1),(48,3))");
/// # Ok::<(), shapetracker_cute::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tiler {
    /// One for the whole layout.
    Whole(Layout),
    /// `n:1` for the whole layout; a negative number is refused where the tiler is used.
    Size(i64),
    /// One for each of the first modes; the others stay as they are.
    ByItem(Vec<Tiler>),
}

impl Tiler {
    /// One tiler for each of the first modes of a layout.
    ///
    /// ```
    /// use shapetracker_cute::Tiler;
    ///
    /// let tiler = Tiler::by_item([4, 8]);
    /// assert!(matches!(tiler, Tiler::ByItem(modes) if modes.len() == 2));
    /// ```
    pub fn by_item<T: Into<Tiler>>(items: impl IntoIterator<Item = T>) -> Tiler {
        Tiler::ByItem(items.into_iter().map(Into::into).collect())
    }
}

impl From<Layout> for Tiler {
    fn from(layout: Layout) -> Tiler {
        Tiler::Whole(layout)
    }
}

/// `n:1`.
impl From<i64> for Tiler {
    fn from(size: i64) -> Tiler {
        Tiler::Size(size)
    }
}

/// A tuple of integers is a tiler for each of its items, as it is in CuTe.
impl From<IntTuple> for Tiler {
    fn from(sizes: IntTuple) -> Tiler {
        if sizes.is_integer() {
            return Tiler::from(sizes.leaves()[0]);
        }
        Tiler::by_item(sizes.items())
    }
}

/// Why a layout cannot be divided, or repeated.
///
/// ```
/// use shapetracker_cute::{Layout, NotTiled};
///
/// let layout: Layout = "(2,3):(1,3)".parse()?;
/// let why = layout.logical_product(&"4:1".parse::<Layout>()?.into()).unwrap_err();
/// assert!(matches!(why, NotTiled::Complement(_)));
/// # Ok::<(), shapetracker_cute::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotTiled {
    /// The complement does not exist: of the tiler in a division, of the layout in a product.
    #[error(transparent)]
    Complement(#[from] NoComplement),
    /// The composition does not exist.
    #[error(transparent)]
    Composition(#[from] NoComposition),
    /// The tiler has more modes than the layout, or a number is past `i64`.
    #[error(transparent)]
    Error(#[from] Error),
}

impl Layout {
    /// [`Layout::compose`] with a tiler: mode by mode, where it has a layout for each.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, Tiler};
    ///
    /// let a = Layout::row_major((8, 12))?;
    /// let sub = a.compose_by(&Tiler::by_item(["2:4".parse::<Layout>()?, "3:1".parse()?])).unwrap();
    /// assert_eq!(sub.to_string(), "(2,3):(48,1)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NotTiled::Composition`], with evidence about the mode; a tiler with more modes than the layout.
    pub fn compose_by(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        self.by_item("compose", tiler, &|layout, tile| Ok(layout.compose(tile)?))
    }

    /// [`Layout::compose_strict`] with a tiler: mode by mode, where it has a layout for each.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, NotTiled, Tiler};
    ///
    /// let a = Layout::row_major((8, 12))?;
    /// assert!(a.compose_strict_by(&Tiler::by_item([4, 12])).is_ok());
    /// let why = a.compose_strict_by(&Tiler::by_item([4, 13])).unwrap_err();
    /// assert!(matches!(why, NotTiled::Composition(_)));
    /// assert!(a.compose_by(&Tiler::by_item([4, 13])).is_ok());
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::compose_by`].
    pub fn compose_strict_by(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        self.by_item("compose", tiler, &|layout, tile| Ok(layout.compose_strict(tile)?))
    }

    /// The layout in two parts, `(tile, rest)`: the tile is this layout at the values of the tiler, and the rest says
    /// where the other tiles are. For a tiler with a layout for each mode it is done mode by mode.
    ///
    /// Where tiles do not fill the layout, the result goes on past its end, as in CuTe.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "(4,2,3):(2,1,8)".parse()?;
    /// let divided = layout.logical_divide(&"4:2".parse::<Layout>()?.into()).unwrap();
    /// assert_eq!(divided.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NotTiled::Complement`] of the tiler, [`NotTiled::Composition`] with the tiler and its complement.
    ///
    /// # Cost
    /// That of a complement and a composition for each mode that is divided, whatever the sizes.
    ///
    /// # Source
    /// `A o (B, complement(B, size A))`.
    pub fn logical_divide(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        self.by_item("divide", tiler, &divide)
    }

    /// [`Layout::logical_divide`] with the tiles of all modes first, and the rests second.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, Tiler};
    ///
    /// let layout: Layout = "(9,(4,8)):(59,(13,1))".parse()?;
    /// let tiler = Tiler::by_item(["3:3".parse::<Layout>()?, "(2,4):(1,8)".parse()?]);
    /// let divided = layout.zipped_divide(&tiler).unwrap();
    /// assert_eq!(divided.to_string(), "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::logical_divide`].
    ///
    /// # Cost
    /// As [`Layout::logical_divide`].
    pub fn zipped_divide(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        self.zipped("divide", tiler, &divide)
    }

    /// [`Layout::zipped_divide`] with the rests as modes of their own: `(tiles, rest, rest, ..)`.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, Tiler};
    ///
    /// let a = Layout::row_major((8, 12))?;
    /// let divided = a.tiled_divide(&Tiler::by_item([4, 3])).unwrap();
    /// assert_eq!(divided.to_string(), "((4,3),2,4):((12,1),48,3)");
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::logical_divide`].
    ///
    /// # Cost
    /// As [`Layout::logical_divide`].
    pub fn tiled_divide(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        Ok(unpacked(&self.zipped_divide(tiler)?, false)?)
    }

    /// [`Layout::zipped_divide`] with tiles and rests as modes of their own: `(tile, tile, .., rest, rest, ..)`.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, Tiler};
    ///
    /// let a = Layout::row_major((8, 12))?;
    /// let divided = a.flat_divide(&Tiler::by_item([4, 3])).unwrap();
    /// assert_eq!(divided.to_string(), "(4,3,2,4):(12,1,48,3)");
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::logical_divide`].
    ///
    /// # Cost
    /// As [`Layout::logical_divide`].
    pub fn flat_divide(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        Ok(unpacked(&self.zipped_divide(tiler)?, true)?)
    }

    /// The layout repeated along a tiler, `(layout, repeats)`: the repeats lie where the layout leaves room. For a
    /// tiler with a layout for each mode it is done mode by mode.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let tile: Layout = "(2,2):(4,1)".parse()?;
    /// let product = tile.logical_product(&"6:1".parse::<Layout>()?.into()).unwrap();
    /// assert_eq!(product.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NotTiled::Complement`] of this layout, [`NotTiled::Composition`] of the complement with the tiler.
    ///
    /// # Cost
    /// That of a complement and a composition for each mode that is repeated, whatever the sizes.
    ///
    /// # Source
    /// `(A, complement(A, size A * cosize B) o B)`.
    pub fn logical_product(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        self.by_item("product", tiler, &product)
    }

    /// [`Layout::logical_product`] with the layouts of all modes first, and the repeats second.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, Tiler};
    ///
    /// let tile: Layout = "(2,5):(5,1)".parse()?;
    /// let product = tile.zipped_product(&Tiler::by_item([3, 4])).unwrap();
    /// assert_eq!(product.to_string(), "((2,5),(3,4)):((5,1),(1,5))");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::logical_product`].
    ///
    /// # Cost
    /// As [`Layout::logical_product`].
    pub fn zipped_product(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        self.zipped("product", tiler, &product)
    }

    /// [`Layout::zipped_product`] with the repeats as modes of their own: `(layout, repeat, repeat, ..)`.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let tile: Layout = "(2,2):(4,1)".parse()?;
    /// let product = tile.tiled_product(&"(3,2):(2,1)".parse::<Layout>()?.into()).unwrap();
    /// assert_eq!(product.to_string(), "((2,2),3,2):((4,1),8,2)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::logical_product`].
    ///
    /// # Cost
    /// As [`Layout::logical_product`].
    pub fn tiled_product(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        Ok(unpacked(&self.zipped_product(tiler)?, false)?)
    }

    /// [`Layout::zipped_product`] with the modes of both parts side by side.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, Tiler};
    ///
    /// let tile: Layout = "(2,5):(5,1)".parse()?;
    /// let product = tile.flat_product(&Tiler::by_item([3, 4])).unwrap();
    /// assert_eq!(product.to_string(), "(2,5,3,4):(5,1,1,5)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::logical_product`].
    ///
    /// # Cost
    /// As [`Layout::logical_product`].
    pub fn flat_product(&self, tiler: &Tiler) -> Result<Layout, NotTiled> {
        Ok(unpacked(&self.zipped_product(tiler)?, true)?)
    }

    /// A block repeated along a grid, mode by mode: along each mode first the block, then its repeats.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let block: Layout = "(2,5):(5,1)".parse()?;
    /// let grid: Layout = "(3,4):(1,3)".parse()?;
    /// assert_eq!(block.blocked_product(&grid).unwrap().to_string(), "((2,3),(5,4)):((5,10),(1,30))");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::logical_product`].
    ///
    /// # Cost
    /// As [`Layout::logical_product`].
    pub fn blocked_product(&self, grid: &Layout) -> Result<Layout, NotTiled> {
        self.interleaved(grid, false)
    }

    /// A block repeated along a grid, mode by mode: along each mode first the repeats, then the block.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let block: Layout = "(2,5):(5,1)".parse()?;
    /// let grid: Layout = "(3,4):(1,3)".parse()?;
    /// assert_eq!(block.raked_product(&grid).unwrap().to_string(), "((3,2),(4,5)):((10,5),(30,1))");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::logical_product`].
    ///
    /// # Cost
    /// As [`Layout::logical_product`].
    pub fn raked_product(&self, grid: &Layout) -> Result<Layout, NotTiled> {
        self.interleaved(grid, true)
    }

    fn interleaved(&self, grid: &Layout, repeats_first: bool) -> Result<Layout, NotTiled> {
        let rank = self.rank().max(grid.rank());
        let product = product(&self.padded(rank)?, &grid.padded(rank)?)?;
        let parts: Vec<Vec<Layout>> = product.items().iter().map(Layout::items).collect();
        let order = if repeats_first { [1, 0] } else { [0, 1] };
        let items: Vec<Layout> =
            (0..rank).map(|k| Layout::concat(order.map(|part| &parts[part][k]))).collect::<Result<_, _>>()?;
        Ok(Layout::concat(&items)?)
    }

    /// The modes of the layout, and behind them as many of one coordinate as are missing.
    fn padded(&self, rank: usize) -> Result<Layout, Error> {
        let mut items = self.items();
        items.resize(rank, Layout::of_modes([(1, 0)])?);
        Layout::concat(&items)
    }

    /// Does something with each mode that the tiler has a layout for.
    fn by_item(
        &self,
        op: &'static str,
        tiler: &Tiler,
        done: &impl Fn(&Layout, &Layout) -> Result<Layout, NotTiled>,
    ) -> Result<Layout, NotTiled> {
        match tiler {
            Tiler::Whole(tile) => done(self, tile),
            Tiler::Size(size) => done(self, &Layout::of_modes([(*size, 1)])?),
            Tiler::ByItem(tilers) => {
                let mut items = self.items_for(op, tilers)?;
                for (item, tiler) in items.iter_mut().zip(tilers) {
                    *item = item.by_item(op, tiler, done)?;
                }
                Ok(Layout::concat(&items)?)
            }
        }
    }

    /// Does something that makes two parts of each mode, and gathers the first parts and the second ones.
    fn zipped(
        &self,
        op: &'static str,
        tiler: &Tiler,
        done: &impl Fn(&Layout, &Layout) -> Result<Layout, NotTiled>,
    ) -> Result<Layout, NotTiled> {
        match tiler {
            Tiler::Whole(tile) => done(self, tile),
            Tiler::Size(size) => done(self, &Layout::of_modes([(*size, 1)])?),
            Tiler::ByItem(tilers) => {
                let items = self.items_for(op, tilers)?;
                let (mut first, mut second) = (Vec::new(), Vec::new());
                for (item, tiler) in items.iter().zip(tilers) {
                    let mut parts = item.zipped(op, tiler, done)?.items().into_iter();
                    first.extend(parts.next());
                    second.extend(parts.next());
                }
                second.extend_from_slice(&items[tilers.len()..]);
                Ok(Layout::concat([&Layout::concat(&first)?, &Layout::concat(&second)?])?)
            }
        }
    }

    fn items_for(&self, op: &'static str, tilers: &[Tiler]) -> Result<Vec<Layout>, Error> {
        let items = self.items();
        if tilers.len() > items.len() {
            return Err(Error::new(op, Fault::Rank { what: "tiler", have: items.len(), need: tilers.len() }));
        }
        Ok(items)
    }
}

fn divide(layout: &Layout, tile: &Layout) -> Result<Layout, NotTiled> {
    let rest = tile.complement(layout.size())?;
    Ok(layout.compose(&Layout::concat([tile, &rest])?)?)
}

fn product(layout: &Layout, tile: &Layout) -> Result<Layout, NotTiled> {
    // For the cotarget `size A * cosize B` no value of the tile is past the end of the complement, so that it may as well
    // be the one without an end: the product of the two may be past `i64`.
    let last = tile.range().map_or(0, |(_, high)| high);
    let repeats = layout.endless_complement(last)?.compose(tile)?;
    Ok(Layout::concat([layout, &repeats])?)
}

/// `(first, mode, mode, ..)` of `(first, (mode, mode, ..))`; with `both`, the modes of the first part as well.
fn unpacked(zipped: &Layout, both: bool) -> Result<Layout, Error> {
    let parts = zipped.items().into_iter().enumerate();
    let items = parts.flat_map(|(part, layout)| if part > 0 || both { layout.items() } else { vec![layout] });
    Layout::concat(&items.collect::<Vec<Layout>>())
}
