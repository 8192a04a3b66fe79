//! What a layout of named sizes is to those who use it: in which order its elements lie and what takes it as it is, each for which
//! values of the names.

use shapetracker::Dims;
use shapetracker::describe::{Claim, Format, Line, formats_of, named_orders};
use shapetracker::json::Value;
use shapetracker::text::tuple;

use crate::answer::{Formula, formula_text};
use crate::ask::Ask;
use crate::equality::{Equality, absorb};
use crate::error::Error;
use crate::inverse::Collision;
use crate::json;
use crate::literal::Literal;
use crate::poly::Poly;
use crate::region::factors;
use crate::sym::Sym;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// What is known of a layout of named sizes, by [`ShapeTracker::describe`].
///
/// ```
/// use shapetracker_symbolic::{Equality, ShapeTracker, Sym};
///
/// let (b, t) = (Sym::new("B", 2..), Sym::new("T", 2..));
/// let found = ShapeTracker::contiguous([b, t])?.permute([1, 0])?.describe(None);
/// assert_eq!(found.order("column-major"), Some(&Equality::Always));
/// assert_eq!(found.order("row-major"), Some(&Equality::Never));
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Description {
    /// The layout.
    pub tracker: ShapeTracker,
    /// How many bytes an element has, if that was given.
    pub bytes: Option<u32>,
    /// The orders that have a name, and for which values the elements lie one after the other in it.
    pub orders: Vec<(&'static str, Equality)>,
    /// The lowest and the highest address that is read; `None` where they are not known.
    pub range: Option<(Sym, Sym)>,
    /// How many addresses between them no element reads; `None` where that is not known.
    pub holes: Option<Sym>,
    /// Two elements that some values put at one address; `Some(None)` where none do, and `None` where that is not known.
    pub collision: Option<Option<Collision>>,
    /// The two forms in which BLAS may take the last two axes as a matrix; empty where there are fewer axes.
    pub matrix: Vec<MatrixForm>,
    /// For which values a tensor map of CUDA describes the layout, with buffers that begin at multiples of 16 bytes; `None`
    /// where the bytes are not known.
    pub tensor_map: Option<Equality>,
    /// What cuDNN and oneDNN call the layout, for all values.
    pub formats: Vec<Format>,
    /// Vectors of so many elements, a power of two, that all elements can be read by along the axis of stride 1, for all values;
    /// wider ones may do where axes join. `None` where there is no such axis.
    pub vector: Option<i64>,
    /// The strides, as PyTorch reports them; empty where it is several views, or masked.
    pub strides: Vec<Sym>,
}

/// A form in which BLAS takes a matrix, and for which values it is one.
///
/// ```
/// use shapetracker_symbolic::{Equality, ShapeTracker, Sym};
///
/// let found = ShapeTracker::contiguous([Sym::new("M", 2..), Sym::new("K", 2..)])?.describe(None);
/// assert_eq!((found.matrix[0].operation, found.matrix[0].leading.to_string()), ("T", "K".to_owned()));
/// assert_eq!(found.matrix[0].when, Equality::Always);
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatrixForm {
    /// `N` or `T`, for matrices in column-major order.
    pub operation: &'static str,
    /// The leading dimension, where the matrix has more than one row and column.
    pub leading: Sym,
    /// For which values it can be passed so.
    pub when: Equality,
}

impl Description {
    /// For which values the elements lie one after the other in an order: `row-major`, `column-major`, `channels_last` of four
    /// axes or `channels_last_3d` of five.
    ///
    /// ```
    /// use shapetracker_symbolic::{Equality, ShapeTracker, Sym};
    ///
    /// let images = ShapeTracker::contiguous([Sym::new("N", 2..), 32.into(), 32.into(), 3.into()])?.permute([0, 3, 1, 2])?;
    /// assert_eq!(images.describe(None).order("channels_last"), Some(&Equality::Always));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn order(&self, name: &str) -> Option<&Equality> {
        self.orders.iter().find(|(order, _)| *order == name).map(|(_, when)| when)
    }

    /// Whether a claim holds for all values: `Some(false)` where it holds for none, or not for some that are known, and `None` where neither
    /// is known, which the line of the claim's topic tells with the condition.
    ///
    /// ```
    /// use shapetracker::describe::Claim;
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let found = ShapeTracker::contiguous([Sym::new("T", 2..), Sym::new("D", 2..4096)])?.describe(Some(2));
    /// assert_eq!(found.holds(&Claim::Matrix), Some(true));
    /// assert_eq!(found.holds(&Claim::Order("column-major")), Some(false));
    /// assert_eq!(found.holds(&Claim::TensorMap), None); // where D % 8 == 0
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn holds(&self, claim: &Claim) -> Option<bool> {
        let always = |when: &Equality| match when {
            Equality::Always => Some(true),
            Equality::Never => Some(false),
            Equality::When { .. } | Equality::Undecided => None,
        };
        match claim {
            Claim::Dense => match (&self.holes, &self.collision) {
                _ if self.orders.iter().any(|(_, when)| *when == Equality::Always) => Some(true),
                (_, Some(Some(_))) => Some(false),
                (Some(holes), Some(None)) if holes.to_string() == "0" => Some(true),
                _ => None,
            },
            Claim::Order(name) => match self.order(name) {
                Some(when) => always(when),
                // Of fewer axes they are one.
                None if *name == "column-major" => self.order("row-major").and_then(always),
                None => (*name != "blocked").then_some(false),
            },
            Claim::Injective => self.collision.as_ref().map(Option::is_none),
            Claim::Matrix => {
                let forms: Vec<_> = self.matrix.iter().map(|form| always(&form.when)).collect();
                match self.tracker.rank() {
                    _ if forms.contains(&Some(true)) => Some(true),
                    0 | 1 => Some(false),
                    _ => (!forms.is_empty() && forms.iter().all(|form| *form == Some(false))).then_some(false),
                }
            }
            Claim::TensorMap => self.tensor_map.as_ref().and_then(always),
            Claim::Format(name) => self.formats.iter().any(|format| format.name == *name).then_some(true),
            Claim::Vector(length) => self.vector.filter(|vector| vector >= length).map(|_| true),
        }
    }

    /// The description as lines of text, with the topics that those of numbers have.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let found = ShapeTracker::contiguous([Sym::new("B", 1..), Sym::new("T", 1..)])?.permute([1, 0])?.describe(None);
    /// assert_eq!(found.lines()[0].text, "dense, row-major where B == 1 or T == 1, column-major");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn lines(&self) -> Vec<Line> {
        let line = |topic, text| Line { topic, text };
        /// A condition of more literals is told of the first order only, and of the others left to the document.
        const MOST: usize = 3;
        let (mut orders, mut always, mut others) = (Vec::new(), false, "");
        for (name, when) in &self.orders {
            always |= *when == Equality::Always;
            match when {
                Equality::Never => {}
                Equality::Undecided => orders.push(format!("{name}: not decided")),
                Equality::When { formula, .. }
                    if *name != "row-major" && formula.iter().map(Vec::len).sum::<usize>() > MOST =>
                {
                    others = "; other orders for some values";
                }
                when => orders.push(format!("{name}{}", where_text(when))),
            }
        }
        let orders = match orders.is_empty() {
            true if others.is_empty() => "dense in no order that has a name".into(),
            true => "dense in an order that has a name for some values only".into(),
            false if always => format!("dense, {}{others}", orders.join(", ")),
            false => format!("{}{others}", orders.join("; ")),
        };
        let mut lines = vec![line("order", orders)];
        let addresses = match (&self.range, &self.holes) {
            (None, _) => "not known".into(),
            (Some((low, high)), None) => format!("{low} to {high}"),
            (Some((low, high)), Some(holes)) => match holes.to_string() == "0" {
                true => format!("{low} to {high}, all of them read"),
                false => format!("{low} to {high}, {holes} of them not read"),
            },
        };
        lines.push(line("addresses", addresses));
        let writing = match &self.collision {
            None => "whether two elements share an address is not known".into(),
            Some(None) => "no two elements share an address".into(),
            Some(Some(found)) => format!("{found}: writing to both in place is undefined"),
        };
        lines.push(line("writing", writing));
        let forms = self.matrix.iter().filter(|form| form.when != Equality::Never);
        let forms: Vec<String> = forms
            .map(|form| {
                let MatrixForm { operation, leading, when } = form;
                format!("{operation} with leading dimension {leading}{}", where_text(when))
            })
            .collect();
        lines.push(line("BLAS", if forms.is_empty() { "no matrix".into() } else { forms.join(", or ") }));
        if let Some(when) = &self.tensor_map {
            let text = match when {
                Equality::Always => "a tensor map".into(),
                Equality::Never => "no tensor map".into(),
                when => format!("a tensor map{}", where_text(when)),
            };
            lines.push(line("TMA", text));
        }
        let formats: Vec<String> = self.formats.iter().map(ToString::to_string).collect();
        if !formats.is_empty() {
            lines.push(line("formats", formats.join(", ")));
        }
        if let Some(vector) = self.vector {
            let plural = if vector == 1 { "" } else { "s" };
            lines.push(line("vectors", format!("{vector} element{plural} at a time along the axis of stride 1")));
        }
        if !self.strides.is_empty() {
            let strides: Vec<String> = self.strides.iter().map(ToString::to_string).collect();
            let contiguous = match self.order("row-major") {
                Some(Equality::Always) => "true".into(),
                Some(Equality::Never) => "false".into(),
                Some(when @ Equality::When { .. }) => format!("true{}", where_text(when)),
                _ => "not decided".into(),
            };
            lines.push(line("PyTorch", format!("strides {}, is_contiguous() is {contiguous}", tuple(&strides))));
        }
        lines
    }
}

