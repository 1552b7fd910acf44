#!/bin/sh
# Runs the tests of what threads share with loom. Used by `make sanitize`; docs/robustness.md has the results.
#
#   sh scripts/sanitize.sh PYTHON [loom]
set -eu
python=$1
shift

# Races of the pool and of tables that are built late.
loom() {
    CARGO_TARGET_DIR=target/loom RUSTFLAGS="--cfg loom" \
        cargo test --quiet --package polytok-core --lib loom_tests
}

for part in "${@:-loom}"; do
    "$part"
done
