//! A compiled tokenizer. `encode` reads as the picture in lib.rs: special, normalize, split, model, post.

use std::borrow::Cow;
use std::sync::Arc;

use crate::boundary::Boundary;
use crate::cache::{Cache, Waiting};
use crate::decode::{DecodeState, Decoder};
use crate::error::{Error, Result};
use crate::lazy::Lazy;
use crate::model::Segment;
use crate::model::bpe::{Bpe, BpeRules, BpeScratch};
use crate::model::longest::Longest;
use crate::model::plamo2::{Plamo2, Plamo2Scratch};
use crate::model::unigram::wide::{WideScratch, WideUnigram};
use crate::model::unigram::{Unigram, UnigramScratch};
use crate::model::whole::{Unit, Whole};
use crate::model::word_level::WordLevel;
use crate::model::wordpiece::WordPiece;
use crate::native::Tables;
use crate::normalize::Normalizer;
use crate::normalize::bert::Bert;
use crate::normalize::user_defined::prefix_matcher;
use crate::pool::Pool;
use crate::post::{Count, Fallback, Spans, Spelling, Token, Tokens};
use crate::routes::stretches::LazyStretches;
use crate::routes::unescaped::StretchRoom;
use crate::sink::tiling::{Lens, TilingScratch};
use crate::sink::trim::{Piece, trim};
use crate::spec::{Decode, Line, Model, Normalize, Spec, Split, Symbols, TemplatePart, UnigramRules, Unknown};
use crate::special::{SpecialSet, Specials};
use crate::split::chain::Chain;
use crate::trie::Trie;
use crate::vocab::Vocab;
use crate::vocab::dictionary::Rows;

/// A first guess at how much room a text wants.
const TYPICAL_BYTES_PER_ID: usize = 5;

/// An immutable tokenizer; many threads may use one at once.
pub struct Tokenizer {
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) specials: Specials,
    pub(crate) normalizer: Normalizer,
    pub(crate) splits: Chain,
    /// Where texts are encoded without being rewritten first.
    pub(crate) stretches: LazyStretches,
    pub(crate) model: Compiled,
    pub(crate) fallback: Fallback,
    pub(crate) template: Vec<TemplatePart>,
    decoder: Decoder,
    /// See `Spec::trim`.
    trim: Option<bool>,
    /// Pieces are bytes that GPT-2's table makes visible.
    byte_level: bool,
    rows: Lazy<Option<Rows>>,
    /// See `tiling`.
    pub(crate) lens: Lazy<Lens>,
    pool: Pool,
}

/// A compiled model.
pub(crate) enum Compiled {
    Bpe(Box<Bpe>, Option<Boundary>),
    Unigram(Box<Unigram>),
    Longest(Longest),
    Whole(Whole),
    WordLevel(WordLevel),
    WideUnigram(WideUnigram),
    WordPiece(WordPiece),
    Plamo2(Plamo2),
}

/// Pieces that are entries, and their ids.
pub(crate) type OwnEntries<'v> = Box<dyn Iterator<Item = (Cow<'v, [u8]>, u32)> + 'v>;

/// What a thread needs while it encodes; kept from call to call.
#[derive(Default)]
pub struct Scratch {
    pub(crate) normalized: Vec<u8>,
    pub(crate) spare: Vec<u8>,
    pub(crate) model: ModelScratch,
    pub(crate) cache: Cache,
    pub(crate) segments: Vec<Segment>,
    pub(crate) tiling: TilingScratch,
    pub(crate) ids: Vec<u32>,
    /// Those of a piece that is encoded part by part.
    pub(crate) whole: Vec<u32>,
    waiting: Vec<Box<Waiting>>,
    /// See `Pool`.
    pub(crate) epoch: usize,
    pub(crate) stretches: Option<Box<StretchRoom>>,
}

/// What models need.
#[derive(Default)]
pub(crate) struct ModelScratch {
    pub(crate) bpe: BpeScratch,
    pub(crate) unigram: UnigramScratch,
    wide: WideScratch,
    pieces: Vec<Segment>,
    plamo2: Plamo2Scratch,
}

impl Scratch {
    /// Room for pieces, of which nobody waits yet.
    #[inline]
    pub(crate) fn waiting(&mut self) -> Box<Waiting> {
        let mut waiting = self.waiting.pop().unwrap_or_default();
        waiting.clear();
        waiting
    }