/// ` where T == 1`, and nothing where it always holds; what has many cases is left to the document.
fn where_text(when: &Equality) -> String {
    const MOST: usize = 3;
    match when {
        Equality::When { formula, .. } if formula.len() > MOST => " for some values".into(),
        Equality::Always => String::new(),
        Equality::When { formula, scope } => format!(" where {}", formula_text(formula, scope)),
        Equality::Never => " never".into(),
        Equality::Undecided => ", which is not decided".into(),
    }
}

/// As a document: `bytes`, `orders` (`name`, and `when`: `kind`, and the `text` and `formula` of one), `range`, `holes`, `injective`,
/// `collision`, `matrix` (`operation`, `leading`, `when`), `tensor_map`, `formats`, `vector`, `strides`, and `lines`.
impl From<&Description> for Value {
    fn from(found: &Description) -> Value {
        let when = |when: &Equality| {
            let kind = match when {
                Equality::Always => "all",
                Equality::When { .. } => "formula",
                Equality::Never => "never",
                Equality::Undecided => "undecided",
            };
            let value = Value::Null.with("kind", kind);
            match when {
                Equality::When { formula, scope } => value
                    .with("text", formula_text(formula, scope))
                    .with("formula", formula.iter().map(|all| json::literals(all, scope)).collect::<Value>()),
                _ => value,
            }
        };
        let scope = found.tracker.scope();
        let number = |sym: &Sym| match sym.parts() {
            Ok((_, poly)) => json::poly(poly, scope),
            Err(_) => Value::from(sym.to_string()),
        };
        let order =
            |(name, holds): &(&'static str, Equality)| Value::Null.with("name", *name).with("when", when(holds));
        let form = |form: &MatrixForm| {
            let value = Value::Null.with("operation", form.operation).with("leading", number(&form.leading));
            value.with("when", when(&form.when))
        };
        let format = |format: &Format| Value::Null.with("library", format.library).with("name", &format.name[..]);
        let range = found.range.as_ref().map(|(low, high)| Value::List(vec![number(low), number(high)]));
        let lines = found.lines().into_iter().map(|line| Value::Null.with("topic", line.topic).with("text", line.text));
        Value::Null
            .with("shape", json::polys(found.tracker.shape(), scope))
            .with("bytes", found.bytes.map(i64::from))
            .with("orders", found.orders.iter().map(order).collect::<Value>())
            .with("range", range)
            .with("holes", found.holes.as_ref().map(number))
            .with("injective", found.collision.as_ref().map(Option::is_none))
            .with("collision", found.collision.as_ref().and_then(Option::as_ref).map(ToString::to_string))
            .with("matrix", found.matrix.iter().map(form).collect::<Value>())
            .with("tensor_map", found.tensor_map.as_ref().map(when))
            .with("formats", found.formats.iter().map(format).collect::<Value>())
            .with("vector", found.vector)
            .with("strides", found.strides.iter().map(number).collect::<Value>())
            .with("lines", lines.collect::<Value>())
    }
}

impl ShapeTracker {
    /// What is known of the layout, whose elements have so many bytes if that is given, and for which values of the names.
    ///
    /// Each condition is exact, but for tensor maps at values for which an axis has one entry: there more layouts may have one.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// // Rows of D numbers of 2 bytes.
    /// let found = ShapeTracker::contiguous([Sym::new("T", 2..), Sym::new("D", 2..4096)])?.describe(Some(2));
    /// let lines = found.lines();
    /// assert_eq!((lines[4].topic, &lines[4].text[..]), ("TMA", "a tensor map where T <= 4294967296 and D % 8 == 0"));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// Cost: that of [`ShapeTracker::equality`] for each order, and of [`ShapeTracker::collision`].
    pub fn describe(&self, bytes: Option<u32>) -> Description {
        let mut orders = named_orders(self.rank());
        if self.rank() < 2 {
            // They are one.
            orders.truncate(1);
        }
        let dense = |axes: Dims| match self.plain() {
            Some(view) => self.dense(view, &axes).unwrap_or(Equality::Undecided),
            None => self.permute(axes).map_or(Equality::Undecided, |turned| turned.contiguity()),
        };
        let orders: Vec<_> = orders.into_iter().map(|(name, axes)| (name, dense(axes))).collect();
        let range = self.address_range();
        let collision = self.collision().ok();
        let holes = match (self.plain(), &collision) {
            (Some(view), Some(None)) => self.holes(view).ok().flatten(),
            _ => None,
        };
        let tensor_map = bytes.map(|bytes| self.tensor_map(bytes).unwrap_or(Equality::Undecided));
        let matrix = self.matrix().unwrap_or_default();
        let always: Vec<&str> =
            orders.iter().filter(|(_, when)| *when == Equality::Always).map(|(name, _)| *name).collect();
        let formats = formats_of(&always, self.rank());
        let vector = self.vector(bytes).ok().flatten();
        let strides = self.plain().map_or(&[][..], |view| &view.strides);
        let strides = strides.iter().map(|stride| Sym::of(self.scope(), stride.clone())).collect();
        let tracker = self.clone();
        Description { tracker, bytes, orders, range, holes, collision, matrix, tensor_map, formats, vector, strides }
    }

