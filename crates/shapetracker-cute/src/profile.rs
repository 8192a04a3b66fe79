//! The parentheses of nested tuples, without what stands in them.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

/// How tuples are nested: the nodes of a tree in preorder, 0 for a leaf and `n + 1` for a tuple of `n` items.
///
/// Nothing here is recursive, so that a text may nest as deep as it likes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Profile(SmallVec<[u32; 12]>);

impl Profile {
    /// A number by itself.
    pub(crate) fn leaf() -> Profile {
        Profile(smallvec![0])
    }

    /// A tuple of so many numbers.
    pub(crate) fn flat(leaves: usize) -> Profile {
        let mut nodes = smallvec![leaves as u32 + 1];
        nodes.resize(leaves + 1, 0);
        Profile(nodes)
    }

    /// A number where there is one leaf, and otherwise a tuple of so many numbers.
    pub(crate) fn flat_or_leaf(leaves: usize) -> Profile {
        if leaves == 1 { Profile::leaf() } else { Profile::flat(leaves) }
    }

    /// A tuple of these items.
    pub(crate) fn tuple<'a>(items: impl IntoIterator<Item = &'a Profile>) -> Profile {
        let mut nodes: SmallVec<[u32; 12]> = smallvec![1];
        for item in items {
            nodes[0] += 1;
            nodes.extend_from_slice(&item.0);
        }
        Profile(nodes)
    }

    /// The nodes in preorder, from which [`Profile::from_nodes`] makes it again.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.0
    }

    /// A profile from nodes that are one tree in preorder.
    pub(crate) fn from_nodes(nodes: SmallVec<[u32; 12]>) -> Profile {
        Profile(nodes)
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.0[0] == 0
    }

    /// The number of items of the outermost tuple; 1 for a number by itself.
    pub(crate) fn rank(&self) -> usize {
        match self.0[0] {
            0 => 1,
            node => node as usize - 1,
        }
    }

    /// The number of leaves.
    pub(crate) fn leaves(&self) -> usize {
        self.0.iter().filter(|&&node| node == 0).count()
    }

    /// How many tuples are inside each other; 0 for a number by itself.
    pub(crate) fn depth(&self) -> usize {
        let (mut open, mut deepest): (Vec<u32>, usize) = (Vec::new(), 0);
        for &node in &self.0 {
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if node > 0 {
                open.push(node - 1);
                deepest = deepest.max(open.len());
            }
        }
        deepest
    }

    /// The items of the outermost tuple, each with the leaves that it has; a number is its own only item.
    pub(crate) fn items(&self) -> Vec<(Profile, Range<usize>)> {
        if self.is_leaf() {
            return vec![(self.clone(), 0..1)];
        }
        let (mut items, mut node, mut leaf) = (Vec::with_capacity(self.rank()), 1, 0);
        while node < self.0.len() {
            let end = self.end(node);
            let item = Profile(SmallVec::from_slice(&self.0[node..end]));
            let leaves = item.leaves();
            items.push((item, leaf..leaf + leaves));
            (node, leaf) = (end, leaf + leaves);
        }
        items
    }

    /// The node behind everything that belongs to a node.
    pub(crate) fn end(&self, node: usize) -> usize {
        let (mut open, mut at) = (1, node);
        while open > 0 {
            open = open - 1 + self.0[at].saturating_sub(1) as usize;
            at += 1;
        }
        at
    }

    /// The profile with each leaf replaced by a tuple of so many leaves, where that is not 1.
    pub(crate) fn with_leaves_split(&self, parts: impl IntoIterator<Item = usize>) -> Profile {
        let mut parts = parts.into_iter();
        let mut nodes = SmallVec::with_capacity(self.0.len());
        for &node in &self.0 {
            match if node == 0 { parts.next().unwrap_or(1) } else { 1 } {
                1 => nodes.push(node),
                count => {
                    nodes.push(count as u32 + 1);
                    nodes.resize(nodes.len() + count, 0);
                }
            }
        }
        Profile(nodes)
    }

    /// Writes the tuples with what stands in them.
    pub(crate) fn write(
        &self,
        f: &mut std::fmt::Formatter<'_>,
        mut leaf: impl FnMut(&mut std::fmt::Formatter<'_>, usize) -> std::fmt::Result,
    ) -> std::fmt::Result {
        let (mut open, mut leaves): (Vec<u32>, usize) = (Vec::new(), 0);
        for &node in &self.0 {
            if node == 0 {
                leaf(f, leaves)?;
                leaves += 1;
            } else {
                f.write_str("(")?;
                open.push(node);
                if node > 1 {
                    continue;
                }
                open.pop();
                f.write_str(")")?;
            }
            // What ends here ends the tuples of which it is the last item.
            loop {
                let Some(left) = open.last_mut() else { return Ok(()) };
                *left -= 1;
                if *left > 1 {
                    f.write_str(",")?;
                    break;
                }
                open.pop();
                f.write_str(")")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_a_nested_tuple_are_found_without_recursion() {
        // ((., .), ., ())
        let profile = Profile(smallvec![4, 3, 0, 0, 0, 1]);
        let items = profile.items();
        assert_eq!(
            items.iter().map(|(item, leaves)| (item.nodes(), leaves.clone())).collect::<Vec<_>>(),
            [(&[3, 0, 0][..], 0..2), (&[0][..], 2..3), (&[1][..], 3..3)]
        );
        assert_eq!((profile.depth(), Profile::leaf().depth(), Profile::flat(0).depth()), (2, 0, 1));
        assert_eq!(profile, Profile::tuple(items.iter().map(|(item, _)| item)));
        assert_eq!(profile.with_leaves_split([1, 2, 1]).nodes(), [4, 3, 0, 3, 0, 0, 0, 1]);
    }
}
