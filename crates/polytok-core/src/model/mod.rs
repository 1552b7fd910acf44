//! Encodes pieces to ids. Each algorithm has a file or folder; this file calls the algorithm of the vocabulary.

pub mod bpe;
pub mod longest;
pub mod plamo2;
pub mod unigram;
pub mod whole;
pub mod word_level;
pub mod wordpiece;

use std::borrow::Cow;
use std::sync::Arc;

use bpe::{Bpe, BpeRules, BpeScratch};
use longest::LongestMatchModel;
use plamo2::{Plamo2, Plamo2Scratch};
use polytok_memory::Copied;
use unigram::wide::{WideScratch, WideUnigram};
use unigram::{Unigram, UnigramScratch};
use whole::{LookupUnit, WordOrCharModel};
use word_level::WordLevel;
use wordpiece::WordPiece;

use crate::boundary::Boundary;
use crate::error::{Error, Result, not_utf8};
use crate::huge::release;
use crate::native::Tables;
use crate::post::{Out, Sink};
use crate::segment::{PieceSource, Segment};
use crate::spec::{Model, SentencePieceVersion, Symbols, UnigramRules, Unknown};
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::vocab::Vocab;

/// A compiled model. The model is shared with a route, which builds its own tables from the model.
pub(crate) enum CompiledModel {
    Bpe(Arc<Bpe>),
    Unigram(Arc<Unigram>),
    LongestMatch(LongestMatchModel),
    WordOrChar(WordOrCharModel),
    WordLevel(WordLevel),
    WideUnigram(WideUnigram),
    WordPiece(WordPiece),
    Plamo2(Plamo2),
}

/// The bytes and ids of entries that encode to their own id when they are pieces.
pub(crate) type OwnEntries<'v> = Box<dyn Iterator<Item = (Cow<'v, [u8]>, TokenId)> + 'v>;

/// The memory of models.
#[derive(Default)]
pub(crate) struct ModelScratch {
    pub bpe: BpeScratch,
    pub unigram: UnigramScratch,
    wide_unigram: WideScratch,
    wordpiece_segments: Vec<Segment>,
    plamo2: Plamo2Scratch,
    ids: Vec<TokenId>,
}

impl ModelScratch {
    /// Frees buffers of more than `kept` items.
    pub fn release(&mut self, max_kept: usize) {
        self.bpe.release(max_kept);
        release(&mut self.ids, max_kept);
    }
}

/// The parts of a tokenizer that a model is compiled from, besides its own fields of the Spec.
pub(crate) struct ModelParts<'a> {
    pub vocab: &'a Arc<Vocab>,
    pub user_defined: Option<Arc<Trie>>,
    pub has_prefix_space: bool,
    pub unknown: Unknown,
    pub version: SentencePieceVersion,
}

/// The number of bytes of text that each token of a piece covers: at most the bytes of its entry without affixes.
#[derive(Clone, Copy, Default)]
pub struct CoveredBytes {
    /// The lengths of the prefixes of the first entry and of the later entries; a prefix covers no text.
    prefix_lens: [u32; 2],
    /// The length of the suffix of the last entry; a suffix covers no text.
    suffix_len: u32,
    /// True if the only token of a piece covers the whole piece, whatever its entry is.
    pub is_whole_if_single: bool,
}

impl CoveredBytes {
    /// Returns the number of bytes of an entry that cover no text, by the position of its token in a piece.
    #[inline]
    pub fn affix_len(&self, is_first: bool, is_last: bool) -> u32 {
        self.prefix_lens[!is_first as usize] + if is_last { self.suffix_len } else { 0 }
    }
}

