#!/usr/bin/env bash
# Builds, checks and lists the wheel of a target, in the folder dist/. The workflow wheels.yml calls this script too.
#
#   scripts/build_wheels.sh                           for this machine
#   scripts/build_wheels.sh aarch64-unknown-linux-musl  for another, if rustup has its standard library
#
# The wheels for Linux are linked by zig, so they run with the oldest C library that their tag names, whatever this
# machine has. One wheel serves CPython 3.10 and later, because the feature abi3 uses only Python's stable ABI.
# While all crates are linked together, functions are inlined less than by default: that saves 2 % of the wheel. With
# the stable ABI, encoding then takes 1 to 2.5 % more instructions. zopfli saves 4 %.
# Stacks are unwound by the libgcc_s.so.1 of the machine, as scripts/libgcc_s.sh explains.
# PYTHON chooses the Python that runs the build; PROFILE=quick builds faster, for trying things out.
set -euo pipefail
cd "$(dirname "$0")/.."

max_bytes=$((4 << 20))
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
tools=target/wheel-tools
[ -d "$tools" ] || "${PYTHON:-python3}" -m venv "$tools"
if [ -d "$tools/bin" ]; then bin=$tools/bin; else bin=$tools/Scripts; fi
"$bin/python" -m pip install --quiet --disable-pip-version-check \
    'maturin>=1.9,<2' ziglang 'zopfli>=0.4' 'twine>=6' 'auditwheel>=6; platform_system == "Linux"' abi3audit

case $target in
    *-linux-gnu) options=(--zig --compatibility manylinux2014) ;;
    *-linux-musl) options=(--zig --compatibility musllinux_1_2) ;;
    *) options=() ;;
esac
rustc_options=(-C llvm-args=-inline-threshold=75)
case $target in
    *-linux-gnu) rustc_options+=(-C "link-arg=$(bash scripts/libgcc_s.sh "${target%%-*}" "$tools" "$PWD/$bin/python" -m ziglang)") ;;
esac
folder=target/wheels/$target
rm -rf "$folder"
PATH="$PWD/$bin:$PATH" "$bin/maturin" build --profile "${PROFILE:-release}" --locked --strip --features abi3 --target "$target" \
    ${options[@]+"${options[@]}"} --out "$folder" -- "${rustc_options[@]}"

wheel=$(echo "$folder"/*.whl)
"$bin/python" scripts/recompress_wheel.py "$wheel"
"$bin/python" -m twine check --strict "$wheel"
# Of a library for musl, auditwheel would read this machine's libc.so; maturin has checked which functions it needs.
case $target in *-linux-gnu) "$bin/auditwheel" show "$wheel" ;; esac
"$bin/abi3audit" --strict --summary "$wheel"
"$bin/python" scripts/third_party_licenses.py --check-wheel "$wheel"
bytes=$(wc -c <"$wheel")
[ "$bytes" -le "$max_bytes" ] || { echo "$wheel has $bytes bytes, more than $max_bytes"; exit 1; }
mkdir -p dist
cp "$wheel" dist/
echo "dist/$(basename "$wheel"): $bytes bytes"
