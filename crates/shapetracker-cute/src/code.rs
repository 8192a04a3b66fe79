//! The address of an element as an expression, and so as code of nine languages.

use shapetracker::expr::{Binary, Expr, Graph, IndexExpr};

use crate::{ComposedLayout, Error, Layout, Order, Swizzle};

impl Layout {
    /// The value at a coordinate, as cheap an expression as we know how to find: a variable `idx0`, `idx1`, .. for each
    /// mode of the outermost tuple. For code with one variable, the number of the coordinate, put the layout into a
    /// tuple of its own.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    /// use shapetracker_cute::expr::Syntax;
    ///
    /// let layout: Layout = "((2,2),4):((1,8),2)".parse()?;
    /// let code = layout.index_expr()?;
    /// assert_eq!(code.graph().text(code.index(), Syntax::Python)?, "idx0 + idx1 * 2 + idx0 // 2 * 6");
    ///
    /// let code = Layout::concat([&"(4,8):(8,1)".parse()?])?.index_expr()?;
    /// assert_eq!(code.graph().text(code.index(), Syntax::Python)?, "idx0 * 8 - idx0 // 4 * 31");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Some part of the expression has values past `i64`.
    ///
    /// # Cost
    /// That of [`ShapeTracker::index_expr`](shapetracker::ShapeTracker::index_expr).
    pub fn index_expr(&self) -> Result<IndexExpr, Error> {
        // In column-major order an axis is a mode, and the first mode is the outermost loop.
        Ok(self.to_tracker(Order::ColumnMajor, 0)?.index_expr()?)
    }
}

impl ComposedLayout {
    /// The address at a coordinate, like [`Layout::index_expr`], with the swizzle as an exclusive or. MLIR has no code for
    /// it, because affine maps have no such operation.
    ///
    /// ```
    /// use shapetracker_cute::ComposedLayout;
    /// use shapetracker_cute::expr::{Language, Syntax};
    ///
    /// let tile: ComposedLayout = "Sw<3,3,3> o 0 o (64,64):(64,1)".parse()?;
    /// let code = tile.index_expr()?;
    /// assert_eq!(code.graph().text(code.index(), Syntax::Python)?, "idx0 * 64 + idx1 ^ idx0 % 8 * 8");
    /// assert!(code.kernel(Language::Cuda)?.contains('^'));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Some part of the expression has values past `i64`.
    pub fn index_expr(&self) -> Result<IndexExpr, Error> {
        let plain = self.layout.to_tracker(Order::ColumnMajor, self.offset)?.index_expr()?;
        if self.swizzle == Swizzle::IDENTITY || self.layout.is_empty() {
            return Ok(plain);
        }
        let mut graph = plain.graph().clone();
        let swizzled = self.swizzle.swizzled(&mut graph, plain.index()).map_err(shapetracker::Error::from)?;
        // The bits that the swizzle reads are often those of one coordinate.
        let index = graph.simplify(swizzled);
        let code = IndexExpr::new(graph, index, plain.valid(), plain.extents());
        // A swizzle leaves the sign of an address as it is.
        Ok(code.map_err(shapetracker::Error::from)?.reading_from(plain.lowest()))
    }
}

impl Swizzle {
    /// The swizzled address, for one that is not negative: the bits that the swizzle reads, moved to those that it changes,
    /// are combined with the address by exclusive or.
    fn swizzled(&self, graph: &mut Graph, address: Expr) -> Result<Expr, shapetracker::expr::Error> {
        let Some((source, target)) = self.pairs().next() else { return Ok(address) };
        let [from, count, to] = [source, self.bits(), target].map(|bits| graph.int(1 << bits));
        let read = graph.binary(Binary::Div, address, from)?;
        let read = graph.binary(Binary::Mod, read, count)?;
        let moved = graph.binary(Binary::Mul, read, to)?;
        graph.binary(Binary::Xor, address, moved)
    }
}
