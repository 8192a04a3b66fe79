//! Random nests, which are those of the tests of `indexpr`.

#[allow(dead_code)]
#[path = "../../../indexpr/tests/it/functions.rs"]
pub(crate) mod functions;
#[allow(dead_code)]
#[path = "../../../indexpr/tests/it/random.rs"]
mod random;
