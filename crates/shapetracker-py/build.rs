//! Linking an extension module takes arguments of its own on macOS, also where maturin does not build it.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