    /// Takes the room back.
    #[inline]
    pub(crate) fn keep(&mut self, waiting: Box<Waiting>) {
        self.waiting.push(waiting);
    }

    /// Forgets what is cached; from now on that takes at most so many bytes. No model has both kinds of caches.
    pub(crate) fn renew(&mut self, limit: usize) {
        self.cache = Cache::new(limit);
        self.model.unigram.renew(limit);
    }

    /// Bytes that caches take.
    pub(crate) fn cached(&self) -> usize {
        self.cache.bytes() + self.model.unigram.bytes()
    }

    /// Gives back what one huge text made the buffers grow to.
    pub(crate) fn release(&mut self) {
        const KEPT: usize = 1 << 20;
        fn shrink<T>(buffer: &mut Vec<T>) {
            if buffer.capacity() > KEPT {
                *buffer = Vec::new();
            }
        }
        shrink(&mut self.normalized);
        shrink(&mut self.spare);
        shrink(&mut self.segments);
        shrink(&mut self.ids);
        self.tiling.release(KEPT);
        self.model.bpe.release(KEPT);
    }
}

/// What this engine does not run is refused, so that nobody gets ids that are not the reference's.
fn check_supported(model: &Model, split: &[Split], unknown: Unknown) -> Result<()> {
    let whole_texts = matches!(
        model,
        Model::Bpe { symbols: Symbols::Chars | Symbols::Groups, reserved: false, .. }
            | Model::Unigram(UnigramRules::SentencePiece)
            | Model::Word
            | Model::Char
    );
    if !split.is_empty() && whole_texts {
        return Err(Error::Spec("split: SentencePiece's and llama2.c's models take no split".into()));
    }
    if !split.is_empty() && unknown == Unknown::Unk && matches!(model, Model::Bpe { symbols: Symbols::Bytes, .. }) {
        return Err(Error::Spec("split: patterns and BPE over bytes do not go with unknown=\"unk\"".into()));
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
        Tokenizer::compile_with(spec, &mut Tables::default())
    }

    /// Compiles a Spec, with the vocabulary and the tables of a file if there is one (see `native`).
    pub fn compile_with(spec: Spec, tables: &mut Tables) -> Result<Tokenizer> {
        let byte_level = matches!(spec.model, Model::Bpe { symbols: Symbols::Bytes, .. })
            || matches!(spec.decode, Decode::Chain { byte_level: true, .. });
        let vocab = Arc::new(tables.get_always("vocab", || Vocab::new(spec.vocab))?);
        check_supported(&spec.model, &spec.split, spec.unknown)?;
        check_steps(&spec.normalize, &spec.split, &spec.decode)?;
        let spelling = match spec.model {
            Model::Bpe { reserved: true, .. } => Spelling::Texts,
            Model::Unigram(UnigramRules::HuggingFace { .. } | UnigramRules::LlamaCpp) => Spelling::Pieces,
            _ => Spelling::Plain,
        };
        let user_defined = user_defined(&spec.model, &vocab, spec.line)?;
        let normalizer = Normalizer::compile(spec.normalize, &vocab, user_defined.as_ref(), spec.line)?;
        let has_prefix = normalizer.has_prefix_space();
        let model = Compiled::compile(spec.model, &vocab, user_defined, has_prefix, spec.unknown, spec.line, tables)?;
        let normalized = |text: &[u8]| {
            let mut out = Vec::new();
            normalizer.normalize(text, &mut out, &mut Vec::new()).map(|()| out)
        };
        let specials = Specials::new(spec.special, &vocab, spec.matching, &normalized)?;
        check_template(&spec.single, &vocab, &specials)?;
        let apart = normalizer.bert().map(Bert::apart).unwrap_or_default();
        let splits = Chain::compile_apart(&spec.split, &apart)?;
        let fallback = Fallback::compile(spec.unknown, spelling, &vocab)?;
        let escape = normalizer.escape().filter(|_| splits.is_empty() && spec.line == Line::V0_2_3);
        Ok(Tokenizer {
            stretches: LazyStretches::of(escape),
            splits,
            fallback,
            decoder: Decoder::compile(&spec.decode, &vocab, spec.line)?,
            template: spec.single,
            trim: spec.trim,
            byte_level,
            vocab,
            specials,
            normalizer,
            model,
            rows: Lazy::default(),
            lens: Lazy::default(),
            pool: Pool::default(),
        })
    }

    /// The special tokens.
    pub fn specials(&self) -> &Specials {
        &self.specials
    }

    /// The set of the special tokens for which `keep` holds, to be recognised.
    pub fn special_set(&self, keep: impl Fn(&[u8]) -> bool) -> Result<Option<SpecialSet>> {
        self.specials.set(keep, &|text| self.normalized(text))
    }

    /// The normalized text.
    pub fn normalized(&self, text: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(text.len() + text.len() / 2);
        self.normalizer.normalize(text, &mut out, &mut Vec::new())?;
        Ok(out)
    }

    /// The bytes of an id: its piece, or its text if it is a special token.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.vocab.row(id).map(|row| self.vocab.bytes(row)).or_else(|| self.specials.text(id))
    }

    /// The id of a piece or of a special token. A piece that stands in several rows has the first one's.
    pub fn id_of(&self, piece: &[u8]) -> Option<u32> {
        let rows = self.rows.get(|| Rows::index(&self.vocab, 0..self.vocab.len()).ok()).as_ref()?;
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

    /// The tokens of a text, with their spans in it, but not their words.
    pub fn tokens(&self, text: &[u8], options: EncodeOptions) -> Result<Vec<Token>> {
        let plain = self.plain_tokens(text, options)?;
        if let [TemplatePart::Slot] = self.template[..] {
            return Ok(plain);
        }
        let (mut tokens, mut at) = (Vec::with_capacity(plain.len() + 2), 0);
        for part in &self.template {
            match part {
                TemplatePart::Insert(ids) if options.add_special => {
                    let insert = |&id| Token { id, start: at, end: at, word: None, said: None };
                    tokens.extend(ids.iter().map(insert));
                }
                TemplatePart::Insert(_) => {}
                TemplatePart::Slot => {
                    tokens.extend_from_slice(&plain);
                    at = text.len() as u32;
                }
            }
        }
        Ok(tokens)
    }

    /// The same as columns.
    pub fn spans(&self, text: &[u8], options: EncodeOptions) -> Result<Spans> {
        let mut spans = Spans::default();
        match self.trim {
            None => self.with_scratch(|scratch| self.encode_to(text, options, scratch, &mut spans))?,
            Some(_) => {
                self.tokens(text, options)?.iter().for_each(|token| spans.add(token.id, (token.start, token.end)))
            }
        }
        Ok(spans)
    }

    /// The same without the template.
    pub fn plain_tokens(&self, text: &[u8], options: EncodeOptions) -> Result<Vec<Token>> {
        let mut tokens = self.untrimmed(text, options, false)?;
        self.trim(&mut tokens, text, |i| i == 0);
        Ok(tokens)
    }

    /// Tokens that windows can be cut out of: as they are inside of one, and if that is something else, as its first.
    pub fn window_tokens(&self, text: &[u8], options: EncodeOptions) -> Result<(Vec<Token>, Option<Vec<Token>>)> {
        let mut inside = self.untrimmed(text, options, true)?;
        let first = self.trim.map(|_| {
            let mut first = inside.clone();
            self.trim(&mut first, text, |_| true);
            first
        });
        self.trim(&mut inside, text, |_| false);
        Ok((inside, first))
    }

    fn untrimmed(&self, text: &[u8], options: EncodeOptions, words: bool) -> Result<Vec<Token>> {
        let mut tokens = Tokens::new(words);
        self.with_scratch(|scratch| self.encode_plain(text, options, scratch, &mut tokens))?;
        Ok(tokens.finish())
    }

    fn trim(&self, tokens: &mut [Token], text: &[u8], is_first: impl Fn(usize) -> bool) {
        if let Some(add_prefix_space) = self.trim {
            trim(tokens, text, add_prefix_space, is_first, |token| self.piece_of(token).spaces());
        }
    }

    /// Whether the text of an unknown token is the unknown text itself, and not its entry.
    pub fn spells_unknown(&self) -> bool {
        matches!(self.model, Compiled::Unigram(_) | Compiled::WideUnigram(_))
    }

    /// The text in which `trim` counts spaces.
    fn piece_of<'a>(&'a self, token: &'a Token) -> Piece<'a> {
        if let Some(text) = token.found().or(token.unknown()) {
            return Piece::Text(text);
        }
        let piece = self.vocab.row(token.id).map_or(&[][..], |row| self.vocab.bytes(row));
        if self.byte_level { Piece::Bytes(piece) } else { Piece::Text(piece) }
    }

    /// The bytes of ids; special tokens are left out if `skip_special`.
    pub fn decode(&self, ids: &[u32], skip_special: bool) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(ids.len() * TYPICAL_BYTES_PER_ID + 32);
        let mut state = DecodeState::default();
        self.decode_more(ids, skip_special, &mut state, &mut out)?;
        self.decode_finish(&mut state, &mut out)?;
        Ok(out)
    }

    /// Whether decoding takes this id.
    pub fn can_decode(&self, id: u32) -> bool {
        self.decoder.skips_unknown() || self.token_bytes(id).is_some()
    }

    /// Appends what more ids add to a stream.
    pub fn decode_more(
        &self,
        ids: &[u32],
        skip_special: bool,
        state: &mut DecodeState,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.decoder.append(&self.vocab, &self.specials, ids, skip_special, state, out)
    }

    /// Appends what a stream still holds back, and makes the state new.
    pub fn decode_finish(&self, state: &mut DecodeState, out: &mut Vec<u8>) -> Result<()> {
        self.decoder.finish(state, out)
    }

    /// Runs with a scratch of the pool.
    pub fn with_scratch<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        self.pool.with(run)
    }

    /// What threads keep from call to call.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// User-defined pieces are matched beforehand; only SentencePiece does that.
