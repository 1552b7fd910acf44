//! The pattern language of split patterns: text to tree.
//!
//! A subset of fancy_regex's syntax: alternatives of sequences of items. An item is one character or class with an
//! optional quantifier (greedy or possessive), a group of alternatives that is optional at most, a look-ahead for one
//! character or class, or the end of the text. Whatever lies outside is `None`, never a guess; the caller then takes the
//! general engine. What stands inside a class is read by regex-syntax, as it is in fancy_regex.
//!
//! Recursion is bounded by `MAX_DEPTH`, and the cost is linear in the pattern except for the classes themselves.

use super::char_ranges::CharRanges;

/// A quantifier without an upper end.
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// Groups within groups; published patterns need two.
const MAX_DEPTH: u32 = 8;
/// Distinct character sets; published patterns need up to forty.
const MAX_SETS: usize = 64;
/// Longer patterns are no split patterns of the family.
const MAX_LEN: usize = 1 << 16;
/// The largest number in `{m,n}`.
const MAX_COUNT: u32 = 512;

/// One item of a sequence. Sets are indices into [`Tree::sets`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// `min` to `max` characters of a set, as many as there are.
    Run { set: usize, min: u32, max: u32, possessive: bool },
    /// The next character is in the set (`wanted`), or there is none or it is not (`!wanted`).
    Look { set: usize, wanted: bool },
    /// The text ends here.
    End,
    /// The first alternative that leads to a match; an optional group may also be left out, which is tried last.
    Group { alternatives: Vec<Vec<Node>>, optional: bool },
}

/// A parsed pattern.
pub(super) struct Tree {
    pub(super) alternatives: Vec<Vec<Node>>,
    pub(super) sets: Vec<CharRanges>,
}

/// The tree of `pattern`, or `None` if it is outside the family.
pub(super) fn parse(pattern: &str) -> Option<Tree> {
    Parser::new(pattern).tree()
}

/// Parses `pattern` to an outline: a tree for the proofs of `coverage` alone, which do not depend on which match is preferred. Patterns
/// outside the family have outlines too: lazy quantifiers count as greedy, a repeated group counts as the group once or optionally, and
/// every look-around is an `End`.
pub(super) fn parse_outline(pattern: &str) -> Option<Tree> {
    Parser { is_outline: true, ..Parser::new(pattern) }.tree()
}

/// The characters of `class`, or `None` if it is anything but one class or character.
pub(super) fn single_set(class: &str) -> Option<CharRanges> {
    let mut parser = Parser::new(class);
    parser.set()?;
    if parser.rest.is_empty() { parser.sets.pop() } else { None }
}

struct Parser<'p> {
    rest: &'p str,
    /// Inside `(?i:…)`.
    fold: bool,
    depth: u32,
    sets: Vec<CharRanges>,
    /// True if the tree is an outline (`parse_outline`).
    is_outline: bool,
}

impl<'p> Parser<'p> {
    fn new(pattern: &'p str) -> Parser<'p> {
        Parser { rest: pattern, fold: false, depth: 0, sets: Vec::new(), is_outline: false }
    }

    fn tree(mut self) -> Option<Tree> {
        if self.rest.len() > MAX_LEN {
            return None;
        }
        let alternatives = self.alternatives()?;
        self.rest.is_empty().then_some(Tree { alternatives, sets: self.sets })
    }

    /// `a|b|c`, up to the end of the pattern or a closing parenthesis that is left unread.
    fn alternatives(&mut self) -> Option<Vec<Vec<Node>>> {
        let mut all = Vec::new();
        loop {
            let mut sequence = Vec::new();
            while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
                sequence.push(self.item()?);
            }
            all.push(sequence);
            if !self.eat("|") {
                return Some(all);
            }
        }
    }

    fn item(&mut self) -> Option<Node> {
        if self.eat("$") || self.eat(r"\z") || self.is_outline && self.eat("^") {
            return Some(Node::End);
        }
        if self.is_outline && ["(?=", "(?!", "(?<=", "(?<!"].into_iter().any(|open| self.eat(open)) {
            return self.group_rest().map(|_| Node::End);
        }
        for (open, wanted) in [("(?=", true), ("(?!", false)] {
            if self.eat(open) {
                let set = self.set()?;
                return self.eat(")").then_some(Node::Look { set, wanted });
            }
        }
        if self.rest.starts_with('(') {
            return self.group();
        }
        let set = self.set()?;
        let (min, max) = self.quantifier()?;
        let possessive = (min, max) != (1, 1) && self.eat("+");
        let _ = self.is_outline && !possessive && (min, max) != (1, 1) && self.eat("?");
        // Lazy and doubled quantifiers are left unread here and refused by `set` as the next item.
        Some(Node::Run { set, min, max, possessive })
    }

