//! A compiled tokenizer: compiles a Spec, looks entries up and decodes ids. `cuts` finds offsets at which a text can be
//! encoded in two parts. `outputs` encodes texts; the pipeline itself is in `encode`.

pub mod cuts;
pub(crate) mod trusted;

use std::sync::Arc;

use polytok_memory::{self as memory, Grow};

use crate::by_lengths::ByLengths;
use crate::cache::Cache;
use crate::decode::offsets::{TextWithOffsets, text_with_offsets};
use crate::decode::{DecodeState, Decoder};
use crate::error::{Error, Result, too_long};
use crate::lazy::Lazy;
use crate::model::{CompiledModel, ModelParts};
use crate::native::{Image, Tables};
use crate::normalize::Normalizer;
use crate::normalize::bert::Bert;
use crate::normalize::output::Span;
use crate::normalize::user_defined::prefix_matcher;
use crate::pool::Pool;
use crate::post::template::{Template, TemplateStep};
use crate::post::{Fallback, UnknownRules};
use crate::routes::Route;
use crate::scratch::Scratch;
use crate::segmenter::Segmenter;
use crate::sink::OwnText;
use crate::sink::trim::EntrySpaces;
use crate::spec::{
    Decode, Model, Normalize, Priority, SentencePieceVersion, Spec, Split, Symbols, TrimOffsets, Unknown,
};
use crate::special::trusted::TrustedSet;
use crate::special::{SpecialSet, Specials};
use crate::split::chain::SplitChain;
use crate::token_id::TokenId;
use crate::trust::PieceCodes;
pub use crate::trust::Trusted;
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
    pub(crate) trim: TrimOffsets,
    /// The white space that is trimmed from the spans of vocabulary entries.
    pub(crate) entry_spaces: Lazy<EntrySpaces>,
    /// True if the vocabulary entries are bytes, which the reference stores as the characters of GPT-2's table.
    pub(crate) byte_level: bool,
    rows: Lazy<Option<Rows>>,
    cuts: Lazy<cuts::Cuts>,
    /// The special tokens for texts of which some runs are trusted.
    trusted_set: Lazy<TrustedSet>,
    guard: Lazy<Option<Guard>>,
    sentencepiece_version: SentencePieceVersion,
    pool: Pool,
}

/// A tokenizer for texts that are not trusted as a whole; its model forms no special token from plain text (trust.rs).
pub(crate) struct Guard {
    pub tokenizer: Arc<Tokenizer>,
    /// The codes of the user-defined pieces; None if there are none.
    pub codes: Option<PieceCodes>,
}

/// Returns an error for a Spec that the engine cannot run like the reference.
fn check_supported(model: &Model, split: &[Split], unknown: Unknown) -> Result<()> {
    let is_llama2c = matches!(model, Model::Bpe { symbols: Symbols::Groups, reserved: false, .. });
    let needs_whole_texts = model.is_sentencepiece() || is_llama2c;
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
    /// The special tokens that are recognized in the text.
    pub special: Option<&'a SpecialSet>,
    /// The special tokens that the text must not contain.
    pub reject: Option<&'a SpecialSet>,
    /// The trusted runs of the text. All special tokens are recognized in these runs, and none is recognized elsewhere;
    /// `special` and `reject` have no effect. None if this is not a text with runs.
    pub trusted: Option<Trusted<'a>>,
    /// True if a text with runs must not contain a special token that is not within a run. The texts of `incremental`
    /// are checked; callers of other functions call [`Tokenizer::reject_untrusted`].
    pub is_strict: bool,
}

impl EncodeOptions<'_> {
    /// Returns an error if the text is too long or contains a special token that is refused.
    pub(crate) fn check(&self, text: &[u8]) -> Result<()> {
        if text.len() >= u32::MAX as usize {
            return Err(too_long("given"));
        }
        match (self.reject, self.trusted) {
            (Some(reject), None) => reject.reject(text),
            _ => Ok(()),
        }
    }
}

