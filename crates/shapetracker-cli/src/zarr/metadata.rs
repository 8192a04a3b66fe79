//! The metadata of an output: those of the input, as far as they do not speak of its shape.

use serde_json::{Map, Value, json};

use crate::answer::{Failure, tuple};

/// How an array is cut: into chunks that are stored, which may be shards of smaller ones.
#[derive(Debug, PartialEq)]
pub(super) struct Cut {
    /// The chunks that are stored, each in a file.
    pub(super) stored: Vec<i64>,
    /// The chunks in each, where they are shards.
    pub(super) inner: Option<Vec<i64>>,
}

/// How many elements the chunks of an array have, and those in its shards, where it has any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Targets {
    pub(super) stored: i64,
    pub(super) inner: Option<i64>,
}

/// The chunks in the shards of an array, where it has shards. They are along the axes of the encoded array, of which there
/// are as many as of the array.
pub(super) fn inner_elements(metadata: &Value) -> Option<i64> {
    let codec = metadata["codecs"].as_array()?.iter().find(|codec| codec["name"] == "sharding_indexed")?;
    let sizes = codec["configuration"]["chunk_shape"].as_array()?;
    sizes.iter().try_fold(1i64, |product, size| product.checked_mul(size.as_i64()?))
}

impl Cut {
    /// How an output of a shape is cut, where its chunks or shards are given or chosen.
    ///
    /// `choose` finds chunks of about so many elements.
    pub(super) fn new(
        shape: &[i64],
        chunks: Option<&[i64]>,
        shards: Option<&[i64]>,
        targets: Targets,
        choose: impl FnOnce(i64) -> Result<Vec<i64>, Failure>,
    ) -> Result<Cut, Failure> {
        for (option, sizes) in [("--chunks", chunks), ("--shards", shards)] {
            let Some(sizes) = sizes else { continue };
            let given = || tuple(sizes);
            if sizes.len() != shape.len() {
                let message =
                    format!("{option} takes one size per axis: the output has shape {}, not {}", tuple(shape), given());
                return Err(Failure::new("chunks", message));
            }
            if let Some(axis) = sizes.iter().position(|&size| size < 1) {
                let message = format!(
                    "{option} {}: the size along axis {axis} is {}, and must be 1 or more",
                    given(),
                    sizes[axis]
                );
                return Err(Failure::new("chunks", message));
            }
        }
        match (chunks, shards) {
            (Some(chunks), Some(shards)) => {
                if let Some(axis) = (0..shape.len()).find(|&axis| shards[axis] % chunks[axis] != 0) {
                    let message = format!(
                        "a shard is whole chunks: along axis {axis}, {} is no multiple of {}",
                        shards[axis], chunks[axis]
                    );
                    return Err(Failure::new("chunks", message));
                }
                Ok(Cut { stored: shards.into(), inner: Some(chunks.into()) })
            }
            (Some(chunks), None) if targets.inner.is_some() => {
                Ok(Cut { stored: grown(chunks, shape, targets.stored), inner: Some(chunks.into()) })
            }
            (Some(chunks), None) => Ok(Cut { stored: chunks.into(), inner: None }),
            (None, Some(shards)) => {
                let most = targets.inner.unwrap_or(targets.stored);
                Ok(Cut { stored: shards.into(), inner: Some(divided(shards, most)) })
            }
            (None, None) => {
                let stored = choose(targets.stored)?;
                let inner = targets.inner.map(|most| divided(&stored, most));
                Ok(Cut { stored, inner })
            }
        }
    }
}

/// Shards of whole chunks with about so many elements, which are no larger than they need to be for the shape: the last
/// axes grow first, so that what is stored together lies together.
fn grown(chunk: &[i64], shape: &[i64], most: i64) -> Vec<i64> {
    let mut shard = chunk.to_vec();
    for axis in (0..shard.len()).rev() {
        let elements = shard.iter().fold(1i64, |product, &size| product.saturating_mul(size));
        let wanted = (shape[axis].max(1) as u64).div_ceil(chunk[axis] as u64) as i64;
        shard[axis] = chunk[axis].saturating_mul((most / elements).clamp(1, wanted));
    }
    shard
}

