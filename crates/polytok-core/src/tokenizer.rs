//! A compiled tokenizer: compiles a Spec, encodes texts and decodes ids. The pipeline itself is in `encode`.

use std::sync::Arc;

use crate::by_lengths::ByLengths;
use crate::decode::{DecodeState, Decoder};
use crate::error::{Error, Result, too_long};
use crate::lazy::Lazy;
use crate::model::{CompiledModel, ModelParts};
use crate::native::Tables;
use crate::normalize::Normalizer;
use crate::normalize::bert::Bert;
use crate::normalize::user_defined::prefix_matcher;
use crate::pool::Pool;
use crate::post::template::{Template, TemplateStep};
use crate::post::{Fallback, Sink, UnknownRules};
use crate::routes::Route;
use crate::scratch::Scratch;
use crate::segmenter::Segmenter;
use crate::sink::trim::{TokenText, trim};
use crate::sink::{Count, Spans, Token, Tokens};
use crate::spec::{Decode, Line, Model, Normalize, Spec, Split, Symbols, TrimOffsets, UnigramRules, Unknown};
use crate::special::{SpecialSet, Specials};
use crate::split::chain::SplitChain;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::vocab::Vocab;
use crate::vocab::dictionary::Rows;

/// The estimated number of bytes of text per id, for the capacity of the output of decoding.
const TYPICAL_BYTES_PER_ID: usize = 5;

/// An immutable tokenizer, which many threads can use at the same time.
pub struct Tokenizer {
    pub(crate) specials: Specials,
    pub(crate) normalizer: Arc<Normalizer>,
    /// A faster way through the pipeline for this family of tokenizers; None if there is none.
    pub(crate) route: Option<Route>,
    pub(crate) segmenter: Segmenter,
    pub(crate) template: Template,
    pub(crate) by_lengths: ByLengths,
    decoder: Decoder,
    /// The kind of text at the ends of tokens that their spans do not cover.
    trim: TrimOffsets,
    /// True if the vocabulary entries are bytes, which the reference stores as the characters of GPT-2's table.
    byte_level: bool,
    rows: Lazy<Option<Rows>>,
    pool: Pool,
}

/// Returns an error for a Spec that the engine cannot run like the reference.
fn check_supported(model: &Model, split: &[Split], unknown: Unknown) -> Result<()> {
    let needs_whole_texts = matches!(
        model,
        Model::Bpe { symbols: Symbols::Chars | Symbols::Groups, reserved: false, .. }
            | Model::Unigram(UnigramRules::SentencePiece)
            | Model::Word
            | Model::Char
    );
    if !split.is_empty() && needs_whole_texts {
        return Err(Error::Spec(
            "split: SentencePiece's and llama2.c's models cannot have split steps; remove them".into(),
        ));
    }
    if !split.is_empty() && unknown == Unknown::Unk && matches!(model, Model::Bpe { symbols: Symbols::Bytes, .. }) {
        return Err(Error::Spec(
            "split: BPE over bytes with split steps cannot have unknown=\"unk\"; choose another value".into(),
        ));
    }
    Ok(())
}

/// The options for special tokens when a text is encoded.
#[derive(Clone, Copy, Default)]
pub struct EncodeOptions<'a> {
    /// True if the template's ids are inserted around the text.
    pub add_special: bool,
    /// The special tokens that are recognised in the text.
    pub special: Option<&'a SpecialSet>,
    /// The special tokens that the text must not contain.
    pub reject: Option<&'a SpecialSet>,
}

impl EncodeOptions<'_> {
    /// Returns an error if the text is too long or contains a special token that is refused.
    pub(crate) fn check(&self, text: &[u8]) -> Result<()> {
        if text.len() >= u32::MAX as usize {
            return Err(too_long("given"));
        }
        self.reject.map_or(Ok(()), |reject| reject.reject(text))
    }
}

impl Tokenizer {
    /// Compiles a Spec.
    pub fn compile(spec: Spec) -> Result<Tokenizer> {
        Tokenizer::compile_with(spec, &mut Tables::default())
    }

