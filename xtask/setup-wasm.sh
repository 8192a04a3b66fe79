#!/usr/bin/env bash
# A toolchain for wasm32-unknown-unknown where `rustup target add` cannot fetch one and Debian's packages can be had:
# rustc-web and the source of its standard library, unpacked below the folder $1 (nothing is installed), and the
# standard library built once. The last line printed is the toolchain: what RUSTUP_TOOLCHAIN is to be.
#
# Compiler and library must be of one version, hence both from Debian; `rust-lld` and `cargo` are those of rustup.
set -euo pipefail
prefix=$1
root=$prefix/usr
host=$(rustc -vV | sed -n 's/^host: //p')
native=$(rustc --print sysroot)

rm -rf "$prefix"
mkdir -p "$prefix/packages" "$prefix/build/src"
cd "$prefix/packages"
if [ "$(id -u)" = 0 ]; then apt-get -qq -o DPkg::Lock::Timeout=600 update >&2; fi
# What the package $1 depends on and is called like $2.
depends() { apt-cache depends "$1" | awk -v name="$2" '$0 ~ "Depends: " name {print $2; exit}'; }
std=$(depends libstd-rust-web-dev 'libstd-rust-web-[0-9]')
llvm=$(depends "$std" libllvm)
apt-get download -qq rustc-web rust-web-src libstd-rust-web-dev "$std" "$llvm" \
    libz3-4 libedit2 libbsd0 libmd0 libxml2 libffi8 libzstd1 libtinfo6 >&2
for package in *.deb; do dpkg-deb -x "$package" "$prefix"; done
rm -rf "$prefix/packages"

# rustup lets a compiler find its libraries in `lib`.
for library in "$root"/lib/*-linux-gnu/*.so*; do
    ln -sfn "$(basename "$(dirname "$library")")/$(basename "$library")" "$root/lib/$(basename "$library")"
done
for library in "$prefix"/lib/*-linux-gnu/*.so*; do ln -sfn "$library" "$root/lib/$(basename "$library")"; done
mkdir -p "$root/lib/rustlib/$host/bin"
ln -sfn "$native/lib/rustlib/$host/bin/"* "$root/lib/rustlib/$host/bin/"
ln -sfn "$native/bin/cargo" "$root/bin/cargo"

# Bitcode is what link-time optimization works on.
cd "$prefix/build"
echo '#![no_std]' > src/lib.rs
cat > Cargo.toml <<'MANIFEST'
[package]
name = "stdbuild"
version = "0.0.0"
edition = "2021"
[workspace]
[profile.release]
opt-level = "s"
codegen-units = 1
panic = "abort"
MANIFEST
# The flags and the target folder of whoever calls this are not for this build.
env -u CARGO_ENCODED_RUSTFLAGS RUSTUP_TOOLCHAIN="$root" RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Cembed-bitcode=yes \
    CARGO_TARGET_DIR="$prefix/build/target" \
    cargo build -q --release --target wasm32-unknown-unknown -Zbuild-std=std,panic_abort >&2
library=$root/lib/rustlib/wasm32-unknown-unknown/lib
mkdir -p "$library"
cp target/wasm32-unknown-unknown/release/deps/*.rlib "$library"
rm -rf "$library"/libstdbuild-* "$prefix/build"
touch "$prefix/complete"
echo "$root"
