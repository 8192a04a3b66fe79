//! Samples of requests with their answers, as a file of TypeScript that the types of the npm package, which the page has too, are
//! checked against.
//!
//! `npm/src/engine.ts` describes requests and answers by hand. The samples are written as object literals with the types
//! that it gives them, so that `tsc` fails where the engine answers with a field that the types do not have,
//! without one that they demand, or with a value of another type. This test fails when the file is not what the engine
//! answers now: `BLESS=1 cargo test -p shapetracker-wasm` writes it again.

use std::collections::BTreeSet;
use std::fmt::Write;

use shapetracker::expr::Language;

use crate::answer::answered;
use crate::json::{Answer, Value, parse};

/// Requests that together have every kind of answer, every kind of part, and every kind of number.
const REQUESTS: &[&str] = &[
    r#"{"op":"chain","text":"(3, 2).permute(1, 0).reshape(3, 2)"}"#,
    r#"{"op":"chain","text":"(4).pad((1, 1)).reshape(2, 3)","base":null}"#,
    r#"{"op":"chain","text":"(3, 2).permute(1, 0).reshape(6).reshape(2, 3).permute(1, 0)"}"#,
    r#"{"op":"chain","text":"(3, 2).flip(0).reshape(4).step(2, 1)"}"#,
    r#"{"op":"chain","text":"(3, 2).permut(1, 0)"}"#,
    r#"{"op":"chain","text":"x.transpose(0, 1)","base":[3,"2"]}"#,
    r#"{"op":"chain","text":"flip(0)"}"#,
    r#"{"op":"chain","text":"(3, 2).permute(1, 0).contiguous().reshape(6)"}"#,
    r#"{"op":"chain","text":"(3, 2).permute(1, 0"}"#,
    r#"{"op":"chain","text":"((2, 4), 8):((1, 16), 2)"}"#,
    r#"{"op":"chain","text":"(2, 2):(9007199254740993, 1) offset -5"}"#,
    r#"{"op":"chain","text":"(2):(-9223372036854775807) offset 9223372036854775807"}"#,
    r#"{"op":"expression","source":{"chain":"(3, 2).permute(1, 0).reshape(3, 2)"}}"#,
    r#"{"op":"expression","source":{"chain":"(4).pad((1, 1)).reshape(2, 3)"}}"#,
    r#"{"op":"expression","source":{"chain":"(2):(-9223372036854775807) offset 9223372036854775807"}}"#,
    r#"{"op":"evaluate","source":{"chain":"(3, 2).permute(1, 0).reshape(3, 2)"},"index":[2,0]}"#,
    r#"{"op":"evaluate","source":{"index":"x // 2","variables":[{"name":"x","begin":-4,"end":4}]},"index":[1]}"#,
    r#"{"op":"trace","source":{"chain":"(3, 2).permute(1, 0).reshape(3, 2)"},"index":[2,0]}"#,
    r#"{"op":"trace","source":{"chain":"pad((1, 1))","base":[2]},"index":[0]}"#,
    r#"{"op":"tile","source":{"chain":"(2).pad((1, 0)).unsqueeze(0)"},"rows":[0],"columns":[1],"fixed":[0,0],"row":{"begin":0,"end":1},"column":{"begin":0,"end":3,"step":2},"counts":true}"#,
    r#"{"op":"tile","source":{"chain":"(2).pad((1, 0)).unsqueeze(0)"},"rows":[0],"columns":[1],"fixed":[0,0],"row":{"begin":0,"end":1},"column":{"begin":0,"end":3},"view":0}"#,
    r#"{"op":"tile","source":{"chain":"(2):(9007199254740993)"},"rows":[0],"columns":[],"fixed":["0"],"row":{"begin":"0","end":2},"column":{"begin":0,"end":1}}"#,
    r#"{"op":"tile","source":{"chain":"(5000, 5000, 5000).permute(2, 0, 1).reshape(125000000000)"},"rows":[],"columns":[0],"fixed":[0],"row":{"begin":0,"end":1},"column":{"begin":0,"end":3},"counts":true}"#,
    r#"{"op":"summary","source":{"chain":"(2, 4).pad((0, 1), (0, 2))"},"rows":[0],"columns":[1],"fixed":[0,0],"row":[0,2,3],"column":[0,3,"6"]}"#,
    r#"{"op":"summary","source":{"chain":"(5000, 5000, 5000).permute(2, 0, 1).reshape(125000000000)"},"rows":[],"columns":[0],"fixed":[0],"row":[0,1],"column":[0,25000000,50000000],"view":0}"#,
    r#"{"op":"summary","source":{"index":"x % 3","variables":[{"name":"x","begin":0,"end":1000000000000}]},"rows":[],"columns":[0],"fixed":[0],"row":[0,1],"column":[0,1000000000000]}"#,
    r#"{"op":"coverage","source":{"chain":"(2).expand(2)"},"begin":0,"end":4,"buckets":4}"#,
    r#"{"op":"coverage","source":{"chain":"(5000, 5000, 5000).permute(2, 0, 1).reshape(125000000000)"},"begin":0,"end":4,"buckets":2}"#,
    r#"{"op":"coverage","source":{"index":"x % 3","variables":[{"name":"x","begin":0,"end":1000000000000}]},"begin":0,"end":4,"buckets":2}"#,
    r#"{"op":"readers","source":{"chain":"(3, 2).permute(1, 0)"},"address":"3","limit":10}"#,
    r#"{"op":"readers","source":{"chain":"(1).expand(9)"},"address":0,"limit":2}"#,
    r#"{"op":"free","index":"4*y + x - min(x, 2) + max(y % 3, x // 2) + (x if y < 1 else 3)","valid":"(0 <= x - y < 3 or not x == 2 or x > y) and x != 1 and y <= 3 and (x >= 1 or True)","variables":[{"name":"y","begin":0,"end":5},{"name":"x","begin":0,"end":4}]}"#,
    r#"{"op":"free","index":"x / 2","valid":null,"variables":[{"name":"x","begin":0,"end":"9007199254740993"}],"syntax":"c"}"#,
    r#"{"op":"free","index":"3","valid":"False","variables":[]}"#,
    r#"{"op":"compare","a":{"chain":"(3, 2)"},"b":{"chain":"(2, 3).permute(1, 0)"},"width":4,"line":64}"#,
    r#"{"op":"compare","a":{"chain":"(3)"},"b":{"chain":"(2).pad((0, 1))"},"width":4,"line":64}"#,
    r#"{"op":"compare","a":{"chain":"(3)"},"b":{"index":"2*x","variables":[{"name":"x","begin":0,"end":2}]},"width":4,"line":64}"#,
    r#"{"op":"compare","a":{"chain":"(100000, 100000)"},"b":{"chain":"(100000, 100000)"},"width":4,"line":64}"#,
    r#"{"op":"compare","a":{"chain":"(1000000000)"},"b":{"index":"x","variables":[{"name":"x","begin":0,"end":1000000000}]},"width":4,"line":64}"#,
    r#"{"op":"free","index":"x ^ y","valid":"True","variables":[{"name":"y","begin":0,"end":5},{"name":"x","begin":0,"end":4}]}"#,
    r#"{"op":"kernel","layouts":["(2,4):(1,2)","(2,2):(32,1)"],"bytes":4}"#,
    r#"{"op":"kernel","layouts":["Sw<1,0,5> o 0 o (2,2):(32,1)"],"bytes":4,"vector":1,"shown":0,"warp":0,"value":1}"#,
    r#"{"op":"kernel","layouts":[],"bytes":4}"#,
    r#"{"op":"kernel","layouts":["2:-32"],"bytes":4,"vector":1}"#,
    r#"{"op":"kernel","layouts":["2:1048576"],"bytes":4,"vector":1}"#,
    r#"{"op":"kernel","layouts":["(2,4):(1,2)","(2,4"],"bytes":4}"#,
    r#"{"op":"kernel","layouts":["(2,4):(1,2)"],"bytes":3}"#,
    r#"{"op":"kernel","layouts":["Sw<1,0,1> o 0 o (2,4):(4,1)"],"bytes":4,"vector":1,"threads":1}"#,
    r#"{"op":"kernel","layouts":["4:1"],"bytes":4,"threads":1}"#,
    r#"{"op":"algebra","operation":"compose","layout":"(6,2):(8,2)","by":"(4,3):(3,1)"}"#,
    r#"{"op":"algebra","operation":"zipped_divide","layout":"(4,6):(6,1)","by":"(2,3)"}"#,
    r#"{"op":"algebra","operation":"raked_product","layout":"(2,2):(1,2)","by":"(2,1)"}"#,
    r#"{"op":"algebra","operation":"compose","layout":"(6,2):(1,7)","by":"(3,2):(2,3)"}"#,
    r#"{"op":"algebra","operation":"compose","layout":"(6,2):(1,","by":"3"}"#,
    r#"{"op":"owners","layout":"((2,2),2):((1,4),2)","shape":"(2,4)"}"#,
    r#"{"op":"owners","layout":"(2,2):(0,1)","shape":"(3,1)"}"#,
    r#"{"op":"owners","layout":"(2,2):(4,1)","shape":"(2,2)"}"#,
    r#"{"op":"owners","layout":"(2,2):(2,1)","shape":"4"}"#,
    r#"{"op":"code","source":{"chain":"(3, 2).flip(0)"},"language":"c","kernel":true}"#,
    r#"{"op":"code","source":{"chain":"flip(0)","base":[3]},"language":"numpy"}"#,
    r#"{"op":"json","source":{"chain":"(3, 2).permute(1, 0)"}}"#,
    r#"{"op":"trace","source":{"chain":"(3, 2).flip(2)"},"index":[0,0]}"#,
    r#"{"op":"evaluate","source":{"chain":"(3, 2).flp(2)"},"index":[0,0]}"#,
    r#"{"op":"readers","source":{"chain":"(3)"},"address":"x","limit":10}"#,
    r#"{"op":"tile","source":{"chain":"(3000, 3000)"},"rows":[0],"columns":[1],"fixed":[0,0],"row":{"begin":0,"end":3000},"column":{"begin":0,"end":3000}}"#,
    r#"{"op":"coverage","source":{"chain":""},"begin":0,"end":4,"buckets":4}"#,
    r#"{"op":"free","index":"x +","valid":"","variables":[{"name":"x","begin":0,"end":3}]}"#,
    r#"{"op":"free","index":"x","valid":"x","variables":[{"name":"x","begin":0,"end":3}]}"#,
    r#"{"op":"free","index":"x","variables":[{"name":"x","begin":0,"end":0}]}"#,
    r#"{"op":"compare","a":{"chain":"(3"},"b":{"chain":"(3)"},"width":4,"line":64}"#,
    r#"{"op":"compare","a":{"chain":"(3)"},"b":{"index":"x","variables":[]},"width":4,"line":64}"#,
    r#"{"op":"code","source":{"chain":"(3)"},"language":"mlir","kernel":true}"#,
    r#"{"op":"json","source":{"chain":"(3).reshape(2)"}}"#,
    r#"{"op":"advice","source":{"chain":"torch.arange(6).reshape(3, 2).permute(1, 0).view(6)"}}"#,
    r#"{"op":"advice","source":{"chain":"(3, 5).reshape(1, 15).expand(8, 15).reshape(4, 30)"}}"#,
    r#"{"op":"advice","source":{"chain":"(4, 6).flip(0)"}}"#,
    r#"{"op":"advice","source":{"chain":"(3, 2):(1, 3)"}}"#,
    r#"{"op":"advice","source":{"chain":"(2):(-1) offset 1"}}"#,
    r#"{"op":"advice","source":{"chain":"x.transpose(1, 2).view(8, 15)","base":[8,3,5]}}"#,
    r#"{"op":"advice","source":{"chain":"np.arange(6).reshape(3, 2).transpose().reshape(6).reshape(2, 3).T"}}"#,
    r#"{"op":"advice","source":{"chain":"(4).pad((1, 1)).reshape(2, 3)"}}"#,
    r#"{"op":"advice","source":{"index":"4*y + x - x // 4","valid":"x < 3","variables":[{"name":"y","begin":0,"end":3},{"name":"x","begin":0,"end":4}]}}"#,
    r#"{"op":"advice","source":{"index":"(x + y) % 5","variables":[{"name":"y","begin":1,"end":3},{"name":"x","begin":0,"end":4}]}}"#,
    r#"{"op":"advice","source":{"index":"x // 999999999999","variables":[{"name":"x","begin":0,"end":"9007199254740993"}]}}"#,
    r#"{"op":"advice","source":{"chain":"(2).flp(0)"}}"#,
    r#"{"op":"thread","source":{"chain":"(3, 2).pad((1, 0), (0, 0)).permute(1, 0).reshape(8).shrink((2, 8))"},"step":2,"index":[1,3]}"#,
    r#"{"op":"thread","source":{"chain":"(3, 2).pad((1, 0), (0, 0)).permute(1, 0).reshape(8).shrink((2, 8))"},"step":3,"index":["0"]}"#,
    r#"{"op":"operations"}"#,
    r#"{"op":"names","text":"(H, T).permute(1, 0).reshape(-1)","where":"T=1..4097"}"#,
    r#"{"op":"names","text":"(B, T).reshape(T*B)","where":"","values":{"B":2,"T":3}}"#,
    r#"{"op":"names","text":"(H, T).T.reshape(H*T)","where":"","values":{"H":5}}"#,
    r#"{"op":"names","text":"(2, T).permute(1, 0).reshape(2*T)","where":"T=2..","values":{"T":1}}"#,
    r#"{"op":"names","text":"(H, T).permute(1, 2)","where":""}"#,
    r#"{"op":"names","text":"(H, T)","where":"H=3..2"}"#,
    r#"{"op":"nest","text":"y[i] += x[i + k] * w[k] if i < 6; x = (8,).pad((1, 1)); w = (3,); y = (8,)","at":[1,2],"access":1,"index":[1]}"#,
    r#"{"op":"nest","text":"B[i] = A[i]; A = (2, 4).T.reshape(8); B = (8,)"}"#,
    r#"{"op":"nest","text":"B[i, j] += A[i % 3 * j, 0]; A = (1048576, 1048576); B = (3, 1048576)","access":0,"index":[2,3]}"#,
    r#"{"op":"nest","text":"B[i] = A[i]; A = (n,); B = (n,)","values":{"n":0}}"#,
    r#"{"op":"nest","text":"C[i, j] += A[i, k] * B[k, j]; A = (M, K); B = (K, 2*N); C = (M, 2*N)","values":{"M":5},"at":[4],"access":1,"index":[4,1]}"#,
    r#"{"op":"nest","text":"Y[r, c] = X[r, c]; X = (B, H, T, D).permute(0, 2, 1, 3).reshape(B*T, H*D); Y = (B*T, H*D)","where":"T % 4 == 0"}"#,
    r#"{"op":"nest","text":"B[i] = A[i]; A = (n,); B = (n,)","where":"n % 4 == 0","values":{"n":6}}"#,
    r#"{"op":"nest","text":"B[i] = A[i]; A = (n,); B = (n,)","where":"n=3..2"}"#,
    r#"{"op":"nest","text":"B[i] = A[i]; B = (8,)"}"#,
    r#"{"op":"variables","text":"(((((ridx0*2)+ridx1)%3)*2)+(((ridx0*2)+ridx1)//3))"}"#,
    r#"{"op":"variables","text":"x.permute(1, 0)"}"#,
    r#"{"op":"free","index":"ridx0*2 + ridx1","valid":"1","variables":[{"name":"ridx0","begin":0,"end":2},{"name":"ridx1","begin":0,"end":2}]}"#,
    r#"{"op":"describe","source":{"chain":"(8, 32, 32, 3).permute(0, 3, 1, 2)"}}"#,
    r#"{"op":"describe","source":{"chain":"(64, 25)"},"bytes":2}"#,
    r#"{"op":"chain","text":"x.transpose(0, 1).view(6)","base":[2,3]}"#,
    r#"{"op":"devices","text":"(4, 4) @ dp=2 : S(1)","chain":"permute(1, 0)","addresses":[0,1,2,3,null]}"#,
    r#"{"op":"devices","text":"(4, 6) @ 2 : S(1)","chain":"reshape(6, 4).permute(1, 0)"}"#,
    r#"{"op":"devices","text":"(4, 6) @ 2 : S(3)","chain":""}"#,
];

