//! A compiled tokenizer. `encode` reads as the picture in lib.rs: special, normalize, split, model, post.

use std::sync::{Arc, Mutex, OnceLock};

use crate::cache::{Cache, IDS, Key, Piece, WAITING, Waiting};
use crate::decode::{DecodeState, Decoder};
use crate::error::{Error, Result};
use crate::model::bpe::{Bpe, BpeScratch};
use crate::model::dictionary::{Reach, Rows};
use crate::model::longest::Longest;
use crate::model::unigram::{Unigram, UnigramScratch};
use crate::model::whole::{Unit, Whole};
use crate::model::{Segment, UNKNOWN};
use crate::normalize::Normalizer;
use crate::normalize::user_defined::prefix_matcher;
use crate::post::{Count, Fallback, Out, Sink, Token, Tokens};
use crate::spec::{Model, Priority, Spec, Split, Symbols, TemplatePart, Unknown};
use crate::special::{Part, SpecialSet, Specials};
use crate::split::Splitter;
use crate::split::boundary::Boundary;
use crate::vocab::Vocab;

/// A first guess at how much room a text wants.
const TYPICAL_BYTES_PER_ID: usize = 5;

/// Pieces of a split that are longer than this are cut further where nothing can merge.
const LONG: usize = 15;

/// An immutable tokenizer; many threads may use one at once.
pub struct Tokenizer {
    pub(crate) vocab: Arc<Vocab>,
    specials: Specials,
    pub(crate) normalizer: Option<Normalizer>,
    splitters: Vec<Splitter>,
    pub(crate) model: Compiled,
    pub(crate) fallback: Fallback,
    before: Vec<u32>,
    after: Vec<u32>,
    decoder: Decoder,
    rows: OnceLock<Rows>,
    pool: Mutex<Vec<Scratch>>,
}

/// A compiled model.
pub(crate) enum Compiled {
    Bpe(Box<Bpe>, Option<Boundary>),
    Unigram(Unigram),
    Longest(Longest),
    Whole(Whole),
}

/// What a thread needs while it encodes; kept from call to call.
#[derive(Default)]
pub struct Scratch {
    pub(crate) normalized: Vec<u8>,
    offsets: Vec<u32>,
    pub(crate) bpe: BpeScratch,
    unigram: UnigramScratch,
    cache: Cache,
    segments: Vec<Segment>,
    ids: Vec<u32>,
}

impl Scratch {
    /// Gives back what one huge text made the buffers grow to.
    fn release(&mut self) {
        const KEPT: usize = 1 << 20;
        fn shrink<T>(buffer: &mut Vec<T>) {
            if buffer.capacity() > KEPT {
                *buffer = Vec::new();
            }
        }
        shrink(&mut self.normalized);
        shrink(&mut self.offsets);
        shrink(&mut self.segments);
        shrink(&mut self.ids);
        self.bpe.release(KEPT);
    }
}

fn compile_split(step: &Split) -> Result<Splitter> {
    match step {
        Split::Pattern { pattern, .. } => Splitter::compile(&pattern.text),
        other => Err(Error::Spec(format!("split: {other:?} is not run"))),
    }
}

/// What this engine does not run is refused, so that nobody gets ids that are not the reference's.
fn check_supported(model: &Model, split: &[Split], unknown: Unknown) -> Result<()> {
    if split.is_empty() {
        return Ok(());
    }
    if !matches!(model, Model::Bpe { symbols: Symbols::Bytes, .. }) {
        return Err(Error::Spec("split: patterns go with BPE over bytes only".into()));
    }
    if unknown == Unknown::Unk {
        return Err(Error::Spec("split: patterns do not go with unknown=\"unk\"".into()));
    }
    Ok(())
}

/// Which special tokens an encoding adds, recognises and refuses.
#[derive(Clone, Copy, Default)]
pub struct EncodeOptions<'a> {
    /// Put the template's ids around the text.
    pub add_special: bool,
    /// Recognise these in the text.
    pub special: Option<&'a SpecialSet>,
    /// Fail if one of these stands in the text.
    pub reject: Option<&'a SpecialSet>,
}

