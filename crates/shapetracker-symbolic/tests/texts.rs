//! Chains with names mean what the integer library means by the same text with numbers in their place.

use std::sync::Arc;

use indexpr::Syntax;
use proptest::prelude::*;
use shapetracker_symbolic::Question;

/// Texts in which names stand where numbers may stand, so that a number in their place makes a chain of numbers.
const TEXTS: &[&str] = &[
    "(A, B, C).permute(2, 0, 1).reshape(C, A, B)",
    "(A, B, C).transpose(0, -1).flip(0, 2).flip(True, False, True)",
    "(A, B, C).T.mT.reshape(-1)",
    "(A, B).t().T.flatten()",
    "(A, B, C).flatten(1).ravel()",
    "(A, B, C).flatten(0, 1).moveaxis(0, 1).movedim(-1, 0)",
    "(A, B, C).swapaxes(0, 2).swapdims(-1, 1)[::-1, None, ..., 0]",
    "(A, B, C)[0, :, ::-1].unsqueeze(0).squeeze(0)",
    "(A, B)[-1].pad((B, 2)).flip(0)",
    "(A, B, C)[..., -1]",
    "(A, B).pad((1, C), (C, 0)).shrink((0, A), (C, B)).step(-1, 1)",
    "(A, B).pad(((1, C), None)).slice(1:, ::-1)",
    "(A, B)[1:A].slice(:, 0:B)",
    "(A, B).slice(:-1, 1:)",
    "(A, 1, B).expand(A, C, -1).reshape(A, C, B)",
    "torch.zeros(A, B).expand(C, -1, B).transpose(0, 1)",
    "np.zeros((A, B, C)).transpose(2, 1, 0).T",
    "Tensor.ones(A, B).T.transpose(0, 1).expand(C, A, B)",
    "torch.zeros(A, B).view(B, A).transpose((1, 0))",
    "torch.zeros(A, B).reshape(-1).as_strided((A, B), (B, 1), 0).T",
    "(A, B):(1, A).reshape(-1)",
    "(A, B):(B, 1) offset C mask ((0, A), (0, 1)).flip(1)",
    "View(shape=(A, B), strides=(1, A), offset=C, mask=None, contiguous=False).permute(1, 0)",
    "ShapeTracker(views=(View(shape=(A, B), strides=(1, A)), View(shape=(B, A), strides=(A, 1)))).T",
    "(B, A):(1, B) over (A, B):(1, A)",
    "((A, B), (1, A), C).T",
    "((2, A), B):((B, 1), 2).T",
    "(A, B, 1, C).squeeze().unsqueeze(-1).squeeze(3)",
    "(A).reshape(A, 1).broadcast_to(C, A, B)",
    "(6, A).reshape(3, 2, A).permute(1, 0, 2).reshape(2, 3, A)",
];

/// The text with numbers for names.
fn put(text: &str, values: &[(&str, i64)]) -> String {
    let mut result = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        if word == 0 {
            let len = rest.chars().next().map_or(1, char::len_utf8);
            result += &rest[..len];
            rest = &rest[len..];
        } else {
            let value = values.iter().find(|(name, _)| *name == &rest[..word]);
            result += &value.map_or_else(|| rest[..word].to_owned(), |(_, value)| value.to_string());
            rest = &rest[word..];
        }
    }
    result
}

#[test]
fn names_stand_for_numbers() {
    for text in TEXTS {
        let mut question = Question::default();
        let chain = question.chain(text).unwrap_or_else(|err| panic!("{err}"));
        let scope = Arc::new(question.scope().unwrap());
        let tracker = chain.tracker(&scope).unwrap_or_else(|err| panic!("{err}"));
        let mut tried = 0;
        for place in 0..125 {
            let values = [("A", 1 + place % 5), ("B", 1 + place / 5 % 5), ("C", 1 + place / 25)];
            let integers: shapetracker::Chain = put(text, &values).parse().unwrap_or_else(|err| panic!("{err}"));
            let known = values.into_iter().filter(|(name, _)| scope.find(name).is_some());
            // What is needed may be more than must be, but what can be done is done alike.
            let Ok(at) = tracker.at(known) else { continue };
            let expected = integers.tracker().unwrap_or_else(|err| panic!("{err}"));
            tried += 1;
            assert_eq!(at.shape(), expected.shape(), "{text} at {values:?}");
            let addresses = |tracker: &shapetracker::ShapeTracker| {
                let mut all = Vec::new();
                tracker.runs().for_each(|run| match run {
                    shapetracker::AddressRun::Valid { first, step, count } => {
                        all.extend((0..count).map(|place| Some(first + place * step)));
                    }
                    shapetracker::AddressRun::Masked { count } => all.extend((0..count).map(|_| None)),
                });
                all
            };
            assert_eq!(addresses(&at), addresses(&expected), "{text} at {values:?}");
        }
        assert!(tried > 0, "{text}");
    }
}

#[test]
fn what_is_printed_is_read() {
    for text in TEXTS {
        let mut question = Question::default();
        question.sizes("A, B, C").unwrap();
        let chain = question.chain(text).unwrap();
        let tracker = chain.tracker(&Arc::new(question.scope().unwrap())).unwrap();
        let printed = tracker.to_string();
        let chain = question.chain(&printed).unwrap_or_else(|err| panic!("{err}"));
        let again = chain.tracker(&Arc::new(question.scope().unwrap())).unwrap();
        assert_eq!(again.views(), tracker.views(), "{text}: {printed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: shapetracker_testing::held(20_000), failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is written, an answer or a sentence with a place in the text comes of it.
    #[test]
    fn nothing_panics(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "(", ")", "[", "]", ",", ":", ".", "..", "...", "=", "+", "-", "*", "**", "/", "//", "%", "<", "<=", "==", "!=",
                "A", "B", "T", "x", "1", "2", "-1", "0", "17", "T.", "reshape", ".permute", ".flatten", "offset", "mask", "over",
                "min(", "max(", " if ", " else ", " and ", "not ", "^", "FloorDiv(", "View", "ShapeTracker", "views", "None", "True", "torch", "zeros", "in", "while", " ", "\n", "é", "$",
                "170141183460469231731687303715884105727", ".T", ".pad(", ".slice(", ".as_strided(", "size=", "8:1",
            ]),
            0..24,
        ),
        split in 0_usize..24,
    ) {
        let text = parts.concat();
        let given = parts[split.min(parts.len())..].concat();
        for question in [Question::default()].into_iter().chain(Question::new([&given]).ok()) {
            let mut question = question;
            let _ = question.sizes(&text);
            let _ = question.number(&text);
            for syntax in [Syntax::Python, Syntax::C] {
                let read = question.clone().expression(&text, syntax);
                let _ = read.map(|read| read.simplify().text(syntax).map(|text| text.len())).map_err(|err| err.to_string());
            }
            if let Ok(chain) = question.chain(&text)
                && let Ok(scope) = question.scope()
            {
                let _ = chain.tracker(&Arc::new(scope)).map(|tracker| tracker.to_string()).map_err(|err| err.to_string());
            }
            let _ = question.scope().map_err(|err| err.to_string());
        }
    }
}
