//! The models in their simplest form, with which the engine is compared.

use std::collections::HashMap;

/// Entries by their bytes, with an id each.
pub type Entries = HashMap<Vec<u8>, u32>;

/// Merges again and again the leftmost of the pairs with the lowest priority, until no pair can merge.
pub fn bpe(symbols: Vec<Vec<u8>>, priority: impl Fn(&[u8]) -> Option<u32>) -> Vec<Vec<u8>> {
    let mut symbols = symbols;
    loop {
        let pairs = symbols.windows(2).enumerate();
        let candidates = pairs.filter_map(|(at, pair)| priority(&pair.concat()).map(|priority| (priority, at)));
        let Some((_, at)) = candidates.min() else { return symbols };
        let right = symbols.remove(at + 1);
        symbols[at].extend(right);
    }
}

/// Takes again and again the longest entry that the remaining text starts with; None if there is none.
pub fn longest(text: &[u8], entries: &Entries) -> Option<Vec<u32>> {
    let (mut ids, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let (end, id) = (at + 1..=text.len()).rev().find_map(|end| Some((end, *entries.get(&text[at..end])?)))?;
        ids.push(id);
        at = end;
    }
    Some(ids)
}

/// Takes the longest entry at the start, then the longest entries with the prefix; None if the piece is unknown.
pub fn wordpiece(piece: &str, prefix: &str, entries: &Entries) -> Option<Vec<u32>> {
    let (mut ids, mut at) = (Vec::new(), 0);
    while at < piece.len() {
        let key = |end: usize| format!("{}{}", if at == 0 { "" } else { prefix }, &piece[at..end]).into_bytes();
        let ends = (at + 1..=piece.len()).rev().filter(|&end| piece.is_char_boundary(end));
        let (end, id) = ends.into_iter().find_map(|end| Some((end, *entries.get(&key(end))?)))?;
        ids.push(id);
        at = end;
    }
    Some(ids)
}

/// Returns the highest sum of scores of entries whose bytes are the text; None if entries cannot spell it. Sums of small
/// multiples of a quarter are exact.
pub fn best_score(text: &[u8], scores: &HashMap<Vec<u8>, f32>) -> Option<f32> {
    let mut best: Vec<Option<f32>> = vec![None; text.len() + 1];
    best[0] = Some(0.0);
    for end in 1..=text.len() {
        let sums = (0..end).filter_map(|start| Some(best[start]? + scores.get(&text[start..end])?));
        best[end] = sums.reduce(f32::max);
    }
    best[text.len()]
}