    /// Compiles a Spec with the vocabulary and the tables of a native file, if `tables` has them.
    pub fn compile_with(spec: Spec, tables: &mut Tables) -> Result<Tokenizer> {
        let byte_level = matches!(spec.model, Model::Bpe { symbols: Symbols::Bytes, .. })
            || matches!(spec.decode, Decode::Chain { byte_level: true, .. });
        let vocab = Arc::new(tables.get_unversioned("vocab", || Vocab::new(spec.vocab))?);
        check_supported(&spec.model, &spec.split, spec.unknown)?;
        check_steps(&spec.normalize, &spec.split, &spec.decode)?;
        let unknown_rules = match spec.model {
            Model::Bpe { reserved: true, .. } => UnknownRules::LlamaCppBpe,
            Model::Unigram(UnigramRules::HuggingFace { .. } | UnigramRules::LlamaCpp) => UnknownRules::UnigramPieces,
            _ => UnknownRules::SentencePiece,
        };
        let user_defined = compile_user_defined(&spec.model, &vocab, spec.line)?;
        let normalizer = Arc::new(Normalizer::compile(spec.normalize, &vocab, user_defined.as_ref(), spec.line)?);
        let model_parts = ModelParts {
            vocab: &vocab,
            user_defined: user_defined.clone(),
            has_prefix_space: normalizer.has_prefix_space(),
            unknown: spec.unknown,
            line: spec.line,
        };
        let model = CompiledModel::compile(spec.model, model_parts, tables)?;
        let normalize = |text: &[u8]| {
            let mut out = Vec::new();
            normalizer.normalize(text, &mut out, &mut Vec::new()).map(|()| out)
        };
        let specials = Specials::new(spec.special, &vocab, spec.matching, &normalize)?;
        let spaced_class = normalizer.bert().map(Bert::spaced_class).unwrap_or_default();
        let segmenter = Segmenter {
            boundary: model.boundary(tables)?,
            model,
            splits: SplitChain::compile_with_spaced(&spec.split, &spaced_class)?,
            user_defined,
            fallback: Fallback::compile(spec.unknown, unknown_rules, &vocab)?,
            lengths: Lazy::default(),
            vocab,
        };
        let route = Route::choose(&normalizer, &segmenter, spec.line);
        Ok(Tokenizer {
            decoder: Decoder::compile(&spec.decode, &segmenter.vocab, spec.line)?,
            template: Template::compile(spec.single, &segmenter.vocab, &specials)?,
            by_lengths: ByLengths::compile(&segmenter, route.as_ref()),
            trim: spec.trim,
            byte_level,
            specials,
            normalizer,
            route,
            segmenter,
            rows: Lazy::default(),
            pool: Pool::default(),
        })
    }

    /// Returns the special tokens.
    pub fn specials(&self) -> &Specials {
        &self.specials
    }

    /// Returns the set of the special tokens that are always recognised or whose text `is_allowed` accepts.
    pub fn special_set(&self, is_allowed: impl Fn(&[u8]) -> bool) -> Result<Option<SpecialSet>> {
        self.specials.set(is_allowed, &|text| self.normalized(text))
    }

    /// Returns the normalized text.
    pub fn normalized(&self, text: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(text.len() + text.len() / 2);
        self.normalizer.normalize(text, &mut out, &mut Vec::new())?;
        Ok(out)
    }