    /// For which values a view has its elements one after the other in an order of its axes, the outermost first.
    fn dense(&self, view: &View, axes: &[i64]) -> Result<Equality, Error> {
        let mut ask = Ask::new("describe", self.scope(), self.needs().to_vec());
        let (mut conditions, mut inside) = (Vec::new(), Poly::one());
        for &axis in axes.iter().rev() {
            let (size, stride) = (&view.shape[axis as usize], &view.strides[axis as usize]);
            let apart = ask.made(stride.sub(&inside))?;
            // A tensor without elements has them in any order.
            let mut alternatives = vec![vec![few(&mut ask, size)?]];
            alternatives.extend(self.zero(&mut ask, &apart)?);
            for size in &view.shape {
                alternatives.push(vec![Literal::at_least(ask.made(size.neg())?)]);
            }
            conditions.push(alternatives);
            inside = ask.made(inside.mul(size))?;
        }
        self.all_of(&mut ask, &conditions)
    }

    /// The ways for a polynomial to be 0: a product is where a factor is, and that a product is 1 is that each of its factors is,
    /// where none is negative.
    fn zero(&self, ask: &mut Ask<'_>, poly: &Poly) -> Result<Vec<Vec<Literal>>, Error> {
        let factors = if poly.number().is_some() { vec![poly.clone()] } else { factors(poly) };
        factors.into_iter().map(|factor| self.factor_is_zero(ask, factor)).collect()
    }