fn user_defined(model: &Model, vocab: &Vocab, line: Line) -> Result<Option<Arc<Trie>>> {
    let is_sentencepiece = match model {
        Model::Bpe { symbols, reserved, .. } => *symbols == Symbols::Chars && !reserved,
        Model::Unigram(rules) => *rules == UnigramRules::SentencePiece,
        Model::Word | Model::Char => true,
        _ => false,
    };
    if is_sentencepiece { prefix_matcher(vocab, line) } else { Ok(None) }
}

/// How many steps of a kind there may be, so that a hostile file cannot take all memory and time.
const MOST_STEPS: usize = 256;

fn check_steps(normalize: &[Normalize], split: &[Split], decode: &Decode) -> Result<()> {
    let decode = if let Decode::Chain { steps: Some(steps), .. } = decode { steps.len() } else { 0 };
    for (name, count) in [("normalize", normalize.len()), ("split", split.len()), ("decode", decode)] {
        if count > MOST_STEPS {
            return Err(Error::Spec(format!("{name}: {count} steps; at most {MOST_STEPS} are possible")));
        }
    }
    Ok(())
}

/// How often a template may repeat the text, so that a hostile file cannot fill the memory.
const MOST_SLOTS: usize = 16;

fn check_template(parts: &[TemplatePart], vocab: &Vocab, specials: &Specials) -> Result<()> {
    let slots = parts.iter().filter(|part| matches!(part, TemplatePart::Slot)).count();
    if slots > MOST_SLOTS {
        return Err(Error::Spec(format!(
            "post: the text comes {slots} times; at most {MOST_SLOTS} times are possible"
        )));
    }
    let ids = parts.iter().filter_map(|part| if let TemplatePart::Insert(ids) = part { Some(ids) } else { None });
    match ids.flatten().find(|&&id| vocab.row(id).is_none() && specials.text(id).is_none()) {
        Some(id) => Err(Error::Spec(format!("post: id {id} is neither in the vocabulary nor a special token's"))),
        None => Ok(()),
    }
}