impl Tokenizer {
    /// Compiles a Spec.
    pub fn compile(spec: Spec) -> Result<Tokenizer> {
        let vocab = Arc::new(Vocab::new(spec.vocab)?);
        check_supported(&spec.model, &spec.split, spec.unknown)?;
        // Only SentencePiece matches user-defined pieces beforehand.
        let is_sentencepiece = match &spec.model {
            Model::Bpe { symbols, .. } => *symbols == Symbols::Chars,
            Model::Longest => false,
            _ => true,
        };
        let user_defined = if is_sentencepiece { prefix_matcher(&vocab, spec.line) } else { None };
        let normalizer = match spec.normalize.first() {
            Some(step) => Some(Normalizer::compile(step, user_defined.clone(), spec.line)?),
            None => None,
        };
        let splitters = spec.split.iter().map(compile_split).collect::<Result<Vec<_>>>()?;
        let is_listed = matches!(spec.model, Model::Bpe { priority: Priority::Merges(_), .. });
        let model = match spec.model {
            Model::Bpe { priority, symbols, whole_piece_first, .. } => {
                let reach = match symbols {
                    Symbols::Chars => Reach::SentencePiece(spec.line),
                    Symbols::Groups => Reach::All,
                    Symbols::Bytes | Symbols::Scalars => Reach::Plain,
                };
                let has_prefix = symbols == Symbols::Groups && matches!(normalizer, Some(Normalizer::PrefixSpace));
                let bpe = Bpe::compile(
                    vocab.clone(),
                    &priority,
                    symbols,
                    whole_piece_first,
                    reach,
                    user_defined,
                    has_prefix,
                )?;
                let boundary = bpe.can_cut().then(|| Boundary::new(bpe.reachable(), symbols));
                Compiled::Bpe(Box::new(bpe), boundary)
            }
            Model::Unigram(_) => Compiled::Unigram(Unigram::compile(&vocab, spec.line)?),
            Model::Longest => Compiled::Longest(Longest::compile(&vocab)),
            Model::Word => Compiled::Whole(Whole::compile(vocab.clone(), Unit::Word, spec.line)),
            Model::Char => Compiled::Whole(Whole::compile(vocab.clone(), Unit::Char(user_defined), spec.line)),
            other => return Err(Error::Spec(format!("model: {other:?} is not run"))),
        };
        let fallback = Fallback::compile(spec.unknown, &vocab)?;
        let decoder = Decoder::compile(&spec.decode, &vocab, spec.line)?;
        let specials = Specials::new(spec.special, &vocab, is_listed);
        let slot = spec.single.iter().position(|part| *part == TemplatePart::Slot).unwrap_or(0);
        let ids = |parts: &[TemplatePart]| -> Vec<u32> {
            parts
                .iter()
                .filter_map(|part| if let TemplatePart::Insert(ids) = part { Some(ids.clone()) } else { None })
                .flatten()
                .collect()
        };
        let (before, after) = (ids(&spec.single[..slot]), ids(&spec.single[slot..]));
        for &id in before.iter().chain(&after) {
            if vocab.row(id).is_none() && specials.text(id).is_none() {
                return Err(Error::Spec(format!("post: id {id} is neither in the vocabulary nor a special token's")));
            }
        }
        Ok(Tokenizer {
            vocab,
            specials,
            normalizer,
            splitters,
            model,
            fallback,
            before,
            after,
            decoder,
            rows: OnceLock::new(),
            pool: Mutex::new(Vec::new()),
        })
    }

    /// The number of split patterns.
    pub fn splits(&self) -> usize {
        self.splitters.len()
    }

    /// The special tokens.
    pub fn specials(&self) -> &Specials {
        &self.specials
    }

