//! Composition, division and product of layouts of CuTe as tables, and the threads and values of a tile.

use shapetracker_cute::{ComposedLayout, IntTuple, Layout, NotTiled, Tiler};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::request::Fields as _;

/// The most rows, and the most columns, of a table.
const MOST: i64 = 64;
/// The most elements of a tile, and the most pairs of a thread and a value.
const MOST_ELEMENTS: i64 = MOST * MOST;

pub(crate) fn algebra(request: &Value) -> Result<Value, Fault> {
    let layout: Layout = read(request, "layout")?;
    let by: Tiler = read(request, "by")?;
    let whole = |by: &Tiler| match by {
        Tiler::Whole(layout) => Ok(layout.clone()),
        Tiler::Size(size) => Layout::new(*size, 1).map_err(|err| refused(&err).in_field("by")),
        _ => Err(Fault::new("layout", "a layout is needed here, such as `(2,3):(1,2)`: a tuple has no strides")
            .in_field("by")),
    };
    let untiled = |err: NotTiled| refused(&err);
    let result = match request.text("operation")? {
        "compose" => layout.compose_by(&by).map_err(untiled)?,
        "logical_divide" => layout.logical_divide(&by).map_err(untiled)?,
        "zipped_divide" => layout.zipped_divide(&by).map_err(untiled)?,
        "logical_product" => layout.logical_product(&by).map_err(untiled)?,
        "blocked_product" => layout.blocked_product(&whole(&by)?).map_err(untiled)?,
        "raked_product" => layout.raked_product(&whole(&by)?).map_err(untiled)?,
        other => return Err(Fault::request(format!("there is no operation `{other}` of layouts"))),
    };
    // A tiler with a layout for each mode is no table of its own.
    let by = match by {
        Tiler::ByItem(_) => Value::Null,
        by => table(&whole(&by)?),
    };
    Ok(object! { "layout": table(&layout), "by": by, "result": table(&result) })
}

/// The values of a layout: its first mode goes down, the others across.
fn table(layout: &Layout) -> Value {
    let sizes = |modes: &[Layout]| modes.iter().flat_map(Layout::leaves).map(|(size, _)| size).collect::<Value>();
    let items = layout.items();
    // One mode is a row.
    let (down, across) = items.split_at(if items.len() > 1 { 1 } else { 0 });
    let product = |modes: &[Layout]| modes.iter().map(Layout::size).fold(1, i64::saturating_mul);
    let (rows, columns) = (product(down), product(across));
    let (drawn, wide) = (rows.min(MOST), columns.min(MOST));
    let cells = (0..drawn).flat_map(|row| (0..wide).map(move |column| row + column * rows));
    object! {
        "text": layout.to_string(),
        "size": layout.size(),
        "rows": rows,
        "columns": columns,
        "drawn": [drawn, wide].into_iter().collect::<Value>(),
        "row_sizes": sizes(down),
        "column_sizes": sizes(across),
        "values": cells.filter_map(|x| layout.at(x)).collect::<Value>(),
    }
}

/// Which thread has which element of a tile, as which of its values.
pub(crate) fn owners(request: &Value) -> Result<Value, Fault> {
    let layout: ComposedLayout = read(request, "layout")?;
    let shape: IntTuple = read(request, "shape")?;
    let items = layout.layout().items();
    let product = |modes: &[Layout]| modes.iter().map(Layout::size).fold(1, i64::saturating_mul);
    let (of_threads, of_values) = items.split_at(items.len().min(1));
    let (threads, values) = (product(of_threads), product(of_values));
    let sides: Vec<i64> = shape
        .items()
        .iter()
        .map(|side| side.leaves().iter().fold(1, |all: i64, size| all.saturating_mul(*size)))
        .collect();
    let [rows, columns] = sides[..] else {
        let given = sides.len();
        let message = format!(
            "a tile has two sides, such as `(16,8)`: here {given} {} given",
            if given == 1 { "is" } else { "are" }
        );
        return Err(Fault::new("layout", message).in_field("shape"));
    };
    if rows.min(columns) < 1 {
        return Err(Fault::new("layout", format!("a side of a tile is at least 1, here {}", rows.min(columns)))
            .in_field("shape"));
    }
    let elements = rows.saturating_mul(columns);
    for (count, what, field) in [
        (elements, "elements of a tile", "shape"),
        (threads.saturating_mul(values), "pairs of a thread and a value", "layout"),
    ] {
        if count > MOST_ELEMENTS {
            return Err(
                Fault::limit(format!("{count} {what}, more than the {MOST_ELEMENTS} that are drawn")).in_field(field)
            );
        }
    }
    let mut cells: Vec<Vec<[i64; 2]>> = vec![Vec::new(); usize::try_from(elements).unwrap_or(0)];
    for thread in 0..threads {
        for value in 0..values {
            let Some(element) = layout.at(thread + value * threads) else { continue };
            let Some(cell) = usize::try_from(element).ok().and_then(|element| cells.get_mut(element)) else {
                return Err(Fault::new(
                    "layout",
                    format!("thread {thread} has element {element} as value {value}, but a tile of {rows} by {columns} has the elements 0..{elements}"),
                )
                .in_field("layout"));
            };
            cell.push([thread, value]);
        }
    }
    let count = |is: fn(usize) -> bool| cells.iter().filter(|owners| is(owners.len())).count();
    let (none, several) = (count(|owners| owners == 0), count(|owners| owners > 1));
    // Row by row, while the elements of a tile are counted down its columns.
    let across = (0..rows).flat_map(|row| (0..columns).map(move |column| row + column * rows));
    let owners = across.filter_map(|element| cells.get(usize::try_from(element).ok()?));
    Ok(object! {
        "text": layout.to_string(),
        "rows": rows,
        "columns": columns,
        "threads": threads,
        "values": values,
        "owners": owners.map(|owners| owners.iter().map(|pair| pair.iter().copied().collect::<Value>()).collect::<Value>()).collect::<Value>(),
        "unowned": none,
        "shared": several,
    })
}

/// A field that is a text of CuTe.
fn read<T: std::str::FromStr<Err = shapetracker_cute::ParseError>>(
    request: &Value,
    field: &'static str,
) -> Result<T, Fault> {
    let text = request.text(field)?;
    text.parse().map_err(|err| Fault::syntax(&err, field, text))
}

fn refused(err: &dyn std::fmt::Display) -> Fault {
    Fault::new("layout", err.to_string())
}