    fn group(&mut self) -> Option<Node> {
        let outer = self.fold;
        if self.eat("(?i:") {
            self.fold = true;
        } else if !self.eat("(?:") {
            self.eat("(");
        }
        let alternatives = self.group_rest()?;
        self.fold = outer;
        let optional = match self.is_outline {
            false => self.eat("?"),
            true => {
                let (min, max) = self.quantifier()?;
                let _ = (min, max) != (1, 1) && self.eat("?");
                min == 0
            }
        };
        // A further quantifier (`)*`, `)?+`, `)??`) is refused as the next item.
        Some(Node::Group { alternatives, optional })
    }

    /// The alternatives of a group and the parenthesis after them.
    fn group_rest(&mut self) -> Option<Vec<Vec<Node>>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let alternatives = self.alternatives()?;
        self.depth -= 1;
        self.eat(")").then_some(alternatives)
    }

    /// `?`, `*`, `+`, `{m}`, `{m,}`, `{m,n}` or nothing, which is (1, 1).
    fn quantifier(&mut self) -> Option<(u32, u32)> {
        for (sign, range) in [("?", (0, 1)), ("*", (0, UNBOUNDED)), ("+", (1, UNBOUNDED))] {
            if self.eat(sign) {
                return Some(range);
            }
        }
        if !self.eat("{") {
            return Some((1, 1));
        }
        let min = self.number()?;
        let max = match self.eat(",") {
            false => min,
            true if self.rest.starts_with('}') => UNBOUNDED,
            true => self.number()?,
        };
        // {0} matches nothing: nobody writes it.
        (self.eat("}") && min <= max && max > 0).then_some((min, max))
    }

    fn number(&mut self) -> Option<u32> {
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        digits.parse().ok().filter(|&n| n <= MAX_COUNT)
    }

    /// One character, escape or class, as the index of its set.
    fn set(&mut self) -> Option<usize> {
        let text = match self.rest.chars().next()? {
            '[' => self.class()?,
            '\\' => match self.rest.as_bytes().get(1)? {
                b'<' | b'>' => return None, // word boundaries in fancy_regex
                _ => self.escape()?,
            },
            '(' | ')' | '|' | '?' | '*' | '+' | '{' | '^' | '$' => return None,
            '.' => self.take(1).to_string(),
            c => {
                self.take(c.len_utf8());
                literal(c)
            }
        };
        let ranges = CharRanges::parse_with_case(&text, self.fold).ok()?;
        let known = self.sets.iter().position(|set| *set == ranges);
        let index = known.unwrap_or(self.sets.len());
        if known.is_none() {
            self.sets.push(ranges);
        }
        (index < MAX_SETS).then_some(index)
    }

    /// A class in brackets, rewritten so that regex-syntax reads it as fancy_regex does.
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
                        return None; // a bracket that is meant as a character
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

    /// An escape that means the same everywhere, in regex-syntax's spelling.
    fn escape(&mut self) -> Option<String> {
        let c = self.rest[1..].chars().next()?;
        match c {
            's' | 'S' | 'd' | 'D' | 'w' | 'W' => Some(self.take(2).to_string()),
            'p' | 'P' => self.property(),
            'x' => self.code_point(2),
            'u' => self.code_point(4),
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

    /// `\x{21}`, or without braces exactly `len` digits, as in `\x21` and `\u0021`.
    fn code_point(&mut self, len: usize) -> Option<String> {
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

    /// `\pL` or `\p{Name}`.
    fn property(&mut self) -> Option<String> {
        if !self.rest[2..].starts_with('{') {
            let name = self.rest[2..].chars().next()?;
            return name.is_ascii_alphabetic().then(|| self.take(3).to_string());
        }
        let len = self.rest.find('}')? + 1;
        let text = self.take(len);
        let name = text[3..len - 1].to_ascii_lowercase();
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'=');
        // These names have meanings of their own in fancy_regex.
        let special = ["alnum", "blank", "cntrl", "word", "graph", "print", "cs"].contains(&name.as_str());
        (plain && !special).then(|| text.to_string())
    }

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

/// `c` spelled so that it is itself in and out of classes.
fn literal(c: char) -> String {
    format!("\\x{{{:X}}}", c as u32)
}
