#!/bin/sh
# Runs the tests of the crates with AddressSanitizer, and those of what threads share with loom. Used by `make sanitize`;
# docs/robustness.md has the results.
#
#   sh scripts/sanitize.sh [address] [loom]
set -eu
host=$(rustc -vV | sed -n 's/^host: //p')
export PROPTEST_CASES="${PROPTEST_CASES:-64}"

# Wrong uses of memory in the crates. The switch lets the stable compiler accept -Z; the standard library is not
# instrumented, and the core builds faster without optimization. A refused request returns null, as with the system's
# allocator. Left out are programs that bring an allocator (tests/memory_refused.rs) or are written in C (polytok-c).
address() {
    CARGO_TARGET_DIR=target/address RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address \
        ASAN_OPTIONS=allocator_may_return_null=1 \
        cargo test --quiet --lib --target "$host" --workspace --exclude polytok-py --exclude polytok-c \
        --config profile.dev.package.polytok-core.opt-level=0
}

# Races of the pool and of tables that are built late.
loom() {
    CARGO_TARGET_DIR=target/loom RUSTFLAGS="--cfg loom" \
        cargo test --quiet --package polytok-core --lib loom_tests
}

[ $# -gt 0 ] || set -- address loom
for part; do
    "$part"
done
