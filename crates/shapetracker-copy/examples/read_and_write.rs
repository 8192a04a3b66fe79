//! The example on the front page of the documentation.

use shapetracker::ShapeTracker;
use shapetracker_copy::{Plan, Threads};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two views: a transpose, reshaped. NumPy would copy it to reshape it, and again for what comes next.
    let st = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([3, 2])?.pad([(0, 0), (1, 0)])?;
    let plan = Plan::new(&st, size_of::<f32>())?;

    // Made once, run on any buffer: one pass, whatever the layout.
    let tensor = plan.read(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0f32], -1.0, &Threads::one())?;
    assert_eq!(tensor, [-1.0, 0.0, 2.0, -1.0, 4.0, 1.0, -1.0, 3.0, 5.0]);

    // And back, where no two indices share an address.
    let mut buffer = [0.0; 6];
    plan.write(&tensor, &mut buffer, &Threads::one())?;
    assert_eq!(buffer, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    Ok(())
}
