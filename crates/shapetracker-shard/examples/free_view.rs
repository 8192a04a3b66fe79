//! Heads of an attention on a mesh of 2 by 4 devices.

use shapetracker_shard::{Check, Mesh, Outcome, Placement, Sharded};

fn main() -> Result<(), shapetracker_shard::Error> {
    // Batches over `dp`, sequences over `tp`; rows of both as one axis: parts of each batch.
    let mesh = Mesh::new([("dp", 2), ("tp", 4)])?;
    let hidden = Sharded::new([8, 512, 1024], mesh.clone(), [Placement::Shard(0), Placement::Shard(1)])?;
    let Outcome::Free { after } = hidden.reshape([4096, 1024])? else { panic!("no element moves") };
    assert_eq!(after.to_string(), "(4096, 1024) @ dp=2, tp=4 : S(0), SS(0, 4)");

    // A claim is proved, or refuted with a device and an element that anyone can check.
    let claimed = Sharded::new([4096, 1024], mesh, [Placement::Shard(0), Placement::Shard(0)])?;
    let Check::Refuted(why) = hidden.check(&claimed)? else {
        panic!("a quarter of each batch is not a quarter of all")
    };
    assert_eq!(
        why.to_string(),
        "device (dp=0, tp=1): local element 0 is element (0, 128, 0) of shape (8, 512, 1024), which is (128, 0) of shape \
         (4096, 1024), where (512, 0) is claimed",
    );

    // Queries, keys and values as one axis of 3 * 8 * 128, in quarters: heads are no quarters of it.
    let fused = Sharded::new([16, 3072], Mesh::new([("tp", 4)])?, [Placement::Shard(1)])?;
    let Outcome::Moves { why } = fused.reshape([16, 3, 8, 128])? else { panic!("device 0 has 6 heads of 8 queries") };
    println!("{why}");
    let (target, moved) = fused.cheapest([16, 3, 8, 128])?.expect("a tensor with axes");
    println!("{} bytes of bfloat16, to {target}", moved.bytes(2));
    Ok(())
}
