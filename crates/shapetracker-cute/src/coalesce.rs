//! The shortest form of a layout, and equality as functions.

use smallvec::SmallVec;

use crate::error::Fault;
use crate::layout::{Mode, check_nesting};
use crate::profile::Profile;
use crate::{Error, IntTuple, Layout};

/// Modes without nesting.
pub(crate) type Modes = SmallVec<[Mode; 8]>;

impl Layout {
    /// The shortest layout without nesting that is the same function of `0..size`.
    ///
    /// It has no mode of size 1 and no mode that goes on where the one before it ends, and it is unique: two layouts
    /// are the same function exactly if they coalesce to the same. As an *extended* function it may differ: a last mode
    /// of size 1, which is left out, says what follows.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "(2,(1,6)):(1,(6,2))".parse()?;
    /// assert_eq!(layout.coalesce().to_string(), "12:1");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Source
    /// A layout is affine for as many numbers as its first mode has, if it is coalesced, and for no more; so its values
    /// fix its first mode, and those at the multiples of that fix the others.
    // Proved: `coalesced_unique` in `proofs/Cute.v`.
    pub fn coalesce(&self) -> Layout {
        if self.is_empty() {
            return Layout { sizes: [0].into(), strides: [0].into(), profile: Profile::leaf() };
        }
        let modes = self.coalesced();
        if modes.is_empty() {
            return Layout { sizes: [1].into(), strides: [0].into(), profile: Profile::leaf() };
        }
        Layout {
            sizes: modes.iter().map(|mode| mode.0).collect(),
            strides: modes.iter().map(|mode| mode.1).collect(),
            profile: Profile::flat_or_leaf(modes.len()),
        }
    }

    /// The coalesced layout without the modes that repeat values: those of stride 0 are left out, whatever their size.
    ///
    /// It has the same values, each fewer times; as a function it is another one, unless no stride is 0.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "(2,4,(8,2)):(1,0,(2,0))".parse()?;
    /// assert_eq!(layout.filter().to_string(), "16:1");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn filter(&self) -> Layout {
        let sizes = self.leaves().map(|(size, stride)| if stride == 0 && size > 0 { 1 } else { size }).collect();
        Layout { sizes, ..self.clone() }.coalesce()
    }

    /// The modes of the coalesced form of a layout that has coordinates; none where it has one coordinate.
    // Proved: `coalesce_same` in `proofs/Cute.v`.
    pub(crate) fn coalesced(&self) -> Modes {
        let mut modes = Modes::new();
        for (size, stride) in self.leaves().filter(|mode| mode.0 != 1) {
            match modes.last_mut() {
                Some(last) if last.0.checked_mul(last.1) == Some(stride) => last.0 *= size,
                _ => modes.push((size, stride)),
            }
        }
        modes
    }

    /// Each mode coalesced by itself, where the profile has a number, or mode by mode again,
    /// where it has a tuple; modes past those of the profile stay as they are. The numbers themselves mean nothing.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "(2,(1,6)):(1,(6,2))".parse()?;
    /// assert_eq!(layout.coalesce_by(&(1, 1).into())?.to_string(), "(2,6):(1,2)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A tuple of the profile with more modes than the layout has there, or too many of them.
    pub fn coalesce_by(&self, profile: &IntTuple) -> Result<Layout, Error> {
        check_nesting("coalesce", &profile.profile)?;
        let mut parts: Vec<Layout> = Vec::new();
        let mut nodes: SmallVec<[u32; 12]> = SmallVec::new();
        // Pairs of what is left to do, the next one last; without a profile an item stays as it is.
        let mut open: Vec<(Layout, Option<IntTuple>)> = vec![(self.clone(), Some(profile.clone()))];
        while let Some((layout, profile)) = open.pop() {
            match profile {
                Some(profile) if !profile.is_integer() => {
                    let items = layout.items();
                    let profiles = profile.items();
                    if profiles.len() > items.len() {
                        let fault = Fault::Rank { what: "profile", have: items.len(), need: profiles.len() };
                        return Err(Error::new("coalesce", fault));
                    }
                    nodes.push(items.len() as u32 + 1);
                    let profiles = profiles.into_iter().map(Some).chain(std::iter::repeat(None));
                    let pairs: Vec<_> = items.into_iter().zip(profiles).collect();
                    open.extend(pairs.into_iter().rev());
                }
                profile => {
                    let part = if profile.is_some() { layout.coalesce() } else { layout };
                    nodes.extend_from_slice(part.profile.nodes());
                    parts.push(part);
                }
            }
        }
        Layout::checked(
            parts.iter().flat_map(|part| part.sizes.iter().copied()).collect(),
            parts.iter().flat_map(|part| part.strides.iter().copied()).collect(),
            Profile::from_nodes(nodes),
        )
    }

    /// The first number at which two layouts differ, as functions of `0..size`; the end of the shorter one where they
    /// differ nowhere before it, and nothing where they are the same function.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "(4,6):(1,4)".parse()?;
    /// assert_eq!(layout.difference(&"24:1".parse()?), None);
    /// assert_eq!(layout.difference(&"(8,3):(1,9)".parse()?), Some(8));
    /// assert_eq!(layout.difference(&"20:1".parse()?), Some(20));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Cost
    /// Linear in the number of modes, whatever the sizes.
    pub fn difference(&self, other: &Layout) -> Option<i64> {
        if self.is_empty() || other.is_empty() {
            return (self.is_empty() != other.is_empty()).then_some(0);
        }
        let (mut ours, mut theirs) = (self.coalesced().into_iter(), other.coalesced().into_iter());
        let mut weight = 1;
        loop {
            // As coalesced forms are affine for exactly one mode, modes that differ do so after the shorter of them at
            // latest.
            match (ours.next(), theirs.next()) {
                (None, None) => return None,
                (Some(a), Some(b)) if a == b => weight *= a.0,
                (Some(a), Some(b)) if a.1 == b.1 => return Some(weight * a.0.min(b.0)),
                _ => return Some(weight),
            }
        }
    }
}
