//! Runs the fuzzing target that the environment variable `POLYTOK_FUZZ_TARGET` names, with libFuzzer's options.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use polytok_fuzz::memory::LimitedMemory;
use polytok_fuzz::{TARGETS, Target};

#[global_allocator]
static MEMORY: LimitedMemory = LimitedMemory;

fn target() -> Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    *TARGET.get_or_init(|| {
        let name = std::env::var("POLYTOK_FUZZ_TARGET").unwrap_or_default();
        let names: Vec<&str> = TARGETS.iter().map(|&(name, _)| name).collect();
        let found = TARGETS.iter().find(|&&(target, _)| target == name);
        found.unwrap_or_else(|| panic!("POLYTOK_FUZZ_TARGET={name:?} is not one of {names:?}")).1
    })
}

fuzz_target!(|data: &[u8]| target()(data));
