//! Every answer against addresses that are computed one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use shapetracker::{Chain, Dims, ShapeTracker};

use crate::answer::answered;
use crate::fault::Fault;
use crate::json::{Answer, Value};
use crate::layout::{ravelled, unravelled};

const CHAINS: [&str; 16] = [
    "(3, 2).permute(1, 0).reshape(3, 2)",
    "()",
    "(2, 0, 3)",
    "(1, 4).expand(3, 4)",
    "(4, 6).pad((1, 2), (0, 3))",
    "(4, 6).pad((1, 2), (0, 3)).permute(1, 0).reshape(7, 9).flip(1)",
    "(5, 4).permute(1, 0).reshape(20).pad((3, 4)).reshape(9, 3).permute(1, 0).reshape(27).step(-2)",
    "(16).as_strided((4, 3), (3, 2), 1)",
    "(16).as_strided((4, 3), (2, 2), 1).reshape(2, 6).permute(1, 0).reshape(12)",
    "(3, 4, 5).permute(2, 0, 1).reshape(60).pad((2, 2)).reshape(8, 8).flip(0).permute(1, 0)",
    "View(shape=(3, 4), strides=(-5, 2), offset=3, mask=((0, 2), (1, 3)))",
    "(2, 3, 4).permute(2, 0, 1).flip(0, 2).expand(4, 2, 3)",
    "(8, 1, 8).expand(8, 3, 8).permute(1, 2, 0).reshape(12, 16)",
    "(7, 5).pad((0, 1), (2, 0)).flip(0).reshape(56).shrink((3, 51)).reshape(6, 8)",
    "(2).pad((1, 1)).shrink((0, 1))",
    "(6, 6).permute(1, 0).reshape(36).as_strided((3, 2, 4), (12, 3, 2), 0).permute(2, 1, 0)",
];

impl Deref for Answer {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.document
    }
}

impl Answer {
    /// The numbers that a value stands for, each as its eight bytes; nothing where it is not of this kind, `$f64` or
    /// `$i64`.
    pub(crate) fn numbers_of(&self, value: &Value, kind: &str) -> Option<Vec<[u8; 8]>> {
        let [begin, count] = integers(value.get(kind).map(|_| value)?, kind)[..] else { return None };
        let bytes = &self.numbers.bytes[begin as usize..][..8 * count as usize];
        Some(bytes.chunks_exact(8).map(|number| number.try_into().unwrap()).collect())
    }

    fn floats(&self, name: &str) -> Option<Vec<f64>> {
        Some(self.numbers_of(self.get(name)?, "$f64")?.into_iter().map(f64::from_le_bytes).collect())
    }
}

fn ask(request: &str) -> Answer {
    answered(request.as_bytes()).unwrap_or_else(|fault| panic!("{request}: {}", fault.message))
}

fn refused(request: &str) -> Fault {
    answered(request.as_bytes()).expect_err(request)
}

fn tracker(chain: &str) -> ShapeTracker {
    chain.parse().unwrap()
}

/// All indices and what they read.
fn elements(tracker: &ShapeTracker) -> Vec<(Dims, Option<i64>)> {
    let indices = (0..tracker.numel()).map(|position| unravelled(position, tracker.shape()));
    indices.map(|index| (index.clone(), tracker.address(&index))).collect()
}

fn integers(value: &Value, name: &str) -> Vec<i64> {
    let Some(Value::List(items)) = value.get(name) else { panic!("{name} in {value:?}") };
    items.iter().map(|item| item.as_integer().unwrap()).collect()
}

/// The cells of a tile; nothing where masked.
fn cells(answer: &Answer, name: &str) -> Vec<Option<i64>> {
    if let Some(cells) = answer.floats(name) {
        return cells.into_iter().map(|cell| (!cell.is_nan()).then_some(cell as i64)).collect();
    }
    let value = answer.get(name).unwrap();
    let cells = answer.numbers_of(value, "$i64").unwrap_or_else(|| panic!("{name}: {value:?}"));
    cells.into_iter().map(i64::from_le_bytes).map(|cell| (cell != i64::MIN).then_some(cell)).collect()
}

fn list(numbers: &[i64]) -> String {
    format!("[{}]", numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

#[test]
fn tiles_hold_the_addresses_of_their_cells() {
    for chain in CHAINS {
        let tracker = tracker(chain);
        let counts = elements(&tracker).into_iter().filter_map(|(_, address)| address);
        let counts = counts.fold(BTreeMap::new(), |mut counts: BTreeMap<i64, i64>, address| {
            *counts.entry(address).or_default() += 1;
            counts
        });
        let rank = tracker.rank() as i64;
        // Every split of the axes, in two orders.
        for split in 0..=rank {
            for turned in [false, true] {
                let mut axes: Vec<i64> = (0..rank).collect();
                if turned {
                    axes.reverse();
                }
                let (rows, columns) = axes.split_at(split as usize);
                let count = |axes: &[i64]| axes.iter().map(|axis| tracker.shape()[*axis as usize]).product::<i64>();
                for (begin, step) in [(0, 1), (1, 2), (2, 3)] {
                    let request = format!(
                        r#"{{"op":"tile","source":{{"chain":"{chain}"}},"rows":{},"columns":{},"fixed":{},
                            "row":{{"begin":{begin},"end":100}},"column":{{"begin":{begin},"end":99,"step":{step}}},
                            "counts":true}}"#,
                        list(rows),
                        list(columns),
                        list(&vec![0; rank as usize]),
                    );
                    let answer = ask(&request);
                    let mut expected = Vec::new();
                    for row in begin..count(rows).min(100) {
                        for column in (begin..count(columns).min(99)).step_by(step) {
                            let mut index = vec![0; rank as usize];
                            for (axes, number) in [(rows, row), (columns, column)] {
                                let sizes: Vec<i64> = axes.iter().map(|axis| tracker.shape()[*axis as usize]).collect();
                                for (axis, i) in axes.iter().zip(unravelled(number, &sizes)) {
                                    index[*axis as usize] = i;
                                }
                            }
                            expected.push(tracker.address(&index));
                        }
                    }
                    if tracker.numel() == 0 {
                        expected.clear();
                    }
                    assert_eq!(cells(&answer, "addresses"), expected, "{request}");
                    let expected: Vec<_> = expected.iter().map(|address| Some(*counts.get(&(*address)?)?)).collect();
                    assert_eq!(cells(&answer, "counts"), expected, "{request}");
                }
            }
        }
    }
}

