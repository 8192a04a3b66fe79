//! A movement operation as data, and the table of all that there are.
//!
//! To add an operation, add a variant to [`Movement`] and a row to the table of kinds, and follow the compiler: it asks
//! for the kind and the arguments of the variant here, and for what it does in
//! [`ShapeTracker::apply`](crate::ShapeTracker::apply). Text, JSON, messages and the lists of names in help texts follow
//! from the row, as long as the arguments have a form that another operation has already. A new form is a variant of
//! [`Takes`] and of [`Arguments`], and the compiler asks for how it is read and written as text and as JSON.

use std::fmt;

use crate::number::Number;
use crate::{Dims, PerAxis};

/// A movement operation as data, for chains that are stored, parsed or compared.
///
/// Its operations are those of [`MovementOf`]. [`ShapeTracker::apply`](crate::ShapeTracker::apply) performs one; the tracker's method of the same name does the
/// same from its arguments. The text form is that of a chain: `permute(1, 0)`.
///
/// ```
/// use shapetracker::{Movement, ShapeTracker};
///
/// let op = Movement::Permute([1, 0].into());
/// let st = ShapeTracker::contiguous([3, 2])?;
/// assert_eq!(st.apply(&op)?, st.permute([1, 0])?);
/// assert_eq!(op.to_string(), "permute(1, 0)");
/// assert_eq!(op, "permute(1, 0)".parse::<shapetracker::Chain>()?.ops()[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Movement = MovementOf<i64>;

/// A movement operation whose sizes, bounds, strides and offsets are numbers of some kind: [`Movement`] is that of whole
/// numbers. Axes and steps are whole numbers in any case.
///
/// ```
/// use shapetracker::{Movement, MovementOf};
///
/// let op: MovementOf<i64> = Movement::Unsqueeze(0);
/// assert_eq!(op.text(i64::to_string), "unsqueeze(0)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MovementOf<N: Number> {
    /// The same elements in row-major order under a new shape; one size may be -1 and is inferred.
    Reshape(N::Numbers),
    /// New axis `l` is old axis `axes[l]`.
    Permute(Dims),
    /// Axes of size 1 repeated to the given sizes; the other sizes stay as they are, which -1 says too.
    Expand(N::Numbers),
    /// Masked elements around the tensor: `(before, after)` per axis.
    Pad(N::Pairs),
    /// The half-open range `(begin, end)` of each axis.
    Shrink(N::Pairs),
    /// The named axes reversed.
    Flip(Dims),
    /// Every step-th element of each axis; a negative step walks from the last element backwards.
    Step(Dims),
    /// The elements in row-major order read as memory, with a shape, strides and an offset of their own.
    AsStrided(N::Numbers, N::Numbers, N),
    /// The axes reversed for which it says so: one boolean per axis.
    FlipEach(PerAxis<bool>),
    /// Two axes exchanged.
    Transpose(i64, i64),
    /// The named axes of size 1 taken away; none of them where none is named.
    Squeeze(Dims),
    /// Every axis of size 1 taken away.
    SqueezeAll,
    /// A new axis of size 1 before the given one.
    Unsqueeze(i64),
    /// Broadcast to a shape: new axes appear in front, axes of size 1 are repeated.
    BroadcastTo(N::Numbers),
    /// The slice `begin:end:step` of each axis, with Python's meaning for missing and negative bounds.
    Slice(Vec<(Option<N>, Option<N>, i64)>),
    /// The same elements one after the other in row-major order: where they do not lie so already, copied into a new
    /// buffer, whose addresses those of the tracker are from then on.
    Contiguous,
    /// The same elements copied into a new buffer, in row-major order.
    Copy,
}

impl<N: Number> MovementOf<N> {
    /// Whether it may copy the elements into a new buffer: every other operation only says how memory is read.
    ///
    /// ```
    /// use shapetracker::Movement;
    ///
    /// assert!(Movement::Contiguous.may_copy() && !Movement::Flip([0].into()).may_copy());
    /// ```
    pub const fn may_copy(&self) -> bool {
        matches!(self, MovementOf::Contiguous | MovementOf::Copy)
    }

