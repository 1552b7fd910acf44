//! Finds and counts repeated substrings. Sorts the suffixes of texts with counts, and finds intervals: ranges of sorted
//! suffixes that share a prefix.
//!
//! The suffixes that begin at the start of a character are divided into buckets by their first bytes. Each group of
//! buckets is sorted separately, eight bytes at a time, and only up to the maximum length of a piece; the sort also
//! yields the lengths of the common prefixes of adjacent suffixes. One scan with a stack then closes the intervals in
//! text order, inner intervals before outer intervals, as a scan of a whole suffix array does.
//!
//! Invariant: groups are independent of each other, so neither their size nor the number of threads affects the result.
//! Cost: about n log n steps for n characters, in rounds of eight bytes; 16 bytes of memory for each suffix of the
//! current groups. Worst input: one text repeated with small changes, because most of its suffixes have long common
//! prefixes.

use polytok_memory::{self as memory, Collect, Grow};

use crate::error::{Error, Result};
use crate::spec::SentencePieceVersion;
use crate::train::unigram::workers::Workers;
use crate::utf8::is_start;

/// The concatenated texts of all fragments, each with its follower, and the count of each fragment.
#[derive(Default)]
pub struct Fragments {
    /// The bytes of all texts, then `PADDING` zeros, so that reading eight bytes near the end stays inside the buffer.
    bytes: Vec<u8>,
    /// The start of each text, the length of the fragment without the follower, and the count of the fragment.
    spans: Vec<(u32, u32, u64)>,
}

/// The number of zero bytes after the texts.
const PADDING: usize = 8;

/// A repeated substring: the start of one occurrence, the length in bytes, and the number of occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub at: u32,
    pub len: u32,
    pub count: u64,
}

/// The rules that decide which intervals are reported.
#[derive(Clone, Copy)]
pub struct IntervalRules {
    /// The maximum length of a common prefix. Intervals of this length are not reported.
    pub limit: u32,
    /// The SentencePiece version. In 0.2.1, common prefixes are truncated to whole characters. In 0.2.3, common
    /// prefixes are byte strings: a prefix that ends inside a character is not an interval, and an interval that ends
    /// at the end of a sentence is counted separately from the same text elsewhere.
    pub version: SentencePieceVersion,
}

/// A suffix. During the sort, its key is the next eight bytes of the suffix. After the sort, its key is the length of
/// the common prefix with the preceding suffix.
#[derive(Clone, Copy)]
struct Suffix {
    key: u64,
    at: u32,
    fragment: u32,
}

/// The number of leading bits of a suffix that select the bucket.
const BUCKET_BITS: u32 = 20;
/// The maximum number of suffixes in a group; a group that consists of one bucket can have more.
const GROUP_SUFFIXES: usize = 1 << 20;

impl Fragments {
    /// Adds a fragment with its follower.
    pub fn push(&mut self, fragment: &[u8], follower: &[u8], weight: u64) -> Result<()> {
        let start = self.bytes.len();
        if start + fragment.len() + follower.len() + PADDING > u32::MAX as usize {
            return Err(Error::Argument(
                "the distinct words exceed 4 GiB; train on a sample of the text (input_sentence_size)".into(),
            ));
        }
        self.bytes.checked_extend_from_slice(fragment);
        self.bytes.checked_extend_from_slice(follower);
        self.spans.checked_push((start as u32, fragment.len() as u32, weight));
        Ok(())
    }

    /// Returns the number of bytes that the fragments take.
    pub fn memory(&self) -> u64 {
        (self.bytes.len() + self.spans.len() * size_of::<(u32, u32, u64)>()) as u64
    }

    /// Returns the text of an interval.
    pub fn text(&self, interval: &Interval) -> &[u8] {
        &self.bytes[interval.at as usize..][..interval.len as usize]
    }

    /// Calls `each` for every group of sorted suffixes, on several threads. Returns the results in the order of the
    /// suffixes.
    pub fn intervals<T: Send>(
        &mut self,
        rules: IntervalRules,
        workers: &mut Workers,
        each: impl Fn(&Fragments, &mut dyn Iterator<Item = Interval>) -> T + Sync,
    ) -> Result<Vec<T>> {
        self.bytes.checked_resize(self.bytes.len() + PADDING, 0);
        let groups = self.group_ranges();
        let mut results: Vec<Option<T>> = groups.iter().map(|_| None).checked_collect();
        let fragments = &*self;
        workers.run("substrings", groups.iter().zip(&mut results).checked_collect(), |(group, result)| {
            let mut suffixes = fragments.gather(group);
            fragments.sort(&mut suffixes, 0, rules.limit);
            *result = Some(each(fragments, &mut IntervalScan::new(fragments, &suffixes, rules)));
        })?;
        self.bytes.truncate(self.bytes.len() - PADDING);
        Ok(results.into_iter().flatten().checked_collect())
    }