    /// The bytes of an id: its piece, or its text if it is a special token.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.vocab.row(id).map(|row| self.vocab.bytes(row)).or_else(|| self.specials.text(id))
    }

    /// The id of a piece or of a special token. A piece that stands in several rows has the first one's.
    pub fn id_of(&self, piece: &[u8]) -> Option<u32> {
        // Not get_or_init: the index is built outside of the lock, so that a fork hardly ever happens within it.
        if self.rows.get().is_none() {
            let _ = self.rows.set(Rows::index(&self.vocab, |_| true));
        }
        let rows = self.rows.get()?;
        let special = || self.specials.tokens().iter().find(|token| token.text == piece).map(|token| token.id);
        rows.find(&self.vocab, piece).map(|row| self.vocab.id(row as usize)).or_else(special)
    }

    /// The largest id that an encoding can hold; None if there is no id.
    pub fn max_id(&self) -> Option<u32> {
        let specials = self.specials.tokens().iter().map(|token| token.id);
        specials.chain(self.vocab.size().checked_sub(1)).max()
    }

    /// Appends the ids of a text.
    pub fn encode(&self, text: &[u8], options: EncodeOptions, ids: &mut Vec<u32>) -> Result<()> {
        self.with_scratch(|scratch| self.encode_to(text, options, scratch, ids))
    }

    /// The number of ids of a text, without building them.
    pub fn count(&self, text: &[u8], options: EncodeOptions) -> Result<usize> {
        let mut count = Count(0);
        self.with_scratch(|scratch| self.encode_to(text, options, scratch, &mut count))?;
        Ok(count.0)
    }

    /// The tokens of a text, with their spans in it.
    pub fn tokens(&self, text: &[u8], options: EncodeOptions) -> Result<Vec<Token>> {
        let mut tokens = Tokens::default();
        self.with_scratch(|scratch| self.encode_to(text, options, scratch, &mut tokens))?;
        Ok(tokens.finish())
    }

    /// The bytes of ids; special tokens are left out if `skip_special`.
    pub fn decode(&self, ids: &[u32], skip_special: bool) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(ids.len() * TYPICAL_BYTES_PER_ID + 32);
        let mut state = DecodeState::default();
        for &id in ids {
            self.decode_next(id, skip_special, &mut state, &mut out)?;
        }
        self.decode_finish(&mut state, &mut out);
        Ok(out)
    }

    /// Appends what one more id adds to a stream.
    #[inline]
    pub fn decode_next(&self, id: u32, skip_special: bool, state: &mut DecodeState, out: &mut Vec<u8>) -> Result<()> {
        if skip_special && self.specials.text(id).is_some() {
            return Ok(());
        }
        self.decoder.push(&self.vocab, &self.specials, id, state, out)
    }

    /// Appends what a stream still holds back, and makes the state new.
    pub fn decode_finish(&self, state: &mut DecodeState, out: &mut Vec<u8>) {
        self.decoder.finish(state, out);
    }

    /// Runs with a scratch of the pool. The lock is never waited for: another thread, or one that a fork left behind with the lock
    /// held, only costs a new scratch.
    pub fn with_scratch<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        let pooled = self.pool.try_lock().ok().and_then(|mut pool| pool.pop());
        let mut scratch = pooled.unwrap_or_default();
        let result = run(&mut scratch);
        scratch.release();
        if let Ok(mut pool) = self.pool.try_lock() {
            pool.push(scratch);
        }
        result
    }

    /// The pipeline, into any sink.
    pub fn encode_to<S: Sink>(
        &self,
        text: &[u8],
        options: EncodeOptions,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        if text.len() >= u32::MAX as usize {
            return Err(Error::Encode(format!(
                "the text has {} bytes; one call takes less than 4 GiB: cut it",
                text.len()
            )));
        }
        if let Some(reject) = options.reject {
            reject.reject(text)?;
        }
        if options.add_special {
            self.before.iter().for_each(|&id| sink.special(id, 0, 0));
        }
        match options.special {
            None => self.encode_part(text, 0, scratch, sink)?,
            Some(set) => set.cut(text, |part| match part {
                Part::Text(start, end) => self.encode_part(&text[start..end], start, scratch, sink),
                Part::Special(id, start, end) => {
                    sink.special(id, start as u32, end as u32);
                    Ok(())
                }
            })?,
        }
        if options.add_special {
            self.after.iter().for_each(|&id| sink.special(id, text.len() as u32, text.len() as u32));
        }
        Ok(())
    }

    /// Encodes what lies between special tokens, as if it were a text of its own. `at` is where it starts.
    fn encode_part<S: Sink>(&self, text: &[u8], at: usize, scratch: &mut Scratch, sink: &mut S) -> Result<()> {
        let Some(normalizer) = &self.normalizer else {
            sink.begin_part(at as u32, None);
            return self.encode_normalized(text, scratch, sink);
        };
        let mut normalized = std::mem::take(&mut scratch.normalized);
        normalized.clear();
        if S::SPANS {
            scratch.offsets.clear();
            normalizer.normalize_with_offsets(text, &mut normalized, &mut scratch.offsets);
            sink.begin_part(at as u32, Some(&scratch.offsets));
        } else {
            normalizer.normalize(text, &mut normalized);
        }
        let result = match normalized.len() < u32::MAX as usize {
            true => self.encode_normalized(&normalized, scratch, sink),
            false => Err(Error::Encode("normalization makes 4 GiB or more of this text: cut it".into())),
        };
        scratch.normalized = normalized;
        result
    }

    fn encode_normalized<S: Sink>(&self, text: &[u8], scratch: &mut Scratch, sink: &mut S) -> Result<()> {
        let mut out = Out::new(text, &self.fallback, sink);
        let Scratch { bpe: bpe_scratch, unigram: unigram_scratch, .. } = scratch;
        match &self.model {
            Compiled::Bpe(bpe, cuts) if !self.splitters.is_empty() => {
                self.encode_split(bpe, cuts.as_ref(), text, scratch, &mut out)
            }
            Compiled::Bpe(bpe, Some(cuts)) if cuts.can_cut(text) => {
                self.encode_stretches(bpe, cuts, text, scratch, &mut out)
            }
            Compiled::Bpe(bpe, _) => bpe.segment_whole(text, None, bpe_scratch, &mut |segment| out.take(0, segment)),
            Compiled::Unigram(unigram) => {
                let mut result = Ok(());
                unigram.segment(text, unigram_scratch, |segment| {
                    if result.is_ok() {
                        result = out.take(0, segment);
                    }
                });
                result
            }
            Compiled::Longest(longest) => longest.segment(text, &mut |segment| out.take(0, segment)),
            Compiled::Whole(whole) => whole.segment(text, &mut |segment| out.take(0, segment)),
        }
    }

    /// Pieces by the split patterns, each merged on its own.
    fn encode_split<S: Sink>(
        &self,
        bpe: &Bpe,
        cuts: Option<&Boundary>,
        bytes: &[u8],
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return self.encode_broken(bpe, bytes, error.valid_up_to(), scratch, out),
        };
        let mut result = Ok(());
        let mut waiting = Waiting::new();
        self.split(text, |start, end| match cuts {
            Some(cuts) if end - start > LONG && result.is_ok() => {
                result = self.encode_cut(bpe, cuts, bytes, (start, end), &mut waiting, scratch, out);
            }
            _ => {
                if waiting.push(start, end, false) && result.is_ok() {
                    result = self.encode_waiting(bpe, bytes, &mut waiting, scratch, out);
                }
            }
        })?;
        result?;
        self.encode_waiting(bpe, bytes, &mut waiting, scratch, out)
    }

    /// Applies the patterns one after the other; `piece(start, end)` is called with the last one's.
    #[inline]
    fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        let Some((last, first)) = self.splitters.split_last() else { return Ok(()) };
        if first.is_empty() {
            return last.split(text, piece);
        }
        let mut stretches = vec![(0, text.len())];
        for splitter in first {
            let mut finer = Vec::new();
            for (from, to) in stretches {
                splitter.split(&text[from..to], |start, end| finer.push((from + start, from + end)))?;
            }
            stretches = finer;
        }
        for (from, to) in stretches {
            last.split(&text[from..to], |start, end| piece(from + start, from + end))?;
        }
        Ok(())
    }

    /// tiktoken's rule for bytes that are no text (0.14, `_encode_bytes`): the valid prefix is encoded; its last piece,
    /// with all the white-space tokens before it if it starts with one, is taken back and becomes one piece with all that follows.
    fn encode_broken<S: Sink>(
        &self,
        bpe: &Bpe,
        text: &[u8],
        valid: usize,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let prefix = std::str::from_utf8(&text[..valid]).unwrap_or_default();
        let mut segments: Vec<Segment> = Vec::new();
        let mut last_piece = 0;
        let mut result = Ok(());
        self.split(prefix, |start, end| {
            last_piece = segments.len();
            let base = start as u32;
            let mut push = |segment: Segment| {
                segments.push(Segment { start: base + segment.start, end: base + segment.end, ..segment });
                Ok(())
            };
            result = std::mem::replace(&mut result, Ok(()))
                .and_then(|()| bpe.segment(&text[start..end], start, false, &mut scratch.bpe, &mut push));
        })?;
        result?;
        let is_space = |segment: &Segment| {
            text[segment.start as usize..segment.end as usize].iter().all(|byte| b" \n\t".contains(byte))
        };
        if segments.get(last_piece).is_some_and(is_space) {
            while last_piece > 0 && is_space(&segments[last_piece - 1]) {
                last_piece -= 1;
            }
        }
        for &segment in &segments[..last_piece] {
            out.take(0, segment)?;
        }
        // Text that no pattern matched is in no segment: the piece is put together, and knows where its bytes come from.
        let taken_back = segments[last_piece..].iter().flat_map(|segment| segment.start..segment.end);
        let mut origins: Vec<u32> = taken_back.chain(valid as u32..text.len() as u32).collect();
        let piece: Vec<u8> = origins.iter().map(|&at| text[at as usize]).collect();
        origins.push(text.len() as u32);
        let place = |at: u32| origins[at as usize];
        let at = text.len() - piece.len();
        let mut take =
            |segment: Segment| out.take(0, Segment { start: place(segment.start), end: place(segment.end), ..segment });
        bpe.segment(&piece, at, false, &mut scratch.bpe, &mut take)
    }

    /// Stretches between user-defined pieces and proven cuts, each merged on its own.
    fn encode_stretches<S: Sink>(
        &self,
        bpe: &Bpe,
        boundary: &Boundary,
        text: &[u8],
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut at = 0;
        let mut result = Ok(());
        let mut waiting = Waiting::new();
        bpe.frozen_matches(text, |start, end, id| {
            if result.is_ok() {
                let frozen = Segment { id, start: start as u32, end: end as u32 };
                result = self
                    .encode_cut(bpe, boundary, text, (at, start), &mut waiting, scratch, out)
                    .and_then(|()| self.encode_waiting(bpe, text, &mut waiting, scratch, out))
                    .and_then(|()| out.take(0, frozen));
            }
            at = end;
        });
        result?;
        self.encode_cut(bpe, boundary, text, (at, text.len()), &mut waiting, scratch, out)?;
        self.encode_waiting(bpe, text, &mut waiting, scratch, out)
    }

    /// Cuts a stretch of the text where nothing can merge; the parts go to those that wait.
    #[expect(clippy::too_many_arguments, reason = "the state of one encoding")]
    fn encode_cut<S: Sink>(
        &self,
        bpe: &Bpe,
        cuts: &Boundary,
        text: &[u8],
        (from, to): (usize, usize),
        waiting: &mut Waiting,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut at = from;
        while at < to {
            let end = cuts.next_cut(&text[..to], at);
            if waiting.push(at, end, at > from || end < to) {
                self.encode_waiting(bpe, text, waiting, scratch, out)?;
            }
            at = end;
        }
        Ok(())
    }

    /// Encodes the pieces that wait, by the cache where it may.
    fn encode_waiting<S: Sink>(
        &self,
        bpe: &Bpe,
        text: &[u8],
        waiting: &mut Waiting,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        if S::SPANS {
            for piece in waiting.drain() {
                let (start, end) = (piece.start as usize, piece.end as usize);
                let take = &mut |segment| out.take(start, segment);
                bpe.segment(&text[start..end], start, piece.is_part, &mut scratch.bpe, take)?;
            }
            return Ok(());
        }
        // The ids of pieces that were found wait here, so that writing them is no branch either.
        let mut found = [0; WAITING * IDS];
        let mut count = 0;
        for (piece, key) in waiting.drain_with_keys(text) {
            let Some(room) = found[count..].first_chunk_mut() else { break };
            match scratch.cache.get(key, room) {
                0 => {
                    out.take_cached(&found[..count]);
                    count = 0;
                    self.encode_missed(bpe, text, piece, key, scratch, out)?;
                }
                more => count += more,
            }
        }
        out.take_cached(&found[..count]);
        Ok(())
    }

    /// A piece that the cache does not know; it is put there if it may.
    #[inline(never)]
    fn encode_missed<S: Sink>(
        &self,
        bpe: &Bpe,
        text: &[u8],
        piece: Piece,
        key: Key,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let at = piece.start as usize;
        let bytes = &text[at..piece.end as usize];
        let Scratch { bpe: bpe_scratch, segments, ids, cache, .. } = scratch;
        if !key.is_kept() {
            return bpe.segment(bytes, at, piece.is_part, bpe_scratch, &mut |segment| out.take(at, segment));
        }
        segments.clear();
        bpe.segment(bytes, at, piece.is_part, bpe_scratch, &mut |segment| {
            segments.push(segment);
            Ok(())
        })?;
        let is_known = segments.iter().all(|segment| segment.id != UNKNOWN);
        if is_known && !bpe.depends_on_place(bytes, at) {
            ids.clear();
            ids.extend(segments.iter().map(|segment| segment.id));
            cache.insert(key, ids);
        }
        segments.iter().try_for_each(|&segment| out.take(at, segment))
    }
}