    /// Which operation it is, whatever its arguments are.
    ///
    /// ```
    /// use shapetracker::{Movement, MovementKind};
    ///
    /// assert_eq!(Movement::Transpose(0, 1).kind(), MovementKind::Transpose);
    /// assert_eq!(Movement::SqueezeAll.kind(), Movement::Squeeze([0].into()).kind());
    /// ```
    pub fn kind(&self) -> MovementKind {
        self.parts().0
    }

    /// The name of the operation in the text form and in JSON.
    ///
    /// ```
    /// assert_eq!(shapetracker::Movement::Transpose(0, 1).name(), "transpose");
    /// ```
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// The text form, in which numbers are written as `number` writes them.
    ///
    /// ```
    /// use shapetracker::Movement;
    ///
    /// let op = Movement::Reshape([2, 3].into());
    /// assert_eq!(op.text(|size| format!("{size}*T")), "reshape(2*T, 3*T)");
    /// ```
    pub fn text(&self, number: impl Fn(&N) -> String) -> String {
        let (kind, arguments) = self.parts();
        let mut text = String::from(kind.name());
        text.push('(');
        // A text takes what is written to it.
        let _ = arguments.write(&mut text, |text, value| fmt::Write::write_str(text, &number(value)));
        text.push(')');
        text
    }

    /// The operation with other numbers in the place of its own, of the same kind or of another one; `None` where there is
    /// none for one of them.
    ///
    /// ```
    /// use shapetracker::{Movement, MovementOf};
    ///
    /// let op: Option<MovementOf<i64>> = Movement::Pad([(0, 1)].into()).try_map(|size| Some(size * 2));
    /// assert_eq!(op, Some(Movement::Pad([(0, 2)].into())));
    /// ```
    pub fn try_map<M: Number>(&self, mut number: impl FnMut(&N) -> Option<M>) -> Option<MovementOf<M>> {
        let mut one = |value: &N| number(value);
        // What is there and has no number is no missing bound.
        let list = |list: &N::Numbers, one: &mut dyn FnMut(&N) -> Option<M>| {
            list.iter().map(one).collect::<Option<M::Numbers>>()
        };
        let pairs = |pairs: &N::Pairs, one: &mut dyn FnMut(&N) -> Option<M>| {
            pairs.iter().map(|(first, second)| Some((one(first)?, one(second)?))).collect::<Option<M::Pairs>>()
        };
        Some(match self {
            MovementOf::Reshape(sizes) => MovementOf::Reshape(list(sizes, &mut one)?),
            MovementOf::Permute(axes) => MovementOf::Permute(axes.clone()),
            MovementOf::Expand(sizes) => MovementOf::Expand(list(sizes, &mut one)?),
            MovementOf::Pad(pads) => MovementOf::Pad(pairs(pads, &mut one)?),
            MovementOf::Shrink(ranges) => MovementOf::Shrink(pairs(ranges, &mut one)?),
            MovementOf::Flip(axes) => MovementOf::Flip(axes.clone()),
            MovementOf::Step(steps) => MovementOf::Step(steps.clone()),
            MovementOf::AsStrided(shape, strides, offset) => {
                MovementOf::AsStrided(list(shape, &mut one)?, list(strides, &mut one)?, one(offset)?)
            }
            MovementOf::FlipEach(each) => MovementOf::FlipEach(each.clone()),
            MovementOf::Transpose(a, b) => MovementOf::Transpose(*a, *b),
            MovementOf::Squeeze(axes) => MovementOf::Squeeze(axes.clone()),
            MovementOf::SqueezeAll => MovementOf::SqueezeAll,
            MovementOf::Unsqueeze(axis) => MovementOf::Unsqueeze(*axis),
            MovementOf::BroadcastTo(sizes) => MovementOf::BroadcastTo(list(sizes, &mut one)?),
            MovementOf::Slice(slices) => {
                let mut bound = |bound: &Option<N>| match bound {
                    None => Some(None),
                    Some(bound) => one(bound).map(Some),
                };
                let slices = slices.iter().map(|(begin, end, step)| Some((bound(begin)?, bound(end)?, *step)));
                MovementOf::Slice(slices.collect::<Option<Vec<_>>>()?)
            }
            MovementOf::Contiguous => MovementOf::Contiguous,
            MovementOf::Copy => MovementOf::Copy,
        })
    }

