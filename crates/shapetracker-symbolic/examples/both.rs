//! One function over layouts of numbers and layouts of names: the heads of attention, brought to the front.
//!
//! `cargo run -p shapetracker-symbolic --example both`

use shapetracker::{Layout, MovementOf, ShapeTracker};
use shapetracker_symbolic::{ShapeTracker as Named, Sym};

/// `(B, T, H, D)` as `(B*H, T, D)`; one size is left for the library to find.
fn heads_in_front<T: Layout>(tracker: &T) -> Result<T, T::Error> {
    let [_, tokens, _, width] = tracker.shape() else { unreachable!("four axes") };
    let shape = vec![T::Number::from(-1), tokens.clone(), width.clone()];
    tracker.apply(&MovementOf::Permute([0, 2, 1, 3].into()))?.apply(&MovementOf::Reshape(shape.into()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers = heads_in_front(&ShapeTracker::contiguous([2, 5, 4, 8])?)?;
    println!("{numbers} ({} views)", numbers.view_count());

    let [batch, tokens] = ["B", "T"].map(|name| Sym::new(name, 1..4097));
    let named = heads_in_front(&Named::contiguous([batch, tokens, Sym::from(4), Sym::from(8)])?)?;
    println!("{named} ({} views)", named.view_count());

    // At values of the names it is the layout of numbers.
    assert_eq!(named.at([("B", 2), ("T", 5)])?, numbers);
    Ok(())
}
