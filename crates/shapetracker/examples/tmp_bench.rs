use shapetracker::*;
use std::time::Instant;
fn edges(n: i64, k: i64) -> Vec<i64> {
    let k = k.min(n).max(1);
    (0..=k).map(|i| (n as i128 * i as i128 / k as i128) as i64).collect()
}
fn main() {
    let cases = [
        "(1000000, 1000000)",
        "(1000000,1000000).permute(1,0)",
        "(1000000,1000000).permute(1,0).reshape(1000000000000)",
        "(1000000,1000000).permute(1,0).reshape(500000,2000000)",
        "(1000000,1000000).permute(1,0).reshape(640000,1562500)",
        "(1000,1000).permute(1,0).reshape(1000000)",
        "(1009,991).permute(1,0).reshape(1009, 991)",
        "(12345,54321).permute(1,0).reshape(12345,54321)",
        "(100003,100019).permute(1,0).reshape(100003,100019)",
        "(1000,1000,1000).permute(2,0,1).reshape(1000000,1000).permute(1,0).reshape(1000000000)",
        "(1000,1000,1000).permute(2,0,1).reshape(1000000,1000).permute(1,0).reshape(31250,32000)",
        "(64,56,56).pad((0,0),(1,1),(1,1)).as_strided((64,56,3,56,3),(3364,58,58,1,1)).permute(0,2,4,1,3).reshape(576,3136)",
        "(32,2048,32,128).permute(0,2,1,3).reshape(65536,4096)",
        "(16,128,56,56).permute(0,2,3,1).pad((0,0),(1,1),(1,1),(0,0)).reshape(16,58*58*128)",
        "(16,128,56,56).permute(0,2,3,1).pad((0,0),(1,1),(1,1),(0,0)).reshape(6889472)",
        "(16,128,56,56).permute(0,2,3,1).pad((0,0),(1,1),(1,1),(0,0)).reshape(53824,128)",
        "(1000000,1000000).pad((1,1),(1,1)).permute(1,0).reshape(1000004000004)",
        "(1000000,1000000).pad((1,1),(1,1)).permute(1,0).reshape(1002,1002,998,1002).permute(0,2,1,3)",
        "(2,3,5,7,11,13,17,19).permute(7,5,3,1,6,4,2,0).reshape(9699690)",
        "(2,3,5,7,11,13,17,19).permute(7,5,3,1,6,4,2,0).reshape(3230,3003)",
        "(4096,4096).permute(1,0).reshape(16777216).flip(0).reshape(4096,4096).permute(1,0).reshape(2048,8192)",
    ];
    for text in cases {
        let Ok(st) =
            text.parse::<Chain>().map_err(|e| e.to_string()).and_then(|c| c.tracker().map_err(|e| e.to_string()))
        else {
            println!("bad {text}");
            continue;
        };
        let rank = st.rank();
        let (rows, cols): (Vec<usize>, Vec<usize>) =
            if rank == 1 { (vec![], vec![0]) } else { ((0..rank / 2).collect(), (rank / 2..rank).collect()) };
        let size = |axes: &[usize]| axes.iter().map(|a| st.shape()[*a]).product::<i64>();
        for k in [256i64, 100] {
            let (r, c) = if rank == 1 {
                (vec![0, 1], edges(size(&cols), k * k))
            } else {
                (edges(size(&rows), k), edges(size(&cols), k))
            };
            let (r, c) = (Joined::new(rows.clone(), r), Joined::new(cols.clone(), c));
            let fixed = vec![0; rank];
            let start = Instant::now();
            let found = st.summaries(0, &r, &c, &fixed);
            println!(
                "{:8.2} ms  {} views  {:7}  {:?} {text}",
                start.elapsed().as_secs_f64() * 1e3,
                st.views().len(),
                k,
                found.map(|f| f.len())
            );
        }
    }
}
