//! Finds ends of pieces from five adjacent characters.
//!
//! At most offsets of a text, the state of an [`Automaton`] has no influence: the three characters before the offset
//! and the two characters after the offset decide whether a piece ends at the offset. The five characters are a
//! *window*. A [`Rule`] stores these decisions as *cubes*: a cube is a set of characters for each position of the
//! window, and a window is in the cube if each character is in its set. If the window of an offset is in a cube of
//! `ends`, a piece ends at the offset. If the window is in a cube of `unsure`, the end depends on more text. In all
//! other windows, no piece ends. Each of eight cubes is a bit of a byte, so five table lookups and four ANDs test eight
//! cubes at an offset; `blocks` does that for up to 64 offsets together.
//!
//! Classes are sorted into at most 16 groups, so that a set of groups is one row of a vector's lookup table. If a
//! pattern has more classes, some classes share a group. Sharing makes more windows unsure, but changes no certain
//! decision.
//!
//! Construction: for each triple of characters, all states are followed together, which results in a set of states. The
//! decision at the offset after the third character is certain if, after the fifth character, all states of the set
//! agree. Each cube is grown greedily from a single window.

use super::automaton::{Automaton, Cell, MAX_STATES};
use super::char_groups::CharGroups;
use super::classes::{Classes, Mask};
use super::program::has;
use std::collections::HashMap;

use polytok_memory::{self as memory, Collect, Grow};

/// The number of groups of classes.
pub(super) const GROUPS: usize = 16;
/// The number of characters of a window before the offset.
pub(super) const BEFORE: usize = 3;
/// The number of characters of a window; two of them are after the offset.
pub(super) const WINDOW: usize = BEFORE + 2;
/// The maximum number of cubes of a rule; with more cubes, a rule is slower than the automaton.
const MAX_CUBES: usize = 64;

/// The maximum number of rows of decisions, because a set of rows is stored as the bits of a `u128`.
const MAX_ROWS: usize = u128::BITS as usize;

/// Eight cubes. Each position of the window and each group have a byte; bit `i` is set if the set of cube `i` has the
/// group at the position.
pub(super) type Octet = [[u8; GROUPS]; WINDOW];

/// A rule, which decides by windows whether pieces end.
pub(super) struct Rule {
    pub(super) groups: CharGroups,
    /// The windows at which a piece ends.
    pub(super) ends: Vec<Octet>,
    /// The windows at which an end depends on more text.
    pub(super) unsure: Vec<Octet>,
}

/// A set of groups for each position of the window.
type Cube = [u16; WINDOW];

impl Rule {
    /// Derives the rule of an automaton; None if the rule needs too many cubes, or if the matches can leave gaps.
    pub(super) fn derive(automaton: &Automaton, classes: &Classes) -> Option<Rule> {
        // A rule finds ends, but does not distinguish pieces from gaps.
        if !automaton.covers_text {
            return None;
        }
        let members = groups(automaton, classes);
        let of_class = std::array::from_fn(|class| {
            members.iter().position(|&mask| has(mask, class as u8)).unwrap_or_default() as u8
        });
        let windows = WindowDecisions::new(automaton, &members);
        if windows.decisions.len() > MAX_ROWS {
            return None;
        }
        let ends = windows.find_cubes(END, |decision| decision != NO_END)?;
        let unsure = windows.find_cubes(UNSURE, |decision| decision == UNSURE || decision == 0)?;
        Some(Rule { groups: CharGroups::build(classes, of_class), ends: octets(&ends), unsure: octets(&unsure) })
    }
}

fn octets(cubes: &[Cube]) -> Vec<Octet> {
    let octet = |cubes: &[Cube]| {
        let bits = |at: usize, group: usize| {
            cubes.iter().enumerate().map(|(bit, cube)| ((cube[at] >> group & 1) as u8) << bit).sum()
        };
        std::array::from_fn(|at| std::array::from_fn(|group| bits(at, group)))
    };
    cubes.chunks(8).map(octet).checked_collect()
}

