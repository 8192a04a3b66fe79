//! Descriptions as documents of JSON.

use super::{Apart, Description, Matrix, Nearest, NoMatrix, NoTensorMap, Order, Overlap, Reported, Shared, TensorMap};
use crate::json::Value;

/// A list of all of them.
fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Value {
    items.into_iter().collect()
}

impl From<&Description> for Value {
    fn from(found: &Description) -> Value {
        let views: Value = found.tracker.views().iter().collect();
        let lines = found.lines().into_iter().map(|line| Value::Null.with("topic", line.topic).with("text", line.text));
        Value::Null
            .with("shape", found.tracker.shape())
            .with("views", views)
            .with("bytes", found.memory.map(|memory| i64::from(memory.bytes)))
            .with("dense", found.is_dense())
            .with("order", found.order.as_ref())
            .with("nearest_dense", found.nearest_dense.as_ref())
            .with("valid", found.valid)
            .with("range", found.range.ok().flatten())
            .with("distinct", found.distinct)
            .with("holes", found.holes())
            .with("injective", found.collision.as_ref().ok().map(Option::is_none))
            .with("collision", found.collision.as_ref().ok().and_then(Option::as_ref))
            .with("matrix", found.matrix.as_ref().ok())
            .with("no_matrix", found.matrix.as_ref().err())
            .with("nearest_matrix", found.nearest_matrix.as_ref())
            .with("tensor_map", found.tensor_map.as_ref().and_then(|map| map.as_ref().ok()))
            .with("no_tensor_map", found.tensor_map.as_ref().and_then(|map| map.as_ref().err()))
            .with("nearest_tensor_map", found.nearest_tensor_map.as_ref())
            .with(
                "formats",
                list(
                    found
                        .formats
                        .iter()
                        .map(|format| Value::Null.with("library", format.library).with("name", &format.name[..])),
                ),
            )
            .with(
                "vector",
                found.vector.map(|vector| Value::Null.with("elements", vector.elements).with("run", vector.run)),
            )
            .with("reported", list(&found.reported))
            .with("lines", list(lines))
    }
}

impl From<&Shared> for Value {
    fn from(shared: &Shared) -> Value {
        Value::Null
            .with("indices", list(shared.indices.iter().map(|index| &index[..])))
            .with("address", shared.address)
            .with("sentence", shared.to_string())
    }
}

impl From<&Order> for Value {
    fn from(order: &Order) -> Value {
        let digit = |digit: &super::Digit| {
            Value::Null
                .with("axis", digit.axis)
                .with("size", digit.size)
                .with("weight", digit.weight)
                .with("stride", digit.stride)
        };
        Value::Null
            .with("names", list(order.names.iter().copied()))
            .with("digits", list(order.digits.iter().map(digit)))
            .with("backwards", list(order.backwards.iter().copied()))
            .with("repeated", list(order.repeated.iter().copied()))
    }
}

impl From<&Nearest> for Value {
    fn from(nearest: &Nearest) -> Value {
        Value::Null.with("view", &nearest.view).with("elements", nearest.elements)
    }
}

impl From<&Matrix> for Value {
    fn from(matrix: &Matrix) -> Value {
        let forms = matrix
            .forms
            .iter()
            .map(|form| Value::Null.with("operation", form.operation()).with("leading", form.leading));
        Value::Null
            .with("rows", matrix.rows)
            .with("columns", matrix.columns)
            .with("forms", list(forms))
            .with("batch", list(matrix.batch.iter().copied()))
    }
}

impl From<&NoMatrix> for Value {
    fn from(why: &NoMatrix) -> Value {
        Value::Null.with("kind", why.kind()).with("sentence", why.to_string())
    }
}

impl From<&TensorMap> for Value {
    fn from(map: &TensorMap) -> Value {
        let dims = map.dims.iter().map(|dim| {
            Value::Null.with("axes", list(dim.axes.iter().copied())).with("size", dim.size).with("stride", dim.stride)
        });
        Value::Null.with("dims", list(dims)).with("address", map.address).with("box_multiple", map.box_multiple)
    }
}

impl From<&NoTensorMap> for Value {
    fn from(why: &NoTensorMap) -> Value {
        Value::Null.with("kind", why.kind()).with("sentence", why.to_string())
    }
}

impl From<&Reported> for Value {
    fn from(report: &Reported) -> Value {
        let says =
            report.says.iter().fold(Value::Object(Vec::new()), |says, (question, answer)| says.with(question, *answer));
        Value::Null
            .with("library", report.library)
            .with("strides", report.strides.as_deref())
            .with("minor_to_major", report.minor_to_major.as_deref())
            .with("says", says)
            .with("none", report.none)
    }
}

impl From<&Overlap> for Value {
    fn from(overlap: &Overlap) -> Value {
        let value = Value::Null.with("sentence", overlap.to_string());
        match overlap {
            Overlap::Shared { indices, address } => value
                .with("kind", "shared")
                .with("indices", list(indices.iter().map(|index| &index[..])))
                .with("address", *address),
            Overlap::Apart(why) => match why {
                Apart::Nothing => value.with("kind", "nothing"),
                Apart::Ranges { ranges } => value.with("kind", "ranges").with("ranges", list(*ranges)),
                Apart::Residues { modulus, residues } => {
                    value.with("kind", "residues").with("modulus", *modulus).with("residues", list(*residues))
                }
                Apart::Searched => value.with("kind", "searched"),
            },
        }
    }
}
