//! Memory that the system refuses is an error: not an abort, not a panic, not a hang.
//!
//! The allocator of this program refuses chosen requests of at least 64 KiB. Each job runs once for each request that it
//! makes: first this request alone is refused, then this request and all later ones. The job must return the result that
//! it returns with enough memory, or `Error::Memory`. A refusal that is not handled ends the process, so the jobs run in
//! a child process; if it fails, the message shows the job, and where it asked for the memory.

#![allow(clippy::disallowed_methods, reason = "the test itself has memory")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use polytok_core::batch::{BatchOptions, count_batch, encode_batch};
use polytok_core::error::{Error, Result};
use polytok_core::incremental::{Addition, ChunkEncoder, IncrementalText};
use polytok_core::native::{Image, Tables};
use polytok_core::spec::{
    Behavior, Decode, Form, Kind, Matching, Model, Normalize, Pattern, Priority, ScalarRules, Scheme,
    SentencePieceNormalize, SentencePieceVersion, Spec, SpecialToken, Split, Symbols, TemplatePart, TrimOffsets,
    UnigramRules, Unknown, VocabColumns,
};
use polytok_core::streams::{ByteOptions, ByteStream};
use polytok_core::token_id::TokenId;
use polytok_core::tokenizer::{EncodeOptions, Tokenizer};
use polytok_core::train::bpe::{self, Affixes, MergeLimits, MergeRules, TieRule, WordUnit};
use polytok_core::train::counter::{Order, WordCounter};
use polytok_core::train::longest::{self, LongestMatchOptions};
use polytok_core::train::progress::NoProgress;
use polytok_core::train::texts::{TextCounter, TextRules};
use polytok_core::wire::{llama2c, rank_file};
use polytok_memory as memory;

/// The smallest request that is refused.
const THRESHOLD: usize = 1 << 16;

/// The variables of a child process: the group of jobs that it runs, the number of runs that it leaves out, and whether
/// it prints where memory is refused.
const GROUP: &str = "POLYTOK_TEST_GROUP";
const LEFT_OUT: &str = "POLYTOK_TEST_LEFT_OUT";
const TRACE: &str = "POLYTOK_TEST_TRACE";

/// The largest number of failures that are listed for a group.
const MAX_FAILURES: usize = 100;

/// The number of requests since the last call of `refuse`.
static REQUESTS: AtomicUsize = AtomicUsize::new(0);
/// The first request that is refused, and the first request after it that is granted.
static REFUSED_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);
static REFUSED_TO: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Whether the next refusal is printed.
static IS_TRACED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// True while the thread prints where memory was refused.
    static IS_PRINTING: Cell<bool> = const { Cell::new(false) };
}

struct Refusing;

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

impl Refusing {
    fn is_refused(bytes: usize) -> bool {
        if bytes < THRESHOLD || IS_PRINTING.get() {
            return false;
        }
        let request = REQUESTS.fetch_add(1, SeqCst);
        let is_refused = (REFUSED_FROM.load(SeqCst)..REFUSED_TO.load(SeqCst)).contains(&request);
        if is_refused && IS_TRACED.swap(false, SeqCst) {
            IS_PRINTING.set(true);
            eprintln!("refused {bytes} bytes:\n{}", Backtrace::force_capture());
            IS_PRINTING.set(false);
        }
        is_refused
    }
}

// SAFETY: each method calls the same method of the system's allocator, or returns null, which refuses the memory.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller has the duties of the system's method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Self::is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && Self::is_refused(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as in `alloc`.
        unsafe { System.realloc(start, layout, size) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(start, layout) }
    }
}

/// Refuses the requests from `from` to `to`, counted from now; returns the number of requests since the last call.
fn refuse(from: usize, to: usize) -> usize {
    REFUSED_FROM.store(from, SeqCst);
    REFUSED_TO.store(to, SeqCst);
    REQUESTS.swap(0, SeqCst)
}