/// Sorts classes into groups. If there are too many classes, two classes share a group if they differ in few states or
/// are rare in text.
fn groups(automaton: &Automaton, classes: &Classes) -> Vec<Mask> {
    let mut weights = memory::filled(NON_ASCII_WEIGHT, classes.end as usize);
    (0..128).for_each(|byte| weights[classes.ascii(byte) as usize] = 0);
    (0..128).for_each(|byte| weights[classes.ascii(byte) as usize] += ascii_weight(byte));
    let mut members: Vec<(Mask, u32)> =
        weights.iter().enumerate().map(|(class, &weight)| (1 << class, weight)).checked_collect();
    while members.len() > GROUPS {
        let cost = |&(one, other): &(usize, usize)| {
            let (a, b) = (members[one].0.trailing_zeros() as usize, members[other].0.trailing_zeros() as usize);
            let differing_states = automaton.cells.chunks(automaton.stride).filter(|row| row[a] != row[b]).count();
            differing_states as u32 * members[one].1.min(members[other].1)
        };
        let pairs = (0..members.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
        let Some((one, other)) = pairs.min_by_key(cost) else { break };
        let (mask, weight) = members.remove(other);
        members[one] = (members[one].0 | mask, members[one].1 + weight);
    }
    members.into_iter().map(|(mask, _)| mask).checked_collect()
}

/// The approximate count of each lower-case letter in 100 characters of English.
const LETTER_WEIGHTS: [u32; 26] = [8, 2, 3, 4, 12, 2, 2, 6, 7, 1, 1, 4, 3, 7, 8, 2, 1, 6, 6, 9, 3, 1, 2, 1, 2, 1];
/// The weight of classes without ASCII characters.
const NON_ASCII_WEIGHT: u32 = 20;

/// The weight of an ASCII character.
fn ascii_weight(byte: u8) -> u32 {
    match byte {
        b'a'..=b'z' => LETTER_WEIGHTS[(byte - b'a') as usize],
        b' ' | b'\n' | b'\'' => NON_ASCII_WEIGHT,
        b'!'..=b'@' => 12,
        _ => 1,
    }
}

/// Decisions about an end, as bits: both bits are set if the end depends on more text.
const END: u8 = 1;
const NO_END: u8 = 2;
const UNSURE: u8 = END | NO_END;

/// A set of states: bit `i` is set if the set has state `i`.
type StateSet = [u64; MAX_STATES / 64];

/// The decision for each window of groups.
struct WindowDecisions {
    /// For each triple of groups before the offset, the index of the row of `decisions`.
    row_of: Vec<usize>,
    /// The rows of decisions; a row has the decision for each pair of groups after the offset.
    decisions: Vec<[u8; GROUPS * GROUPS]>,
    /// For each position of the window, the sets of groups that all decisions treat equally.
    equal_groups: [Vec<u16>; WINDOW],
}

impl WindowDecisions {
    fn new(automaton: &Automaton, members: &[Mask]) -> WindowDecisions {
        let count = automaton.cells.len() / automaton.stride;
        let decisions_by_state: Vec<_> =
            (0..count).map(|state| decisions_of_state(automaton, members, state)).checked_collect();
        let steps: Vec<Vec<StateSet>> =
            (0..count).map(|state| next_states(automaton, members, state)).checked_collect();
        let mut sets: Vec<StateSet> = vec![states(0..count)];
        for _ in 0..BEFORE {
            let after = |set: &StateSet, group: usize| {
                states_in(set).fold(StateSet::default(), |all, state| union(all, steps[state][group]))
            };
            sets = sets
                .iter()
                .flat_map(|set| (0..GROUPS).map(|group| after(set, group)).checked_collect())
                .checked_collect();
        }
        let mut decisions: Vec<[u8; GROUPS * GROUPS]> = Vec::new();
        let mut row_by_set: HashMap<StateSet, usize> = HashMap::new();
        let mut row_of = memory::with_capacity(sets.len());
        for set in sets {
            row_of.checked_push(*row_by_set.entry(set).or_insert_with(|| {
                let mut all = [0; GROUPS * GROUPS];
                states_in(&set).for_each(|state| {
                    all.iter_mut().zip(&decisions_by_state[state]).for_each(|(all, one)| *all |= one)
                });
                decisions.iter().position(|row| *row == all).unwrap_or_else(|| {
                    decisions.checked_push(all);
                    decisions.len() - 1
                })
            }));
        }
        let equal_groups = std::array::from_fn(|at| match at.checked_sub(BEFORE) {
            None => equal_groups(&row_of, GROUPS.pow((BEFORE - 1 - at) as u32)),
            Some(at) => equal_groups(decisions.as_flattened(), GROUPS.pow(1 - at as u32)),
        });
        WindowDecisions { row_of, decisions, equal_groups }
    }

    /// Finds cubes that contain all windows of `decision`, and other windows only if the decision for these windows is
    /// allowed; None if there are too many cubes.
    fn find_cubes(&self, decision: u8, allowed: impl Fn(u8) -> bool + Copy) -> Option<Vec<Cube>> {
        let mut cubes: Vec<Cube> = Vec::new();
        for window in self.windows(decision) {
            if cubes.iter().any(|cube| (0..WINDOW).all(|at| cube[at] & window[at] == window[at])) {
                continue;
            }
            let grown_cubes = (0..WINDOW).map(|first| self.grow_cube(window, first, allowed));
            cubes.checked_extend(grown_cubes.max_by_key(size));
            if cubes.len() > MAX_CUBES {
                return None;
            }
        }
        Some(cubes)
    }

    /// Returns the windows with `decision`, as cubes of groups that all decisions treat equally.
    fn windows(&self, decision: u8) -> Vec<Cube> {
        let mut windows: Vec<Cube> = vec![[0; WINDOW]];
        for at in 0..WINDOW {
            let with =
                |window: &Cube| self.equal_groups[at].iter().map(|&groups| with(window, at, groups)).checked_collect();
            windows = windows.iter().flat_map(with).checked_collect();
        }
        windows.retain(|window| {
            let [one, two, three, at, next] = window.map(|groups| groups.trailing_zeros() as usize);
            self.decisions[self.row_of[(one * GROUPS + two) * GROUPS + three]][at * GROUPS + next] == decision
        });
        windows
    }

    /// Grows a window to a cube: adds each group that keeps all decisions allowed, first at position `first`.
    fn grow_cube(&self, window: Cube, first: usize, allowed: impl Fn(u8) -> bool + Copy) -> Cube {
        let mut cube = window;
        for at in (first..WINDOW).chain(0..first) {
            for &groups in &self.equal_groups[at] {
                if cube[at] & groups == 0 && self.has_only_allowed(&with(&cube, at, groups), allowed) {
                    cube[at] |= groups;
                }
            }
        }
        cube
    }

    /// Reports whether the decisions of all windows of a cube are allowed.
    fn has_only_allowed(&self, cube: &Cube, allowed: impl Fn(u8) -> bool) -> bool {
        let first = |at: usize| {
            self.equal_groups[at]
                .iter()
                .filter(move |&&groups| groups & cube[at] != 0)
                .map(|groups| groups.trailing_zeros() as usize)
        };
        let mut rows: u128 = 0;
        for one in first(0) {
            for two in first(1) {
                first(2).for_each(|three| rows |= 1 << self.row_of[(one * GROUPS + two) * GROUPS + three]);
            }
        }
        let ends: Vec<usize> = first(3).flat_map(|at| first(4).map(move |next| at * GROUPS + next)).checked_collect();
        let has = |row: usize| rows >> row & 1 != 0;
        (0..self.decisions.len())
            .filter(|&row| has(row))
            .all(|row| ends.iter().all(|&end| allowed(self.decisions[row][end])))
    }
}

fn with(cube: &Cube, at: usize, groups: u16) -> Cube {
    let mut other = *cube;
    other[at] = groups;
    other
}

fn size(cube: &Cube) -> u32 {
    cube.iter().map(|groups| groups.count_ones()).product()
}

/// Sorts the groups into sets of groups with equal values. The group of a value is the digit `index / unit % GROUPS` of
/// the index of the value.
fn equal_groups<T: PartialEq>(values: &[T], unit: usize) -> Vec<u16> {
    let at = |group: usize| {
        (0..values.len() / GROUPS).map(move |rest| rest / unit * unit * GROUPS + group * unit + rest % unit)
    };
    let same = |one: usize, other: usize| at(one).zip(at(other)).all(|(one, other)| values[one] == values[other]);
    let mut sets: Vec<u16> = Vec::new();
    for group in 0..GROUPS {
        match sets.iter_mut().find(|groups| same(groups.trailing_zeros() as usize, group)) {
            Some(groups) => *groups |= 1 << group,
            None => sets.checked_push(1 << group),
        }
    }
    sets
}

/// Returns, for each pair of groups after an offset, the decision about an end at the offset if the automaton is in
/// `state`.
fn decisions_of_state(automaton: &Automaton, members: &[Mask], state: usize) -> [u8; GROUPS * GROUPS] {
    let row = state * automaton.stride;
    std::array::from_fn(|index| {
        let (at, next) = (index / GROUPS, index % GROUPS);
        let mut all = 0;
        for class in classes_of(members, at) {
            let cell = automaton.cells[row + class];
            for follower in classes_of(members, next) {
                all |= decision(cell, automaton.cells[cell.row() + follower]);
            }
        }
        all
    })
}

/// Returns the decision about the offset before the character of `cell`; the next character, whose cell is `next`, was
/// read too.
fn decision(cell: Cell, next: Cell) -> u8 {
    if !cell.is_candidate() {
        return NO_END;
    }
    if cell.ends() > cell.slot() {
        return END;
    }
    let slot = cell.slot() - cell.ends();
    // A candidate is written before ends are counted, so a better candidate replaces a candidate that would be an end
    // now.
    if next.is_candidate() && next.slot() <= slot {
        NO_END
    } else if next.ends() > slot {
        END
    } else {
        UNSURE
    }
}

/// Returns, for each group, the states that can follow `state`.
fn next_states(automaton: &Automaton, members: &[Mask], state: usize) -> Vec<StateSet> {
    let next = |class: usize| automaton.cells[state * automaton.stride + class].row() / automaton.stride;
    let after = |group: usize| {
        classes_of(members, group)
            .fold(StateSet::default(), |all, class| union(all, states(next(class)..next(class) + 1)))
    };
    (0..GROUPS).map(after).checked_collect()
}

fn classes_of(members: &[Mask], group: usize) -> impl Iterator<Item = usize> {
    let mask = members.get(group).copied().unwrap_or(0);
    (0..64).filter(move |&class| has(mask, class as u8))
}

fn states(range: std::ops::Range<usize>) -> StateSet {
    let mut set = StateSet::default();
    range.for_each(|state| set[state / 64] |= 1 << (state % 64));
    set
}

fn union(one: StateSet, other: StateSet) -> StateSet {
    std::array::from_fn(|word| one[word] | other[word])
}

fn states_in(set: &StateSet) -> impl Iterator<Item = usize> + '_ {
    (0..MAX_STATES).filter(|&state| set[state / 64] >> (state % 64) & 1 != 0)
}