    /// Which operation it is, and its arguments in the form that they share with those of other operations.
    pub(crate) fn parts(&self) -> (MovementKind, Arguments<'_, N>) {
        use {Arguments as A, MovementKind as K};
        match self {
            MovementOf::Reshape(shape) => (K::Reshape, A::Numbers(shape)),
            MovementOf::Permute(axes) => (K::Permute, A::Integers(axes)),
            MovementOf::Expand(sizes) => (K::Expand, A::Numbers(sizes)),
            MovementOf::Pad(pads) => (K::Pad, A::Pairs(pads)),
            MovementOf::Shrink(ranges) => (K::Shrink, A::Pairs(ranges)),
            MovementOf::Flip(axes) => (K::Flip, A::Integers(axes)),
            MovementOf::FlipEach(reversed) => (K::Flip, A::Booleans(reversed)),
            MovementOf::Step(steps) => (K::Step, A::Integers(steps)),
            MovementOf::AsStrided(shape, strides, offset) => (K::AsStrided, A::Strided(shape, strides, offset)),
            MovementOf::Transpose(a, b) => (K::Transpose, A::TwoAxes(*a, *b)),
            MovementOf::Squeeze(axes) => (K::Squeeze, A::ListedAxes(axes)),
            MovementOf::SqueezeAll => (K::Squeeze, A::All),
            MovementOf::Unsqueeze(axis) => (K::Unsqueeze, A::Axis(*axis)),
            MovementOf::BroadcastTo(shape) => (K::BroadcastTo, A::Numbers(shape)),
            MovementOf::Slice(slices) => (K::Slice, A::Slices(slices)),
            MovementOf::Contiguous => (K::Contiguous, A::All),
            MovementOf::Copy => (K::Copy, A::All),
        }
    }
}

impl Movement {
    /// The arguments as they stand between the parentheses of the text form.
    ///
    /// ```
    /// let op = shapetracker::Movement::Pad([(0, 0), (1, 2)].into());
    /// assert_eq!(op.arguments().to_string(), "(0, 0), (1, 2)");
    /// assert_eq!(op.to_string(), format!("{}({})", op.name(), op.arguments()));
    /// ```
    pub fn arguments(&self) -> impl fmt::Display + '_ {
        self.parts().1
    }
}

/// `begin:end:step`.
pub(crate) type Slice<N = i64> = (Option<N>, Option<N>, i64);

