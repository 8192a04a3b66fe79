//! A movement operation as data, and the table of all that there are.
//!
//! To add an operation, add a variant to [`Movement`] and a row to the table of kinds, and follow the compiler: it asks
//! for the kind and the arguments of the variant here, and for what it does in
//! [`ShapeTracker::apply`](crate::ShapeTracker::apply). Text, JSON, messages and the lists of names in help texts follow
//! from the row, as long as the arguments have a form that another operation has already. A new form is a variant of
//! [`Takes`] and of [`Arguments`], and the compiler asks for how it is read and written as text and as JSON.

use std::fmt;

use crate::{Dims, PerAxis, Ranges};

/// A movement operation as data, for chains that are stored, parsed or compared.
///
/// [`ShapeTracker::apply`](crate::ShapeTracker::apply) performs one; the tracker's method of the same name does the
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Movement {
    /// The same elements in row-major order under a new shape; one size may be -1 and is inferred.
    Reshape(Dims),
    /// New axis `l` is old axis `axes[l]`.
    Permute(Dims),
    /// Axes of size 1 repeated to the given sizes; the other sizes stay as they are, which -1 says too.
    Expand(Dims),
    /// Masked elements around the tensor: `(before, after)` per axis.
    Pad(Ranges),
    /// The half-open range `(begin, end)` of each axis.
    Shrink(Ranges),
    /// The named axes reversed.
    Flip(Dims),
    /// Every step-th element of each axis; a negative step walks from the last element backwards.
    Step(Dims),
    /// The elements in row-major order read as memory, with a shape, strides and an offset of their own.
    AsStrided(Dims, Dims, i64),
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
    BroadcastTo(Dims),
    /// The slice `begin:end:step` of each axis, with Python's meaning for missing and negative bounds.
    Slice(Vec<(Option<i64>, Option<i64>, i64)>),
    /// The same elements one after the other in row-major order: where they do not lie so already, copied into a new
    /// buffer, whose addresses those of the tracker are from then on.
    Contiguous,
    /// The same elements copied into a new buffer, in row-major order.
    Copy,
}

impl Movement {
    /// Whether it may copy the elements into a new buffer: every other operation only says how memory is read.
    ///
    /// ```
    /// use shapetracker::Movement;
    ///
    /// assert!(Movement::Contiguous.may_copy() && !Movement::Flip([0].into()).may_copy());
    /// ```
    pub const fn may_copy(&self) -> bool {
        matches!(self, Movement::Contiguous | Movement::Copy)
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

    /// Which operation it is, and its arguments in the form that they share with those of other operations.
    pub(crate) fn parts(&self) -> (MovementKind, Arguments<'_>) {
        use {Arguments as A, MovementKind as K};
        match self {
            Movement::Reshape(shape) => (K::Reshape, A::Numbers(shape)),
            Movement::Permute(axes) => (K::Permute, A::Numbers(axes)),
            Movement::Expand(sizes) => (K::Expand, A::Numbers(sizes)),
            Movement::Pad(pads) => (K::Pad, A::Pairs(pads)),
            Movement::Shrink(ranges) => (K::Shrink, A::Pairs(ranges)),
            Movement::Flip(axes) => (K::Flip, A::Numbers(axes)),
            Movement::FlipEach(reversed) => (K::Flip, A::Booleans(reversed)),
            Movement::Step(steps) => (K::Step, A::Numbers(steps)),
            Movement::AsStrided(shape, strides, offset) => (K::AsStrided, A::Strided(shape, strides, *offset)),
            Movement::Transpose(a, b) => (K::Transpose, A::TwoAxes(*a, *b)),
            Movement::Squeeze(axes) => (K::Squeeze, A::ListedAxes(axes)),
            Movement::SqueezeAll => (K::Squeeze, A::All),
            Movement::Unsqueeze(axis) => (K::Unsqueeze, A::Axis(*axis)),
            Movement::BroadcastTo(shape) => (K::BroadcastTo, A::Numbers(shape)),
            Movement::Slice(slices) => (K::Slice, A::Slices(slices)),
            Movement::Contiguous => (K::Contiguous, A::All),
            Movement::Copy => (K::Copy, A::All),
        }
    }
}

/// `begin:end:step`.
pub(crate) type Slice = (Option<i64>, Option<i64>, i64);

/// The arguments of an operation, in one of the few forms that there are.
pub(crate) enum Arguments<'a> {
    /// Numbers, one after the other.
    Numbers(&'a [i64]),
    /// Axes, which are a tuple when there are none: no argument at all is [`Arguments::All`].
    ListedAxes(&'a [i64]),
    /// No argument, which means all axes that can be meant.
    All,
    /// One pair per axis.
    Pairs(&'a [(i64, i64)]),
    /// One boolean per axis.
    Booleans(&'a [bool]),
    Axis(i64),
    TwoAxes(i64, i64),
    /// One slice per axis.
    Slices(&'a [Slice]),
    /// A shape, strides and an offset.
    Strided(&'a [i64], &'a [i64], i64),
}

/// What an operation takes, and how it is made of that: what the readers of text and of JSON go by.
#[derive(Clone)]
pub(crate) enum Takes {
    /// Numbers, of which each is what the text says: `a size`.
    Numbers(&'static str, fn(Dims) -> Movement),
    /// The pairs that `pad` takes, in place of which `None` may stand.
    Pads(fn(Ranges) -> Movement),
    /// Half-open ranges.
    Ranges(fn(Ranges) -> Movement),
    /// Axes, or one boolean per axis.
    AxesOrBooleans(fn(Dims) -> Movement, fn(PerAxis<bool>) -> Movement),
    /// Axes, or nothing for all axes that can be meant.
    AxesOrAll(fn(Dims) -> Movement, fn() -> Movement),
    Axis(fn(i64) -> Movement),
    TwoAxes(fn(i64, i64) -> Movement),
    Slices(fn(Vec<Slice>) -> Movement),
    /// Nothing.
    Nothing(Movement),
    /// A shape, strides and perhaps an offset.
    Strided(fn(Dims, Dims, i64) -> Movement),
}

/// A row of the table of kinds.
struct Row {
    name: &'static str,
    aliases: &'static [&'static str],
    arguments: &'static str,
    meaning: &'static str,
    takes: Takes,
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
                            takes: $takes,
                        };
                        &ROW
                    })+
                }
            }
        }
    };
}

