//! What is needed of the values, what is said where it cannot be known, and what is decided at values that an answer leaves open.

use std::sync::Arc;

use shapetracker_symbolic::{Answer, Literal, Pair, Question, one_view_at};

fn pair(earlier: &str, later: &str, conditions: &str) -> Result<Pair, String> {
    let mut question = Question::new(Some(conditions).filter(|text| !text.is_empty())).unwrap();
    let (earlier, later) = (question.chain(earlier).unwrap(), question.chain(later).unwrap());
    Pair::of_chains(&Arc::new(question.scope().unwrap()), &earlier, &later).map_err(|err| err.to_string())
}

fn needed(pair: &Pair, values: &[i128]) -> bool {
    pair.needs().iter().all(|need| need.holds(values) == Some(true))
}

fn texts(pair: &Pair) -> Vec<String> {
    pair.needs().iter().map(|need: &Literal| need.text(pair.scope())).collect()
}

/// Found by an audit: at C = 0 there is no element to read, whatever the offset is.
#[test]
fn nothing_is_needed_where_nothing_is_read() {
    let found = pair("(2, 1, 2*C):(2*C, 2*C, 1)", "(2*C):(2*C) offset C", "C=0..").unwrap();
    assert!(needed(&found, &[0]) && needed(&found, &[1]) && !needed(&found, &[2]), "{:?}", texts(&found));
    assert_eq!(one_view_at(found.scope(), &found.views().map(Clone::clone), &[0]).map(|one| one.is_some()), Some(true));
    assert_ne!(found.answer().is_one_at(found.scope(), &[0]), Some(false));
    // Where C is at least 1, as it is by default, the need is what it was.
    let found = pair("(2, 1, 2*C):(2*C, 2*C, 1)", "(2*C):(2*C) offset C", "").unwrap();
    assert_eq!(texts(&found), ["5*C >= 4*C**2 + 1"]);
    // An empty mask reads nothing, either.
    let found = pair("(4):(1)", "(4):(1) offset 4 mask ((0, C))", "C=0..5").unwrap();
    assert!(needed(&found, &[0]) && (1..5).all(|c| !needed(&found, &[c])), "{:?}", texts(&found));
}

/// Found by an audit: a stride whose sign is not known is refused with what to write.
#[test]
fn an_unknown_sign_is_refused_with_what_to_write() {
    let err = pair("(4, 6)", "(2):(B)", "").unwrap_err();
    for words in ["the sign of stride B of axis 0", "--where \"B=0..\"", "where=\"B=0..\"", "Sym(\"B\", 0)"] {
        assert!(err.contains(words), "{words}: {err}");
    }
    assert_eq!(texts(&pair("(4, 6)", "(2):(B)", "B=0..").unwrap()), ["B <= 23"]);
    // Of names that are not negative the difference may be: that is said as a condition.
    let err = pair("(4, 6)", "(2):(A-B)", "A=0.., B=0..").unwrap_err();
    assert!(err.contains("--where \"A >= B\"") && !err.contains("Sym"), "{err}");
    assert!(pair("(4, 6)", "(2):(A-B)", "A=0.., B=0.., A >= B").is_ok());
    // A stride that is not negative where there is anything to read.
    assert!(pair("(4, 6)", "(C):(C-1)", "C=0..").is_ok());
}

/// Found by an audit: what an answer leaves open is decided at values by the integers.
#[test]
fn values_of_an_undecided_answer_are_decided_by_the_integers() {
    let text = "(A, A, A).pad((1, 1), (0, 0), (0, 0)).permute(2, 0, 1).reshape(A, 1+A+1, A).reshape(A*(1+A+1), A)\
                .pad((0, 0), (2, 1)).reshape(A*(1+A+1)*(2+A+1))";
    let mut question = Question::default();
    let chain = question.chain(text).unwrap();
    let tracker = chain.tracker(&Arc::new(question.scope().unwrap())).unwrap();
    let answer = tracker.single_view();
    assert!(matches!(answer, Answer::Undecided { .. }), "{answer:?}");
    for a in 1..6 {
        let integers = tracker.at_point(&[a]).unwrap().single_view();
        let one = one_view_at(tracker.scope(), tracker.views(), &[a]).unwrap();
        assert_eq!(one.is_some(), integers.is_ok(), "A = {a}");
        if let Some(known) = answer.is_one_at(tracker.scope(), &[a]) {
            assert_eq!(known, one.is_some(), "A = {a}");
        }
    }
}