/// The arguments of an operation, in one of the few forms that there are.
pub(crate) enum Arguments<'a, N> {
    /// Numbers, one after the other.
    Numbers(&'a [N]),
    /// Axes or steps, one after the other.
    Integers(&'a [i64]),
    /// Axes, which are a tuple when there are none: no argument at all is [`Arguments::All`].
    ListedAxes(&'a [i64]),
    /// No argument, which means all axes that can be meant.
    All,
    /// One pair per axis.
    Pairs(&'a [(N, N)]),
    /// One boolean per axis.
    Booleans(&'a [bool]),
    Axis(i64),
    TwoAxes(i64, i64),
    /// One slice per axis.
    Slices(&'a [Slice<N>]),
    /// A shape, strides and an offset.
    Strided(&'a [N], &'a [N], &'a N),
}

/// What an operation takes, and how it is made of that: what readers of text and of JSON go by.
///
/// ```
/// use shapetracker::{Movement, MovementKind, Takes};
///
/// let Takes::Sizes(make) = MovementKind::Reshape.takes() else { panic!() };
/// assert_eq!(make([2, 3].into()), Movement::Reshape([2, 3].into()));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Takes<N: Number> {
    /// A size per axis.
    Sizes(fn(N::Numbers) -> MovementOf<N>),
    /// Whole numbers, of which each is what the text says: `an axis`.
    Integers(&'static str, fn(Dims) -> MovementOf<N>),
    /// The pairs that `pad` takes, in place of which `None` may stand.
    Pads(fn(N::Pairs) -> MovementOf<N>),
    /// Half-open ranges.
    Ranges(fn(N::Pairs) -> MovementOf<N>),
    /// Axes, or one boolean per axis.
    AxesOrBooleans(fn(Dims) -> MovementOf<N>, fn(PerAxis<bool>) -> MovementOf<N>),
    /// Axes, or nothing for all axes that can be meant.
    AxesOrAll(fn(Dims) -> MovementOf<N>, MovementOf<N>),
    /// One axis.
    Axis(fn(i64) -> MovementOf<N>),
    /// Two axes.
    TwoAxes(fn(i64, i64) -> MovementOf<N>),
    /// A slice per axis.
    Slices(fn(Vec<Slice<N>>) -> MovementOf<N>),
    /// Nothing.
    Nothing(MovementOf<N>),
    /// A shape, strides and perhaps an offset.
    Strided(fn(N::Numbers, N::Numbers, N) -> MovementOf<N>),
}

/// A row of the table of kinds.
struct Row {
    name: &'static str,
    aliases: &'static [&'static str],
    arguments: &'static str,
    meaning: &'static str,
}

/// Makes [`MovementKind`] and its table of one row per operation: its meaning (as a doc comment), its name and perhaps
/// another name that is read, what it takes in words, and what it takes for the readers.
macro_rules! kinds {
    ($(
        #[doc = $meaning:literal]
        $kind:ident = $name:literal $(| $alias:literal)*, $arguments:literal, $takes:expr;
    )+) => {
        /// Which movement operation a [`Movement`] is, without its arguments: the table of all that there are.
        ///
        /// | operation | arguments in the text form | meaning |
        /// |---|---|---|
        $(#[doc = concat!("| `", $name, "`", $(", `", $alias, "`",)* " | ", $arguments, " |", $meaning, " |")])+
        ///
        /// ```
        /// use shapetracker::MovementKind;
        ///
        /// let names: Vec<&str> = MovementKind::ALL.iter().map(|kind| kind.name()).collect();
        /// assert_eq!(names[..3], ["reshape", "permute", "transpose"]);
        /// assert_eq!(MovementKind::Pad.arguments(), "`(before, after)` per axis, or `None`");
        /// assert_eq!(MovementKind::Transpose.meaning(), "Two axes exchanged.");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum MovementKind {
            $(#[doc = $meaning] $kind,)+
        }

        impl MovementKind {
            /// Every operation, in the order in which lists of them stand.
            ///
            /// ```
            /// use shapetracker::MovementKind;
            /// assert!(MovementKind::ALL.iter().all(|kind| MovementKind::named(kind.name()) == Some(*kind)));
            /// ```
            pub const ALL: &'static [MovementKind] = &[$(MovementKind::$kind),+];

            fn row(self) -> &'static Row {
                match self {
                    $(MovementKind::$kind => {
                        const ROW: Row = Row {
                            name: $name,
                            aliases: &[$($alias),*],
                            arguments: $arguments,
                            meaning: $meaning,
                        };
                        &ROW
                    })+
                }
            }

            /// What the operation takes, for readers of text and of JSON, over numbers of any kind.
            ///
            /// ```
            /// use shapetracker::{Movement, MovementKind, Takes};
            ///
            /// assert!(matches!(MovementKind::Copy.takes::<i64>(), Takes::Nothing(Movement::Copy)));
            /// ```
            pub fn takes<N: Number>(self) -> Takes<N> {
                match self {
                    $(MovementKind::$kind => $takes,)+
                }
            }
        }
    };
}

kinds! {
    /// The same elements in row-major order under a new shape.
    Reshape = "reshape" | "view", "a size per axis, one of which may be -1", Takes::Sizes(MovementOf::Reshape);
    /// The axes in a new order.
    Permute = "permute", "all axes in their new order", Takes::Integers("an axis", MovementOf::Permute);
    /// Two axes exchanged.
    Transpose = "transpose", "two axes", Takes::TwoAxes(MovementOf::Transpose);
    /// Axes of size 1 repeated.
    Expand = "expand", "a size per axis, -1 for one that stays", Takes::Sizes(MovementOf::Expand);
    /// Broadcast to a shape: new axes appear in front, axes of size 1 are repeated.
    BroadcastTo = "broadcast_to", "a size per axis", Takes::Sizes(MovementOf::BroadcastTo);
    /// Masked elements around the tensor.
    Pad = "pad", "`(before, after)` per axis, or `None`", Takes::Pads(MovementOf::Pad);
    /// A half-open range of each axis.
    Shrink = "shrink", "`(begin, end)` per axis", Takes::Ranges(MovementOf::Shrink);
    /// Axes reversed.
    Flip = "flip", "axes, or `True` or `False` per axis", Takes::AxesOrBooleans(MovementOf::Flip, MovementOf::FlipEach);
    /// Every step-th element of each axis; a negative step walks from the last element backwards.
    Step = "step", "a step per axis", Takes::Integers("a step", MovementOf::Step);
    /// A slice of each axis, with Python's meaning for missing and negative bounds.
    Slice = "slice", "`begin:end:step` per axis, each part as optional as in Python", Takes::Slices(MovementOf::Slice);
    /// Axes of size 1 taken away.
    Squeeze = "squeeze", "axes; nothing for all axes of size 1",
        Takes::AxesOrAll(MovementOf::Squeeze, MovementOf::SqueezeAll);
    /// A new axis of size 1 before the given one.
    Unsqueeze = "unsqueeze", "an axis", Takes::Axis(MovementOf::Unsqueeze);
    /// The elements in row-major order read as memory.
    AsStrided = "as_strided", "a shape, strides, and an offset if it is not 0", Takes::Strided(MovementOf::AsStrided);
    /// The elements in row-major order, copied into a new buffer unless they lie so already.
    Contiguous = "contiguous", "nothing", Takes::Nothing(MovementOf::Contiguous);
    /// The elements in row-major order, copied into a new buffer.
    Copy = "copy", "nothing", Takes::Nothing(MovementOf::Copy);
}

impl MovementKind {
    /// The name of the operation in the text form and in JSON.
    ///
    /// ```
    /// assert_eq!(shapetracker::MovementKind::BroadcastTo.name(), "broadcast_to");
    /// ```
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The other names that the operation is read by: `view` for `reshape`.
    ///
    /// ```
    /// assert_eq!(shapetracker::MovementKind::Reshape.aliases(), ["view"]);
    /// ```
    pub fn aliases(self) -> &'static [&'static str] {
        self.row().aliases
    }

    /// What stands between the parentheses of the text form, in words.
    ///
    /// ```
    /// assert_eq!(shapetracker::MovementKind::Shrink.arguments(), "`(begin, end)` per axis");
    /// ```
    pub fn arguments(self) -> &'static str {
        self.row().arguments
    }

    /// What the operation does, in a sentence.
    ///
    /// ```
    /// assert_eq!(shapetracker::MovementKind::Pad.meaning(), "Masked elements around the tensor.");
    /// ```
    pub fn meaning(self) -> &'static str {
        self.row().meaning.trim_ascii()
    }

    /// The operation of a name, if there is one.
    ///
    /// ```
    /// use shapetracker::MovementKind;
    ///
    /// assert_eq!(MovementKind::named("view"), Some(MovementKind::Reshape));
    /// assert_eq!(MovementKind::named("premute"), None);
    /// ```
    pub fn named(name: &str) -> Option<MovementKind> {
        MovementKind::ALL.iter().copied().find(|kind| kind.name() == name || kind.aliases().contains(&name))
    }

    /// Every name that an operation is read by.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        MovementKind::ALL.iter().flat_map(|kind| std::iter::once(kind.name()).chain(kind.aliases().iter().copied()))
    }
}
