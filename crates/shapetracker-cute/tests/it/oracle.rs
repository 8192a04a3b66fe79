//! What layouts do, from the definitions: trees of modes, evaluated coordinate by coordinate.

use shapetracker_cute::{IntTuple, Layout};

/// A layout as a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    Leaf(i64, i64),
    Node(Vec<Tree>),
}

impl Tree {
    /// The tree of an answer of the crate.
    pub(crate) fn of(layout: &Layout) -> Tree {
        fn zip(shape: &IntTuple, stride: &IntTuple) -> Tree {
            if shape.is_integer() {
                return Tree::Leaf(shape.leaves()[0], stride.leaves()[0]);
            }
            Tree::Node(shape.items().iter().zip(&stride.items()).map(|(shape, stride)| zip(shape, stride)).collect())
        }
        zip(&layout.shape(), &layout.stride())
    }

    pub(crate) fn parse(text: &str) -> Tree {
        Tree::of(&text.parse().unwrap())
    }

    pub(crate) fn leaves(&self) -> Vec<(i64, i64)> {
        match self {
            Tree::Leaf(size, stride) => vec![(*size, *stride)],
            Tree::Node(items) => items.iter().flat_map(Tree::leaves).collect(),
        }
    }

    pub(crate) fn items(&self) -> Vec<Tree> {
        match self {
            Tree::Leaf(..) => vec![self.clone()],
            Tree::Node(items) => items.clone(),
        }
    }

    pub(crate) fn size(&self) -> i64 {
        self.leaves().iter().map(|leaf| leaf.0).product()
    }

    /// The value at a number, the last mode unbounded.
    pub(crate) fn extended(&self, x: i64) -> i128 {
        let leaves = self.leaves();
        let (mut rest, mut value) = (i128::from(x), 0);
        for (k, &(size, stride)) in leaves.iter().enumerate() {
            if k + 1 == leaves.len() {
                value += rest * i128::from(stride);
            } else {
                value += rest % i128::from(size) * i128::from(stride);
                rest /= i128::from(size);
            }
        }
        value
    }

    /// The values of all coordinates, in colexicographic order.
    pub(crate) fn values(&self) -> Vec<i64> {
        let mut values = vec![0];
        for (size, stride) in self.leaves() {
            values = (0..size).flat_map(|i| values.iter().map(move |value| value + i * stride)).collect();
        }
        values
    }

    /// Whether it has the shape of another tree, in which numbers may have become tuples with the same product.
    pub(crate) fn refines(&self, other: &Tree) -> bool {
        match (self, other) {
            (_, Tree::Leaf(size, _)) => {
                self.size() == *size && self.items().iter().all(|item| matches!(item, Tree::Leaf(..)))
            }
            (Tree::Node(ours), Tree::Node(theirs)) => {
                ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| ours.refines(theirs))
            }
            (Tree::Leaf(..), Tree::Node(_)) => false,
        }
    }
}

/// Every list of sizes of at least 2 with a product, innermost first.
fn factorizations(size: i64) -> Vec<Vec<i64>> {
    if size == 1 {
        return vec![Vec::new()];
    }
    let with = |divisor: i64| {
        let rest = factorizations(size / divisor).into_iter();
        rest.map(move |rest| [&[divisor][..], &rest].concat())
    };
    (2..=size).filter(|divisor| size % divisor == 0).flat_map(with).collect()
}

/// Whether a list of values is a layout with some list of sizes, and of how many modes at least.
fn fewest_modes(values: &[i64]) -> Option<usize> {
    let fits = |sizes: &Vec<i64>| {
        (0..values.len()).all(|x| {
            let (mut rest, mut weight, mut sum) = (x, 1, 0);
            for &size in sizes {
                let size = size as usize;
                if size > 1 {
                    sum += (rest % size) as i64 * values[weight];
                }
                rest /= size;
                weight *= size;
            }
            sum == values[x]
        })
    };
    factorizations(values.len() as i64).iter().filter(|sizes| fits(sizes)).map(Vec::len).min()
}

/// Whether a layout with the shape of `b`, up to numbers that become tuples, has the values `a(b(..))`, by all of the
/// tuples: if it has, the least number of modes that each leaf becomes.
pub(crate) fn composition(a: &Tree, b: &Tree) -> Option<Vec<usize>> {
    let leaves = b.leaves();
    let at = |x: i64| i64::try_from(a.extended(x)).unwrap();
    let along: Vec<Vec<i64>> =
        leaves.iter().map(|&(size, stride)| (0..size).map(|i| at(i * stride)).collect()).collect();
    let modes: Vec<usize> =
        along.iter().map(|values| fewest_modes(values).map(|count| count.max(1))).collect::<Option<_>>()?;
    // The value at a coordinate is the sum of those at its entries.
    let mut sums = vec![0];
    for values in &along {
        sums = values.iter().flat_map(|value| sums.iter().map(move |sum| sum + value)).collect();
    }
    (b.values().iter().map(|&x| at(x)).eq(sums)).then_some(modes)
}

/// Whether some set of numbers, added to these, makes `0..len`, each once: filled from 0, which leaves no choice. The
/// numbers are not negative and begin with 0.
pub(crate) fn tiles(values: &[i64], len: i64) -> bool {
    let mut filled = vec![false; len as usize];
    for start in 0..len {
        if filled[start as usize] {
            continue;
        }
        for value in values {
            match filled.get_mut((start + value) as usize) {
                Some(place) if !*place => *place = true,
                _ => return false,
            }
        }
    }
    true
}
