//! Parses split patterns to trees.
//!
//! The language is a subset of fancy_regex's syntax: alternatives of sequences of items. An item is one of: a character
//! or a class with an optional quantifier (greedy or possessive); a group of alternatives, which can be optional; a
//! look-ahead for a character or a class; the end of the text. A pattern outside this language has no tree, and the
//! caller uses the general engine. The crate regex-syntax parses the text of a class, as in fancy_regex.
//!
//! Recursion is bounded by `MAX_DEPTH`, and the cost is linear in the pattern except for the classes themselves.

use polytok_memory::Grow;

use super::char_ranges::CharRanges;

/// The `max` of a quantifier without an upper limit.
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// The maximum depth of nested groups; published patterns need two.
const MAX_DEPTH: u32 = 8;
/// The maximum number of distinct character sets of a pattern; published patterns need up to forty.
const MAX_SETS: usize = 64;
/// The maximum length of a pattern in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 16;
/// The largest number in `{m,n}`.
const MAX_REPEATS: u32 = 512;

/// An item of a sequence. A `set` is an index into [`Tree::sets`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A run of at least `min` and at most `max` characters of a set.
    Run { set: usize, min: u32, max: u32, possessive: bool },
    /// A look-ahead. A positive look-ahead requires that the next character is in the set; a negative one, that the
    /// next character is not in the set or that the text ends.
    Look { set: usize, is_positive: bool },
    /// The end of the text.
    End,
    /// A group, which matches the first alternative that leads to a match. An optional group matches the empty text if
    /// no alternative leads to a match.
    Group { alternatives: Vec<Vec<Node>>, optional: bool },
}

/// A parsed pattern.
pub(super) struct Tree {
    pub(super) alternatives: Vec<Vec<Node>>,
    pub(super) sets: Vec<CharRanges>,
}

/// Parses `pattern`; None if the pattern is outside the family.
pub(super) fn parse(pattern: &str) -> Option<Tree> {
    Parser::new(pattern).tree()
}

/// Parses `pattern` to an outline: a tree that only the proofs of `coverage` use, because these proofs do not depend on
/// the preferred match. Patterns outside the family have outlines too: lazy quantifiers count as greedy, a repeated
/// group counts as the group once or optionally, and every look-around is an `End`.
pub(super) fn parse_outline(pattern: &str) -> Option<Tree> {
    Parser { is_outline: true, ..Parser::new(pattern) }.tree()
}

/// Returns the characters of `class`; None if the text is not a single class or character.
pub(super) fn single_set(class: &str) -> Option<CharRanges> {
    let mut parser = Parser::new(class);
    parser.set()?;
    if parser.rest.is_empty() { parser.sets.pop() } else { None }
}

struct Parser<'p> {
    rest: &'p str,
    /// True inside `(?i:…)`.
    ignores_case: bool,
    depth: u32,
    sets: Vec<CharRanges>,
    /// True if the tree is an outline (`parse_outline`).
    is_outline: bool,
}

impl<'p> Parser<'p> {
    fn new(pattern: &'p str) -> Parser<'p> {
        Parser { rest: pattern, ignores_case: false, depth: 0, sets: Vec::new(), is_outline: false }
    }

    fn tree(mut self) -> Option<Tree> {
        if self.rest.len() > MAX_PATTERN_BYTES {
            return None;
        }
        let alternatives = self.parse_alternatives()?;
        self.rest.is_empty().then_some(Tree { alternatives, sets: self.sets })
    }

    /// Parses `a|b|c` up to the end of the pattern or to a closing parenthesis, which is not read.
    fn parse_alternatives(&mut self) -> Option<Vec<Vec<Node>>> {
        let mut alternatives = Vec::new();
        loop {
            let mut sequence = Vec::new();
            while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
                sequence.checked_push(self.parse_item()?);
            }
            alternatives.checked_push(sequence);
            if !self.eat("|") {
                return Some(alternatives);
            }
        }
    }

    fn parse_item(&mut self) -> Option<Node> {
        if self.eat("$") || self.eat(r"\z") || self.is_outline && self.eat("^") {
            return Some(Node::End);
        }
        if self.is_outline && ["(?=", "(?!", "(?<=", "(?<!"].into_iter().any(|open| self.eat(open)) {
            return self.parse_group_rest().map(|_| Node::End);
        }
        for (open, is_positive) in [("(?=", true), ("(?!", false)] {
            if self.eat(open) {
                let set = self.set()?;
                return self.eat(")").then_some(Node::Look { set, is_positive });
            }
        }
        if self.rest.starts_with('(') {
            return self.group();
        }
        let set = self.set()?;
        let (min, max) = self.parse_quantifier()?;
        let possessive = (min, max) != (1, 1) && self.eat("+");
        let _ = self.is_outline && !possessive && (min, max) != (1, 1) && self.eat("?");
        // Lazy and doubled quantifiers are not read here in other cases; `set` refuses the remaining mark as the next
        // item.
        Some(Node::Run { set, min, max, possessive })
    }

    fn group(&mut self) -> Option<Node> {
        let outer_case = self.ignores_case;
        if self.eat("(?i:") {
            self.ignores_case = true;
        } else if !self.eat("(?:") {
            self.eat("(");
        }
        let alternatives = self.parse_group_rest()?;
        self.ignores_case = outer_case;
        let optional = match self.is_outline {
            false => self.eat("?"),
            true => {
                let (min, max) = self.parse_quantifier()?;
                let _ = (min, max) != (1, 1) && self.eat("?");
                min == 0
            }
        };
        // `set` refuses a further quantifier (`)*`, `)?+`, `)??`) as the next item.
        Some(Node::Group { alternatives, optional })
    }