impl Compiled {
    fn compile(
        model: Model,
        vocab: &Arc<Vocab>,
        user_defined: Option<Arc<Trie>>,
        has_prefix_space: bool,
        unknown: Unknown,
        line: Line,
        tables: &mut Tables,
    ) -> Result<Compiled> {
        Ok(match model {
            Model::Bpe { priority, symbols, whole_piece_first, reserved, scalars } => {
                let has_prefix = symbols == Symbols::Groups && has_prefix_space;
                let rules = BpeRules {
                    whole_piece_first,
                    has_prefix,
                    scalars,
                    unknown,
                    ..BpeRules::new(symbols, reserved, line)
                };
                let bpe = Bpe::compile(vocab.clone(), &priority, &rules, user_defined, tables)?;
                let boundary = match bpe.can_cut() {
                    true => Some(tables.get("boundary", || Ok(Boundary::new(bpe.reachable(), symbols)))?),
                    false => None,
                };
                Compiled::Bpe(Box::new(bpe), boundary)
            }
            Model::Unigram(rules @ (UnigramRules::HuggingFace { .. } | UnigramRules::LlamaCpp)) => {
                Compiled::WideUnigram(WideUnigram::compile(vocab, rules, tables)?)
            }
            Model::Unigram(UnigramRules::SentencePiece) => {
                Compiled::Unigram(Box::new(Unigram::compile(vocab, line, tables)?))
            }
            Model::Longest => Compiled::Longest(Longest::compile(vocab, tables)?),
            Model::Word => Compiled::Whole(Whole::compile(vocab.clone(), Unit::Word, line, tables)?),
            Model::Char => Compiled::Whole(Whole::compile(vocab.clone(), Unit::Char(user_defined), line, tables)?),
            Model::WordLevel => Compiled::WordLevel(WordLevel::compile(vocab.clone())?),
            Model::WordPiece { continuing_prefix, max_chars, phantom_space } => {
                Compiled::WordPiece(WordPiece::compile(vocab, &continuing_prefix, max_chars, phantom_space, tables)?)
            }
            Model::Plamo2 => Compiled::Plamo2(Plamo2::compile(vocab, tables)?),
        })
    }

