//! Generates the header and compares it with the committed file; compiles the C programs against the library and runs
//! them under valgrind. Tests whose programs are missing do nothing. If POLYTOK_ASAN has a folder with AddressSanitizer's
//! runtime, the C programs run with it instead of valgrind (scripts/sanitize.sh).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PTOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/0.1.0/job/tokenizer.ptok");
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

#[test]
fn the_header_is_the_one_of_this_code() {
    let config = cbindgen::Config::from_file(format!("{ROOT}/cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_crate(ROOT).with_config(config).generate().unwrap();
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    let path = format!("{ROOT}/include/polytok.h");
    if std::env::var_os("POLYTOK_WRITE_HEADER").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let message = "include/polytok.h is not the header of this code: run the test with POLYTOK_WRITE_HEADER=1";
    assert!(committed == String::from_utf8(generated).unwrap(), "{message}");
}

#[test]
fn the_example_runs_in_c_and_in_cpp() {
    let source = format!("{ROOT}/examples/encode.c");
    for (compiler, options) in [("gcc", &["-std=c11"][..]), ("g++", &["-std=c++17", "-x", "c++"])] {
        let Some(program) = compile(compiler, options, &source, &format!("encode-{compiler}")) else {
            continue;
        };
        let output = run(Command::new(&program).args([PTOK, "lower ids 👍🏽"]));
        assert_eq!(
            output,
            "10 ids: 109 296 277 371 33 367 142 336 144 190\ndecoded: lower ids 👍🏽\n\
             streamed: [l] [ow] [er] [ ids] [ ] [👍] [🏽] []\n"
        );
        let failed = Command::new(&program).args([ROOT, "x"]).output().unwrap();
        assert_eq!(failed.status.code(), Some(1));
    }
}

#[test]
fn the_program_of_the_docs_runs() {
    let page = std::fs::read_to_string(format!("{ROOT}/../../docs/from-c.md")).unwrap();
    let program = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs.c");
    std::fs::write(&source, program).unwrap();
    if let Some(program) = compile("gcc", &["-std=c11"], source.to_str().unwrap(), "docs") {
        assert_eq!(run(Command::new(&program).arg(PTOK)), "4 ids, lower ids\n");
    }
}

#[test]
fn wrong_calls_are_errors_and_no_memory_is_lost() {
    let Some(program) = compile("gcc", &["-std=c11"], &format!("{ROOT}/tests/misuse.c"), "misuse") else {
        return;
    };
    assert_eq!(run(Command::new(&program).arg(PTOK)), "all calls checked\n");
    if is_missing("valgrind") || runtime_of_asan().is_some() {
        return;
    }
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--leak-check=full", "--show-leak-kinds=definite,indirect", "--error-exitcode=9"]);
    valgrind.args(["--errors-for-leak-kinds=definite,indirect"]);
    assert_eq!(run(valgrind.arg(&program).arg(PTOK)), "all calls checked\n");
}

/// Compiles a program with the library. Returns None if the compiler is missing.
fn compile(compiler: &str, options: &[&str], source: &str, name: &str) -> Option<PathBuf> {
    if is_missing(compiler) {
        return None;
    }
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command.args(options).args(WARNINGS).arg(source).args(["-x", "none", "-pthread", "-I"]);
    command.arg(format!("{ROOT}/include")).arg("-L").arg(&libraries).arg("-lpolytok");
    command.arg(format!("-Wl,-rpath,{}", libraries.display())).arg("-o").arg(&program);
    if let Some(runtime) = runtime_of_asan() {
        command.arg("-fsanitize=address").arg(format!("-L{runtime}")).arg(format!("-Wl,-rpath,{runtime}"));
    }
    run(&mut command);
    Some(program)
}

/// The folder of the runtime that the library needs if it is built with AddressSanitizer.
fn runtime_of_asan() -> Option<String> {
    std::env::var("POLYTOK_ASAN").ok()
}

/// Reports whether a program is missing. On Windows, gcc may not use the linker for which the library was built.
fn is_missing(program: &str) -> bool {
    cfg!(windows) || Command::new(program).arg("--version").stdout(Stdio::null()).status().is_err()
}

/// Runs a command, and returns its output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