kinds! {
    /// The same elements in row-major order under a new shape.
    Reshape = "reshape" | "view", "a size per axis, one of which may be -1", Takes::Numbers("a size", Movement::Reshape);
    /// The axes in a new order.
    Permute = "permute", "all axes in their new order", Takes::Numbers("an axis", Movement::Permute);
    /// Two axes exchanged.
    Transpose = "transpose", "two axes", Takes::TwoAxes(Movement::Transpose);
    /// Axes of size 1 repeated.
    Expand = "expand", "a size per axis, -1 for one that stays", Takes::Numbers("a size", Movement::Expand);
    /// Broadcast to a shape: new axes appear in front, axes of size 1 are repeated.
    BroadcastTo = "broadcast_to", "a size per axis", Takes::Numbers("a size", Movement::BroadcastTo);
    /// Masked elements around the tensor.
    Pad = "pad", "`(before, after)` per axis, or `None`", Takes::Pads(Movement::Pad);
    /// A half-open range of each axis.
    Shrink = "shrink", "`(begin, end)` per axis", Takes::Ranges(Movement::Shrink);
    /// Axes reversed.
    Flip = "flip", "axes, or `True` or `False` per axis", Takes::AxesOrBooleans(Movement::Flip, Movement::FlipEach);
    /// Every step-th element of each axis; a negative step walks from the last element backwards.
    Step = "step", "a step per axis", Takes::Numbers("a step", Movement::Step);
    /// A slice of each axis, with Python's meaning for missing and negative bounds.
    Slice = "slice", "`begin:end:step` per axis, each part as optional as in Python", Takes::Slices(Movement::Slice);
    /// Axes of size 1 taken away.
    Squeeze = "squeeze", "axes; nothing for all axes of size 1",
        Takes::AxesOrAll(Movement::Squeeze, || Movement::SqueezeAll);
    /// A new axis of size 1 before the given one.
    Unsqueeze = "unsqueeze", "an axis", Takes::Axis(Movement::Unsqueeze);
    /// The elements in row-major order read as memory.
    AsStrided = "as_strided", "a shape, strides, and an offset if it is not 0", Takes::Strided(Movement::AsStrided);
    /// The elements in row-major order, copied into a new buffer unless they lie so already.
    Contiguous = "contiguous", "nothing", Takes::Nothing(Movement::Contiguous);
    /// The elements in row-major order, copied into a new buffer.
    Copy = "copy", "nothing", Takes::Nothing(Movement::Copy);
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

    /// What the operation takes, for the readers of text and of JSON.
    pub(crate) fn takes(self) -> Takes {
        self.row().takes.clone()
    }
}