/// A vocabulary of `<unk>`, all bytes except NUL, which models of SentencePiece cannot have, and some words.
fn vocab() -> VocabColumns {
    let mut columns = VocabColumns { offsets: vec![0], ..VocabColumns::default() };
    let mut push = |piece: &[u8], kind| {
        columns.blob.extend_from_slice(piece);
        columns.offsets.push(columns.blob.len() as u32);
        columns.ids.push(columns.ids.len() as u32);
        columns.scores.push(-(columns.ids.len() as f32));
        columns.kinds.push(kind);
    };
    push(b"<unk>", Kind::Unknown);
    (1..=255u8).for_each(|byte| push(&[byte], Kind::Normal));
    for word in
        ["th", "he", "the", " th", " the", "in", "er", "é", "\u{2581}", "\u{2581}the", "\u{2581}in", "中", "中文"]
    {
        push(word.as_bytes(), Kind::Normal);
    }
    (0..3000).for_each(|number| push(format!("pw{number}").as_bytes(), Kind::Normal));
    columns
}

fn spec(model: Model, split: Vec<Split>, normalize: Vec<Normalize>) -> Spec {
    let special =
        SpecialToken { text: b"<|end|>".to_vec(), id: TokenId(5000), always: true, ..SpecialToken::default() };
    Spec {
        vocab: vocab(),
        special: vec![special],
        matching: Matching::Longest,
        normalize,
        split,
        model,
        unknown: Unknown::Unk,
        single: vec![TemplatePart::Insert(vec![TokenId(0)]), TemplatePart::Slot],
        trim: TrimOffsets::Nothing,
        decode: Decode::Bytes { skips_unknown: false },
        sentencepiece_version: SentencePieceVersion::default(),
    }
}

fn bpe_model(symbols: Symbols, priority: Priority) -> Model {
    Model::Bpe { priority, symbols, whole_piece_first: false, reserved: false, scalars: ScalarRules::default() }
}

fn pattern(text: &str) -> Split {
    let pattern = Pattern { text: text.into(), is_regex: true, unicode: None };
    Split::Pattern { pattern, behavior: Behavior::Isolated, invert: false }
}

/// The tokenizers, by name.
fn specs() -> Vec<(&'static str, Spec)> {
    let sentencepiece = || {
        vec![Normalize::SentencePiece(SentencePieceNormalize {
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
            ..SentencePieceNormalize::default()
        })]
    };
    let bert = Normalize::Bert { clean_text: true, handle_chinese_chars: true, strip_accents: true, lowercase: true };
    let wordpiece = Model::WordPiece { continuing_prefix: "##".into(), max_chars: Some(100), phantom_space: false };
    let metaspace = Split::Metaspace { replacement: "\u{2581}".into(), prepend: Scheme::Always, split: true };
    let words = || vec![pattern(r"\s?\p{L}+|\p{N}{1,3}|\s+|[^\s\p{L}\p{N}]+")];
    let exact = |spec: Spec| Spec { unknown: Unknown::Error, ..spec };
    let by_rank = || bpe_model(Symbols::Bytes, Priority::Rank);
    vec![
        ("tiktoken", exact(spec(by_rank(), words(), vec![]))),
        ("sentencepiece_bpe", spec(bpe_model(Symbols::Chars, Priority::Score), vec![], sentencepiece())),
        ("unigram", spec(Model::Unigram(UnigramRules::SentencePiece), vec![], sentencepiece())),
        (
            "huggingface_unigram",
            spec(
                Model::Unigram(UnigramRules::HuggingFace { byte_fallback: false }),
                vec![metaspace],
                vec![Normalize::Unicode(Form::Nfkc), Normalize::Lowercase],
            ),
        ),
        ("wordpiece", spec(wordpiece, words(), vec![bert])),
        ("longest", exact(spec(Model::Longest, vec![], vec![]))),
        ("word", spec(Model::Word, vec![], vec![])),
    ]
}

/// A text with words, other scripts, special tokens, a run of spaces and long words.
static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut text = String::new();
    for number in 0..3000 {
        text += ["the winter in pw7 ", "thé 中文中 ", "<|end|>", "12345 ", "\u{10FFFF}x\n"][number % 5];
        text += &number.to_string();
    }
    (text + &" ".repeat(10_000) + &"a".repeat(10_000) + &"é".repeat(10_000)).into_bytes()
});