impl CompiledModel {
    /// Compiles the model of a Spec.
    pub fn compile(model: Model, parts: ModelParts, tables: &mut Tables) -> Result<CompiledModel> {
        let ModelParts { vocab, user_defined, version, .. } = parts;
        Ok(match model {
            Model::Bpe { priority, symbols, whole_piece_first, reserved, scalars } => {
                let has_prefix = symbols == Symbols::Groups && parts.has_prefix_space;
                let unknown = parts.unknown;
                let rules = BpeRules {
                    whole_piece_first,
                    has_prefix,
                    scalars,
                    unknown,
                    ..BpeRules::new(symbols, reserved, version)
                };
                CompiledModel::Bpe(Arc::new(Bpe::compile(vocab.clone(), &priority, &rules, user_defined, tables)?))
            }
            Model::Unigram(rules @ (UnigramRules::HuggingFace { .. } | UnigramRules::LlamaCpp)) => {
                CompiledModel::WideUnigram(WideUnigram::compile(vocab, rules, tables)?)
            }
            Model::Unigram(UnigramRules::SentencePiece) => {
                CompiledModel::Unigram(Arc::new(Unigram::compile(vocab, version, tables)?))
            }
            Model::Longest => CompiledModel::LongestMatch(LongestMatchModel::compile(vocab, tables)?),
            Model::Word => {
                CompiledModel::WordOrChar(WordOrCharModel::compile(vocab.clone(), LookupUnit::Word, version, tables)?)
            }
            Model::Char => CompiledModel::WordOrChar(WordOrCharModel::compile(
                vocab.clone(),
                LookupUnit::Char(user_defined),
                version,
                tables,
            )?),
            Model::WordLevel => CompiledModel::WordLevel(WordLevel::compile(vocab.clone())?),
            Model::WordPiece { continuing_prefix, max_chars, phantom_space } => CompiledModel::WordPiece(
                WordPiece::compile(vocab, &continuing_prefix, max_chars, phantom_space, tables)?,
            ),
            Model::Plamo2 => CompiledModel::Plamo2(Plamo2::compile(vocab, tables)?),
        })
    }

    /// Builds the tables that encoding would otherwise build later.
    pub fn warm_up(&self, vocab: &Vocab) {
        match self {
            CompiledModel::Bpe(bpe) => bpe.warm_up(),
            CompiledModel::Unigram(unigram) => unigram.warm_up(vocab),
            _ => {}
        }
    }