    /// Returns the offsets of all characters of a fragment except the last character, because a piece has at least two
    /// characters.
    fn char_starts(&self, index: usize) -> impl Iterator<Item = u32> {
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

    /// Returns the groups as ranges of buckets; the buckets of a group are sorted together.
    fn group_ranges(&self) -> Vec<std::ops::Range<usize>> {
        let mut counts = memory::zeroed::<usize>(1 << BUCKET_BITS);
        for index in 0..self.spans.len() {
            self.char_starts(index).for_each(|at| counts[self.bucket(at)] += 1);
        }
        let mut groups = Vec::new();
        let (mut from, mut size) = (0, 0);
        for (bucket, count) in counts.into_iter().enumerate() {
            if size + count > GROUP_SUFFIXES && size > 0 && is_boundary(bucket) {
                groups.checked_push(from..bucket);
                (from, size) = (bucket, 0);
            }
            size += count;
        }
        groups.checked_push(from..1 << BUCKET_BITS);
        groups
    }

    fn gather(&self, group: &std::ops::Range<usize>) -> Vec<Suffix> {
        let mut suffixes = Vec::new();
        for index in 0..self.spans.len() {
            let here = self.char_starts(index).filter(|&at| group.contains(&self.bucket(at)));
            suffixes.checked_extend(here.map(|at| Suffix { key: 0, at, fragment: index as u32 }));
        }
        suffixes
    }

    /// Sorts suffixes that agree in the first `depth` bytes. Sets the key of each suffix to the length of the common
    /// prefix with the preceding suffix; the key of the first suffix has no meaning.
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

/// Reports whether a group can start at a bucket: no interval that can be a piece includes suffixes of both this bucket
/// and the preceding bucket. A piece that begins with an ASCII character has at least two bytes; any other piece has at
/// least three bytes.
fn is_boundary(bucket: usize) -> bool {
    bucket >= 0xC0 << (BUCKET_BITS - 8) || bucket.is_multiple_of(1 << (BUCKET_BITS - 16))
}

/// An interval of which the scan has not read all suffixes.
#[derive(Clone, Copy)]
struct OpenInterval {
    at: u32,
    depth: u32,
    count: u64,
    /// The count of the same text at the ends of sentences, or 0 if the text never ends a sentence.
    count_at_ends: u64,
}

/// Scans sorted suffixes, and yields each interval when it closes.
struct IntervalScan<'a> {
    fragments: &'a Fragments,
    suffixes: &'a [Suffix],
    rules: IntervalRules,
    open_intervals: Vec<OpenInterval>,
    /// The number of suffixes read.
    suffixes_read: usize,
    /// The length of the common prefix of the last suffix read and the next suffix.
    common_prefix: u32,
    /// A closed interval whose numbers are not yet added to its outer interval.
    closed: Option<OpenInterval>,
}

impl<'a> IntervalScan<'a> {
    fn new(fragments: &'a Fragments, suffixes: &'a [Suffix], rules: IntervalRules) -> IntervalScan<'a> {
        IntervalScan {
            fragments,
            suffixes,
            rules,
            open_intervals: Vec::new(),
            suffixes_read: 0,
            common_prefix: 0,
            closed: None,
        }
    }

    /// Returns the length of the common prefix of a suffix and the preceding suffix.
    fn common_prefix(&self, index: usize) -> u32 {
        let Some(suffix) = self.suffixes.get(index) else { return 0 };
        let mut len = suffix.key as u32;
        while self.rules.version == SentencePieceVersion::V0_2_1
            && len > 0
            && !is_start(self.fragments.bytes[(suffix.at + len) as usize])
        {
            len -= 1;
        }
        len
    }

    /// Adds the numbers of a closed interval to its outer interval. Returns the outer interval if it closes too.
    fn add_to_outer(&mut self, closed: OpenInterval) -> Option<OpenInterval> {
        match self.open_intervals.last_mut() {
            Some(top) if top.depth >= self.common_prefix => {
                top.count += closed.count;
                top.count_at_ends += closed.count_at_ends;
                if top.depth > self.common_prefix { self.open_intervals.pop() } else { None }
            }
            _ => {
                self.open_intervals.checked_push(OpenInterval { depth: self.common_prefix, ..closed });
                None
            }
        }
    }

    /// Returns the interval that is reported for a closed interval, or `None`. `closed` keeps the numbers that its
    /// outer interval needs.
    fn finish_interval(&self, closed: &mut OpenInterval) -> Option<Interval> {
        let (at, depth, count) = (closed.at, closed.depth, closed.count);
        let count_at_ends = std::mem::take(&mut closed.count_at_ends);
        if depth >= self.rules.limit {
            return None;
        }
        let at_sentence_end =
            self.rules.version == SentencePieceVersion::V0_2_3 && self.fragments.bytes[(at + depth - 1) as usize] == 0;
        if !at_sentence_end {
            return Some(Interval { at, len: depth, count: count + count_at_ends });
        }
        let outer_depth = self.open_intervals.last().map_or(0, |top| top.depth).max(self.common_prefix);
        if outer_depth + 1 == depth {
            closed.count_at_ends = count;
            return None;
        }
        Some(Interval { at, len: depth - 1, count })
    }
}

impl Iterator for IntervalScan<'_> {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        loop {
            if let Some(closed) = self.closed.take() {
                let Some(mut closed) = self.add_to_outer(closed) else { continue };
                let interval = self.finish_interval(&mut closed);
                self.closed = Some(closed);
                match interval {
                    Some(interval) => return Some(interval),
                    None => continue,
                }
            }
            let suffix = self.suffixes.get(self.suffixes_read)?;
            self.suffixes_read += 1;
            self.common_prefix = self.common_prefix(self.suffixes_read);
            let (_, _, count) = self.fragments.spans[suffix.fragment as usize];
            self.closed = Some(OpenInterval { at: suffix.at, depth: u32::MAX, count, count_at_ends: 0 });
        }
    }
}
