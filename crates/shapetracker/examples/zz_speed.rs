use std::time::Instant;
fn main() {
    let texts: Vec<String> = vec![
        "(8, 64, 56, 56).pad((0, 0), (0, 0), (1, 1), (1, 1)).shrink((0, 8), (0, 64), (0, 57), (1, 58)).flip(2, 3)".into(),
        "(3, 2).permute(1, 0).reshape(3, 2)".into(),
        "torch.zeros(2, 3, 4).transpose(0, 1).reshape(6, 4)[1:, ::2].T".into(),
        "x = np.zeros((2, 3, 4))\nB, T, C = x.shape\ny = x.reshape(B, T * C).T\n".into(),
        "View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False)".into(),
        format!("(2, 3, 4){}", ".permute(1, 2, 0).reshape(4, 3, 2).permute(2, 1, 0)".repeat(200)),
        format!("(2, 3, 4){}", ".T".repeat(2000)),
        "rearrange(torch.zeros(2, 8, 3), 'b (h d) c -> b h c d', h=2)".into(),
    ];
    let mut best = vec![f64::MAX; texts.len()];
    for _ in 0..30 {
        for (i, t) in texts.iter().enumerate() {
            let n = 200000 / (t.len() + 100) + 1;
            let begin = Instant::now();
            for _ in 0..n { std::hint::black_box(std::hint::black_box(t).parse::<shapetracker::Chain>().unwrap()); }
            best[i] = best[i].min(begin.elapsed().as_secs_f64() / n as f64);
        }
    }
    for b in best { print!("{:.2} ", b * 1e6); }
    println!();
}