impl Tokenizer {
    /// Compiles a Spec.
    pub fn compile(spec: Spec) -> Result<Tokenizer> {
        Tokenizer::compile_with(spec, &mut Tables::default())
    }

    /// Compiles a Spec with the vocabulary and the tables of a native file, if `tables` has them.
    pub fn compile_with(spec: Spec, tables: &mut Tables) -> Result<Tokenizer> {
        memory::catch(|| {
            let byte_level = matches!(spec.model, Model::Bpe { symbols: Symbols::Bytes, .. })
                || matches!(spec.decode, Decode::Chain { byte_level: true, .. });
            let vocab = Arc::new(tables.get_unversioned("vocab", || Vocab::new(spec.vocab))?);
            check_supported(&spec.model, &spec.split, spec.unknown)?;
            check_steps(&spec.normalize, &spec.split, &spec.decode)?;
            let unknown_rules = UnknownRules::of(&spec.model);
            // The pieces that are matched before the model runs.
            let user_defined = match spec.model.is_sentencepiece() {
                true => prefix_matcher(&vocab, spec.sentencepiece_version)?,
                false => None,
            };
            let normalizer = Arc::new(Normalizer::compile(
                spec.normalize,
                &vocab,
                user_defined.as_ref(),
                spec.sentencepiece_version,
            )?);
            let model_parts = ModelParts {
                vocab: &vocab,
                user_defined: user_defined.clone(),
                has_prefix_space: normalizer.has_prefix_space(),
                unknown: spec.unknown,
                version: spec.sentencepiece_version,
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
                char_records: Lazy::default(),
                model,
                splits: SplitChain::compile_with_spaced(&spec.split, &spaced_class)?,
                user_defined,
                fallback: Fallback::compile(spec.unknown, unknown_rules, &vocab)?,
                lengths: Lazy::default(),
                vocab,
            };
            let route = Route::choose(&normalizer, &segmenter, spec.sentencepiece_version);
            Ok(Tokenizer {
                decoder: Decoder::compile(&spec.decode, &segmenter.vocab, spec.sentencepiece_version)?,
                template: Template::compile(spec.single, &segmenter.vocab, &specials)?,
                by_lengths: ByLengths::compile(&segmenter, route.as_ref()),
                trim: spec.trim,
                entry_spaces: Lazy::default(),
                byte_level,
                specials,
                normalizer,
                route,
                segmenter,
                rows: Lazy::default(),
                cuts: Lazy::default(),
                trusted_set: Lazy::default(),
                guard: Lazy::default(),
                sentencepiece_version: spec.sentencepiece_version,
                pool: Pool::default(),
            })
        })
    }

    /// Compiles the tokenizer of a native file. If this engine cannot read the version of the file's tables, they are
    /// built from the vocabulary and the merges in the file.
    pub fn from_image(image: Image) -> Result<Tokenizer> {
        memory::catch(|| {
            let mut spec = image.outline()?;
            if let Model::Bpe { priority: Priority::Merges(merges), .. } = &mut spec.model
                && !image.has_tables()
            {
                *merges = image.merges()?;
            }
            Tokenizer::compile_with(spec, &mut Tables::from_image(image))
        })
    }

    /// Builds all tables that encoding and decoding would otherwise build later, when enough text was encoded or when a
    /// table is first needed. Also inserts the vocabulary entries into a cache. Any number of threads can call this
    /// method, while others encode; a second call does nothing.
    ///
    /// Encoding still creates records of the characters and pieces of a text when they first occur. The tables that
    /// only `id_of` and sampling with dropout need are not built.
    pub fn warm_up(&self) {
        let Tokenizer { segmenter, specials, .. } = self;
        segmenter.warm_up();
        self.by_lengths.warm_up(segmenter);
        self.decoder.warm_up(&segmenter.vocab, specials);
        if self.trim != TrimOffsets::Nothing {
            self.entry_spaces();
        }
        if let Some(route) = &self.route {
            route.warm_up(segmenter);
        }
        self.with_scratch(|scratch| self.insert_entries(&mut scratch.segmenter.cache));
    }