/// Unions of texts in these types, and where their members stand in answers: in a field of this name, of an object
/// that also has that field.
const UNIONS: [(&str, &str, &str); 9] = [
    ("NodeKind", "kind", "operands"),
    ("BinaryOperator", "op", "operands"),
    ("Verdict", "verdict", "written"),
    (r#"Witness["kind"]"#, "kind", ""),
    (r#"Start["kind"]"#, "kind", "text"),
    (r#"NonNullable<Fault["field"]>"#, "field", "message"),
    (r#"Expression["bits"]"#, "bits", "nodes"),
    (r#"LibraryAdvice["library"]"#, "library", "does"),
    (r#"LibraryAdvice["does"]"#, "does", "sentence"),
];

const HEAD: &str = r#"/**
 * What the engine answers to some requests. `tsc` checks that the types of the package `shapetracker` describe these answers with no
 * field too many or too few, and `protocol.test.ts` that the engine in WebAssembly gives them.
 *
 * Written by the tests of the engine: `BLESS=1 cargo test -p shapetracker-wasm` writes it again.
 */
import type {
  BinaryOperator,
  Expression,
  Fault,
  Language,
  LibraryAdvice,
  NodeKind,
  Requests,
  Start,
  Verdict,
  Witness,
} from "shapetracker/engine";

type Name = keyof Requests;
type Answered<Op extends Name> = { op: Op; request: Requests[Op]["request"]; answer: Requests[Op]["answer"] };
type Refused<Op extends Name> = { op: Op; request: Requests[Op]["request"]; fault: Fault };

/** That two unions have the same members. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;
"#;

#[test]
fn the_package_knows_the_types_of_all_answers() {
    let mut file = HEAD.to_owned() + "\nexport const samples = [\n";
    let (mut ops, mut members) = (BTreeSet::new(), [const { BTreeSet::new() }; UNIONS.len()]);
    for text in REQUESTS {
        let request = parse(text).unwrap_or_else(|| panic!("{text}"));
        let Some(Value::Text(op)) = request.get("op") else { panic!("{text}") };
        let fields = request.clone().without(&["op"]);
        let (kind, field, answer) = match answered(text.as_bytes()) {
            Ok(answer) => ("Answered", "answer", answer),
            Err(fault) => ("Refused", "fault", Answer::from(fault.json())),
        };
        collect(&answer.document, &mut members);
        ops.insert(op.clone());
        let none = Answer::from(Value::Null);
        let (request, answer) = (literal(&fields, &none, 2), literal(&answer.document, &answer, 2));
        let _ = write!(
            file,
            "  {{\n    op: \"{op}\",\n    request: {request},\n    {field}: {answer},\n  }} satisfies {kind}<\"{op}\">,\n"
        );
    }
    file += "];\n";
    let languages = Language::ALL.iter().map(|language| language.to_string());
    let languages = languages.chain(["numpy", "pytorch", "chain"].map(str::to_owned));
    let languages = languages.map(|language| format!("\"{language}\"")).collect();
    let ops = ops.into_iter().map(|op| format!("\"{op}\"")).collect();
    let unions = UNIONS.iter().map(|(union, ..)| *union).zip(members).chain([("Name", ops), ("Language", languages)]);
    for (union, members) in unions {
        let members = members.into_iter().collect::<Vec<String>>().join(" | ");
        let _ = write!(file, "\ntrue satisfies Same<{union}, {members}>;\n");
    }

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/tests/protocol.ts");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(path, &file).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    let differs = there.lines().zip(file.lines()).position(|(old, new)| old != new);
    assert!(
        there == file,
        "web/tests/protocol.ts is not what the engine answers, from line {} on; read what changed, and run with BLESS=1 \
         if it is right",
        differs.unwrap_or(there.lines().count().min(file.lines().count())) + 1,
    );
}

/// Takes up the members of unions that stand in an answer.
fn collect(value: &Value, members: &mut [BTreeSet<String>; UNIONS.len()]) {
    match value {
        Value::List(items) => items.iter().for_each(|item| collect(item, members)),
        Value::Object(fields) => {
            for ((_, name, beside), members) in UNIONS.iter().zip(&mut *members) {
                // A witness is what has a kind and none of the fields that other objects with a kind have.
                let others = ["operands", "text", "message", "instance", "sentence"];
                let here = match *beside {
                    "" => !others.iter().any(|other| value.get(other).is_some()),
                    "text" => value.get("text").is_some() && value.get("operands").is_none(),
                    beside => value.get(beside).is_some(),
                };
                if here && let Some(member) = value.get(name).filter(|member| **member != Value::Null) {
                    members.insert(member.to_string());
                }
            }
            fields.iter().for_each(|(_, value)| collect(value, members));
        }
        _ => {}
    }
}

/// A value as a literal of TypeScript, in lines of at most 100 columns where it can be broken; of an answer, whose numbers
/// stand in their places.
fn literal(value: &Value, answer: &Answer, indent: usize) -> String {
    const LONGEST: usize = 100;
    let broken = |open: &str, items: Vec<String>, close: &str| {
        let line = format!("{open}{}{close}", items.join(", "));
        if 2 * indent + line.len() <= LONGEST && !line.contains('\n') {
            return line;
        }
        let (outer, inner) = ("  ".repeat(indent), "  ".repeat(indent + 1));
        let items: String = items.iter().map(|item| format!("{inner}{item},\n")).collect();
        format!("{}\n{items}{outer}{}", open.trim_end(), close.trim_start())
    };
    if let Some(numbers) = answer.numbers_of(value, "$f64") {
        let numbers = numbers.into_iter().map(f64::from_le_bytes).map(|number| number.to_string()).collect();
        return broken("new Float64Array([", numbers, "])");
    }
    if let Some(numbers) = answer.numbers_of(value, "$i64") {
        let numbers = numbers.into_iter().map(i64::from_le_bytes).map(|number| format!("{number}n")).collect();
        return broken("new BigInt64Array([", numbers, "])");
    }
    match value {
        Value::List(items) => broken("[", items.iter().map(|item| literal(item, answer, indent + 1)).collect(), "]"),
        Value::Object(fields) => {
            let field = |(name, value): &(String, Value)| format!("{name}: {}", literal(value, answer, indent + 1));
            let fields: Vec<String> = fields.iter().map(field).collect();
            if fields.is_empty() { "{}".into() } else { broken("{ ", fields, " }") }
        }
        leaf => leaf.to_i_json(),
    }
}