/// The largest chunks of at most so many elements that cut a shard evenly, found from the first axis on.
fn divided(shard: &[i64], most: i64) -> Vec<i64> {
    let mut chunk = shard.to_vec();
    for axis in 0..chunk.len() {
        let others = chunk.iter().enumerate().filter(|&(other, _)| other != axis).map(|(_, &size)| size);
        let others = others.fold(1i64, i64::saturating_mul);
        let size = chunk[axis];
        // A size below the square root, or its partner above.
        let roots = (1..).take_while(|root| root * root <= size).filter(|root| size % root == 0);
        let divisors = roots.flat_map(|root| [root, size / root]);
        let fitting = divisors.filter(|divisor| divisor.saturating_mul(others) <= most);
        chunk[axis] = fitting.max().unwrap_or(1);
    }
    chunk
}

/// The metadata of the output, and what of the input's codecs could not be kept, as sentences.
pub(super) fn adapted(input: &Value, shape: &[i64], cut: &Cut) -> Result<(Value, Vec<String>), Failure> {
    let mut remarks = Vec::new();
    let rank = input["shape"].as_array().map_or(0, Vec::len);
    let codecs = input["codecs"].as_array().cloned().unwrap_or_default();
    let mut codecs = list(codecs, rank, cut.stored.clone(), cut.inner.clone(), &mut remarks)?;
    let is_sharded = codecs.iter().any(|codec| codec["name"] == "sharding_indexed");
    if let Some(inner) = cut.inner.as_ref().filter(|_| !is_sharded) {
        let index = json!([{ "name": "bytes", "configuration": { "endian": "little" } }, { "name": "crc32c" }]);
        let configuration = json!({
            "chunk_shape": inner,
            "codecs": codecs,
            "index_codecs": index,
            "index_location": "end",
        });
        codecs = vec![json!({ "name": "sharding_indexed", "configuration": configuration })];
    }
    let mut output = Map::new();
    for (key, value) in input.as_object().into_iter().flatten() {
        let value = match &key[..] {
            "shape" => json!(shape),
            "chunk_grid" => json!({ "name": "regular", "configuration": { "chunk_shape": cut.stored } }),
            // The one that an array of Zarr 2 keeps its names with would do, too, but nobody expects it.
            "chunk_key_encoding" => json!({ "name": "default", "configuration": { "separator": "/" } }),
            "codecs" => json!(codecs),
            // What an axis is called says nothing of the axes that the chain makes of it.
            "dimension_names" => {
                if value.as_array().is_some_and(|names| names.iter().any(|name| !name.is_null())) {
                    remarks.push("the names of the axes were not kept: the output has other axes".into());
                }
                continue;
            }
            _ => value.clone(),
        };
        output.insert(key.clone(), value);
    }
    Ok((Value::Object(output), remarks))
}

/// The codecs of a chunk of some shape, and the chunks in it where it is a shard.
fn list(
    codecs: Vec<Value>,
    rank: usize,
    mut shape: Vec<i64>,
    inner: Option<Vec<i64>>,
    remarks: &mut Vec<String>,
) -> Result<Vec<Value>, Failure> {
    let mut inner = inner;
    let mut kept = Vec::new();
    for mut codec in codecs {
        match codec["name"].as_str().unwrap_or_default() {
            // Of no axes there is no other order.
            "transpose" if shape.is_empty() => continue,
            "transpose" => {
                let Some(order) = order(&codec["configuration"]["order"], rank, shape.len()) else {
                    remarks.push(format!(
                        "the codec `transpose` was not kept: its order is one of {rank} axes, and the output has {}",
                        shape.len()
                    ));
                    continue;
                };
                shape = permuted(&shape, &order);
                inner = inner.map(|chunk| permuted(&chunk, &order));
                codec["configuration"]["order"] = json!(order);
            }
            "sharding_indexed" => {
                // Shards in shards: as many elements in each as there were.
                let most = inner_elements(&json!({ "codecs": [codec] })).unwrap_or(1);
                let chunk = inner.take().unwrap_or_else(|| divided(&shape, most));
                let codecs = codec["configuration"]["codecs"].as_array().cloned().unwrap_or_default();
                codec["configuration"]["chunk_shape"] = json!(chunk);
                codec["configuration"]["codecs"] = json!(list(codecs, rank, chunk.clone(), None, remarks)?);
            }
            name @ ("reshape" | "squeeze") => {
                let message =
                    format!("the codec `{name}` is made for the shape of the input, and has no meaning for another");
                return Err(Failure::new("zarr", message));
            }
            _ => {}
        }
        kept.push(codec);
    }
    Ok(kept)
}

