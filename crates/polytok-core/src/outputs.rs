//! Encodes a text to each kind of output: ids, their number, tokens with spans, columns of spans, and tokens for windows.
//! The pipeline itself is in `encode`.

use crate::encode::Encoding;
use crate::error::Result;
use crate::post::Sink;
use crate::post::template::TemplateStep;
use crate::scratch::Scratch;
use crate::sink::trim::{TokenText, trim};
use crate::sink::{Count, Spans, Token, Tokens};
use crate::spec::TrimOffsets;
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
        options.check(text)?;
        let mut tokens = Tokens::new(needs_words);
        self.with_scratch(|scratch| Encoding::new(self, scratch, &mut tokens).encode_text(text, options.special))?;
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

    /// Returns the text of a token in which `trim` counts the spaces.
    fn trimmed_text<'a>(&'a self, token: &'a Token) -> TokenText<'a> {
        if let Some(text) = token.special_text().or(self.unknown_text(token)) {
            return TokenText::Text(text);
        }
        let piece = self.segmenter.vocab.row(token.id).map_or(&[][..], |row| self.segmenter.vocab.bytes(row));
        if self.byte_level { TokenText::Bytes(piece) } else { TokenText::Text(piece) }
    }
}