/// Many different words.
static WORDS: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..12_000).flat_map(|number| format!(" w{}x{number}", number % 7).into_bytes()).collect());

/// A job returns its result as text.
type Job = Box<dyn Fn() -> Result<String>>;

/// A job that uses a new tokenizer each time; memory for the tokenizer itself is not refused.
fn with_tokenizer(spec: &Spec, run: impl Fn(&Tokenizer) -> Result<String> + 'static) -> Job {
    let spec = spec.clone();
    Box::new(move || {
        let (from, to) = (REFUSED_FROM.load(SeqCst), REFUSED_TO.load(SeqCst));
        refuse(usize::MAX, usize::MAX);
        let tokenizer = Tokenizer::compile(spec.clone())?;
        refuse(from, to);
        run(&tokenizer)
    })
}

/// Returns the halves of a text, which is divided between two characters.
fn halves(text: &[u8]) -> [&[u8]; 2] {
    let middle = (text.len() / 2..text.len()).find(|&at| text[at] & 0xC0 != 0x80).unwrap_or(text.len());
    [&text[..middle], &text[middle..]]
}

fn rows(text: &[u8]) -> Vec<Option<&[u8]>> {
    text.split(|&byte| byte == b'\n').map(Some).chain([Some(text), None]).collect()
}

/// A number that depends on all of a value.
fn digest(value: &impl std::fmt::Debug) -> String {
    let mut sum = Sum(14695981039346656037);
    std::fmt::write(&mut sum, format_args!("{value:?}")).unwrap();
    sum.0.to_string()
}

/// FNV-1a of a formatted value, which needs no memory.
struct Sum(u64);

impl std::fmt::Write for Sum {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 = text.bytes().fold(self.0, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(1099511628211));
        Ok(())
    }
}