    /// Parses the alternatives of a group and the closing parenthesis.
    fn parse_group_rest(&mut self) -> Option<Vec<Vec<Node>>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let alternatives = self.parse_alternatives()?;
        self.depth -= 1;
        self.eat(")").then_some(alternatives)
    }

    /// Parses `?`, `*`, `+`, `{m}`, `{m,}` or `{m,n}` to the minimum and the maximum; without a quantifier, returns (1,
    /// 1).
    fn parse_quantifier(&mut self) -> Option<(u32, u32)> {
        for (sign, range) in [("?", (0, 1)), ("*", (0, UNBOUNDED)), ("+", (1, UNBOUNDED))] {
            if self.eat(sign) {
                return Some(range);
            }
        }
        if !self.eat("{") {
            return Some((1, 1));
        }
        let min = self.read_number()?;
        let max = match self.eat(",") {
            false => min,
            true if self.rest.starts_with('}') => UNBOUNDED,
            true => self.read_number()?,
        };
        // `{0}` is outside the family.
        (self.eat("}") && min <= max && max > 0).then_some((min, max))
    }

    fn read_number(&mut self) -> Option<u32> {
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        digits.parse().ok().filter(|&n| n <= MAX_REPEATS)
    }

    /// Parses a character, an escape or a class, and returns the index of its set.
    fn set(&mut self) -> Option<usize> {
        let text = match self.rest.chars().next()? {
            '[' => self.class()?,
            '\\' => match self.rest.as_bytes().get(1)? {
                b'<' | b'>' => return None, // a word boundary in fancy_regex
                _ => self.escape()?,
            },
            '(' | ')' | '|' | '?' | '*' | '+' | '{' | '^' | '$' => return None,
            '.' => self.take(1).to_string(),
            c => {
                self.take(c.len_utf8());
                literal(c)
            }
        };
        let ranges = CharRanges::parse_with_case(&text, self.ignores_case).ok()?;
        let existing_index = self.sets.iter().position(|set| *set == ranges);
        let index = existing_index.unwrap_or(self.sets.len());
        if existing_index.is_none() {
            self.sets.checked_push(ranges);
        }
        (index < MAX_SETS).then_some(index)
    }

    /// Reads a class in brackets, and rewrites the text so that regex-syntax parses the class as fancy_regex does.
    fn class(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut depth = 0;
        loop {
            match self.rest.chars().next()? {
                '\\' => text += &self.escape()?,
                '[' => {
                    depth += 1;
                    text += self.take(1);
                    text += if self.rest.starts_with('^') { self.take(1) } else { "" };
                    if self.rest.starts_with(']') {
                        return None; // a bracket as a member of the class
                    }
                }
                ']' => {
                    depth -= 1;
                    text += self.take(1);
                    if depth == 0 {
                        return Some(text);
                    }
                }
                c => text += self.take(c.len_utf8()),
            }
        }
    }

    /// Reads an escape that has the same meaning in both syntaxes, and rewrites it for regex-syntax.
    fn escape(&mut self) -> Option<String> {
        let c = self.rest[1..].chars().next()?;
        match c {
            's' | 'S' | 'd' | 'D' | 'w' | 'W' => Some(self.take(2).to_string()),
            'p' | 'P' => self.read_property(),
            'x' => self.read_code_point(2),
            'u' => self.read_code_point(4),
            'r' | 'n' | 't' => {
                self.take(2);
                Some(literal(match c {
                    'r' => '\r',
                    'n' => '\n',
                    _ => '\t',
                }))
            }
            _ if c.is_ascii_punctuation() || c == ' ' => {
                self.take(2);
                Some(literal(c))
            }
            _ => None,
        }
    }

    /// Reads `\x{21}`, or exactly `len` digits without braces, as in `\x21` and `\u0021`.
    fn read_code_point(&mut self, len: usize) -> Option<String> {
        let (_, rest) = self.rest.split_at(2);
        let (digits, rest) = match rest.strip_prefix('{') {
            Some(rest) => rest.split_once('}')?,
            None => rest.split_at_checked(len)?,
        };
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let c = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex).and_then(char::from_u32)?;
        self.rest = rest;
        Some(literal(c))
    }

    /// Reads `\pL` or `\p{Name}`.
    fn read_property(&mut self) -> Option<String> {
        if !self.rest[2..].starts_with('{') {
            let name = self.rest[2..].chars().next()?;
            return name.is_ascii_alphabetic().then(|| self.take(3).to_string());
        }
        let len = self.rest.find('}')? + 1;
        let text = self.take(len);
        let name = text[3..len - 1].to_ascii_lowercase();
        let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'=');
        // These names have other meanings in fancy_regex.
        let is_special = ["alnum", "blank", "cntrl", "word", "graph", "print", "cs"].contains(&name.as_str());
        (is_plain && !is_special).then(|| text.to_string())
    }

    /// Reads `token` if the pattern continues with `token`, and reports whether it was read.
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn take(&mut self, len: usize) -> &str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        taken
    }
}

/// Writes a character so that it has no special meaning, inside and outside classes.
fn literal(c: char) -> String {
    format!("\\x{{{:X}}}", c as u32)
}
