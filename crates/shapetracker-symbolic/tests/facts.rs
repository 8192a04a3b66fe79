//! Known answers.

use shapetracker_symbolic::{Answer, Poly, Scope, View, formula_text, merge};

/// A polynomial of a text such as `2*T*H - 1`; names that the scope does not have are sizes of at least 1.
fn poly(scope: &mut Scope, text: &str) -> Poly {
    let mut sum = Poly::from(0_i64);
    for term in text.replace(" - ", " + -").split(" + ") {
        let (sign, term) = term.strip_prefix('-').map_or((1_i64, term), |term| (-1, term));
        let mut product = Poly::from(sign);
        for factor in term.split('*') {
            let factor = match factor.parse::<i64>() {
                Ok(number) => Poly::from(number),
                Err(_) => {
                    if scope.find(factor).is_none() {
                        scope.declare(factor, Some(1), None);
                    }
                    scope.find(factor).unwrap()
                }
            };
            product = product.mul(&factor).unwrap();
        }
        sum = sum.add(&product).unwrap();
    }
    sum
}

fn polys(scope: &mut Scope, text: &str) -> Vec<Poly> {
    text.split(", ").map(|text| poly(scope, text)).collect()
}

fn view(scope: &mut Scope, shape: &str, strides: &str) -> View {
    View { shape: polys(scope, shape), strides: polys(scope, strides), offset: Poly::from(0_i64), mask: None }
}

fn row_major(scope: &mut Scope, shape: &str) -> View {
    let shape = polys(scope, shape);
    let mut strides = Vec::new();
    let mut weight = Poly::from(1_i64);
    for size in shape.iter().rev() {
        strides.insert(0, weight.clone());
        weight = weight.mul(size).unwrap();
    }
    View { shape, strides, offset: Poly::from(0_i64), mask: None }
}

fn say(scope: &Scope, answer: &Answer) -> String {
    match answer {
        Answer::Always { view: Some(view), .. } => format!("always {}", view.text(scope)),
        Answer::Always { .. } => "always, by cases".into(),
        Answer::When { formula, .. } => formula_text(formula, scope),
        Answer::Never { .. } => "never".into(),
        Answer::Undecided { reason, formula, .. } => format!("undecided: {reason}; {}", formula_text(formula, scope)),
    }
}

#[test]
fn facts() {
    let mut cases: Vec<(&str, String)> = Vec::new();
    let mut reshape = |name: &'static str, shape: &str, strides: &str, to: &str| {
        let mut scope = Scope::new();
        let a = view(&mut scope, shape, strides);
        let b = row_major(&mut scope, to);
        let start = std::time::Instant::now();
        let answer = merge(&scope, &[], &a, &b);
        let first = start.elapsed();
        let start = std::time::Instant::now();
        for _ in 0..20 {
            std::hint::black_box(merge(&scope, &[], &a, &b));
        }
        println!("{:>9.1?} {:>9.1?} {name}: {}", first, start.elapsed() / 20, say(&scope, &answer));
        cases.push((name, say(&scope, &answer)));
    };
    reshape("BTHD perm as (B,HT,D)", "B, H, T, D", "T*H*D, D, H*D, 1", "B, H*T, D");
    reshape("as (BH,T,D)", "B, H, T, D", "T*H*D, D, H*D, 1", "B*H, T, D");
    reshape("flatten", "B, H, T, D", "T*H*D, D, H*D, 1", "B*H*T*D");
    reshape("BHTD perm (B,T,HD)", "B, T, H, D", "H*T*D, D, T*D, 1", "B, T, H*D");
    reshape("QKV split", "B, T, 3*H*D", "T*3*H*D, 3*H*D, 1", "B, T, 3, H, D");
    reshape("k as (BH,T,D)", "B, H, T, D", "3*T*H*D, D, 3*H*D, 1", "B*H, T, D");
    reshape("expand G", "B, H, G, T, D", "H*T*D, T*D, 0, D, 1", "B, H*G, T, D");
    reshape("expand B flat", "B, T", "0, 1", "B*T");
    reshape("patches", "B, h, w, C, p, q", "C*h*p*w*q, p*w*q, q, h*p*w*q, w*q, 1", "B, h*w, C*p*q");
    reshape("(H,T):(1,H) flat", "H, T", "1, H", "H*T");
}
