//! Finds stop texts in a text that arrives in parts.
//!
//! The stop text whose last character comes first is found; if several stop texts end at this character, the longest is
//! found. So the result does not depend on the parts. The end of a part is held back only if it can be the start of a
//! stop text. This held text is a prefix of a stop text, so it is stored as a node of the trie of all stop texts (Aho
//! and Corasick). Cost: linear in the text.

use polytok_memory::{self as memory, Collect, Grow, GrowText};

use crate::error::{Error, Result};

/// The compiled stop texts.
#[derive(Debug, Default)]
pub struct StopTexts {
    /// The nodes of the trie; the first node is the root. Empty if there are no stop texts.
    nodes: Vec<Node>,
    texts: Vec<Box<str>>,
}

/// A prefix of one or several stop texts.
#[derive(Debug, Default)]
struct Node {
    /// The next byte and the node of the longer prefix, in the order of the bytes.
    children: Vec<(u8, u32)>,
    /// The node of the longest proper suffix that is also a prefix of a stop text.
    suffix: u32,
    /// The number of bytes of the prefix.
    len: u32,
    /// The index of the first stop text with this prefix.
    text: u32,
    /// The index of the longest stop text that is a suffix of the prefix.
    stop: Option<u32>,
}

/// The position in the search between two parts of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopState {
    node: u32,
}

impl StopTexts {
    /// Compiles stop texts, which must not be empty.
    pub fn new<T: AsRef<str>>(texts: &[T]) -> Result<StopTexts> {
        if texts.is_empty() {
            return Ok(StopTexts::default());
        }
        let total_len = texts.iter().map(|text| text.as_ref().len()).sum::<usize>();
        if texts.iter().any(|text| text.as_ref().is_empty()) || u32::try_from(total_len).is_err() {
            return Err(Error::Argument("a stop text must have from 1 to 2^32 - 1 bytes".into()));
        }
        let mut stop_texts = StopTexts {
            nodes: vec![Node::default()],
            texts: texts.iter().map(|text| memory::text(text.as_ref()).into()).checked_collect(),
        };
        for (i, text) in texts.iter().enumerate() {
            stop_texts.insert(i as u32, text.as_ref().as_bytes());
        }
        stop_texts.link_suffixes();
        Ok(stop_texts)
    }

    /// Reports whether there are no stop texts.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns a stop text by its index.
    pub fn text(&self, index: usize) -> &str {
        &self.texts[index]
    }

    /// Searches the next part of a text. Appends the text that cannot be part of a stop text to `out`; if a stop text
    /// is complete, appends the text before it and returns its index.
    pub fn search(&self, state: &mut StopState, part: &str, out: &mut String) -> Option<usize> {
        let held = memory::text(self.held_text(*state));
        for (at, &byte) in part.as_bytes().iter().enumerate() {
            state.node = self.step(state.node, byte);
            if let Some(stop) = self.nodes[state.node as usize].stop {
                *state = StopState::default();
                append_start(&held, part, held.len() + at + 1 - self.text(stop as usize).len(), out);
                return Some(stop as usize);
            }
        }
        append_start(&held, part, held.len() + part.len() - self.held_text(*state).len(), out);
        None
    }

    /// Ends the text, and appends the held text.
    pub fn finish(&self, state: StopState, out: &mut String) {
        out.checked_push_str(self.held_text(state));
    }

    /// Returns the text that is held back.
    fn held_text(&self, state: StopState) -> &str {
        let Some(node) = self.nodes.get(state.node as usize) else { return "" };
        &self.text(node.text as usize)[..node.len as usize]
    }

    /// Adds a stop text to the trie.
    fn insert(&mut self, index: u32, text: &[u8]) {
        let mut node = 0;
        for (i, &byte) in text.iter().enumerate() {
            let children = &self.nodes[node].children;
            node = match children.binary_search_by_key(&byte, |&(byte, _)| byte) {
                Ok(found) => children[found].1 as usize,
                Err(place) => {
                    let child = self.nodes.len();
                    self.nodes[node].children.insert(place, (byte, child as u32));
                    self.nodes.checked_push(Node { len: i as u32 + 1, text: index, ..Node::default() });
                    child
                }
            };
        }
        self.nodes[node].stop.get_or_insert(index);
    }

