#!/bin/sh
# Lints the binding as it is compiled for the stable ABI, for the oldest and the newest Python, and for those without
# the GIL. PyO3 reads what it needs to know of a Python from a file, so these Pythons need not be installed. PyO3 has
# other functions for each version: once, the binding did not compile for Python 3.14, and no other check saw it.
set -eu
cd "$(dirname "$0")/.."

cargo clippy --quiet --package polytok-py --features abi3 -- -D warnings
for python in 3.10: 3.15: 3.14:Py_GIL_DISABLED 3.15:Py_GIL_DISABLED; do
    config=$PWD/target/lint-python
    mkdir -p target
    cat >"$config" <<END
implementation=CPython
version=${python%%:*}
shared=true
abi3=false
pointer_width=64
build_flags=${python#*:}
suppress_build_script_link_lines=false
END
    PYO3_CONFIG_FILE=$config cargo clippy --quiet --package polytok-py -- -D warnings
done
