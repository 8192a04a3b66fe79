use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};

fn main() -> Result<(), shapetracker_shard::Error> {
    let mesh = Mesh::new([("dp", 2), ("tp", 4)])?;
    let tensor = Sharded::new([8, 512, 1024], mesh, [Placement::Shard(0), Placement::Shard(1)])?;
    println!("{tensor}");
    Ok(())
}