    fn factor_is_zero(&self, ask: &mut Ask<'_>, poly: Poly) -> Result<Vec<Literal>, Error> {
        let negative = ask.made(poly.neg())?;
        let leads = poly.terms().first().is_some_and(|term| term.1 < 0);
        let literal = Literal::equal(if leads { negative.clone() } else { poly.clone() });
        for poly in [poly, negative].into_iter().filter(|poly| poly.constant() == -1) {
            let product = ask.made(poly.plus_number(1))?;
            let [(_, 1)] = product.terms() else { continue };
            let mut ones = Vec::new();
            for var in product.vars() {
                let factor = Poly::from(var);
                if ask.at_least(&factor, &Poly::zero())? != Some(true) {
                    return Ok(vec![literal]);
                }
                ones.push(Literal::equal(ask.made(factor.plus_number(-1))?));
            }
            return Ok(ones);
        }
        Ok(vec![literal])
    }

    /// How many addresses of a view without collisions no element reads.
    fn holes(&self, view: &View) -> Result<Option<Sym>, Error> {
        let mut ask = self.where_elements_are()?;
        let Some((low, high)) = self.ends(&mut ask)? else { return Ok(None) };
        let holes = ask.made((|| high.sub(&low)?.plus_number(1)?.sub(&view.numel()?))())?;
        Ok(Some(Sym::of(self.scope(), holes)))
    }

