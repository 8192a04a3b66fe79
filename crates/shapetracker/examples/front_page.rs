//! The example on the front page of the documentation.

use shapetracker::{ShapeTracker, Unmerged, View, merge};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Movement operations change the rule from index to address, and move nothing.
    let heads = ShapeTracker::contiguous([2, 128, 12, 64])?.permute([0, 2, 1, 3])?;
    assert_eq!(heads.views()[0].strides(), [98304, 64, 768, 1]);

    // Two rules that fit into one strided view stay one view, even through a reshape ...
    let split = heads.reshape([24, 2, 64, 64])?;
    assert_eq!(split.views().len(), 2); // ... but joining batch and heads does not fit,

    // and the reason is two steps that anyone can check.
    let Err(Unmerged::Witness(why)) = split.single_view() else { unreachable!() };
    println!("{why}");

    // Merging is complete: it finds the views that no rule about sizes and strides does.
    let earlier = View::new([10, 9, 4], [140, 11, 13], 0, None)?;
    let later = View::new([6], [9], 0, None)?;
    assert_eq!(merge(&earlier, &later)?, View::new([6], [35], 0, None)?);
    Ok(())
}