/// The jobs of a tokenizer, by name.
fn jobs_of(name: &str, spec: &Spec) -> Vec<(String, Job)> {
    let options = EncodeOptions { add_special: true, ..EncodeOptions::default() };
    let (text, compiled) = (TEXT.clone(), spec.clone());
    let ids = {
        let mut ids = Vec::new();
        Tokenizer::compile(spec.clone()).unwrap().encode(&text, options, &mut ids).unwrap();
        ids
    };
    let with_text = |run: fn(&Tokenizer, &[u8], EncodeOptions<'static>) -> Result<String>| {
        let text = text.clone();
        with_tokenizer(spec, move |tokenizer| {
            run(tokenizer, &text, EncodeOptions { add_special: true, ..Default::default() })
        })
    };
    let with_ids = |run: fn(&Tokenizer, &[u32]) -> Result<String>| {
        let ids = ids.clone();
        with_tokenizer(spec, move |tokenizer| run(tokenizer, &ids))
    };
    let jobs: Vec<(&str, Job)> = vec![
        ("compile", Box::new(move || Tokenizer::compile(compiled.clone()).map(|_| String::new()))),
        (
            "ids",
            with_text(|tokenizer, text, options| {
                let mut ids = Vec::new();
                tokenizer.encode(text, options, &mut ids)?;
                Ok(digest(&ids))
            }),
        ),
        ("count", with_text(|tokenizer, text, options| Ok(tokenizer.count(text, options)?.to_string()))),
        (
            "spans",
            with_text(|tokenizer, text, options| {
                tokenizer.spans(text, options).map(|spans| digest(&(spans.ids, spans.starts, spans.ends)))
            }),
        ),
        ("tokens", with_text(|tokenizer, text, options| tokenizer.tokens(text, options).map(|tokens| digest(&tokens)))),
        ("windows", with_text(|tokenizer, text, options| Ok(digest(&tokenizer.window_tokens(text, options)?)))),
        (
            "batch",
            with_text(|tokenizer, text, encode| {
                let options = BatchOptions { encode, threads: 2, ..BatchOptions::default() };
                encode_batch::<u16>(tokenizer, &rows(text), &options)
                    .map(|batch| digest(&batch))
                    .map_err(|(_, error)| error)
            }),
        ),
        (
            "count_batch",
            with_text(|tokenizer, text, options| {
                count_batch(tokenizer, &rows(text), options, 2)
                    .map(|counts| digest(&counts))
                    .map_err(|(_, error)| error)
            }),
        ),
        (
            "chunks",
            with_text(|tokenizer, text, options| {
                let (mut encoder, mut ids) = (ChunkEncoder::default(), Vec::new());
                for chunk in halves(text) {
                    encoder.push(tokenizer, Addition { text: chunk, runs: None }, options, &mut ids)?;
                }
                encoder.finish(tokenizer, options, &mut ids)?;
                Ok(digest(&ids))
            }),
        ),
        (
            "incremental",
            with_text(|tokenizer, text, options| {
                let mut kept = IncrementalText::new(tokenizer, options)?;
                kept.append(tokenizer, Addition { text: halves(text)[0], runs: None }, options)?;
                kept.set_text(tokenizer, Addition { text, runs: None }, options)?;
                Ok(kept.settled_count(tokenizer, options).to_string())
            }),
        ),
        ("decode", with_ids(|tokenizer, ids| Ok(digest(&tokenizer.decode(ids, false)?)))),
        (
            "decode_with_offsets",
            with_ids(|tokenizer, ids| {
                let decoded = tokenizer.decode_with_offsets(ids, false, Some("?"))?;
                Ok(decoded.map_or_else(String::new, |decoded| digest(&(decoded.text, decoded.starts, decoded.ends))))
            }),
        ),
        (
            "stream",
            with_ids(|tokenizer, ids| {
                let mut stream = ByteStream::new(ByteOptions { skip_special: false, ..ByteOptions::default() });
                let mut out = Vec::new();
                ids.chunks(30_000).try_for_each(|ids| stream.push(tokenizer, ids, &mut out))?;
                stream.finish(tokenizer, &mut out)?;
                Ok(digest(&out))
            }),
        ),
    ];
    jobs.into_iter().map(|(job, run)| (format!("{name}/{job}"), run)).collect()
}

/// Counts the words of the text.
fn counted_words() -> Result<WordCounter> {
    let split = [pattern(r"\s?\w+|\W")];
    let mut counter = TextCounter::new(TextRules::compile(&[], Vec::new(), &split)?, 2, None);
    counter.push(&[&TEXT, &WORDS], &mut NoProgress)?;
    counter.finish(&mut NoProgress)
}

/// The jobs of the formats and of training.
fn other_jobs() -> Vec<(String, Job)> {
    let (_, tiktoken) = specs().swap_remove(0);
    let write = |spec: Spec| {
        let mut tables = Tables::with_sections();
        Tokenizer::compile_with(spec, &mut tables)?;
        memory::catch(|| Ok(tables.finish().finish(*b"sixteen bytes ok")))
    };
    let file: Result<Vec<u8>> = write(tiktoken.clone());
    let (file, outline) = (file.unwrap(), Spec { vocab: VocabColumns::default(), ..tiktoken.clone() });
    let bytes_only = Spec { vocab: vocab(), ..tiktoken.clone() };
    let ranks = rank_file::write(&bytes_only.vocab);
    let llama2c_file = llama2c::write(&vocab()).unwrap();
    vec![
        ("native/write".into(), Box::new(move || Ok(digest(&write(tiktoken.clone())?)))),
        (
            "native/read".into(),
            Box::new(move || {
                let mut tables = Tables::from_image(Image::copy(&file)?);
                Tokenizer::compile_with(outline.clone(), &mut tables).map(|_| String::new())
            }),
        ),
        ("rank_file/read".into(), Box::new(move || Ok(digest(&rank_file::read(&ranks)?.ids)))),
        ("llama2c/read".into(), Box::new(move || Ok(digest(&llama2c::read(&llama2c_file)?.ids)))),
        (
            "train/bpe".into(),
            Box::new(|| {
                let limits = MergeLimits { symbols: 400, min_count: 2, length_limit: 20 };
                let affixes = Affixes { prefix: Vec::new(), suffix: Vec::new() };
                let rules =
                    MergeRules { unit: WordUnit::Bytes, affixes, ties: TieRule::LowerIds, limits, usable_memory: None };
                let bytes = (0..=255u8).map(|byte| vec![byte]);
                Ok(digest(&bpe::learn(&mut counted_words()?, bytes, &rules, &mut NoProgress)?.merges))
            }),
        ),
        (
            "train/longest".into(),
            Box::new(|| {
                let options = LongestMatchOptions {
                    entries: 400,
                    max_chars: 8,
                    max_bytes: 32,
                    min_count: None,
                    starts_of_chars: true,
                    forced: &[],
                    threads: 2,
                    usable_memory: None,
                };
                let words = counted_words()?.into_words(Order::Bytes, &mut NoProgress)?;
                Ok(digest(&longest::train(&words, &options, &mut NoProgress)?))
            }),
        ),
    ]
}