    /// Returns the boundaries at which pieces can be split further; None if the model has none.
    pub fn boundary(&self, tables: &mut Tables) -> Result<Option<Boundary>> {
        match self {
            CompiledModel::Bpe(bpe) if bpe.can_split_at_boundaries() => {
                tables.get("boundary", || Ok(Boundary::new(bpe.reachable_entries(), bpe.symbols()))).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Segments the piece at byte `at` of the text. `is_part` is true if the piece was split from a longer one at a
    /// boundary.
    #[inline]
    pub fn segment(
        &self,
        piece: &[u8],
        at: usize,
        is_part: bool,
        scratch: &mut ModelScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        match self {
            CompiledModel::Bpe(bpe) => bpe.segment(piece, at, is_part, &mut scratch.bpe, emit),
            CompiledModel::Unigram(unigram) => unigram.segment(piece, &mut scratch.unigram, emit),
            CompiledModel::LongestMatch(longest) => longest.segment(piece, emit),
            CompiledModel::WordOrChar(whole) => whole.segment(piece, emit),
            CompiledModel::WordLevel(words) => words.segment(piece, emit),
            CompiledModel::WideUnigram(unigram) => unigram.segment(piece, &mut scratch.wide_unigram, emit),
            CompiledModel::WordPiece(wordpiece) => wordpiece.segment(piece, &mut scratch.wordpiece_segments, emit),
            CompiledModel::Plamo2(plamo2) => plamo2.segment(piece, &mut scratch.plamo2, emit),
        }
    }

    /// Writes the ids of a short piece to `ids`, faster than `segment`. Returns false if only `segment` can encode the
    /// piece.
    #[inline]
    pub fn encode_short(
        &self,
        piece: &[u8],
        is_part: bool,
        scratch: &mut ModelScratch,
        ids: &mut Vec<TokenId>,
    ) -> bool {
        matches!(self, CompiledModel::Bpe(bpe) if bpe.encode_short(piece, is_part, &mut scratch.bpe, ids))
    }

    /// Segments a text that is not split.
    pub fn encode_text<S: Sink>(
        &self,
        text: &[u8],
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        out.begin_word();
        match self {
            CompiledModel::Bpe(bpe) => {
                bpe.segment_whole(text, None, &mut scratch.bpe, &mut |segment| out.write_segment(text, 0, segment))
            }
            CompiledModel::Unigram(unigram) => unigram.encode(text, vocab, &mut scratch.unigram, out),
            CompiledModel::LongestMatch(longest) => longest.encode(text, &mut scratch.ids, out),
            model => model.segment(text, 0, false, scratch, &mut |segment| out.write_segment(text, 0, segment)),
        }
    }

    /// Segments a text of which byte `valid` is the first that is not UTF-8; `split` splits the text before that byte.
    pub fn segment_invalid(
        &self,
        text: &[u8],
        valid_len: usize,
        split: &PieceSource,
        scratch: &mut ModelScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        match self {
            CompiledModel::Bpe(bpe) if bpe.is_of_bytes() => {
                bpe.segment_invalid(text, valid_len, split, &mut scratch.bpe, emit)
            }
            _ => Err(not_utf8(valid_len)),
        }
    }

    /// Reports whether a piece that is an entry is encoded without merging, so that a part of a piece can have other
    /// ids.
    #[inline]
    pub fn encodes_entries_whole(&self) -> bool {
        matches!(self, CompiledModel::Bpe(bpe) if bpe.encodes_entries_whole())
    }

    /// Reports whether a piece at byte `at` can have other ids than an equal piece elsewhere in the text.
    #[inline]
    pub fn depends_on_position(&self, piece: &[u8], at: usize) -> bool {
        matches!(self, CompiledModel::Bpe(bpe) if bpe.depends_on_position(piece, at))
    }

    /// Reports whether every token covers exactly the bytes of its entry.
    pub fn covers_own_bytes(&self) -> bool {
        matches!(self, CompiledModel::Bpe(bpe) if bpe.covers_own_bytes())
    }

    /// Describes how many bytes the tokens of a piece without unknown text cover; None if their entries do not show it.
    #[inline]
    pub fn covered_bytes(&self) -> Option<CoveredBytes> {
        match self {
            CompiledModel::Bpe(bpe) if bpe.covers_own_bytes() => Some(CoveredBytes::default()),
            CompiledModel::Bpe(bpe) => {
                let suffix_len = bpe.covered_suffix_len()? as u32;
                Some(CoveredBytes { suffix_len, ..CoveredBytes::default() })
            }
            CompiledModel::WordPiece(wordpiece) => {
                let prefix_lens = wordpiece.prefix_lens();
                Some(CoveredBytes { prefix_lens, is_whole_if_single: true, ..CoveredBytes::default() })
            }
            CompiledModel::WideUnigram(_) => Some(CoveredBytes { is_whole_if_single: true, ..Default::default() }),
            _ => None,
        }
    }

    /// Returns the ids of the 256 bytes if the model encodes characters without an entry as bytes. Tokens with these
    /// ids can cover other text than their entries.
    pub fn byte_ids(&self) -> Option<Vec<TokenId>> {
        if let CompiledModel::Bpe(bpe) = self { bpe.byte_ids().map(|ids| ids.checked_to_vec()) } else { None }
    }

    /// Reports whether an unknown token prints the unknown text instead of the text of its entry.
    pub fn spells_unknown(&self) -> bool {
        matches!(self, CompiledModel::Unigram(_) | CompiledModel::WideUnigram(_))
    }

    /// Reports whether the model itself encodes this unknown text as entries of bytes.
    pub fn falls_back(&self, text: &[u8]) -> bool {
        matches!(self, CompiledModel::WideUnigram(unigram) if unigram.falls_back(text))
    }

    /// Returns the entries that encode to their own id wherever they are pieces, the rarest first; None if these
    /// entries are not known.
    pub fn own_entries<'v>(&'v self, vocab: &'v Vocab) -> Option<OwnEntries<'v>> {
        match self {
            CompiledModel::Bpe(bpe) => bpe.own_entries(),
            CompiledModel::WordPiece(wordpiece) => Some(Box::new(wordpiece.own_entries(vocab))),
            _ => None,
        }
    }

    /// Returns the SentencePiece Unigram model; for any other model, returns an error that names the operation `what`.
    pub fn unigram(&self, operation: &str) -> Result<&Unigram> {
        match self {
            CompiledModel::Unigram(unigram) => Ok(unigram),
            _ => Err(Error::Argument(format!("{operation} needs a SentencePiece Unigram model"))),
        }
    }
}
