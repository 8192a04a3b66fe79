//! Short texts that ask for very large polynomials: what is done for one is counted, and where it is too much that is said.

use std::sync::Arc;

use proptest::prelude::*;

use crate::poly::{MOST_STEPS, bounded, counted};
use crate::{Answer, Pair, Question, ShapeTracker};

/// All that `explain` asks of a chain, or the first reason why it has no answer.
fn explained(text: &str) -> Result<(), String> {
    let mut question = Question::default();
    let chain = question.chain(text).map_err(|err| err.message().to_owned())?;
    let scope = Arc::new(question.scope().map_err(|err| err.message().to_owned())?);
    let tracker = chain.tracker(&scope).map_err(|err| err.to_string())?;
    tracker.single_view();
    tracker.index_expr().map_err(|err| err.to_string())?;
    Ok(())
}

/// Asserts that a text is answered, or refused for its size, within the steps of its questions: the chain, whether it is one
/// view, its index, and as much again for reading the text and its names.
fn is_counted(text: &str) -> Result<(), String> {
    assert!(text.len() <= 200, "{text}");
    let (outcome, steps) = counted(|| explained(text));
    assert!(steps <= 5 * MOST_STEPS, "{steps} steps: {text}");
    outcome
}

fn is_too_large(reason: &str) -> bool {
    let reasons = ["has more terms than are computed with, which is 2048", "steps, each of one term", "16 factors"];
    reasons.iter().any(|known| reason.contains(known))
}

#[test]
fn powers_and_products_of_sums_say_how_large_they_are() {
    for text in [
        "((a+b+c+d+e+f)**16,2)",
        "((a+b+c+d+e)**16,2)",
        "((a+b+c+d+e+f)**10,2)",
        "((a0+b0)*(a1+b1)*(a2+b2)*(a3+b3)*(a4+b4)*(a5+b5)*(a6+b6)*(a7+b7)*(a8+b8)*(a9+b9)*(a10+b10)*(a11+b11),2)",
        "((a+b+c+d)**8,(e+f+g+h)**8).permute(1,0).reshape(-1)",
        "((L+V+j+G+W+N)**12,C,B)",
        "(G,).reshape((A*(F+B+E+G+A+D)**11-((D+E+C+G+F+A+B)-(F-B)*(A+B))))",
        "(E,(C+E+B+A+D)**7,(D+A+E+B+F+C)**7).reshape(-1)",
        "((d*(E+b+F+f)**14*(W+V+M+R+h+E+P)+(f+N+X+A+Z)**16),E).shrink((1,(n+e)),(1,(f+b+V+K+N+A+I)**15))",
    ] {
        let reason = is_counted(text).expect_err(text);
        assert!(is_too_large(&reason), "{text}: {reason}");
    }
    let reason = is_counted("((a+b+c+d+e+f)**16,2)").unwrap_err();
    assert_eq!(reason, "a polynomial of 3003 terms has more terms than are computed with, which is 2048");
}

/// All that `check` asks of a shape and another one.
fn checked(from: &str, to: &str) -> Result<Pair, String> {
    let mut question = Question::default();
    let mut sizes = |text| question.sizes(text).map_err(|err| err.message().to_owned());
    let (from, to) = (sizes(from)?, sizes(to)?);
    let scope = Arc::new(question.scope().map_err(|err| err.message().to_owned())?);
    let view = ShapeTracker::in_scope(scope.clone(), from).map_err(|err| err.to_string())?.views()[0].clone();
    Pair::of_reshape(scope, view, to).map_err(|err| err.to_string())
}

/// Asked one by one, the questions of this text take 50 million steps, and half a second.
#[test]
fn all_that_is_asked_of_a_text_is_within_one_limit() {
    let ask = || checked("B,D,9,(E+H-2)*1000,B,(E+F)**8*(H+D+B-65536)", "4,(E*9+F*4)*(C+F)*E*H,A");
    let (alone, steps) = counted(ask);
    assert!(matches!(alone.unwrap().answer(), Answer::Undecided { .. }) && steps > 4 * MOST_STEPS, "{steps}");
    let (together, steps) = counted(|| bounded(ask));
    assert!(steps <= MOST_STEPS + MOST_STEPS / 2, "{steps}");
    let reason = together.unwrap_err();
    assert!(is_too_large(&reason), "{reason}");
}

#[test]
fn what_is_large_and_not_too_large_is_answered() {
    for text in [
        "((a+b+c+d)**16,2)",
        "((a+b+c+d+e)**12,2)",
        "((a+b+c+d)**4,(e+f+g+h)**4).permute(1,0).reshape(-1)",
        "(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P).permute(15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0)",
        "(A,B,C,D,E,F,G,H,I,J,K,L,M).flip(0,3,6,7,9,10).permute(12,11,10,9,8,7,6,5,4,3,2,1,0)",
    ] {
        assert_eq!(is_counted(text), Ok(()), "{text}");
    }
}

/// A size made of sums, products and powers.
fn size() -> impl Strategy<Value = String> {
    "[a-h]".prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..7).prop_map(|sizes| format!("({})", sizes.join("+"))),
            (inner.clone(), 2..17).prop_map(|(size, power)| format!("({size})**{power}")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("{a}*({b})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_short_text_is_counted(sizes in prop::collection::vec(size(), 2..4), flat in any::<bool>()) {
        let axes: Vec<String> = (0..sizes.len()).rev().map(|axis| axis.to_string()).collect();
        let tail = if flat { ".reshape(-1)" } else { "" };
        let text = format!("({}).permute({}){tail}", sizes.join(","), axes.join(","));
        prop_assume!(text.len() <= 200);
        if let Err(reason) = is_counted(&text) {
            // Code of 64 bits is another limit of large polynomials.
            prop_assert!(is_too_large(&reason) || reason.contains("64 bits"), "{text}: {reason}");
        }
    }
}
