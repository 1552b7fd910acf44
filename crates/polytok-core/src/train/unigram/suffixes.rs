//! Sorted suffixes of weighted texts, and the intervals of those that share a prefix: which substrings repeat, and how often.
//!
//! The suffixes that begin a character are put into buckets by their first bytes. Each group of buckets is sorted alone, by eight
//! bytes at a time, and only as deep as a piece may be long; the sort tells the common prefix of neighbours on the way. One scan
//! with a stack then closes the intervals, inner ones before outer ones, in the order of their texts, as a scan of a whole
//! suffix array would.
//!
//! Invariant: groups are independent of each other, so neither their size nor the number of threads shows in the result.
//! Cost: about n log n over n characters, in rounds of eight bytes; 16 bytes of memory for each suffix of the groups at work.
//! Worst input: one text repeated with small changes, whose suffixes agree to the full depth.

use crate::error::{Error, Result};
use crate::spec::Line;
use crate::train::unigram::workers::Workers;
use crate::utf8::is_start;

/// Texts one after the other, each a fragment and what follows it, and how often each occurs.
#[derive(Default)]
pub struct Fragments {
    /// All texts, and at the end the zeros that make reading past it harmless.
    bytes: Vec<u8>,
    /// Where each text begins, how long its fragment is without what follows, and its weight.
    spans: Vec<(u32, u32, u64)>,
}

/// Bytes of zeros at the end.
const PADDING: usize = 8;

/// A substring that repeats: one place where it stands, its bytes and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub at: u32,
    pub len: u32,
    pub count: u64,
}

/// How deep and how precisely intervals are told apart.
#[derive(Clone, Copy)]
pub struct Depth {
    /// Longer common prefixes are taken for this one, and nobody is told of them.
    pub limit: u32,
    /// 0.2.1 knows characters: common prefixes are cut to whole ones. 0.2.3 knows bytes: what two characters share in their first
    /// bytes is no interval of its own, and one that ends with the end of a sentence counts as the interval without it, once more.
    pub line: Line,
}

/// A suffix while it is sorted: the key is its next eight bytes, later the common prefix with the suffix before it.
#[derive(Clone, Copy)]
struct Suffix {
    key: u64,
    at: u32,
    fragment: u32,
}

/// Buckets are numbered by so many of a suffix's first bits.
const BUCKET_BITS: u32 = 20;
/// A group is closed when it has so many suffixes.
const GROUP: usize = 1 << 20;

impl Fragments {
    /// Adds a fragment with what follows it.
    pub fn push(&mut self, fragment: &[u8], follower: &[u8], weight: u64) -> Result<()> {
        let start = self.bytes.len();
        if start + fragment.len() + follower.len() + PADDING > u32::MAX as usize {
            return Err(Error::Argument(
                "the distinct words exceed 4 GiB; train on a sample of the text (input_sentence_size)".into(),
            ));
        }
        self.bytes.extend_from_slice(fragment);
        self.bytes.extend_from_slice(follower);
        self.spans.push((start as u32, fragment.len() as u32, weight));
        Ok(())
    }

    /// The bytes that they take.
    pub fn memory(&self) -> u64 {
        (self.bytes.len() + self.spans.len() * size_of::<(u32, u32, u64)>()) as u64
    }

    /// The text of an interval.
    pub fn text(&self, interval: &Interval) -> &[u8] {
        &self.bytes[interval.at as usize..][..interval.len as usize]
    }

    /// Calls `each` for every group of sorted suffixes, on several threads; what it makes of them comes back in the order of the
    /// texts.
    pub fn intervals<T: Send>(
        &mut self,
        depth: Depth,
        workers: &mut Workers,
        each: impl Fn(&Fragments, &mut dyn Iterator<Item = Interval>) -> T + Sync,
    ) -> Result<Vec<T>> {
        self.bytes.resize(self.bytes.len() + PADDING, 0);
        let groups = self.groups();
        let mut results: Vec<Option<T>> = groups.iter().map(|_| None).collect();
        let fragments = &*self;
        workers.run("substrings", groups.iter().zip(&mut results).collect(), |(group, result)| {
            let mut suffixes = fragments.gather(group);
            fragments.sort(&mut suffixes, 0, depth.limit);
            *result = Some(each(fragments, &mut Closing::new(fragments, &suffixes, depth)));
        })?;
        self.bytes.truncate(self.bytes.len() - PADDING);
        Ok(results.into_iter().flatten().collect())
    }

    /// The places of a fragment at which a character begins, but for the last: a piece has two at least.
    fn starts(&self, index: usize) -> impl Iterator<Item = u32> {
        let (start, len, _) = self.spans[index];
        let bytes = &self.bytes[start as usize..][..len as usize];
        let last = (0..bytes.len()).rev().find(|&i| is_start(bytes[i])).unwrap_or(0);
        (0..last).filter(|&i| is_start(bytes[i])).map(move |i| start + i as u32)
    }

    fn key(&self, at: u32) -> u64 {
        let at = (at as usize).min(self.bytes.len() - PADDING);
        u64::from_be_bytes(self.bytes[at..at + 8].try_into().unwrap_or([0; 8]))
    }

    fn bucket(&self, at: u32) -> usize {
        (self.key(at) >> (64 - BUCKET_BITS)) as usize
    }

