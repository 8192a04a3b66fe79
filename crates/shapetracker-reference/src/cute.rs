//! A page for each operation on layouts of CuTe.

use shapetracker_cute::{ComposedLayout, IntTuple, Layout, Tiler};

use crate::figure::{Cells, escaped, figure};
use crate::methods::html;
use crate::page::{Page, address, code, head, prose, row, shown};

/// An operation, and what it is given in the examples of its page.
#[derive(Clone, Copy)]
pub struct Operation {
    /// Its name in CuTe.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub says: &'static str,
    /// Its call, with `{A}` and `{B}` for what it is given.
    pub call: &'static str,
    /// What it is given: the last one is the exercise.
    pub given: &'static [&'static [&'static str]],
    /// What comes of it.
    pub does: fn(&[&str]) -> Result<ComposedLayout, String>,
}

fn layout(text: &str) -> Result<Layout, String> {
    text.parse().map_err(|err: shapetracker_cute::ParseError| err.message().to_owned())
}

fn tiler(text: &str) -> Result<Tiler, String> {
    text.parse().map_err(|err: shapetracker_cute::ParseError| err.message().to_owned())
}

fn one(given: &[&str], does: impl Fn(Layout) -> Result<Layout, String>) -> Result<ComposedLayout, String> {
    plain(does(layout(given[0])?))
}

fn plain(layout: Result<Layout, String>) -> Result<ComposedLayout, String> {
    layout.map(ComposedLayout::from)
}

fn two(given: &[&str], does: impl Fn(Layout, Layout) -> Result<Layout, String>) -> Result<ComposedLayout, String> {
    plain(does(layout(given[0])?, layout(given[1])?))
}

fn tiled(given: &[&str], does: impl Fn(Layout, Tiler) -> Result<Layout, String>) -> Result<ComposedLayout, String> {
    plain(does(layout(given[0])?, tiler(given[1])?))
}

fn said(err: impl std::fmt::Display) -> String {
    err.to_string()
}

/// All of them.
pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "make_layout",
        says: "The layout of a shape, the first mode fastest: column-major order.",
        call: "make_layout({A})",
        given: &[&["(4,6)"], &["((2,2),3)"], &["(3,5)"]],
        does: |given| {
            let shape: IntTuple =
                given[0].parse().map_err(|err: shapetracker_cute::ParseError| err.message().to_owned())?;
            plain(Layout::column_major(shape).map_err(said))
        },
    },
    Operation {
        name: "coalesce",
        says: "The shortest layout with the same values: modes that follow each other become one.",
        call: "coalesce({A})",
        given: &[&["(2,(1,6)):(1,(6,2))"], &["(4,6):(6,1)"], &["(2,3,4):(1,2,6)"]],
        does: |given| one(given, |a| Ok(a.coalesce())),
    },
    Operation {
        name: "filter",
        says: "The layout without modes of stride 0 or size 1: each value of those is left once.",
        call: "filter({A})",
        given: &[&["(4,3):(1,0)"], &["(2,1,4):(4,9,1)"], &["(4,(2,3)):(2,(0,8))"]],
        does: |given| one(given, |a| Ok(a.filter())),
    },
    Operation {
        name: "composition",
        says: "The layout that does what two layouts do, one after the other: A(B(i)).",
        call: "composition({A}, {B})",
        given: &[&["(6,2):(8,2)", "(4,3):(3,1)"], &["(4,6,8):(2,3,5)", "6:3"], &["20:2", "(5,4):(4,1)"]],
        does: |given| two(given, |a, b| a.compose(&b).map_err(said)),
    },
    Operation {
        name: "complement",
        says: "The layout of what a layout leaves out below a number of addresses.",
        call: "complement({A}, {B})",
        given: &[&["4:1", "24"], &["(2,2):(1,6)", "24"], &["6:4", "24"]],
        does: |given| {
            let cotarget: i64 = given[1].parse().map_err(said)?;
            one(given, |a| a.complement(cotarget).map_err(said))
        },
    },
    Operation {
        name: "right_inverse",
        says: "The longest layout that takes values back to coordinates: A(R(i)) = i.",
        call: "right_inverse({A})",
        given: &[&["(4,8):(8,1)"], &["(2,3):(8,1)"], &["(3,5):(5,1)"]],
        does: |given| one(given, |a| Ok(a.right_inverse().map_err(said)?.layout)),
    },
    Operation {
        name: "left_inverse",
        says: "The layout that takes coordinates back from values: R(A(i)) = i.",
        call: "left_inverse({A})",
        given: &[&["(4,8):(8,1)"], &["(2,3):(8,1)"], &["(3,5):(5,1)"]],
        does: |given| one(given, |a| a.left_inverse().map_err(said)),
    },
    Operation {
        name: "logical_divide",
        says: "A layout cut into tiles: the tile first, then where the tiles are.",
        call: "logical_divide({A}, {B})",
        given: &[&["(4,6):(6,1)", "(2,3)"], &["24:1", "(2,4):(12,1)"], &["(4,8):(1,4)", "(2,4)"]],
        does: |given| tiled(given, |a, b| a.logical_divide(&b).map_err(said)),
    },
    Operation {
        name: "zipped_divide",
        says: "A layout cut into tiles: one mode for all of a tile, one for all tiles.",
        call: "zipped_divide({A}, {B})",
        given: &[&["(4,6):(6,1)", "(2,3)"], &["(8,12):(12,1)", "(4,3)"], &["(4,8):(1,4)", "(2,4)"]],
        does: |given| tiled(given, |a, b| a.zipped_divide(&b).map_err(said)),
    },
    Operation {
        name: "tiled_divide",
        says: "A layout cut into tiles: one mode for all of a tile, then one for each direction of the tiles.",
        call: "tiled_divide({A}, {B})",
        given: &[&["(4,6):(6,1)", "(2,3)"], &["(8,12):(12,1)", "(4,3)"], &["(4,8):(1,4)", "(2,4)"]],
        does: |given| tiled(given, |a, b| a.tiled_divide(&b).map_err(said)),
    },
    Operation {
        name: "flat_divide",
        says: "A layout cut into tiles: the modes of a tile, then those of the tiles, side by side.",
        call: "flat_divide({A}, {B})",
        given: &[&["(4,6):(6,1)", "(2,3)"], &["(8,12):(12,1)", "(4,3)"], &["(4,8):(1,4)", "(2,4)"]],
        does: |given| tiled(given, |a, b| a.flat_divide(&b).map_err(said)),
    },
    Operation {
        name: "logical_product",
        says: "A layout repeated along another one.",
        call: "logical_product({A}, {B})",
        given: &[&["(2,2):(2,1)", "6:1"], &["4:1", "(2,3):(3,1)"], &["(2,3):(3,1)", "2:1"]],
        does: |given| tiled(given, |a, b| a.logical_product(&b).map_err(said)),
    },
    Operation {
        name: "zipped_product",
        says: "A layout repeated along another one: one mode for the layout, one for its repetitions.",
        call: "zipped_product({A}, {B})",
        given: &[&["(2,2):(2,1)", "6:1"], &["4:1", "(2,3):(3,1)"], &["(2,3):(3,1)", "2:1"]],
        does: |given| tiled(given, |a, b| a.zipped_product(&b).map_err(said)),
    },
    Operation {
        name: "tiled_product",
        says: "A layout repeated along another one: one mode for the layout, then those of the repetitions.",
        call: "tiled_product({A}, {B})",
        given: &[&["(2,2):(2,1)", "6:1"], &["4:1", "(2,3):(3,1)"], &["(2,3):(3,1)", "2:1"]],
        does: |given| tiled(given, |a, b| a.tiled_product(&b).map_err(said)),
    },
    Operation {
        name: "flat_product",
        says: "A layout repeated along another one: its modes, then those of the repetitions, side by side.",
        call: "flat_product({A}, {B})",
        given: &[&["(2,2):(2,1)", "6:1"], &["4:1", "(2,3):(3,1)"], &["(2,3):(3,1)", "2:1"]],
        does: |given| tiled(given, |a, b| a.flat_product(&b).map_err(said)),
    },
    Operation {
        name: "blocked_product",
        says: "A tile repeated over a grid, tile beside tile.",
        call: "blocked_product({A}, {B})",
        given: &[&["(2,2):(1,2)", "(2,3):(3,1)"], &["(2,5):(5,1)", "(3,4):(1,3)"], &["(2,2):(2,1)", "(2,2):(1,2)"]],
        does: |given| two(given, |a, b| a.blocked_product(&b).map_err(said)),
    },
    Operation {
        name: "raked_product",
        says: "A tile repeated over a grid, the elements of the tiles interleaved.",
        call: "raked_product({A}, {B})",
        given: &[&["(2,2):(1,2)", "(2,3):(3,1)"], &["(2,5):(5,1)", "(3,4):(1,3)"], &["(2,2):(2,1)", "(2,2):(1,2)"]],
        does: |given| two(given, |a, b| a.raked_product(&b).map_err(said)),
    },
    Operation {
        name: "Swizzle",
        says: "Bits of the address exchanged by an exclusive or, so that columns of a tile lie in different banks.",
        call: "{A} o 0 o {B}",
        given: &[&["Sw<2,0,2>", "(4,4):(4,1)"], &["Sw<1,1,2>", "(4,8):(8,1)"], &["Sw<2,0,3>", "(4,8):(8,1)"]],
        does: |given| {
            format!("{} o 0 o {}", given[0], given[1])
                .parse()
                .map_err(|err: shapetracker_cute::ParseError| err.message().to_owned())
        },
    },
];

