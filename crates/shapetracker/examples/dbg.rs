use shapetracker::*;
fn main() {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::stdin(), &mut text).unwrap();
    let st: ShapeTracker = if text.starts_with('{') {
        let v: serde_json::Value = serde_json::from_str(&text).unwrap();
        ShapeTracker::from_views(serde_json::from_value::<Vec<View>>(v["views"].clone()).unwrap()).unwrap()
    } else {
        text.trim().parse().unwrap()
    };
    println!("{:?}", st);
    let a = st.access().unwrap();
    println!("address {}", a.address().unwrap());
    for f in a.floors() {
        println!("floor {} / {}", f.numerator, f.divisor);
    }
    for c in a.conditions() {
        println!("cond {:?} <= {} <= {:?}", c.least, c.form, c.most);
    }
    println!("{:?}", st.real_strides());
    for a in 0..st.rank() as i64 {
        println!("{a} {:?}", st.axis_is_masked(a));
    }
    type F = fn(&ShapeTracker);
    let qs: [(&str, F); 7] = [
        ("access", |s| {
            let _ = s.access();
        }),
        ("strides", |s| {
            let _ = s.real_strides();
        }),
        ("masked", |s| {
            for a in 0..s.rank() as i64 {
                let _ = s.axis_is_masked(a);
            }
        }),
        ("collision", |s| {
            let _ = s.collision();
        }),
        ("range", |s| {
            let _ = s.address_range();
        }),
        ("invert", |s| {
            let _ = s.invert([s.views()[0].address_range().map_or(0, |(_, h)| h + 1)]);
        }),
        ("same", |s| {
            let axes: Vec<i64> = (0..s.rank() as i64).collect();
            let o = s.flip(&axes).unwrap().reshape([s.numel()]).unwrap().flip([0]).unwrap().reshape(s.shape()).unwrap();
            let _ = s.difference(&o);
        }),
    ];
    for (n, q) in qs {
        let mut best = std::time::Duration::MAX;
        for _ in 0..7 {
            let t = std::time::Instant::now();
            q(&st);
            best = best.min(t.elapsed());
        }
        println!("{n} {best:?}");
    }
}