fn permuted(sizes: &[i64], order: &[usize]) -> Vec<i64> {
    order.iter().map(|&axis| sizes[axis]).collect()
}

/// The order of a transposition of other axes: the same, or all axes reversed, as in column-major order.
fn order(order: &Value, from: usize, to: usize) -> Option<Vec<usize>> {
    let order: Vec<usize> = match order.as_str() {
        Some("C") => (0..from).collect(),
        Some("F") => (0..from).rev().collect(),
        _ => order.as_array()?.iter().map(|axis| Some(axis.as_u64()? as usize)).collect::<Option<_>>()?,
    };
    if from == to {
        return Some(order);
    }
    let is = |mut axes: Box<dyn Iterator<Item = usize>>| axes.by_ref().eq(order.iter().copied());
    if is(Box::new((0..from).rev())) {
        Some((0..to).rev().collect())
    } else if is(Box::new(0..from)) {
        Some((0..to).collect())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_whole_chunks() {
        assert_eq!(divided(&[12, 10], 30), [3, 10]);
        assert_eq!(divided(&[12, 10], 7), [1, 5]);
        assert!(divided(&[], 7).is_empty());
        assert_eq!(divided(&[7, 7], 3), [1, 1]);
        assert_eq!(grown(&[2, 5], &[12, 20], 80), [4, 20]);
        assert_eq!(grown(&[2, 5], &[12, 7], 1000), [12, 10]);
        assert_eq!(grown(&[2, 5], &[12, 20], 3), [2, 5]);
        assert_eq!(grown(&[2], &[0], 30), [2]);
    }

    #[test]
    fn chunks_that_do_not_fit_are_refused() {
        let targets = Targets { stored: 100, inner: None };
        let cut = |chunks: Option<&[i64]>, shards: Option<&[i64]>| {
            Cut::new(&[10, 20], chunks, shards, targets, |_| Ok(vec![5, 20]))
        };
        assert_eq!(cut(None, None).unwrap(), Cut { stored: vec![5, 20], inner: None });
        assert_eq!(cut(Some(&[3, 7]), None).unwrap(), Cut { stored: vec![3, 7], inner: None });
        assert_eq!(cut(None, Some(&[10, 10])).unwrap().inner, Some(vec![10, 10]));
        for (chunks, shards, sentence) in [
            (Some(&[3][..]), None, "--chunks takes one size per axis: the output has shape (10, 20), not (3,)"),
            (Some(&[0, 3]), None, "--chunks (0, 3): the size along axis 0 is 0, and must be 1 or more"),
            (Some(&[2, 3]), Some(&[4, 4][..]), "a shard is whole chunks: along axis 1, 4 is no multiple of 3"),
        ] {
            assert!(cut(chunks, shards).unwrap_err().text().contains(sentence), "{sentence}");
        }
    }

    #[test]
    fn an_order_is_kept_where_it_has_a_meaning() {
        assert_eq!(order(&json!([2, 1, 0]), 3, 2), Some(vec![1, 0]));
        assert_eq!(order(&json!("F"), 2, 3), Some(vec![2, 1, 0]));
        assert_eq!(order(&json!([1, 2, 0]), 3, 3), Some(vec![1, 2, 0]));
        assert_eq!(order(&json!([1, 2, 0]), 3, 2), None);
        assert_eq!(order(&json!([0]), 1, 3), Some(vec![2, 1, 0]));
    }
}