    fn insert_entries(&self, cache: &mut Cache) {
        match &self.route {
            Some(route) => route.insert_entries(&self.segmenter, cache),
            None => self.segmenter.insert_entries(cache),
        }
    }

    /// Returns the special tokens.
    pub fn specials(&self) -> &Specials {
        &self.specials
    }

    /// Returns the set of the special tokens that are always recognized or whose text `is_allowed` accepts.
    pub fn special_set(&self, is_allowed: impl Fn(&[u8]) -> bool) -> Result<Option<SpecialSet>> {
        memory::catch(|| self.specials.set(is_allowed, &|text| self.normalized(text)))
    }

    /// Returns the special tokens for texts of which some runs are trusted.
    pub fn trusted_set(&self) -> Result<&TrustedSet> {
        memory::catch(|| match self.trusted_set.peek() {
            Some(set) => Ok(set),
            None => {
                let set = TrustedSet::new(&self.specials, &|text| self.normalized(text))?;
                Ok(self.trusted_set.get(|| set))
            }
        })
    }

    /// Returns an error if a special token occurs in the text and is not within one of the trusted `runs`.
    pub fn reject_untrusted(&self, text: &[u8], runs: &[Span]) -> Result<()> {
        memory::catch(|| self.trusted_set()?.reject(text, runs))
    }

    /// Sets the guard, a tokenizer for texts that are not trusted as a whole (trust.rs). None if this tokenizer encodes
    /// such texts itself, because its model forms no special token from plain text. The first guard counts.
    pub fn set_guard(&self, tokenizer: Option<Arc<Tokenizer>>) -> Result<()> {
        memory::catch(|| {
            let guard = match tokenizer {
                None => None,
                Some(tokenizer) => {
                    let user_defined = self.segmenter.user_defined.as_ref();
                    let (own, other) = (&self.segmenter.vocab, &tokenizer.segmenter.vocab);
                    let codes =
                        user_defined.map_or(Ok(None), |_| PieceCodes::new(own, other, self.sentencepiece_version))?;
                    Some(Guard { tokenizer, codes })
                }
            };
            self.guard.get(|| guard);
            Ok(())
        })
    }

    /// Returns the guard; None if no guard was set.
    pub(crate) fn guard(&self) -> Option<&Guard> {
        self.guard.peek()?.as_ref()
    }

    /// Returns the guard's tokenizer, if there is one; None before the guard is set.
    pub fn guard_tokenizer(&self) -> Option<Option<&Tokenizer>> {
        self.guard.peek().map(|guard| guard.as_ref().map(|guard| &*guard.tokenizer))
    }

    /// Returns the normalized text.
    pub fn normalized(&self, text: &[u8]) -> Result<Vec<u8>> {
        memory::catch(|| {
            let mut out = memory::with_capacity(text.len() + text.len() / 2);
            self.normalizer.normalize(text, &mut out, &mut Vec::new())?;
            Ok(out)
        })
    }

