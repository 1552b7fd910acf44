//! temporary
use crate::train::progress::Reporter;
use polytok_core::spec::Line;
use polytok_core::train::unigram::sentences::{RARE, SPACE, Sentences, Shape};
use polytok_core::train::unigram::{Options, train};
use pyo3::prelude::*;

struct S {
    scripts: Vec<u8>,
    ws: bool,
    suffix: bool,
    only: bool,
    number: bool,
    digits: bool,
    script: bool,
    max: usize,
}
const ANY: u8 = 255;
fn digit(c: char) -> bool {
    c.is_ascii_digit() || ('\u{ff10}'..='\u{ff19}').contains(&c)
}
impl S {
    fn class(&self, c: char) -> u8 {
        self.scripts[c as usize]
    }
}
impl Shape for S {
    fn is_valid(&self, piece: &str) -> bool {
        let n = piece.chars().count();
        if n == 0 || n > self.max {
            return false;
        }
        let all = piece.chars().all(|c| c == SPACE);
        let mut prev = ANY;
        for (pos, c) in piece.chars().enumerate() {
            if c == RARE || c == '\0' || c == '\u{1f}' || c == ' ' {
                return false;
            }
            if c == SPACE {
                if !self.only || !all {
                    if self.suffix {
                        if (self.ws && pos < n - 1) || (!self.ws && pos < n - 1 && pos == 0) {
                            return false;
                        }
                    } else if (self.ws && pos > 0) || (!self.ws && pos > 0 && pos == n - 1) {
                        return false;
                    }
                }
                continue;
            }
            let mut s = self.class(c); // 0 inherited
            if s == 0 {
                s = prev
            }
            if !self.number && digit(c) {
                s = ANY
            }
            if self.digits && digit(c) && n > 1 {
                return false;
            }
            if self.script && s != ANY && prev != ANY && prev != s {
                return false;
            }
            prev = s;
        }
        true
    }
    fn parts(&self, a: char, b: char) -> bool {
        if self.digits && (digit(a) || digit(b)) {
            return true;
        }
        if a == SPACE || b == SPACE || !self.script {
            return false;
        }
        let f = |c| if !self.number && digit(c) { ANY } else { self.class(c) };
        let (x, y) = (f(a), f(b));
        x != 0 && y != 0 && x != ANY && y != ANY && x != y
    }
    fn splits(&self) -> bool {
        self.ws
    }
    fn words<'a>(&self, sentence: &'a str, word: &mut dyn FnMut(&'a str)) {
        let cs: Vec<(usize, char)> = sentence.char_indices().collect();
        let mut start = 0;
        for (i, &(at, c)) in cs.iter().enumerate() {
            let prev = if i > 0 { Some(cs[i - 1].1 == SPACE) } else { None };
            let cut = match prev {
                None => false,
                Some(p) => {
                    if self.suffix {
                        p && (!self.only || c != SPACE)
                    } else {
                        c == SPACE && (!self.only || !p)
                    }
                }
            };
            if cut {
                word(&sentence[start..at]);
                start = at
            }
        }
        word(&sentence[start..]);
    }
}

/// temporary
#[pyfunction]
#[pyo3(signature = (sentences, alphabet, scripts, flags, max, line, vocab_size, meta, seed, shrink, sub, lanes, threads))]
#[allow(clippy::too_many_arguments)]
pub fn train_unigram_temp(
    py: Python<'_>,
    sentences: Vec<(String, u64)>,
    alphabet: Vec<(char, u64)>,
    scripts: Vec<u8>,
    flags: (bool, bool, bool, bool, bool, bool),
    max: usize,
    line: &str,
    vocab_size: usize,
    meta: usize,
    seed: usize,
    shrink: f32,
    sub: usize,
    lanes: usize,
    threads: usize,
) -> PyResult<Vec<(Vec<u8>, f32)>> {
    let s = S {
        scripts,
        ws: flags.0,
        suffix: flags.1,
        only: flags.2,
        number: flags.3,
        digits: flags.4,
        script: flags.5,
        max,
    };
    let line = if line == "0.2.1" { Line::V0_2_1 } else { Line::V0_2_3 };
    let options = Options {
        line,
        vocab_size,
        meta_pieces: meta,
        max_piece_chars: max,
        seed_size: seed,
        shrinking_factor: shrink,
        sub_iterations: sub,
        lanes,
        threads,
    };
    Reporter::new(None).run(py, |progress| {
        let mut all = Sentences::new(&s, line);
        for (t, c) in &sentences {
            all.push(t, *c)?;
        }
        train(all, &alphabet, &s, &options, progress)
    })
}