#[test]
fn readers_and_coverage_count_the_elements_of_every_address() {
    for chain in CHAINS {
        let elements = elements(&tracker(chain));
        let source = format!(r#""source":{{"chain":"{chain}"}}"#);
        for address in -20..70 {
            let answer = ask(&format!(r#"{{"op":"readers",{source},"address":{address},"limit":1000}}"#));
            let Some(Value::List(found)) = answer.get("indices") else { panic!() };
            let found: Vec<Value> = found.clone();
            let expected = elements.iter().filter(|(_, read)| *read == Some(address));
            let expected: Vec<Value> = expected.map(|(index, _)| Value::from(&index[..])).collect();
            assert_eq!(found, expected, "{chain} {address}");
            assert_eq!(answer.get("complete"), Some(&Value::Bool(true)));
        }
        for (begin, end, buckets) in [(-20, 70, 90), (0, 61, 7), (3, 4, 1), (5, 5, 3)] {
            let request = format!(r#"{{"op":"coverage",{source},"begin":{begin},"end":{end},"buckets":{buckets}}}"#);
            let answer = ask(&request);
            let width = answer.get("width").unwrap().as_integer().unwrap();
            let bucket = |address: i64| (begin..end).contains(&address).then(|| (address - begin) / width);
            let count = (end - begin + width - 1) / width;
            let (mut reads, mut distinct) = (vec![0; count as usize], vec![BTreeSet::new(); count as usize]);
            for address in elements.iter().filter_map(|(_, address)| *address) {
                if let Some(bucket) = bucket(address) {
                    reads[bucket as usize] += 1;
                    distinct[bucket as usize].insert(address);
                }
            }
            let reads: Vec<_> = reads.into_iter().map(Some).collect();
            let distinct: Vec<_> = distinct.into_iter().map(|set| Some(set.len() as i64)).collect();
            assert_eq!((cells(&answer, "reads"), cells(&answer, "distinct")), (reads, distinct), "{request}");
        }
    }
}

#[test]
fn coverage_of_large_views_is_that_of_small_ones() {
    // 2^40 elements, every address of the first 2^20 read 2^20 times.
    let chain = "(1048576, 1).expand(1048576, 1048576).flip(0)";
    let answer = ask(&format!(
        r#"{{"op":"coverage","source":{{"chain":"{chain}"}},"begin":1048570,"end":1048580,"buckets":10}}"#
    ));
    let expected: Vec<_> = (0..10).map(|k| Some(if k < 6 { 1 << 20 } else { 0 })).collect();
    assert_eq!(cells(&answer, "reads"), expected);
    assert_eq!(answer.get("exact"), Some(&Value::Bool(true)));
    let answer = ask(
        r#"{"op":"readers","source":{"chain":"(1000000, 1000000).permute(1, 0).reshape(500000, 2000000)"},"address":123456789012,"limit":9}"#,
    );
    let Some(Value::List(found)) = answer.get("indices") else { panic!() };
    // Row 123456, column 789012 of the matrix is element 789012123456 of its transpose.
    assert_eq!(found, &[Value::from(&[394_506, 123_456][..])]);
}

/// Sources of all kinds, with the shape that they have.
fn sources() -> Vec<(String, Vec<i64>)> {
    let chains = CHAINS.iter().map(|chain| (format!(r#"{{"chain":"{chain}"}}"#), tracker(chain).shape().to_vec()));
    let free = r#"{"index":"(y * 7 + x // 2) % 11 - 3","valid":"x - y < 4 and x != 2","variables":[{"name":"y","begin":-2,"end":3},{"name":"x","begin":0,"end":9}]}"#;
    chains.chain([(free.to_owned(), vec![5, 9])]).collect()
}

#[test]
fn summaries_are_those_of_the_cells_of_tiles() {
    for (source, shape) in sources() {
        for view in [0, 1] {
            let rank = shape.len();
            let rows: Vec<i64> = (0..rank as i64 / 2).collect();
            let columns: Vec<i64> = (rank as i64 / 2..rank as i64).rev().collect();
            let count = |axes: &[i64]| axes.iter().map(|axis| shape[*axis as usize]).product::<i64>();
            let (high, wide) = (count(&rows), count(&columns));
            let around = format!(
                r#""source":{source},"rows":{},"columns":{},"fixed":{},"view":{view}"#,
                list(&rows),
                list(&columns),
                list(&vec![0; rank])
            );
            let tile = ask(&format!(
                r#"{{"op":"tile",{around},"row":{{"begin":0,"end":{high}}},"column":{{"begin":0,"end":{wide}}}}}"#
            ));
            let tile = cells(&tile, "addresses");
            let [down, along] = [high, wide].map(|size| vec![0, size / 3, size / 3, size / 2, size, size + 5]);
            let (row, column) = (list(&down), list(&along));
            let answer = ask(&format!(r#"{{"op":"summary",{around},"row":{row},"column":{column}}}"#));
            assert_eq!(answer.get("exact"), Some(&Value::Bool(true)), "{source}");
            let [valid, low, greatest, mean] =
                ["valid", "low", "high", "mean"].map(|name| answer.floats(name).unwrap());
            if shape.contains(&0) {
                assert_eq!((answer.get("rows"), valid.len()), (Some(&Value::Int(0)), 0));
                continue;
            }
            let mut block = 0;
            for rows in down.windows(2) {
                for columns in along.windows(2) {
                    let inside: Vec<Option<i64>> = (rows[0]..rows[1].min(high))
                        .flat_map(|row| {
                            (columns[0]..columns[1].min(wide)).map(move |column| (row * wide + column) as usize)
                        })
                        .map(|cell| tile[cell])
                        .collect();
                    let read: Vec<i64> = inside.iter().copied().flatten().collect();
                    let number = |value: Option<&i64>| value.map_or(f64::NAN, |value| *value as f64);
                    let expected = [
                        read.len() as f64 / inside.len() as f64,
                        number(read.iter().min()),
                        number(read.iter().max()),
                        read.iter().sum::<i64>() as f64 / if read.is_empty() { f64::NAN } else { read.len() as f64 },
                    ];
                    let found = [valid[block], low[block], greatest[block], mean[block]];
                    // Not a number is where it is expected, and nowhere else.
                    assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{around} {rows:?} {columns:?}");
                    block += 1;
                }
            }
            assert_eq!(block, valid.len());
        }
    }
}

#[test]
fn what_is_sampled_is_marked_and_always_the_same() {
    let request = r#"{"op":"summary","source":{"index":"x * 5 + y % 3","valid":"y % 2 == 0","variables":[{"name":"x","begin":0,"end":1000000},{"name":"y","begin":0,"end":1000000}]},"rows":[0],"columns":[1],"fixed":[0,0],"row":[0,10,1000000],"column":[0,1,500000,1000000]}"#;
    let answer = ask(request);
    assert_eq!((answer.get("exact"), answer.get("sampled")), (Some(&Value::Bool(false)), Some(&Value::Int(1024))));
    let [valid, low, high, mean] = ["valid", "low", "high", "mean"].map(|name| answer.floats(name).unwrap());
    // A block of fewer elements than a sample is looked at as a whole.
    assert_eq!((valid[0], low[0], high[0], mean[0]), (1.0, 0.0, 45.0, 22.5));
    for block in [1, 2, 4, 5] {
        let (from, to) = if block < 3 { (0.0, 47.0) } else { (50.0, 4_999_997.0) };
        assert!((0.4..0.6).contains(&valid[block]), "{valid:?}");
        assert!(from <= low[block] && low[block] <= mean[block] && mean[block] <= high[block] && high[block] <= to);
        let middle = (from + to) / 2.0;
        assert!((mean[block] - middle).abs() < 0.1 * (to - from), "{mean:?} {middle}");
    }
    assert_eq!(ask(request).encoded(), answer.encoded());
}

#[test]
fn an_estimate_never_says_that_a_permutation_is_read_twice() {
    // Columns that are left out keep it from being a permutation of a range, and coprime sizes from being a few parts.
    let chain = "(65537, 99991).permute(1, 0).reshape(65537, 99991).shrink((0, 65537), (0, 50000))";
    let answer = ask(&format!(
        r#"{{"op":"coverage","source":{{"chain":"{chain}"}},"begin":0,"end":6553110167,"buckets":1000}}"#
    ));
    assert_eq!(answer.get("exact"), Some(&Value::Bool(false)));
    let Some(Value::Text(note)) = answer.get("note") else { panic!("{answer:?}") };
    assert!(note.ends_with("every address that is read is read once"), "{note}");
    let (reads, distinct) = (answer.floats("reads").unwrap(), answer.floats("distinct").unwrap());
    let width = answer.get("width").unwrap().as_integer().unwrap() as f64;
    assert_eq!(reads, distinct);
    assert!(reads.iter().all(|reads| *reads <= width));
    let sum = reads.iter().sum::<f64>() / (65_537.0 * 50_000.0);
    assert!((0.9..=1.0).contains(&sum), "{sum}");
}

#[test]
fn the_buffer_is_that_of_the_base_whatever_is_read() {
    for (request, length, known) in [
        (r#"{"op":"chain","text":"(4, 8).shrink((1, 4), (1, 7)).step(1, 2)"}"#, 32, true),
        (r#"{"op":"chain","text":"(3, 2).shrink((0, 1), (0, 1))"}"#, 6, true),
        (r#"{"op":"chain","text":"x.flip(0).shrink((0, 1))","base":[7]}"#, 7, true),
        // A copy is a buffer of its own.
        (r#"{"op":"chain","text":"(4, 8).shrink((1, 4), (1, 7)).contiguous().shrink((0, 1), (0, 1))"}"#, 18, true),
        // Of views only what they read is known.
        (r#"{"op":"chain","text":"(3, 6):(8, 1) offset 9"}"#, 31, false),
    ] {
        let answer = ask(request);
        let result = answer.get("result").unwrap();
        let found = (result.get("buffer_len"), result.get("buffer_known"));
        assert_eq!(found, (Some(&Value::Int(length)), Some(&Value::Bool(known))), "{request}");
    }
}

/// The layout of a chain is that in the newest buffer, which is named; code, and what is the same, are asked of the base.
#[test]
fn addresses_after_a_copy_are_those_of_a_buffer_that_is_named() {
    let (turned, copied) = ("(3, 2).permute(1, 0)", "(3, 2).permute(1, 0).contiguous()");
    let buffer = |chain: &str| {
        let answer = ask(&format!(r#"{{"op":"chain","text":"{chain}"}}"#));
        answer.get("result").unwrap().get("buffer").cloned()
    };
    assert_eq!((buffer(turned), buffer(copied)), (Some(Value::Null), Some(Value::Int(1))));
    assert_eq!(buffer("(3, 2).contiguous().flip(0)"), Some(Value::Null));
    let code = |chain: &str, language: &str| {
        let request =
            format!(r#"{{"op":"code","source":{{"chain":"{chain}"}},"language":"{language}","kernel":true}}"#);
        let Some(Value::Text(code)) = ask(&request).get("code").cloned() else { panic!() };
        code
    };
    for (language, mark) in [("python", "#"), ("cuda", "//")] {
        let remark = format!("{mark} addresses of the base, not of the buffer of 6 that `.contiguous()` makes\n");
        assert_eq!(code(copied, language), remark + &code(turned, language));
    }
    let compared = |a: &str, b: &str| {
        let sides = format!(r#""a":{{"chain":"{a}"}},"b":{{"chain":"{b}"}}"#);
        ask(&format!(r#"{{"op":"compare",{sides},"width":4,"line":64}}"#))
    };
    let of = |answer: &Value, side: &str, field: &str| answer.get(side).unwrap().get(field).cloned();
    let same = compared(turned, copied);
    assert_eq!(same.get("equal"), Some(&Value::Bool(true)));
    // What each reads lies in another order: six runs, and one.
    assert_eq!((of(&same, "a", "runs"), of(&same, "b", "runs")), (Some(Value::Int(6)), Some(Value::Int(1))));
    let other = compared("(2, 3)", copied);
    assert_eq!((other.get("equal"), of(&other, "difference", "b")), (Some(&Value::Bool(false)), Some(Value::Int(2))));
}

#[test]
fn elements_are_traced_and_evaluated() {
    for chain in CHAINS {
        let tracker = tracker(chain);
        let written = ask(&format!(r#"{{"op":"expression","source":{{"chain":"{chain}"}}}}"#));
        let expression = written.get("expression").unwrap();
        let place = |name: &str| expression.get(name).unwrap().as_integer().unwrap() as usize;
        for (index, address) in elements(&tracker) {
            let about = format!(r#""source":{{"chain":"{chain}"}},"index":{}"#, list(&index));
            let trace = ask(&format!(r#"{{"op":"trace",{about}}}"#));
            assert_eq!(trace.get("address"), Some(&Value::from(address)), "{chain} {index:?}");
            let Some(Value::List(levels)) = trace.get("levels") else { panic!() };
            for level in levels {
                let view = &tracker.views()[level.get("view").unwrap().as_integer().unwrap() as usize];
                let index = integers(level, "index");
                assert_eq!(level.get("address"), Some(&Value::from(view.address(&index))));
                assert_eq!(level.get("position"), Some(&Value::from(ravelled(&index, view.shape()))));
                assert_eq!(
                    integers(level, "masked_axes").is_empty(),
                    view.address(&index).is_some(),
                    "{chain} {index:?}"
                );
            }
            let values = integers(&ask(&format!(r#"{{"op":"evaluate",{about}}}"#)), "values");
            assert_eq!(values[place("valid")] == 1, address.is_some(), "{chain} {index:?}");
            if let Some(address) = address {
                assert_eq!(values[place("index")], address, "{chain} {index:?}");
            }
        }
    }
}

#[test]
fn layouts_are_compared_as_their_elements_say() {
    for (a, b) in CHAINS.iter().flat_map(|a| CHAINS.iter().map(move |b| (a, b))) {
        let answer =
            ask(&format!(r#"{{"op":"compare","a":{{"chain":"{a}"}},"b":{{"chain":"{b}"}},"width":4,"line":16}}"#));
        let (one, other) = (tracker(a), tracker(b));
        let same = one.shape() == other.shape() && one.addresses().eq(other.addresses());
        assert_eq!(answer.get("equal"), Some(&Value::Bool(same)), "{a} {b}");
        if one.shape() == other.shape() && !same {
            let first = one.addresses().zip(other.addresses()).position(|(a, b)| a != b).unwrap() as i64;
            let index = integers(answer.get("difference").unwrap(), "index");
            assert_eq!(index.iter().zip(one.shape()).fold(0, |at, (i, size)| at * size + i), first, "{a} {b}");
        }
        if a != b {
            continue;
        }
        let side = answer.get("a").unwrap();
        let read: Vec<i64> = one.addresses().flatten().collect();
        let distinct: BTreeSet<i64> = read.iter().copied().collect();
        let lines: BTreeSet<i64> = distinct.iter().map(|address| (address * 4).div_euclid(16)).collect();
        let runs = read.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count() + usize::from(!read.is_empty());
        let number = |name: &str| side.get(name).unwrap().as_integer();
        assert_eq!(number("valid"), Some(read.len() as i64), "{a}");
        assert_eq!(number("distinct"), Some(distinct.len() as i64), "{a}");
        assert_eq!(number("lines"), Some(lines.len() as i64), "{a}");
        assert_eq!(number("runs"), Some(runs as i64), "{a}");
    }
}

#[test]
fn the_first_difference_is_found_and_where_it_may_not_be_that_is_said() {
    let differ = |a: &str, b: &str| {
        let answer =
            ask(&format!(r#"{{"op":"compare","a":{{"chain":"{a}"}},"b":{{"chain":"{b}"}},"width":4,"line":64}}"#));
        (integers(answer.get("difference").unwrap(), "index"), answer.get("note") == Some(&Value::Null))
    };
    assert_eq!(differ("(1000, 1000)", "(1000, 1000).permute(1, 0)"), (vec![0, 1], true));
    assert_eq!(differ("(3, 4)", "(2, 4).pad((0, 1), (0, 0))"), (vec![2, 0], true));
    // Alike for the first 2^30 elements: some difference is found, and that it is the first is not claimed.
    let late = "(1073741824, 2).pad((0, 1), (0, 0))";
    let (index, first) = differ("(1073741825, 2)", late);
    assert!(index[0] == 1 << 30 && !first, "{index:?}");
}

#[test]
fn expressions_lay_out_as_their_values_say() {
    let source = r#"{"index":"4*y + x - 3","valid":"x < 3 and y != 1","variables":
        [{"name":"y","begin":-1,"end":3},{"name":"x","begin":1,"end":"5"}]}"#;
    let expected: Vec<Option<i64>> =
        (-1..3).flat_map(|y| (1..5).map(move |x| (x < 3 && y != 1).then_some(4 * y + x - 3))).collect();
    let tile = ask(&format!(
        r#"{{"op":"tile","source":{source},"rows":[0],"columns":[1],"fixed":[0,0],"row":{{"begin":0,"end":9}},
            "column":{{"begin":0,"end":9}},"counts":true}}"#
    ));
    assert_eq!(cells(&tile, "addresses"), expected);
    let free = ask(&format!(r#"{{"op":"free",{}"#, &source[1..]));
    assert_eq!(free.get("address_range"), Some(&Value::from((-6, 7))));
    let readers = ask(&format!(r#"{{"op":"readers","source":{source},"address":-6,"limit":5}}"#));
    assert_eq!(readers.get("indices"), Some(&Value::List(vec![Value::from(&[0, 0][..])])));
    let values = ask(&format!(r#"{{"op":"evaluate","source":{source},"index":[1,2]}}"#));
    let place = |name: &str| free.get("written").unwrap().get(name).unwrap().as_integer().unwrap() as usize;
    assert_eq!(integers(&values, "written")[place("index")], 0);
}

#[test]
fn lines_put_together_are_the_code() {
    for chain in CHAINS {
        let Ok(code) = tracker(chain).index_expr() else { continue };
        let json = crate::expression::json(code.graph(), [code.index(), code.valid()]);
        let Some(Value::List(lines)) = json.get("lines") else { panic!() };
        let mut names: BTreeMap<i64, String> = BTreeMap::new();
        let Some(Value::List(nodes)) = json.get("nodes") else { panic!() };
        for (place, node) in (0..).zip(nodes) {
            if let Some(Value::Text(name)) = node.get("name") {
                names.insert(place, name.clone());
            }
        }
        let mut text = String::new();
        for line in lines {
            let (Some(Value::Text(name)), Some(Value::List(pieces))) = (line.get("name"), line.get("pieces")) else {
                panic!()
            };
            let pieces = pieces.iter().map(|piece| match piece {
                Value::Text(text) => text.clone(),
                node => names[&node.as_integer().unwrap()].clone(),
            });
            text += &format!("{name} = {}\n", pieces.collect::<String>());
            names.insert(line.get("node").unwrap().as_integer().unwrap(), name.clone());
        }
        let written = code.code(shapetracker::expr::Language::Python).unwrap();
        assert_eq!(text, written, "{chain}");
    }
}

#[test]
fn chains_answer_as_far_as_they_go() {
    let answer = ask(r#"{"op":"chain","text":"(3, 2).permute(1, 0) . reshape(4)"}"#);
    let error = answer.get("error").unwrap();
    assert_eq!(error.get("step"), Some(&Value::Int(1)));
    assert_eq!(integers(error, "span"), [23, 33]);
    assert_eq!(integers(answer.get("result").unwrap(), "shape"), [2, 3]);
    // Spans count as JavaScript does.
    let answer = ask("{\"op\":\"chain\",\"text\":\"(3, 2)\u{feff}.flip(0).😀\"}");
    assert_eq!(integers(answer.get("error").unwrap(), "span"), [16, 18]);
    for (text, step) in [("", Value::Null), ("(3, 2", Value::Null), ("flip(0)", Value::Null), ("(-1)", Value::Null)] {
        let answer = ask(&format!(r#"{{"op":"chain","text":"{text}"}}"#));
        assert_eq!(answer.get("error").unwrap().get("step"), Some(&step), "{text}");
        assert_eq!(answer.get("result"), Some(&Value::Null), "{text}");
    }
    let answer = ask(r#"{"op":"chain","text":"x.transpose(0, 1)","base":[3,2]}"#);
    assert_eq!(integers(answer.get("result").unwrap(), "shape"), [2, 3]);
}

#[test]
fn calls_on_arrays_are_written() {
    let code = |chain: &str, language: &str| {
        let answer =
            answered(format!(r#"{{"op":"code","source":{{"chain":"{chain}"}},"language":"{language}"}}"#).as_bytes());
        answer.map(|answer| match answer.get("code") {
            Some(Value::Text(code)) => code.lines().skip(2).map(str::to_owned).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(
        code("(3, 4).pad((0, 1), (2, 0)).slice(::-2, 1:3)", "pytorch").unwrap(),
        [
            "x = torch.arange(12).reshape((3, 4))  # (3, 4)",
            "x = torch.nn.functional.pad(x, (2, 0, 0, 1))  # (4, 6)",
            "x = x.flip((0,))[0:3:2, 1:3]  # (2, 2)",
        ],
    );
    assert_eq!(
        code("(3, 4).flip(-1).unsqueeze(0).as_strided((2, 2), (1, 1), 3)", "numpy").unwrap()[1..],
        [
            "x = np.flip(x, (1,))  # (3, 4)",
            "x = x.reshape((1, 3, 4))  # (1, 3, 4)",
            "x = np.lib.stride_tricks.as_strided(x.ravel()[3:], (2, 2), (x.itemsize, x.itemsize))  # (2, 2)",
        ],
    );
    // An array that starts inside of its memory, negative strides, masks.
    let last = |chain: &str, language: &str| code(chain, language).unwrap().pop().unwrap();
    assert_eq!(
        last("(6).shrink((2, 6)).as_strided((2,), (1,), 1)", "pytorch"),
        "x = x.contiguous().view(-1)[1:].as_strided((2,), (1,))  # (2,)"
    );
    assert_eq!(
        code("View((3, 2), (-1, 4), 1, mask=((0, 3), (1, 2)))", "pytorch").unwrap(),
        [
            "x = torch.arange(6)",
            "x = x.contiguous().view(-1)[3:].as_strided((3, 1), (1, 0)).flip((0,))  # (3, 1)",
            "x = torch.nn.functional.pad(x, (1, 0, 0, 0))  # (3, 2)",
        ],
    );
    assert_eq!(
        code("(3):(-1) offset 2", "numpy").unwrap(),
        ["x = np.arange(3)", "x = np.lib.stride_tricks.as_strided(x.ravel()[2:], (3,), (-1 * x.itemsize,))  # (3,)"],
    );
}

#[test]
fn found_by_a_review_what_reads_before_an_array_is_told_and_has_no_code() {
    let chain = |text: &str| format!(r#""source":{{"chain":"{text}"}}"#);
    let index = r#""source":{"index":"i-3","valid":"True","variables":[{"name":"i","begin":0,"end":9}]}"#;
    for (source, low, is_chain) in [
        (chain("View(shape=(3, 4), strides=(-5, 1), offset=0)"), 10, true),
        (chain("View(shape=(3, 4), strides=(5, 1), offset=-7)"), 7, true),
        (chain("View(shape=(3, 4), strides=(4, 1), offset=-1)"), 1, true),
        (index.to_owned(), 3, false),
    ] {
        let advice = ask(&format!(r#"{{"op":"advice",{source}}}"#));
        let note = format!(
            "the view reads from address -{low} on, {low} before the beginning of the array: no array has it, and there \
             is no code for it"
        );
        assert_eq!(advice.get("note"), Some(&Value::from(note)), "{source}");
        assert_eq!(advice.get("libraries"), Some(&Value::List(Vec::new())), "{source}");
        // It is decided all the same.
        assert_eq!(advice.get("one_view"), Some(&Value::Bool(true)), "{source}");
        if is_chain {
            for language in ["numpy", "pytorch", "c", "cuda", "opencl", "metal", "wgsl", "rust", "python"] {
                let kernel = format!(r#"{{"op":"code",{source},"language":"{language}","kernel":true}}"#);
                let message = refused(&kernel).message;
                assert!(message.contains(&format!("from address -{low} on, {low} before")), "{message}");
            }
        }
    }
    let inside = ask(r#"{"op":"advice","source":{"chain":"View(shape=(3, 4), strides=(-5, 1), offset=10)"}}"#);
    assert_eq!(inside.get("note"), Some(&Value::Null));
}

#[test]
fn contiguous_is_what_the_libraries_call_so() {
    for (text, contiguous) in [("(5, 4).shrink((2, 5), (0, 4))", true), ("(5, 4).shrink((0, 5), (1, 4))", false)] {
        let answer = ask(&format!(r#"{{"op":"chain","text":"{text}"}}"#));
        assert_eq!(answer.get("result").unwrap().get("contiguous"), Some(&Value::Bool(contiguous)), "{text}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_sentence() {
    for (request, kind) in [
        ("", "request"),
        ("{}", "request"),
        (r#"{"op":"nothing"}"#, "request"),
        (r#"{"op":"chain"}"#, "request"),
        (r#"{"op":"trace","source":{"chain":"(3)"},"index":[3]}"#, "request"),
        (r#"{"op":"trace","source":{"chain":"(3).flip(1)"},"index":[0]}"#, "axis_out_of_range"),
        (
            r#"{"op":"tile","source":{"chain":"(3)"},"rows":[0],"columns":[0],"fixed":[0],"row":{"begin":0,"end":1},"column":{"begin":0,"end":1}}"#,
            "request",
        ),
        (
            r#"{"op":"tile","source":{"chain":"(3000, 3000)"},"rows":[0],"columns":[1],"fixed":[0,0],"row":{"begin":0,"end":3000},"column":{"begin":0,"end":3000}}"#,
            "limit",
        ),
        (r#"{"op":"free","index":"x","valid":"","variables":[{"name":"x","begin":0,"end":0}]}"#, "empty_range"),
        (r#"{"op":"free","index":"x +","valid":"","variables":[{"name":"x","begin":0,"end":3}]}"#, "syntax"),
        (r#"{"op":"free","index":"x","valid":"x","variables":[{"name":"x","begin":0,"end":3}]}"#, "not_a_condition"),
        (r#"{"op":"free","index":"1 // x","valid":"","variables":[{"name":"x","begin":0,"end":3}]}"#, "syntax"),
        (r#"{"op":"coverage","source":{"chain":"(3)"},"begin":3,"end":0,"buckets":1}"#, "request"),
        (
            r#"{"op":"summary","source":{"chain":"(3)"},"rows":[],"columns":[0],"fixed":[0],"row":[0,1],"column":[0,2,1]}"#,
            "request",
        ),
        (
            r#"{"op":"summary","source":{"chain":"(3)"},"rows":[0],"columns":[0],"fixed":[0],"row":[0,1],"column":[0,1]}"#,
            "request",
        ),
        (
            r#"{"op":"summary","source":{"chain":"(3, 3)"},"rows":[0],"columns":[],"fixed":[0,3],"row":[0,1],"column":[0,1]}"#,
            "request",
        ),
        (r#"{"op":"code","source":{"chain":"(3)"},"language":"cobol"}"#, "request"),
    ] {
        let fault = refused(request).json();
        assert_eq!(fault.get("kind"), Some(&Value::from(kind)), "{request}: {fault:?}");
        assert!(matches!(fault.get("message"), Some(Value::Text(message)) if !message.is_empty()), "{request}");
    }
}

#[test]
fn huge_and_hostile_texts_end_soon() {
    let many = |piece: &str, count: usize| piece.repeat(count);
    let texts = [
        format!("(3, 2){}", many(".permute(1, 0).reshape(3, 2)", 400)),
        format!("(2, 3){}", many(".flip(0)", 999)),
        many("(", 60_000),
        many("[", 60_000),
        many("(1,", 20_000),
        format!("(2, 3){}", many("[", 30_000)),
        format!("(9223372036854775807){}", many(".T", 900)),
        format!("(4611686018427387904, 2).permute(1, 0){}", many(".reshape(2, 4611686018427387904).permute(1, 0)", 40)),
        "x".repeat(70_000),
    ];
    for text in &texts {
        let started = std::time::Instant::now();
        let request = format!(r#"{{"op":"chain","text":"{text}"}}"#);
        let _ = answered(request.as_bytes());
        let expression = format!(
            r#"{{"op":"free","index":"{}","valid":"","variables":[{{"name":"x","begin":0,"end":9}}]}}"#,
            many("(x+", 20_000)
        );
        let _ = answered(expression.as_bytes());
        assert!(started.elapsed().as_secs() < 20, "{}..: {:?}", &text[..20], started.elapsed());
    }
    let started = std::time::Instant::now();
    let long: String =
        (1..8_000).map(|k| format!("(x + {k}) // {} % 7 + ", k % 9 + 1)).take(3_000).collect::<String>() + "0";
    let request =
        format!(r#"{{"op":"free","index":"{long}","valid":"","variables":[{{"name":"x","begin":0,"end":1000}}]}}"#);
    let _ = answered(request.as_bytes());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn every_chain_of_the_tests_can_be_explained() {
    for chain in CHAINS {
        let answer = ask(&format!(r#"{{"op":"chain","text":"{chain}"}}"#));
        let read: Chain = chain.parse().unwrap();
        let Some(Value::List(steps)) = answer.get("steps") else { panic!() };
        assert_eq!(steps.len(), read.ops().len());
        assert_eq!(answer.get("error"), Some(&Value::Null));
        assert_eq!(integers(answer.get("result").unwrap(), "shape"), read.tracker().unwrap().shape());
    }
}

#[test]
fn ranges_near_the_end_of_the_integers_are_counted() {
    let coverage = |chain: &str, begin: i64, end: i64, buckets: i64| {
        ask(&format!(
            r#"{{"op":"coverage","source":{{"chain":"{chain}"}},"begin":"{begin}","end":"{end}","buckets":{buckets}}}"#
        ))
    };
    // The place in the bucket and the step, which counts downwards, are together past 64 bits.
    let answer = coverage("(2).flip(0)", -(1 << 62), (1 << 62) - 1, 1);
    assert_eq!(cells(&answer, "reads"), [Some(2)]);
    assert_eq!(cells(&answer, "distinct"), [Some(2)]);
    let answer = coverage("(9).flip(0).step(2)", -(1 << 62), (1 << 62) - 1, 2);
    assert_eq!(cells(&answer, "reads"), [Some(0), Some(5)]);

    // The bytes of the elements are past 64 bits, those of the second tensor alike.
    let chains = ["(2):(4611686018427387904)", "(2):(1) offset 4611686018427387904"];
    let answer = ask(&format!(
        r#"{{"op":"compare","a":{{"chain":"{}"}},"b":{{"chain":"{}"}},"width":65536,"line":1}}"#,
        chains[0], chains[1],
    ));
    for side in ["a", "b"] {
        assert_eq!(answer.get(side).unwrap().get("lines"), Some(&Value::Int(2 * 65536)), "{side}");
    }
}

#[test]
fn lines_of_an_unknown_number_of_addresses_are_unknown() {
    // Two views whose addresses are spread over more than 64 bits.
    let chain =
        "(3074457345618258603, 2):(6, 1) offset -9223372036854775807.permute(1, 0).reshape(3074457345618258603, 2)";
    let request =
        format!(r#"{{"op":"compare","a":{{"chain":"{chain}"}},"b":{{"chain":"{chain}"}},"width":4,"line":64}}"#);
    let answer = ask(&request);
    for name in ["distinct", "lines"] {
        assert_eq!(answer.get("a").unwrap().get(name), Some(&Value::Null), "{name}");
    }
}

#[test]
fn lines_between_neighbours_are_counted_once() {
    // Elements of 24 bytes on lines of 16, spread as widely as to be sorted, or not; a few of them before address 0.
    for (chain, lines) in [
        ("(4)", 6),
        ("(2, 4):(1000000000, 1)", 12),
        ("(2, 3):(1000000000, -1) offset 1", 10),
        ("(5):(2) offset -3", 10),
        ("(5):(1) offset -3", 8),
    ] {
        let request =
            format!(r#"{{"op":"compare","a":{{"chain":"{chain}"}},"b":{{"chain":"{chain}"}},"width":24,"line":16}}"#);
        let answer = ask(&request);
        assert_eq!(answer.get("a").unwrap().get("lines"), Some(&Value::Int(lines)), "{chain}");
    }
}

#[test]
fn tiles_of_the_views_above_count_positions() {
    // The upper view reads each position once; the lower one reads every address twice.
    let chain = "(2, 3):(0, 1).permute(1, 0).reshape(2, 3).pad((0, 0), (1, 0))";
    let tracker = tracker(chain);
    assert_eq!(tracker.views().len(), 2);
    let tile = |view: usize| {
        let request = format!(
            r#"{{"op":"tile","source":{{"chain":"{chain}"}},"rows":[0],"columns":[1],"fixed":[0,0],
                "row":{{"begin":0,"end":2}},"column":{{"begin":0,"end":4}},"view":{view},"counts":true}}"#
        );
        cells(&ask(&request), "counts")
    };
    assert_eq!(tile(0), [None, Some(2), Some(2), Some(2), None, Some(2), Some(2), Some(2)]);
    assert_eq!(tile(1), [None, Some(1), Some(1), Some(1), None, Some(1), Some(1), Some(1)]);
}

#[test]
fn tiles_with_an_empty_side_take_no_room_for_the_other() {
    let sources = [
        r#"{"chain":"(3, 1000000000000, 1)"}"#,
        r#"{"index":"x","variables":[{"name":"z","begin":0,"end":3},{"name":"x","begin":0,"end":1000000000000},
            {"name":"y","begin":0,"end":1}]}"#,
    ];
    for source in sources {
        let request = format!(
            r#"{{"op":"tile","source":{source},"rows":[0],"columns":[1,2],"fixed":[0,0,0],
                "row":{{"begin":3,"end":3}},"column":{{"begin":0,"end":1000000000000}}}}"#
        );
        assert_eq!(cells(&ask(&request), "addresses"), []);
    }
}

#[test]
fn an_address_that_means_masked_is_refused() {
    let request = r#"{"op":"tile","source":{"chain":"(2):(1) offset -9223372036854775808"},"rows":[0],"columns":[],
        "fixed":[0],"row":{"begin":0,"end":2},"column":{"begin":0,"end":1}}"#;
    assert!(refused(request).message.contains("stands for masked"));
}

#[test]
fn free_tiles_of_many_cells_are_filled_block_by_block() {
    let source = r#"{"index":"50*x + y","valid":"y != 7","variables":[{"name":"x","begin":-20,"end":80},
        {"name":"y","begin":0,"end":50}]}"#;
    for (rows, columns, sizes) in [("[0,1]", "[]", [5000, 1]), ("[]", "[0,1]", [1, 5000]), ("[0]", "[1]", [100, 50])] {
        let request = format!(
            r#"{{"op":"tile","source":{source},"rows":{rows},"columns":{columns},"fixed":[0,0],
                "row":{{"begin":0,"end":{}}},"column":{{"begin":0,"end":{}}}}}"#,
            sizes[0], sizes[1],
        );
        let expected: Vec<_> = (0..5000).map(|cell| (cell % 50 != 7).then_some(cell - 1000)).collect();
        assert_eq!(cells(&ask(&request), "addresses"), expected, "{rows} {columns}");
    }
}

#[test]
fn long_expressions_are_not_gone_through_for_all_elements() {
    let sum: Vec<String> = (2..1000).map(|k| format!("x // {k} % {} * y", k + 3)).collect();
    let variables = r#"[{"name":"x","begin":0,"end":1000},{"name":"y","begin":0,"end":1000}]"#;
    let source = format!(r#"{{"index":"{}","variables":{variables}}}"#, sum.join(" + "));
    let free = ask(&format!(r#"{{"op":"free",{}"#, &source[1..]));
    assert_eq!(free.get("range_exact"), Some(&Value::Bool(false)));
    let answer = ask(&format!(r#"{{"op":"coverage","source":{source},"begin":0,"end":1000000000,"buckets":10}}"#));
    assert_eq!(answer.get("exact"), Some(&Value::Bool(false)));
    let reads = answer.floats("reads").unwrap();
    assert!((reads.iter().sum::<f64>() - 1e6).abs() < 1.0);
    let answer = ask(&format!(r#"{{"op":"readers","source":{source},"address":1,"limit":10}}"#));
    assert_eq!(answer.get("complete"), Some(&Value::Bool(false)));
}

/// The ranges of an expression are those of the addresses and of the values, by going through all elements with what knows no
/// expressions; or they contain them, and say that they are a bound.
#[test]
fn ranges_are_exact_or_said_to_be_bounds() {
    let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_integer).unwrap();
    let (mut exact, mut bounds) = (0, 0);
    for chain in [
        "(3, 2).permute(1, 0).reshape(3, 2)",
        "(5).pad((0, 3)).reshape(2, 4)",
        "(2, 3).pad((1, 1), (2, 0)).permute(1, 0).reshape(5, 4)",
        "(3, 4).permute(1, 0).reshape(12)",
        "(6, 4).flip(0).shrink((1, 5), (0, 3)).permute(1, 0).reshape(4, 3)",
        "(2, 3, 4).permute(2, 0, 1).reshape(3, 8).flip(1)",
        "(7, 5, 3).permute(2, 1, 0).reshape(105).shrink((4, 90))",
        "(3).pad((2, 2)).shrink((0, 2))",
        "(64, 64, 64).permute(2, 1, 0).reshape(512, 512)",
    ] {
        let tracker = tracker(chain);
        let source = format!(r#""source":{{"chain":"{chain}"}}"#);
        let answer = ask(&format!(r#"{{"op":"expression",{source}}}"#));
        let expression = answer.get("expression").unwrap();
        let addresses = elements(&tracker).into_iter().filter_map(|(_, address)| address);
        let (low, high) = addresses.fold((i64::MAX, i64::MIN), |(low, high), at| (low.min(at), high.max(at)));
        let range = integers(expression, "index_range");
        let is_exact = |value: &Value, name: &str| value.get(name) == Some(&Value::Bool(true));
        if low > high {
            // Nothing is read, and so no range is asked for.
        } else if is_exact(expression, "index_range_exact") {
            assert_eq!(range, [low, high], "{chain}");
        } else {
            assert!(range[0] <= low && high <= range[1], "{chain}: {range:?} for {low} to {high}");
        }
        // Each part at each element, against its least and its greatest value.
        let Some(Value::List(nodes)) = expression.get("nodes") else { panic!("{chain}") };
        let mut found = vec![(i64::MAX, i64::MIN); nodes.len()];
        let stride = (tracker.numel() / 2000).max(1);
        for (index, _) in elements(&tracker).into_iter().step_by(stride as usize) {
            let values = ask(&format!(r#"{{"op":"evaluate",{source},"index":{index:?}}}"#));
            for (found, value) in found.iter_mut().zip(integers(&values, "values")) {
                *found = (found.0.min(value), found.1.max(value));
            }
        }
        for (node, (low, high)) in nodes.iter().zip(found) {
            let range = (number(node, "low"), number(node, "high"));
            if is_exact(node, "exact") && stride == 1 {
                assert_eq!(range, (low, high), "{chain}: {node:?}");
                exact += 1;
            } else {
                assert!(range.0 <= low && high <= range.1, "{chain}: {node:?}");
                bounds += 1;
            }
        }
    }
    assert!(exact > 50, "{exact} exact, {bounds} others");

    // The reproductions: addresses are 0 to 5, and 0 to 20 of digits that are added.
    let of = |free: &str| ask(&format!(r#"{{"op":"free",{free}}}"#));
    let digits = of(r#""index":"x // 7 + x % 7","valid":"","variables":[{"name":"x","begin":0,"end":102}]"#);
    assert_eq!(integers(digits.get("simplified").unwrap(), "index_range"), [0, 19]);
    assert_eq!(digits.get("simplified").unwrap().get("index_range_exact"), Some(&Value::Bool(true)));
    // Of more elements than are gone through the range is sought, and found or a bound.
    let wide =
        of(r#""index":"x - x // 7 * 7","valid":"x > 3","variables":[{"name":"x","begin":0,"end":1000000000000}]"#);
    assert_eq!((integers(&wide, "address_range"), wide.get("range_exact")), (vec![0, 6], Some(&Value::Bool(true))));
    let never = of(r#""index":"x","valid":"x % 2 == 2","variables":[{"name":"x","begin":0,"end":1000000000000}]"#);
    assert_eq!(never.get("address_range"), Some(&Value::Null));
}

/// The value of a flat layout at a coordinate, by its sizes and strides alone.
fn value_at(modes: &[(i64, i64)], mut x: i64) -> i64 {
    let mut value = 0;
    for (number, &(size, stride)) in modes.iter().enumerate() {
        let entry = if number + 1 == modes.len() { x } else { x % size };
        value += entry * stride;
        x /= size;
    }
    value
}

fn flat(modes: &[(i64, i64)]) -> String {
    let list = |of: fn(&(i64, i64)) -> i64| {
        let items: Vec<String> = modes.iter().map(|mode| of(mode).to_string()).collect();
        format!("({})", items.join(","))
    };
    format!("{}:{}", list(|mode| mode.0), list(|mode| mode.1))
}

#[test]
fn a_composition_has_the_values_of_both_layouts_one_after_the_other() {
    let mut seen = 0;
    for (a, b) in [
        (&[(6, 8), (2, 2)][..], &[(4, 3), (3, 1)][..]),
        (&[(4, 6), (6, 1)], &[(2, 2), (3, 4)]),
        (&[(8, 1), (4, 16)], &[(4, 2), (4, 8)]),
        (&[(20, 2)], &[(5, 4), (4, 1)]),
        (&[(100, 3)], &[(70, 1), (3, 7)]),
    ] {
        let answer =
            ask(&format!(r#"{{"op":"algebra","operation":"compose","layout":"{}","by":"{}"}}"#, flat(a), flat(b)));
        let size: i64 = b.iter().map(|mode| mode.0).product();
        let rows = b[0].0;
        let drawn = [rows.min(64), (size / rows).min(64)];
        let expected: Vec<i64> = (0..drawn[0])
            .flat_map(|row| (0..drawn[1]).map(move |column| row + column * rows))
            .map(|x| value_at(a, value_at(b, x)))
            .collect();
        let result = answer.get("result").unwrap();
        assert_eq!(integers(result, "drawn"), drawn);
        assert_eq!(integers(result, "values"), expected, "{} o {}", flat(a), flat(b));
        seen += expected.len();
    }
    assert_eq!(seen, 246);
}

#[test]
fn a_division_has_every_value_once_and_a_product_repeats_the_layout() {
    let values = |operation: &str, by: &str| {
        let answer =
            ask(&format!(r#"{{"op":"algebra","operation":"{operation}","layout":"(4,6):(1,5)","by":"{by}"}}"#));
        let of = |name| integers(answer.get(name).unwrap(), "values");
        let rows = integers(answer.get("result").unwrap(), "drawn")[0];
        (of("layout"), of("result"), usize::try_from(rows).unwrap())
    };
    for operation in ["logical_divide", "zipped_divide"] {
        let (mut before, mut after, _) = values(operation, "(2,3)");
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after);
    }
    // Down a column of a zipped division there is one tile: two rows of three columns.
    let (_, tiles, rows) = values("zipped_divide", "(2,3)");
    let first: Vec<i64> = tiles.chunks(tiles.len() / rows).map(|row| row[0]).collect();
    assert_eq!(first, [0, 1, 5, 6, 10, 11]);
    let message = |request: &str| refused(request).message;
    assert!(
        message(r#"{"op":"algebra","operation":"logical_product","layout":"(2,3):(1,3)","by":"4:1"}"#)
            .contains("reached twice")
    );
    assert!(
        message(r#"{"op":"algebra","operation":"blocked_product","layout":"(2,3):(1,2)","by":"(2,(2,2))"}"#)
            .contains("a tuple has no strides")
    );
    let repeats = ask(r#"{"op":"algebra","operation":"logical_product","layout":"(2,2):(1,2)","by":"3:2"}"#);
    let (result, blocks) = (repeats.get("result").unwrap(), [0, 8, 16]);
    let expected: Vec<i64> = (0..4).flat_map(|value| blocks.map(|block| block + value)).collect();
    assert_eq!(integers(result, "values"), expected);
}

#[test]
fn the_elements_of_a_tile_have_the_threads_and_values_that_reach_them() {
    for (threads, values, [rows, columns]) in [
        (&[(4, 32), (8, 1)][..], &[(2, 16), (2, 8), (2, 128)][..], [16, 16]),
        (&[(8, 1)], &[(3, 8)], [5, 5]),
        (&[(4, 0), (4, 1)], &[(2, 4)], [4, 2]),
    ] {
        let nested = |modes: [&[(i64, i64)]; 2]| {
            let [a, b] = modes.map(flat).map(|text| {
                let (shape, stride) = text.split_once(':').unwrap();
                [shape.to_owned(), stride.to_owned()]
            });
            format!("({},{}):({},{})", a[0], b[0], a[1], b[1])
        };
        let answer =
            ask(&format!(r#"{{"op":"owners","layout":"{}","shape":"({rows},{columns})"}}"#, nested([threads, values])));
        let product = |modes: &[(i64, i64)]| modes.iter().map(|mode| mode.0).product::<i64>();
        let mut expected: BTreeMap<i64, Vec<[i64; 2]>> = BTreeMap::new();
        for thread in 0..product(threads) {
            for value in 0..product(values) {
                let element = value_at(threads, thread) + value_at(values, value);
                expected.entry(element).or_default().push([thread, value]);
            }
        }
        let Some(Value::List(cells)) = answer.get("owners").cloned() else { panic!() };
        assert_eq!(cells.len() as i64, rows * columns);
        for (place, cell) in cells.iter().enumerate() {
            let (row, column) = (place as i64 / columns, place as i64 % columns);
            let Value::List(pairs) = cell else { panic!() };
            let pairs: Vec<Vec<i64>> = pairs
                .iter()
                .map(|pair| match pair {
                    Value::List(pair) => pair.iter().map(|number| number.as_integer().unwrap()).collect(),
                    _ => panic!(),
                })
                .collect();
            let owners = expected.get(&(row + column * rows)).cloned().unwrap_or_default();
            assert_eq!(pairs, owners.iter().map(|pair| pair.to_vec()).collect::<Vec<_>>());
        }
        let [none, several] = [0, 1].map(|few| {
            let is = |owners: usize| if few == 0 { owners == 0 } else { owners > 1 };
            (0..rows * columns).filter(|element| is(expected.get(element).map_or(0, Vec::len))).count() as i64
        });
        assert_eq!(answer.get("unowned"), Some(&Value::Int(none)));
        assert_eq!(answer.get("shared"), Some(&Value::Int(several)));
    }
    let message = |layout: &str, shape: &str| {
        refused(&format!(r#"{{"op":"owners","layout":"{layout}","shape":"{shape}"}}"#)).message
    };
    assert!(message("(2,2):(4,1)", "(2,2)").contains("thread 1 has element 4 as value 0"));
    assert!(message("2:-1", "(2,2)").contains("element -1"));
    assert!(message("2:1", "(2,2,2)").contains("two sides"));
    assert!(message("2:1", "(0,2)").contains("at least 1"));
    assert!(message("2:1", "(128,128)").contains("more than the 4096"));
    assert!(message("(1048576,1048576):(0,0)", "(2,2)").contains("more than the 4096"));
}

#[test]
fn another_mode_may_take_the_thread() {
    let shown = |layout: &str, threads: i64| {
        let request = format!(r#"{{"op":"kernel","layouts":["{layout}"],"bytes":2,"vector":1,"threads":{threads}}}"#);
        integers(ask(&request).get("shown").unwrap(), "addresses")
    };
    // A tile of 4 by 3 in rows of 8: threads along its rows, and along its columns.
    let at = |row: i64, column: i64| row * 8 + column;
    let rows: Vec<i64> = (0..4).flat_map(|row| (0..3).map(move |column| at(row, column))).collect();
    let columns: Vec<i64> = (0..3).flat_map(|column| (0..4).map(move |row| at(row, column))).collect();
    assert_eq!(shown("(4,3):(8,1)", 0), rows);
    assert_eq!(shown("(4,3):(8,1)", 1), columns);
    // The swizzle stays: bit 3 is added to bit 0.
    let swizzled: Vec<i64> = columns.iter().map(|address| address ^ ((address >> 3) & 1)).collect();
    assert_eq!(shown("Sw<1,0,3> o 0 o (4,3):(8,1)", 1), swizzled);
    let fault = refused(r#"{"op":"kernel","layouts":["(4,3):(8,1)"],"bytes":2,"threads":2}"#);
    assert!(fault.message.contains("2 modes, so that mode 3 cannot"), "{}", fault.message);
}