    /// Returns the text that SentencePiece's normalizer returns, and the offset in `text` that each of its bytes comes
    /// from, followed by the end of the normalized part. None if this tokenizer normalizes in another way.
    pub fn normalized_with_offsets(&self, text: &[u8]) -> Result<Option<(Vec<u8>, Vec<u32>)>> {
        EncodeOptions::default().check(text)?;
        memory::catch(|| self.normalizer.normalize_with_offsets(text))
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

    /// Reports whether an unknown token has the unknown text as its text, and not the text of the vocabulary entry.
    pub fn spells_unknown(&self) -> bool {
        self.segmenter.model.spells_unknown()
    }

    /// Returns the unknown text of an unknown token, whose own text is given. The unknown entry can also be the entry of
    /// a byte; None if the token is for such a byte.
    pub fn unknown_text<'a>(&self, own_text: Option<&'a OwnText>) -> Option<&'a [u8]> {
        let Some(OwnText::Unknown(text)) = own_text else { return None };
        (!self.segmenter.model.falls_back(text)).then_some(text)
    }

    /// Returns the decoded bytes of ids. If `skip_special` is true, special tokens are skipped.
    pub fn decode(&self, ids: &[u32], skip_special: bool) -> Result<Vec<u8>> {
        memory::catch(|| {
            let mut out = memory::with_capacity(ids.len() * TYPICAL_BYTES_PER_ID + 32);
            let mut state = DecodeState::default();
            self.decode_more(ids, skip_special, &mut state, &mut out)?;
            self.decode_finish(&mut state, &mut out)?;
            Ok(out)
        })
    }

    /// Returns the text of ids with the characters of each id. `replacement` is written for bytes that are not UTF-8;
    /// if it is None, the result is None for such bytes.
    pub fn decode_with_offsets(
        &self,
        ids: &[u32],
        skip_special: bool,
        replacement: Option<&str>,
    ) -> Result<Option<TextWithOffsets>> {
        memory::catch(|| {
            let token_ids = TokenId::slice_of(ids);
            let traced = self.decoder.decode_traced(&self.segmenter.vocab, &self.specials, token_ids, skip_special)?;
            Ok(text_with_offsets(&traced, ids.len(), replacement))
        })
    }

    /// Decodes ids by SentencePiece's rules: returns the text, and for each id the end of the text that the ids up to it
    /// add. Returns an error if this tokenizer decodes by other rules, or changes the decoded text.
    pub fn decode_pieces(&self, ids: &[u32]) -> Result<(Vec<u8>, Vec<usize>)> {
        memory::catch(|| {
            let decoded = self.decoder.decode_pieces(&self.segmenter.vocab, &self.specials, TokenId::slice_of(ids))?;
            decoded.ok_or_else(|| {
                Error::Argument(
                    "this tokenizer does not decode by SentencePiece's rules, or changes the decoded text, so pieces have no \
                     places in it; decode to str or bytes"
                        .into(),
                )
            })
        })
    }

    /// Reports whether decoding accepts an id.
    pub fn can_decode(&self, id: u32) -> bool {
        self.decoder.skips_unknown() || self.token_bytes(id).is_some()
    }

    /// Decodes the next ids of a stream, and appends the bytes that later ids cannot change.
    pub(crate) fn decode_more(
        &self,
        ids: &[u32],
        skip_special: bool,
        state: &mut DecodeState,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.decoder.append(&self.segmenter.vocab, &self.specials, TokenId::slice_of(ids), skip_special, state, out)
    }

    /// Appends the bytes that a stream holds back, and resets the stream's state.
    pub(crate) fn decode_finish(&self, state: &mut DecodeState, out: &mut Vec<u8>) -> Result<()> {
        self.decoder.finish(state, out)
    }

    /// Returns the ids that the template inserts before and after the text; None if the template does not have the text
    /// exactly once.
    pub fn affixes(&self, add_special: bool) -> Option<(Vec<u32>, Vec<u32>)> {
        let (mut prefix, mut suffix, mut slots) = (Vec::new(), Vec::new(), 0);
        for step in self.template.steps(add_special, 0) {
            match step {
                TemplateStep::Insert(ids, _) if slots == 0 => prefix.checked_extend(ids.iter().map(|id| id.0)),
                TemplateStep::Insert(ids, _) => suffix.checked_extend(ids.iter().map(|id| id.0)),
                TemplateStep::Text => slots += 1,
            }
        }
        (slots == 1).then_some((prefix, suffix))
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

#[cfg(test)]
mod tests;