    /// One piece. `at` is where it stands in the text; `is_part` says that it was cut out of a longer one.
    #[inline]
    pub(crate) fn segment(
        &self,
        piece: &[u8],
        at: usize,
        is_part: bool,
        scratch: &mut ModelScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        match self {
            Compiled::Bpe(bpe, _) if bpe.takes_raw() => bpe.segment_raw(piece, is_part, &mut scratch.bpe, emit),
            Compiled::Bpe(bpe, _) => bpe.segment(piece, at, is_part, &mut scratch.bpe, emit),
            Compiled::Unigram(unigram) => {
                let mut result = Ok(());
                unigram.segment(piece, &mut scratch.unigram, |segment| {
                    if result.is_ok() {
                        result = emit(segment);
                    }
                });
                result
            }
            Compiled::Longest(longest) => longest.segment(piece, emit),
            Compiled::Whole(whole) => whole.segment(piece, emit),
            Compiled::WordLevel(words) => words.segment(piece, emit),
            Compiled::WideUnigram(unigram) => unigram.segment(piece, &mut scratch.wide, emit),
            Compiled::WordPiece(wordpiece) => wordpiece.segment(piece, &mut scratch.pieces, emit),
            Compiled::Plamo2(plamo2) => plamo2.segment(piece, &mut scratch.plamo2, emit),
        }
    }

    /// Whether a part of a piece may have other ids than a whole piece of the same bytes.
    #[inline]
    pub(crate) fn parts_differ(&self) -> bool {
        matches!(self, Compiled::Bpe(bpe, _) if bpe.takes_whole_pieces())
    }

    /// Where pieces may be cut further, if that is known.
    #[inline]
    pub(crate) fn cuts(&self) -> Option<&Boundary> {
        if let Compiled::Bpe(_, cuts) = self { cuts.as_ref() } else { None }
    }

    /// Entries that are their own ids wherever they are pieces, if they are known; the rarest first.
    pub(crate) fn own_entries<'v>(&'v self, vocab: &'v Vocab) -> Option<OwnEntries<'v>> {
        match self {
            Compiled::Bpe(bpe, _) => Some(Box::new(bpe.own_entries()?)),
            Compiled::WordPiece(wordpiece) => Some(Box::new(wordpiece.own_entries(vocab))),
            _ => None,
        }
    }

    /// Whether a piece is cut differently from the same piece elsewhere.
    #[inline]
    pub(crate) fn depends_on_place(&self, piece: &[u8], at: usize) -> bool {
        matches!(self, Compiled::Bpe(bpe, _) if bpe.depends_on_place(piece, at))
    }
}