    /// The view, if there is one and nothing of it is masked.
    fn plain(&self) -> Option<&View> {
        self.as_view().filter(|view| view.mask.is_none())
    }

    /// The forms of a matrix.
    fn matrix(&self) -> Result<Vec<MatrixForm>, Error> {
        const OP: &str = "describe";
        let Some(at) = self.rank().checked_sub(2) else { return Ok(Vec::new()) };
        let Some(view) = self.plain() else { return Ok(Vec::new()) };
        let [(rows, down), (columns, across)] = [at, at + 1].map(|axis| (&view.shape[axis], &view.strides[axis]));
        let forms = [("T", (columns, across), (rows, down)), ("N", (rows, down), (columns, across))];
        let form = |(operation, (length, unit), (count, leading)): (&'static str, (&Poly, &Poly), (&Poly, &Poly))| {
            let mut ask = Ask::new(OP, self.scope(), self.needs().to_vec());
            // Along an axis of one entry any stride will do.
            let (short, single) = (few(&mut ask, length)?, few(&mut ask, count)?);
            let apart = ask.made(unit.plus_number(-1))?;
            let mut unit = self.zero(&mut ask, &apart)?;
            unit.push(vec![short]);
            let reaches = Literal::at_least(ask.made(leading.sub(length))?);
            let positive = Literal::at_least(ask.made(leading.plus_number(-1))?);
            let conditions = [unit, vec![vec![single.clone()], vec![reaches]], vec![vec![single], vec![positive]]];
            let when = self.all_of(&mut ask, &conditions)?;
            Ok(MatrixForm { operation, leading: Sym::of(self.scope(), leading.clone()), when })
        };
        forms.into_iter().map(form).collect()
    }

    /// The axis that has stride 1 for all values: the last one, if there are several.
    fn innermost(&self, ask: &mut Ask<'_>, view: &View) -> Result<Option<usize>, Error> {
        let mut inner = None;
        for (axis, stride) in view.strides.iter().enumerate() {
            if ask.equal(stride, &Poly::one())? == Some(true) {
                inner = Some(axis);
            }
        }
        Ok(inner)
    }

    /// The widest vectors along the axis of stride 1.
    fn vector(&self, bytes: Option<u32>) -> Result<Option<i64>, Error> {
        let Some(view) = self.plain() else { return Ok(None) };
        let mut ask = Ask::new("describe", self.scope(), self.needs().to_vec());
        let Some(inner) = self.innermost(&mut ask, view)? else { return Ok(None) };
        let bytes = i64::from(bytes.unwrap_or(1).max(1));
        let mut width = 1;
        while bytes.count_ones() == 1 && width * 2 * bytes <= 16 {
            let mut all = true;
            for (axis, stride) in view.strides.iter().enumerate() {
                let multiple = if axis == inner { &view.shape[axis] } else { stride };
                for poly in [multiple, &view.offset] {
                    all = all && ask.known(&Literal::divisible(poly.clone(), i128::from(width * 2)))? == Some(true);
                }
            }
            if !all {
                break;
            }
            width *= 2;
        }
        Ok(Some(width))
    }

