//! Encodes a text to each kind of output: ids, their number, tokens with spans, columns of spans, and tokens for windows.
//! The pipeline itself is in `encode`.

use polytok_memory::{self as memory, Copied};

use crate::encode::Encoding;
use crate::error::Result;
use crate::post::Sink;
use crate::post::template::TemplateStep;
use crate::scratch::Scratch;
use crate::sink::trim::{EntrySpaces, TokenText, trim};
use crate::sink::{Count, OwnText, Spans, TextsAndSpans, Token, Tokens};
use crate::spec::TrimOffsets;
use crate::token_id::TokenId;
use crate::tokenizer::{EncodeOptions, Tokenizer};

impl Tokenizer {
    /// Encodes a text to a sink, with the template around the text.
    pub fn encode_to<S: Sink>(
        &self,
        text: &[u8],
        options: EncodeOptions,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        options.check(text)?;
        Encoding::new(self, scratch, sink).encode_with_template(text, options)
    }

    /// Appends the ids of a text.
    pub fn encode(&self, text: &[u8], options: EncodeOptions, ids: &mut Vec<u32>) -> Result<()> {
        memory::catch(|| self.with_scratch(|scratch| self.encode_to(text, options, scratch, ids)))
    }

    /// Returns the number of ids of a text, without storing the ids.
    pub fn count(&self, text: &[u8], options: EncodeOptions) -> Result<usize> {
        let mut count = Count(0);
        memory::catch(|| self.with_scratch(|scratch| self.encode_to(text, options, scratch, &mut count)))?;
        Ok(count.0)
    }

    /// Returns the tokens of a text with their spans, but without their words.
    pub fn tokens(&self, text: &[u8], options: EncodeOptions) -> Result<Vec<Token>> {
        memory::catch(|| {
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
        })
    }

    /// Returns the ids and spans of a text as columns.
    pub fn spans(&self, text: &[u8], options: EncodeOptions) -> Result<Spans> {
        memory::catch(|| {
            let mut spans = Spans::with_room(text.len());
            if self.trim == TrimOffsets::Nothing {
                self.with_scratch(|scratch| self.encode_to(text, options, scratch, &mut spans))?;
                return Ok(spans);
            }
            let plain_spans = self.trimmed_spans(text, options)?;
            if self.template.is_only_text() {
                return Ok(plain_spans);
            }
            for step in self.template.steps(options.add_special, text.len()) {
                match step {
                    TemplateStep::Insert(ids, at) => spans.insert(ids, at),
                    TemplateStep::Text => spans.extend(&plain_spans),
                }
            }
            Ok(spans)
        })
    }

    /// Encodes a text to a sink, without the template's tokens. Spans are not trimmed.
    pub(crate) fn encode_plain<S: Sink>(&self, text: &[u8], options: EncodeOptions, sink: &mut S) -> Result<()> {
        options.check(text)?;
        self.with_scratch(|scratch| Encoding::new(self, scratch, sink).encode_text(text, options))
    }

    /// Returns the ids and trimmed spans of a text as columns, without the template's tokens.
    fn trimmed_spans(&self, text: &[u8], options: EncodeOptions) -> Result<Spans> {
        let mut sink = TextsAndSpans::with_room(text.len());
        self.encode_plain(text, options, &mut sink)?;
        let TextsAndSpans { mut spans, own_texts } = sink;
        let keeps_prefix = self.trim == TrimOffsets::SpaceExceptPrefix;
        let entry_spaces = self.entry_spaces();
        let mut own_texts = own_texts.iter().peekable();
        let bounds = spans.starts.iter_mut().zip(&mut spans.ends);
        for (i, (&id, (start, end))) in TokenId::slice_of(&spans.ids).iter().zip(bounds).enumerate() {
            let own_text = own_texts.next_if(|own_text| own_text.0 == i).map(|(_, own_text)| own_text);
            let counts = entry_spaces.get(id).filter(|_| own_text.is_none());
            let counts = counts.unwrap_or_else(|| self.trimmed_text(id, own_text).count_spaces());
            (*start, *end) = trim((*start, *end), text, counts, keeps_prefix && (i == 0 || *start == 0));
        }
        Ok(spans)
    }

    /// Returns the white space at the ends of vocabulary entries. If the vocabulary has few entries but large ids, the
    /// table is empty.
    pub(crate) fn entry_spaces(&self) -> &EntrySpaces {
        let vocab = &self.segmenter.vocab;
        let id_count = if vocab.size() as usize <= 4 * vocab.len() + 1024 { vocab.size() } else { 0 };
        let count_spaces = |id| self.trimmed_text(id, None).count_spaces();
        self.entry_spaces.get(|| EntrySpaces::compile(id_count, count_spaces))
    }

    /// Returns the tokens of a text with spans, without the template's tokens.
    pub fn plain_tokens(&self, text: &[u8], options: EncodeOptions) -> Result<Vec<Token>> {
        memory::catch(|| {
            let mut tokens = self.untrimmed_tokens(text, options, false)?;
            self.trim(&mut tokens, text, |i| i == 0);
            Ok(tokens)
        })
    }

    /// Returns the tokens of a text that the caller divides into windows. If spans are trimmed, the span of a token can
    /// be different at the start of a window. So in this case a second list has each token with the span for the start
    /// of a window.
    pub fn window_tokens(&self, text: &[u8], options: EncodeOptions) -> Result<(Vec<Token>, Option<Vec<Token>>)> {
        memory::catch(|| {
            let mut inner_tokens = self.untrimmed_tokens(text, options, true)?;
            let first_tokens = (self.trim != TrimOffsets::Nothing).then(|| {
                let mut first_tokens = inner_tokens.checked_to_vec();
                self.trim(&mut first_tokens, text, |_| true);
                first_tokens
            });
            self.trim(&mut inner_tokens, text, |_| false);
            Ok((inner_tokens, first_tokens))
        })
    }

    /// Returns the tokens of a text with untrimmed spans, without the template's tokens.
    fn untrimmed_tokens(&self, text: &[u8], options: EncodeOptions, needs_words: bool) -> Result<Vec<Token>> {
        let mut tokens = Tokens::new(needs_words);
        self.encode_plain(text, options, &mut tokens)?;
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
        for (i, token) in tokens.iter_mut().enumerate() {
            let counts = self.trimmed_text(token.id, token.own_text.as_deref()).count_spaces();
            let keeps_one = keeps_prefix && (is_first(i) || token.start == 0);
            (token.start, token.end) = trim((token.start, token.end), text, counts, keeps_one);
        }
    }

    /// Returns the text of a token in which the white space is counted. `own_text` is the text of the token if it
    /// differs from the text of its entry.
    fn trimmed_text<'a>(&'a self, id: TokenId, own_text: Option<&'a OwnText>) -> TokenText<'a> {
        match own_text {
            Some(OwnText::Special(text)) => return TokenText::Text(text),
            Some(OwnText::Unknown(text)) if !self.segmenter.model.falls_back(text) => return TokenText::Text(text),
            _ => {}
        }
        let piece = self.segmenter.vocab.row(id).map_or(&[][..], |row| self.segmenter.vocab.bytes(row));
        if self.byte_level { TokenText::Bytes(piece) } else { TokenText::Text(piece) }
    }
}