    /// Ranges of buckets that are sorted together.
    fn groups(&self) -> Vec<std::ops::Range<usize>> {
        let mut counts = vec![0usize; 1 << BUCKET_BITS];
        for index in 0..self.spans.len() {
            self.starts(index).for_each(|at| counts[self.bucket(at)] += 1);
        }
        let mut groups = Vec::new();
        let (mut from, mut size) = (0, 0);
        for (bucket, count) in counts.into_iter().enumerate() {
            if size + count > GROUP && size > 0 && is_boundary(bucket) {
                groups.push(from..bucket);
                (from, size) = (bucket, 0);
            }
            size += count;
        }
        groups.push(from..1 << BUCKET_BITS);
        groups
    }

    fn gather(&self, group: &std::ops::Range<usize>) -> Vec<Suffix> {
        let mut suffixes = Vec::new();
        for index in 0..self.spans.len() {
            let here = self.starts(index).filter(|&at| group.contains(&self.bucket(at)));
            suffixes.extend(here.map(|at| Suffix { key: 0, at, fragment: index as u32 }));
        }
        suffixes
    }

    /// Sorts suffixes that agree in their first `depth` bytes; all keys but the first become common prefixes.
    fn sort(&self, suffixes: &mut [Suffix], depth: u32, limit: u32) {
        if depth >= limit {
            suffixes.iter_mut().for_each(|suffix| suffix.key = limit as u64);
            return;
        }
        for suffix in suffixes.iter_mut() {
            suffix.key = self.key(suffix.at.saturating_add(depth));
        }
        suffixes.sort_unstable_by_key(|suffix| suffix.key);
        let (mut from, mut before) = (0, 0);
        while from < suffixes.len() {
            let key = suffixes[from].key;
            let len = suffixes[from..].iter().take_while(|suffix| suffix.key == key).count();
            if len > 1 {
                self.sort(&mut suffixes[from..from + len], depth + 8, limit);
            }
            suffixes[from].key = limit.min(depth + (before ^ key).leading_zeros() / 8) as u64;
            (from, before) = (from + len, key);
        }
    }
}

/// Whether no piece's intervals lie in this bucket and in the one before: the shortest has two bytes if it begins with ASCII, and
/// three if not.
fn is_boundary(bucket: usize) -> bool {
    bucket >= 0xC0 << (BUCKET_BITS - 8) || bucket.is_multiple_of(1 << (BUCKET_BITS - 16))
}

/// An interval that is still open.
#[derive(Clone, Copy)]
struct Open {
    at: u32,
    depth: u32,
    count: u64,
    /// How often the interval one longer, by the end of a sentence, occurs, if there is one.
    at_ends: u64,
}

/// Tells the intervals of sorted suffixes as they close.
struct Closing<'a> {
    fragments: &'a Fragments,
    suffixes: &'a [Suffix],
    depth: Depth,
    open: Vec<Open>,
    /// How many suffixes have been seen, and the common prefix of the last of them with the next.
    seen: usize,
    common: u32,
    /// A subtree that has ended and hangs nowhere yet.
    ended: Option<Open>,
}

impl<'a> Closing<'a> {
    fn new(fragments: &'a Fragments, suffixes: &'a [Suffix], depth: Depth) -> Closing<'a> {
        Closing { fragments, suffixes, depth, open: Vec::new(), seen: 0, common: 0, ended: None }
    }

    /// The common prefix of a suffix with the one before it.
    fn common(&self, index: usize) -> u32 {
        let Some(suffix) = self.suffixes.get(index) else { return 0 };
        let mut len = suffix.key as u32;
        while self.depth.line == Line::V0_2_1 && len > 0 && !is_start(self.fragments.bytes[(suffix.at + len) as usize])
        {
            len -= 1;
        }
        len
    }

    /// Hangs what ended below the interval that it belongs to; that interval, if it ends too.
    fn hang(&mut self, ended: Open) -> Option<Open> {
        match self.open.last_mut() {
            Some(top) if top.depth >= self.common => {
                top.count += ended.count;
                top.at_ends += ended.at_ends;
                if top.depth > self.common { self.open.pop() } else { None }
            }
            _ => {
                self.open.push(Open { depth: self.common, ..ended });
                None
            }
        }
    }

    /// What is told of an interval that has closed; `closed` becomes what the interval around it gets to know.
    fn tell(&self, closed: &mut Open) -> Option<Interval> {
        let (at, depth, count) = (closed.at, closed.depth, closed.count);
        let at_ends = std::mem::take(&mut closed.at_ends);
        if depth >= self.depth.limit {
            return None;
        }
        let ends = self.depth.line == Line::V0_2_3 && self.fragments.bytes[(at + depth - 1) as usize] == 0;
        if !ends {
            return Some(Interval { at, len: depth, count: count + at_ends });
        }
        let around = self.open.last().map_or(0, |top| top.depth).max(self.common);
        if around + 1 == depth {
            closed.at_ends = count;
            return None;
        }
        Some(Interval { at, len: depth - 1, count })
    }
}

impl Iterator for Closing<'_> {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        loop {
            if let Some(ended) = self.ended.take() {
                let Some(mut closed) = self.hang(ended) else { continue };
                let told = self.tell(&mut closed);
                self.ended = Some(closed);
                match told {
                    Some(told) => return Some(told),
                    None => continue,
                }
            }
            let suffix = self.suffixes.get(self.seen)?;
            self.seen += 1;
            self.common = self.common(self.seen);
            let (_, _, count) = self.fragments.spans[suffix.fragment as usize];
            self.ended = Some(Open { at: suffix.at, depth: u32::MAX, count, at_ends: 0 });
        }
    }
}