    /// Finds the suffix of each node, from the shortest to the longest prefixes.
    fn link_suffixes(&mut self) {
        let mut pending: Vec<u32> = vec![0];
        let mut at = 0;
        while at < pending.len() {
            let parent = pending[at];
            at += 1;
            for (byte, child) in self.nodes[parent as usize].children.clone() {
                let suffix = if parent == 0 { 0 } else { self.step(self.nodes[parent as usize].suffix, byte) };
                let stop_of_suffix = self.nodes[suffix as usize].stop;
                let node = &mut self.nodes[child as usize];
                node.suffix = suffix;
                node.stop = node.stop.or(stop_of_suffix);
                pending.checked_push(child);
            }
        }
    }

    /// Returns the node of the longest suffix of a node's prefix and the next byte.
    fn step(&self, from: u32, byte: u8) -> u32 {
        let mut node = from;
        loop {
            let Node { children, suffix, .. } = &self.nodes[node as usize];
            match children.binary_search_by_key(&byte, |&(byte, _)| byte) {
                Ok(found) => return children[found].1,
                Err(_) if node == 0 => return 0,
                Err(_) => node = *suffix,
            }
        }
    }
}

/// Appends the first `len` bytes of a text in two parts.
fn append_start(first: &str, second: &str, len: usize, out: &mut String) {
    out.checked_push_str(&first[..len.min(first.len())]);
    out.checked_push_str(&second[..len.saturating_sub(first.len())]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Finds the stop text that ends first, by trying all ends.
    fn find_plainly(stops: &[String], text: &str) -> Option<(String, usize)> {
        for end in text.char_indices().map(|(at, c)| at + c.len_utf8()) {
            let found = stops.iter().filter(|stop| text[..end].ends_with(stop.as_str())).max_by_key(|stop| stop.len());
            if let Some(stop) = found {
                return Some((text[..end - stop.len()].to_owned(), stops.iter().position(|other| other == stop)?));
            }
        }
        None
    }

    #[test]
    fn only_text_that_can_be_a_stop_text_is_held_back() {
        let stops = StopTexts::new(&["\n\nUser", "\nU+", "世"]).unwrap();
        let (mut state, mut out) = (StopState::default(), String::new());
        for (part, expected) in [("a\n", "a"), ("\n", "a"), ("\n", "a\n"), ("Us", "a\n"), ("x", "a\n\n\nUsx")] {
            assert_eq!(stops.search(&mut state, part, &mut out), None);
            assert_eq!(out, expected);
        }
        assert_eq!(stops.search(&mut state, "b世c", &mut out), Some(2));
        assert_eq!(out, "a\n\n\nUsxb");
    }

    #[test]
    fn stop_texts_must_not_be_empty() {
        assert!(StopTexts::new(&["a", ""]).is_err());
        assert!(StopTexts::new::<&str>(&[]).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn parts_are_searched_as_the_whole_text(
            stops in proptest::collection::vec("[ab世]{1,4}", 1..5),
            parts in proptest::collection::vec("[abc世]{0,5}", 0..8),
        ) {
            let compiled = StopTexts::new(&stops).unwrap();
            let (mut state, mut out) = (StopState::default(), String::new());
            let stopped = parts.iter().find_map(|part| compiled.search(&mut state, part, &mut out));
            compiled.finish(state, &mut out);
            match find_plainly(&stops, &parts.concat()) {
                Some((text, stop)) => {
                    prop_assert_eq!(stopped, Some(stop));
                    prop_assert_eq!(out, text);
                }
                None => {
                    prop_assert_eq!(stopped, None);
                    prop_assert_eq!(out, parts.concat());
                }
            }
        }
    }
}