/// Runs each job of a group with each of its requests refused, without the first `left_out` runs.
fn run_group(group: &str, left_out: usize) {
    let jobs = match specs().into_iter().find(|(name, _)| *name == group) {
        Some((name, spec)) => jobs_of(name, &spec),
        None => other_jobs(),
    };
    let (mut runs, mut all_refusals) = (0, 0);
    for (name, job) in jobs {
        refuse(usize::MAX, usize::MAX);
        let expected = job().unwrap();
        let requests = refuse(usize::MAX, usize::MAX);
        let mut refusals = 0;
        for (from, to) in (0..requests).flat_map(|from| [(from, from + 1), (from, usize::MAX)]) {
            runs += 1;
            if runs <= left_out {
                continue;
            }
            eprintln!("RUN {runs} of {name}: request {from} to {to} of {requests}");
            IS_TRACED.store(std::env::var(TRACE).is_ok(), SeqCst);
            refuse(from, to);
            let result = job();
            refuse(usize::MAX, usize::MAX);
            match result {
                Ok(result) => assert_eq!(result, expected, "{name}: request {from}"),
                Err(Error::Memory(_)) => refusals += 1,
                Err(error) => panic!("{name}: request {from}: {error}"),
            }
        }
        println!("{name}: {requests} requests, {refusals} errors");
        all_refusals += refusals;
    }
    assert!(all_refusals > 0 || left_out > 0, "no request was refused");
}

/// Runs a group in a child process. Returns the number of the run that failed, and what the process printed in this run.
fn run_child(group: &str, left_out: usize, is_traced: bool) -> Option<(usize, String)> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["refused_memory_is_an_error", "--exact", "--nocapture"]);
    child.env(GROUP, group).env(LEFT_OUT, left_out.to_string()).env("RUST_BACKTRACE", "1").env_remove(TRACE);
    if is_traced {
        child.env(TRACE, "1");
    }
    let output = child.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = printed.rfind("RUN ").map_or(&printed[..], |at| &printed[at..]);
    let run = last.split(' ').nth(1).and_then(|run| run.parse().ok()).unwrap_or(usize::MAX);
    (!output.status.success()).then(|| (run, last.to_owned()))
}

#[test]
fn refused_memory_is_an_error() {
    if let Ok(group) = std::env::var(GROUP) {
        return run_group(&group, std::env::var(LEFT_OUT).unwrap().parse().unwrap());
    }
    let mut failures = Vec::new();
    for group in specs().iter().map(|(name, _)| *name).chain(["other"]) {
        let mut left_out = 0;
        while let Some((run, printed)) = run_child(group, left_out, false) {
            let traced = run_child(group, run.saturating_sub(1), true);
            failures.push(traced.map_or(printed, |(_, printed)| printed));
            left_out = run;
            if run == usize::MAX || failures.len() > MAX_FAILURES {
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} runs failed:\n{}", failures.len(), failures.join("\n\n"));
}