    /// Returns the bytes of the entry or special token that has an id.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        let id = TokenId(id);
        self.segmenter.vocab.row(id).map(|row| self.segmenter.vocab.bytes(row)).or_else(|| self.specials.text(id))
    }

    /// Returns the id of the first vocabulary row with these bytes; without such a row, the id of the special token
    /// with this text.
    pub fn id_of(&self, piece: &[u8]) -> Option<u32> {
        let rows = self.rows.get(|| Rows::index(&self.segmenter.vocab, self.segmenter.vocab.rows()).ok()).as_ref()?;
        let special = || self.specials.tokens().iter().find(|token| token.text == piece).map(|token| token.id);
        rows.find(&self.segmenter.vocab, piece).map(|row| self.segmenter.vocab.id(row)).or_else(special).map(|id| id.0)
    }

    /// Returns the largest id that an encoding can contain; None if there are no ids.
    pub fn max_id(&self) -> Option<u32> {
        let specials = self.specials.tokens().iter().map(|token| token.id.0);
        specials.chain(self.segmenter.vocab.size().checked_sub(1)).max()
    }

    /// Appends the ids of a text.
    pub fn encode(&self, text: &[u8], options: EncodeOptions, ids: &mut Vec<u32>) -> Result<()> {
        self.with_scratch(|scratch| self.encode_to(text, options, scratch, ids))
    }

    /// Returns the number of ids of a text, without storing the ids.
    pub fn count(&self, text: &[u8], options: EncodeOptions) -> Result<usize> {
        let mut count = Count(0);
        self.with_scratch(|scratch| self.encode_to(text, options, scratch, &mut count))?;
        Ok(count.0)
    }

    /// Returns the tokens of a text with their spans, but without their words.
    pub fn tokens(&self, text: &[u8], options: EncodeOptions) -> Result<Vec<Token>> {
        let plain_tokens = self.plain_tokens(text, options)?;
        if self.template.is_only_text() {
            return Ok(plain_tokens);
        }
        let mut tokens = Tokens::with_room(plain_tokens.len() + 2);
        for step in self.template.steps(options.add_special, text.len()) {
            match step {
                TemplateStep::Insert(ids, at) => tokens.insert(ids, at),
                TemplateStep::Text => tokens.extend(&plain_tokens),
            }
        }
        Ok(tokens.finish())
    }

    /// Returns the ids and spans of a text as columns.
    pub fn spans(&self, text: &[u8], options: EncodeOptions) -> Result<Spans> {
        let mut spans = Spans::default();
        match self.trim {
            TrimOffsets::Nothing => self.with_scratch(|scratch| self.encode_to(text, options, scratch, &mut spans))?,
            TrimOffsets::Space | TrimOffsets::SpaceExceptPrefix => {
                self.tokens(text, options)?.iter().for_each(|token| spans.add(token.id, (token.start, token.end)))
            }
        }
        Ok(spans)
    }

    /// Returns the tokens of a text with spans, without the template's tokens.
    pub fn plain_tokens(&self, text: &[u8], options: EncodeOptions) -> Result<Vec<Token>> {
        let mut tokens = self.untrimmed_tokens(text, options, false)?;
        self.trim(&mut tokens, text, |i| i == 0);
        Ok(tokens)
    }

    /// Returns the tokens of a text that the caller divides into windows. If spans are trimmed, the span of a token can
    /// be different at the start of a window. So in this case a second list has each token with the span for the start
    /// of a window.
    pub fn window_tokens(&self, text: &[u8], options: EncodeOptions) -> Result<(Vec<Token>, Option<Vec<Token>>)> {
        let mut inner_tokens = self.untrimmed_tokens(text, options, true)?;
        let first_tokens = (self.trim != TrimOffsets::Nothing).then(|| {
            let mut first_tokens = inner_tokens.clone();
            self.trim(&mut first_tokens, text, |_| true);
            first_tokens
        });
        self.trim(&mut inner_tokens, text, |_| false);
        Ok((inner_tokens, first_tokens))
    }

    /// Returns the tokens of a text with untrimmed spans, without the template's tokens.
    fn untrimmed_tokens(&self, text: &[u8], options: EncodeOptions, needs_words: bool) -> Result<Vec<Token>> {
        let mut tokens = Tokens::new(needs_words);
        self.with_scratch(|scratch| self.encode_plain(text, options, scratch, &mut tokens))?;
        Ok(tokens.finish())
    }

    /// Trims the spans of tokens as the Spec says; `is_first` reports whether a token counts as the first token of a
    /// text.
    fn trim(&self, tokens: &mut [Token], text: &[u8], is_first: impl Fn(usize) -> bool) {
        let keeps_prefix = match self.trim {
            TrimOffsets::Nothing => return,
            TrimOffsets::Space => false,
            TrimOffsets::SpaceExceptPrefix => true,
        };
        trim(tokens, text, keeps_prefix, is_first, |token| self.trimmed_text(token).count_spaces());
    }

    /// Reports whether an unknown token has the unknown text as its text, and not the text of the vocabulary entry.
    pub fn spells_unknown(&self) -> bool {
        self.segmenter.model.spells_unknown()
    }

    /// Returns the unknown text of an unknown token. The unknown entry can also be the entry of a byte; None if the
    /// token is for such a byte.
    pub fn unknown_text<'a>(&self, token: &'a Token) -> Option<&'a [u8]> {
        token.unknown_text().filter(|text| !self.segmenter.model.falls_back(text))
    }

    /// Returns the text of a token in which `trim` counts the spaces.
    fn trimmed_text<'a>(&'a self, token: &'a Token) -> TokenText<'a> {
        if let Some(text) = token.special_text().or(self.unknown_text(token)) {
            return TokenText::Text(text);
        }
        let piece = self.segmenter.vocab.row(token.id).map_or(&[][..], |row| self.segmenter.vocab.bytes(row));
        if self.byte_level { TokenText::Bytes(piece) } else { TokenText::Text(piece) }
    }

    /// Returns the decoded bytes of ids. If `skip_special` is true, special tokens are skipped.
    pub fn decode(&self, ids: &[u32], skip_special: bool) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(ids.len() * TYPICAL_BYTES_PER_ID + 32);
        let mut state = DecodeState::default();
        self.decode_more(ids, skip_special, &mut state, &mut out)?;
        self.decode_finish(&mut state, &mut out)?;
        Ok(out)
    }

    /// Reports whether decoding accepts an id.
    pub fn can_decode(&self, id: u32) -> bool {
        self.decoder.skips_unknown() || self.token_bytes(id).is_some()
    }

    /// Decodes the next ids of a stream, and appends the bytes that later ids cannot change.
    pub fn decode_more(
        &self,
        ids: &[u32],
        skip_special: bool,
        state: &mut DecodeState,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.decoder.append(&self.segmenter.vocab, &self.specials, TokenId::slice_of(ids), skip_special, state, out)
    }

    /// Appends the bytes that a stream holds back, and resets the stream's state.
    pub fn decode_finish(&self, state: &mut DecodeState, out: &mut Vec<u8>) -> Result<()> {
        self.decoder.finish(state, out)
    }

    /// Calls `run` with a scratch from the pool.
    pub fn with_scratch<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        self.pool.with(run)
    }

    /// Returns the scratches that are kept between calls.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// Returns the trie of the user-defined pieces that are matched before the model runs; None unless the model is
/// SentencePiece's.
fn compile_user_defined(model: &Model, vocab: &Vocab, line: Line) -> Result<Option<Arc<Trie>>> {
    let is_sentencepiece = match model {
        Model::Bpe { symbols, reserved, .. } => *symbols == Symbols::Chars && !reserved,
        Model::Unigram(rules) => *rules == UnigramRules::SentencePiece,
        Model::Word | Model::Char => true,
        _ => false,
    };
    if is_sentencepiece { prefix_matcher(vocab, line) } else { Ok(None) }
}

/// The largest number of normalize, split or decode steps, so that a hostile file cannot exhaust memory and time.
const MAX_STEPS: usize = 256;

/// Returns an error if a Spec has too many normalize, split or decode steps.
fn check_steps(normalize: &[Normalize], split: &[Split], decode: &Decode) -> Result<()> {
    let decode_count = if let Decode::Chain { steps: Some(steps), .. } = decode { steps.len() } else { 0 };
    for (name, count) in [("normalize", normalize.len()), ("split", split.len()), ("decode", decode_count)] {
        if count > MAX_STEPS {
            return Err(Error::Spec(format!("{name}: {count} steps; at most {MAX_STEPS} are allowed")));
        }
    }
    Ok(())
}
