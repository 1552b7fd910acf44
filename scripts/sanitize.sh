#!/bin/sh
# Runs tests of the crates, of the binding and of the C library with AddressSanitizer, and those of what threads share
# with loom. Used by `make sanitize`; docs/robustness.md has the results.
#
#   PYTHON=.../bin/python sh scripts/sanitize.sh [address] [binding] [c] [loom]
set -eu
host=$(rustc -vV | sed -n 's/^host: //p')
runtime=$PWD/target/address/runtime
export PROPTEST_CASES="${PROPTEST_CASES:-64}"

# Calls cargo with AddressSanitizer. The switch lets the stable compiler accept -Z; the standard library is not
# instrumented, and the core builds faster without optimization.
cargo_with_asan() {
    CARGO_TARGET_DIR=target/address RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address \
        cargo "$@" --quiet --target "$host" --config profile.dev.package.polytok-core.opt-level=0
}

# Builds the runtime of AddressSanitizer as a library for programs that rustc does not link: it has the runtime as an
# archive for executables. The object that is deleted calls the runtime before main, which only executables can.
# libasan.so names the library for gcc; the runtime takes a library of that name in a process for a second runtime.
build_runtime() {
    mkdir -p "$runtime"
    cp "$(rustc --print target-libdir)"/librustc-*_rt.asan.a "$runtime/asan.a"
    ar d "$runtime/asan.a" asan_preinit.cpp.o
    cc -shared -Wl,--whole-archive "$runtime/asan.a" -Wl,--no-whole-archive -lm -lpthread -ldl -o "$runtime/runtime.so"
    echo "INPUT($runtime/runtime.so)" >"$runtime/libasan.so"
}

# Wrong uses of memory in the crates. A refused request returns null, as with the system's allocator. Left out is a
# program that brings an allocator (tests/memory_refused.rs).
address() {
    ASAN_OPTIONS=allocator_may_return_null=1 \
        cargo_with_asan test --lib --workspace --exclude polytok-py --exclude polytok-c
}

# Wrong uses of memory in the binding: tests in Python import an instrumented module. Python keeps memory when it ends,
# so leaks are not reported. SANITIZE_TESTS selects other tests.
binding() {
    build_runtime
    PYO3_PYTHON=$PYTHON cargo_with_asan build --package polytok-py
    package=target/address/python
    rm -rf $package
    cp -r python $package
    rm -f $package/polytok/_core*.so
    cp "target/address/$host/debug/lib_core.so" $package/polytok/_core.abi3.so
    # shellcheck disable=SC2086 # a list of files
    PYTHONPATH=$package PYTHONMALLOC=malloc LD_PRELOAD=$runtime/runtime.so \
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
        "$PYTHON" -m pytest -q -p no:cacheprovider --capture=sys ${SANITIZE_TESTS:-$binding_tests}
}
binding_tests="tests/test_arrow.py tests/test_native.py tests/test_parts.py tests/test_texts.py tests/test_threads.py
    tests/test_compat_minbpe.py tests/test_compat_small.py tests/test_compat_tiktoken.py
    tests/test_training_longest_match.py"

# Wrong uses of memory and leaks in the library for C and in the programs that call it.
c() {
    build_runtime
    POLYTOK_ASAN=$runtime cargo_with_asan test --package polytok-c
}

# Races of the pool and of tables that are built late.
loom() {
    CARGO_TARGET_DIR=target/loom RUSTFLAGS="--cfg loom" \
        cargo test --quiet --package polytok-core --lib loom_tests
}

[ $# -gt 0 ] || set -- address binding c loom
for part; do
    "$part"
done