/// A layout of more values is not drawn.
const MOST: i64 = 128;

/// The values of a layout: its first mode runs down, all others run to the right.
fn drawn(name: &str, layout: &ComposedLayout) -> Option<Cells> {
    let plain = layout.layout();
    if plain.size() > MOST {
        return None;
    }
    let items = plain.items();
    let rows = if items.len() > 1 { items[0].size() } else { 1 };
    let columns = if rows == 0 { 0 } else { plain.size() / rows };
    let values = (0..rows).flat_map(|row| (0..columns).map(move |column| row + rows * column));
    let values = values.map(|at| layout.at(at)).collect();
    Some(Cells { name: name.to_owned(), shape: vec![rows, columns], values })
}

/// The pages of all operations on layouts.
///
/// # Errors
/// An example that cannot be read.
pub fn cute_pages() -> Result<Vec<Page>, String> {
    OPERATIONS.iter().map(page).collect()
}

/// The call of what is given.
fn called(operation: &Operation, given: &[&str]) -> String {
    ["{A}", "{B}"].iter().zip(given).fold(operation.call.to_owned(), |call, (letter, text)| call.replace(letter, text))
}

fn page(operation: &Operation) -> Result<Page, String> {
    let Operation { name, says, given, does, .. } = operation;
    let title = format!("{name} in CuTe: what it does to a layout's strides");
    let mut text = format!(
        "# {title}\n\n{}: {says} Nothing is copied: a layout says at which place the element of a coordinate is.\n\n",
        code(&called(operation, &["A", "B"]))
    );
    let (last, examples) = given.split_last().ok_or("an operation without an example")?;
    for given in examples {
        text += &format!("## {}\n\n", code(&called(operation, given)));
        let result = does(given);
        text += &head(&["", "layout", "size", "cosize"]);
        let mut shown_layouts = Vec::new();
        for (letter, text_of) in ["A", "B"].iter().zip(*given) {
            if let Ok(layout) = text_of.parse::<ComposedLayout>() {
                text += &layout_row(letter, &layout);
                shown_layouts.extend(drawn(letter, &layout));
            } else {
                text += &row(&[(*letter).to_owned(), code(text_of), String::new(), String::new()]);
            }
        }
        match &result {
            Ok(layout) => {
                text += &layout_row("result", layout);
                shown_layouts.extend(drawn("result", layout));
            }
            Err(why) => {
                text += &row(&["result".to_owned(), format!("none: {}", prose(why)), String::new(), String::new()])
            }
        }
        text += "\n";
        let svg = figure(&shown_layouts, &format!("The values of {}", called(operation, given)));
        let caption = "The first mode runs down, the others to the right; in each cell stands the value.";
        let plain = result.as_ref().ok().and_then(ComposedLayout::as_layout).map(ToString::to_string);
        text += &match plain {
            Some(plain) => shown(svg.as_deref(), caption, &plain, "tensor"),
            None => svg
                .map(|svg| format!("<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>\n\n"))
                .unwrap_or_default(),
        };
    }
    let answer = match does(last) {
        Ok(layout) => {
            format!("It is <code>{}</code>, with {} values.", escaped(&layout.to_string()), layout.layout().size())
        }
        Err(why) => format!("There is none: {}.", html(&why)),
    };
    text += &format!(
        "## Exercise\n\nWhich layout is {}?\n\n<details>\n<summary>The answer</summary>\n<p>{answer}</p>\n</details>\n\n",
        code(&called(operation, last))
    );
    Ok(Page {
        path: format!("cute/{}", address(name)),
        title,
        about: format!("{says} Shapes and strides before and after, with pictures."),
        text,
    })
}

fn layout_row(name: &str, layout: &ComposedLayout) -> String {
    let cosize = layout.cosize().map_or_else(|_| String::new(), |cosize| cosize.to_string());
    row(&[name.to_owned(), code(&layout.to_string()), layout.layout().size().to_string(), cosize])
}