    /// For which values a tensor map describes the layout.
    fn tensor_map(&self, bytes: u32) -> Result<Equality, Error> {
        const OP: &str = "describe";
        if ![1, 2, 4, 8].contains(&bytes) {
            return Ok(Equality::Never);
        }
        let Some(view) = self.plain() else { return Ok(Equality::Undecided) };
        let mut ask = Ask::new(OP, self.scope(), self.needs().to_vec());
        let inner = self.innermost(&mut ask, view)?;
        let Some(inner) = inner.filter(|_| (1..=5).contains(&self.rank())) else { return Ok(Equality::Undecided) };
        let mut conditions = vec![vec![vec![multiple_of_16(&ask, &view.offset, bytes)?]]];
        for (axis, (size, stride)) in view.shape.iter().zip(&view.strides).enumerate() {
            conditions.push(vec![vec![Literal::at_least(ask.made(size.plus_number(-1))?)]]);
            conditions
                .push(vec![vec![Literal::at_least(ask.made(size.neg().and_then(|size| size.plus_number(1 << 32)))?)]]);
            if axis != inner {
                let single = few(&mut ask, size)?;
                let most = ((1 << 40) - 1) / i128::from(bytes);
                let least = Literal::at_least(ask.made(stride.plus_number(-1))?);
                let most = Literal::at_least(ask.made(stride.neg().and_then(|stride| stride.plus_number(most)))?);
                for rule in [least, multiple_of_16(&ask, stride, bytes)?, most] {
                    conditions.push(vec![vec![single.clone()], vec![rule]]);
                }
            }
        }
        self.all_of(&mut ask, &conditions)
    }

    /// For which values of each of some lists one list of literals holds, all of it.
    fn all_of(&self, ask: &mut Ask<'_>, conditions: &[Vec<Vec<Literal>>]) -> Result<Equality, Error> {
        /// The most conjunctions that the formula may have, and that are looked through for literals that others imply.
        const MOST: usize = 64;
        const LOOKED_THROUGH: usize = 16;
        let mut formula: Formula = vec![Vec::new()];
        for alternatives in conditions {
            let mut open: Formula = Vec::new();
            for alternative in alternatives {
                let mut left = Some(Vec::new());
                for literal in alternative {
                    match ask.known(literal)? {
                        Some(true) => {}
                        Some(false) => left = None,
                        None => left = left.map(|left| joined(&left, &[literal.clone().smallest()])),
                    }
                }
                open.extend(left);
            }
            if open.iter().any(Vec::is_empty) {
                continue;
            }
            formula = formula.iter().flat_map(|all| open.iter().map(|more| joined(all, more))).collect();
            absorb(&mut formula);
            if formula.len() > MOST {
                return Ok(Equality::Undecided);
            }
        }
        if formula.len() <= LOOKED_THROUGH {
            for all in &mut formula {
                // What is about the most names is left out first: `B == 1 and D == 1` rather than `B == 1 and B == D`.
                let mut longest = all.clone();
                longest.sort_by_key(|literal| std::cmp::Reverse(literal.poly.vars().len()));
                for literal in longest {
                    let others: Vec<Literal> = all.iter().filter(|other| **other != literal).cloned().collect();
                    let mut given = ask.assuming(others.iter().cloned());
                    // What contradicts itself holds for no values, and is left as it is.
                    if !given.is_impossible() && given.known(&literal)? == Some(true) {
                        *all = others;
                    }
                }
            }
            absorb(&mut formula);
        }
        Ok(match formula.is_empty() {
            true => Equality::Never,
            false if formula.iter().any(Vec::is_empty) => Equality::Always,
            false => Equality::When { formula, scope: self.scope().clone() },
        })
    }
}

/// The literals of both.
fn joined(all: &[Literal], more: &[Literal]) -> Vec<Literal> {
    let mut all = all.to_vec();
    for literal in more {
        if !all.contains(literal) {
            all.push(literal.clone());
        }
    }
    all
}

/// That an axis has no more than one entry.
fn few(ask: &mut Ask<'_>, size: &Poly) -> Result<Literal, Error> {
    let more = ask.made(size.plus_number(-1))?;
    Ok(match ask.known(&Literal::at_least(more.clone()))? {
        Some(true) => Literal::equal(more),
        _ => Literal::at_least(ask.made(more.neg())?),
    })
}

/// That so many elements are a multiple of 16 bytes.
fn multiple_of_16(ask: &Ask<'_>, elements: &Poly, bytes: u32) -> Result<Literal, Error> {
    use shapetracker_base::int::gcd;

    let (elements, modulus) = (ask.made(Ok(elements.clone()))?, 16 / i128::from(bytes));
    // A factor that the elements have in common is left out, and so is what it has in common with the modulus.
    let content = elements.content();
    if content < 2 {
        return Ok(Literal::divisible(elements, modulus));
    }
    Ok(Literal::divisible(elements.over_number(content), modulus / gcd(content, modulus)))
}
