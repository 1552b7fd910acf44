//! Where pieces end, told from a few neighbouring characters alone.
//!
//! For most places of a text it does not matter what an [`Automaton`] has read before: whatever its state, three characters
//! before the place, the one behind it and the next one decide whether a piece ends there. A [`Rule`] is this knowledge as
//! *cubes*: a cube is a set of characters for each of the five, and holds where all five characters are in their sets.
//! Where a cube of `yes` holds a piece ends; where one of `ask` holds it depends on more; elsewhere none ends.
//! Eight cubes are one bit each of a byte, so that five table lookups and four ANDs try eight cubes at one place; `blocks`
//! does that for 32 places at a time.
//!
//! Classes are in at most 16 groups, so that a set of them is a row of a vector's table. Where there are more classes, some share
//! a group: then it is asked more often, and no more than that.
//!
//! Construction: all states are followed at once through each three characters, which gives a set of states; an end before the
//! fourth is certain when all states of the set agree after the fifth. The cubes are grown greedily from single windows.

use super::automaton::{Automaton, Cell, MAX_STATES};
use super::char_groups::CharGroups;
use super::classes::{Classes, Mask};
use super::program::has;
use std::collections::HashMap;

/// Groups of bytes.
pub(super) const GROUPS: usize = 16;
/// Characters before the place that are looked at.
pub(super) const BEFORE: usize = 3;
/// All that are looked at: one more is at the place and one behind it.
pub(super) const WINDOW: usize = BEFORE + 2;
/// More cubes are not worth their lookups.
const MAX_CUBES: usize = 64;

/// Rows of what is told, at most: they are the bits of a number.
const MAX_ROWS: usize = u128::BITS as usize;

/// Eight cubes: for each character of the window and each group a bit for each cube that has the group in its set.
pub(super) type Octet = [[u8; GROUPS]; WINDOW];

/// What neighbouring characters tell.
pub(super) struct Rule {
    pub(super) groups: CharGroups,
    pub(super) yes: Vec<Octet>,
    pub(super) ask: Vec<Octet>,
}

/// A set of groups for each character of the window.
type Cube = [u16; WINDOW];

impl Rule {
    /// The rule of an automaton; None if it has too many cubes.
    pub(super) fn derive(automaton: &Automaton, classes: &Classes) -> Option<Rule> {
        // The pieces that ends make here are not told from gaps.
        if !automaton.leaves_no_gap {
            return None;
        }
        let members = groups(automaton, classes);
        let of_class = std::array::from_fn(|class| {
            members.iter().position(|&mask| has(mask, class as u8)).unwrap_or_default() as u8
        });
        let windows = Windows::of(automaton, &members);
        if windows.told.len() > MAX_ROWS {
            return None;
        }
        let yes = windows.cover(YES, |told| told != NO)?;
        let ask = windows.cover(ASK, |told| told == ASK || told == 0)?;
        Some(Rule { groups: CharGroups::build(classes, of_class), yes: octets(&yes), ask: octets(&ask) })
    }
}

fn octets(cubes: &[Cube]) -> Vec<Octet> {
    let octet = |cubes: &[Cube]| {
        let bits = |at: usize, group: usize| {
            cubes.iter().enumerate().map(|(bit, cube)| ((cube[at] >> group & 1) as u8) << bit).sum()
        };
        std::array::from_fn(|at| std::array::from_fn(|group| bits(at, group)))
    };
    cubes.chunks(8).map(octet).collect()
}

/// Groups of classes. Where there are too many, those share a group whose difference matters least: in few states, or for rare characters.
fn groups(automaton: &Automaton, classes: &Classes) -> Vec<Mask> {
    let mut weights = vec![SCRIPT; classes.end as usize];
    (0..128).for_each(|byte| weights[classes.ascii(byte) as usize] = 0);
    (0..128).for_each(|byte| weights[classes.ascii(byte) as usize] += frequency(byte));
    let mut members: Vec<(Mask, u32)> =
        weights.iter().enumerate().map(|(class, &weight)| (1 << class, weight)).collect();
    while members.len() > GROUPS {
        let cost = |&(one, other): &(usize, usize)| {
            let (a, b) = (members[one].0.trailing_zeros() as usize, members[other].0.trailing_zeros() as usize);
            let differ = automaton.cells.chunks(automaton.stride).filter(|row| row[a] != row[b]).count();
            differ as u32 * members[one].1.min(members[other].1)
        };
        let pairs = (0..members.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
        let Some((one, other)) = pairs.min_by_key(cost) else { break };
        let (mask, weight) = members.remove(other);
        members[one] = (members[one].0 | mask, members[one].1 + weight);
    }
    members.into_iter().map(|(mask, _)| mask).collect()
}

/// How often a small letter stands among 100 of an English text, roughly.
const LETTERS: [u32; 26] = [8, 2, 3, 4, 12, 2, 2, 6, 7, 1, 1, 4, 3, 7, 8, 2, 1, 6, 6, 9, 3, 1, 2, 1, 2, 1];
/// The weight of classes that only characters beyond ASCII have.
const SCRIPT: u32 = 20;

/// The weight of an ASCII character.
fn frequency(byte: u8) -> u32 {
    match byte {
        b'a'..=b'z' => LETTERS[(byte - b'a') as usize],
        b' ' | b'\n' | b'\'' => SCRIPT,
        b'!'..=b'@' => 12,
        _ => 1,
    }
}

/// What is known of an end: bits, of which both are set where it depends.
const YES: u8 = 1;
const NO: u8 = 2;
const ASK: u8 = YES | NO;

/// A set of states, bit by bit.
type States = [u64; MAX_STATES / 64];

/// For each window of groups what it tells.
struct Windows {
    /// For each three groups before the place the row of `told`.
    row_of: Vec<usize>,
    /// For each row, and each group at the place and behind it.
    told: Vec<[u8; GROUPS * GROUPS]>,
    /// For each character of the window the groups, those together that nothing tells apart.
    alike: [Vec<u16>; WINDOW],
}

impl Windows {
    fn of(automaton: &Automaton, members: &[Mask]) -> Windows {
        let count = automaton.cells.len() / automaton.stride;
        let by_state: Vec<_> = (0..count).map(|state| told_in(automaton, members, state)).collect();
        let steps: Vec<Vec<States>> = (0..count).map(|state| steps_from(automaton, members, state)).collect();
        let mut sets: Vec<States> = vec![states(0..count)];
        for _ in 0..BEFORE {
            let after = |set: &States, group: usize| {
                list(set).fold(States::default(), |all, state| union(all, steps[state][group]))
            };
            sets = sets.iter().flat_map(|set| (0..GROUPS).map(|group| after(set, group)).collect::<Vec<_>>()).collect();
        }
        let mut told = Vec::new();
        let mut row_by_set: HashMap<States, usize> = HashMap::new();
        let mut row_of = Vec::with_capacity(sets.len());
        for set in sets {
            row_of.push(*row_by_set.entry(set).or_insert_with(|| {
                let mut all = [0; GROUPS * GROUPS];
                list(&set).for_each(|state| all.iter_mut().zip(&by_state[state]).for_each(|(all, one)| *all |= one));
                told.iter().position(|row| *row == all).unwrap_or_else(|| {
                    told.push(all);
                    told.len() - 1
                })
            }));
        }
        let alike = std::array::from_fn(|at| match at.checked_sub(BEFORE) {
            None => together(&row_of, GROUPS.pow((BEFORE - 1 - at) as u32)),
            Some(at) => together(told.as_flattened(), GROUPS.pow(1 - at as u32)),
        });
        Windows { row_of, told, alike }
    }

    /// Cubes that hold all windows which tell `wanted`, and others only if that is allowed.
    fn cover(&self, wanted: u8, allowed: impl Fn(u8) -> bool + Copy) -> Option<Vec<Cube>> {
        let mut cubes: Vec<Cube> = Vec::new();
        for window in self.windows(wanted) {
            if cubes.iter().any(|cube| (0..WINDOW).all(|at| cube[at] & window[at] == window[at])) {
                continue;
            }
            let orders = (0..WINDOW).map(|first| self.grown(window, first, allowed));
            cubes.extend(orders.max_by_key(size));
            if cubes.len() > MAX_CUBES {
                return None;
            }
        }
        Some(cubes)
    }

    /// The windows that tell `wanted`, of those alike one.
    fn windows(&self, wanted: u8) -> Vec<Cube> {
        let mut windows: Vec<Cube> = vec![[0; WINDOW]];
        for at in 0..WINDOW {
            let with =
                |window: &Cube| self.alike[at].iter().map(|&groups| with(window, at, groups)).collect::<Vec<_>>();
            windows = windows.iter().flat_map(with).collect();
        }
        windows.retain(|window| {
            let [one, two, three, at, next] = window.map(|groups| groups.trailing_zeros() as usize);
            self.told[self.row_of[(one * GROUPS + two) * GROUPS + three]][at * GROUPS + next] == wanted
        });
        windows
    }

    /// The cube with as many groups as are allowed, the characters taken in turn from `first` on.
    fn grown(&self, window: Cube, first: usize, allowed: impl Fn(u8) -> bool + Copy) -> Cube {
        let mut cube = window;
        for at in (first..WINDOW).chain(0..first) {
            for &groups in &self.alike[at] {
                if cube[at] & groups == 0 && self.all(&with(&cube, at, groups), allowed) {
                    cube[at] |= groups;
                }
            }
        }
        cube
    }

    /// All windows of the cube tell what is allowed.
    fn all(&self, cube: &Cube, allowed: impl Fn(u8) -> bool) -> bool {
        let first = |at: usize| {
            self.alike[at]
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
        let ends: Vec<usize> = first(3).flat_map(|at| first(4).map(move |next| at * GROUPS + next)).collect();
        let has = |row: usize| rows >> row & 1 != 0;
        (0..self.told.len()).filter(|&row| has(row)).all(|row| ends.iter().all(|&end| allowed(self.told[row][end])))
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

/// The groups that make no difference in `values`, where a group is the digit `value / unit % GROUPS` of an index.
fn together<T: PartialEq>(values: &[T], unit: usize) -> Vec<u16> {
    let at = |group: usize| {
        (0..values.len() / GROUPS).map(move |rest| rest / unit * unit * GROUPS + group * unit + rest % unit)
    };
    let same = |one: usize, other: usize| at(one).zip(at(other)).all(|(one, other)| values[one] == values[other]);
    let mut together: Vec<u16> = Vec::new();
    for group in 0..GROUPS {
        match together.iter_mut().find(|groups| same(groups.trailing_zeros() as usize, group)) {
            Some(groups) => *groups |= 1 << group,
            None => together.push(1 << group),
        }
    }
    together
}

/// For each group at a place and behind it whether there is an end before them, read in `state`.
fn told_in(automaton: &Automaton, members: &[Mask], state: usize) -> [u8; GROUPS * GROUPS] {
    let row = state * automaton.stride;
    std::array::from_fn(|index| {
        let (at, next) = (index / GROUPS, index % GROUPS);
        let mut all = 0;
        for class in classes_of(members, at) {
            let cell = automaton.cells[row + class];
            for follower in classes_of(members, next) {
                all |= fate(cell, automaton.cells[cell.row() + follower]);
            }
        }
        all
    })
}

/// What becomes of the place before a character when the next one was read, too.
fn fate(cell: Cell, next: Cell) -> u8 {
    if !cell.is_noted() {
        return NO;
    }
    if cell.commit() > cell.store() {
        return YES;
    }
    let slot = cell.store() - cell.commit();
    // A place is noted before ends are counted, so that a better candidate takes the slot even of what would be an end now.
    if next.is_noted() && next.store() <= slot {
        NO
    } else if next.commit() > slot {
        YES
    } else {
        ASK
    }
}

/// For each group the states that may follow `state`.
fn steps_from(automaton: &Automaton, members: &[Mask], state: usize) -> Vec<States> {
    let next = |class: usize| automaton.cells[state * automaton.stride + class].row() / automaton.stride;
    let after = |group: usize| {
        classes_of(members, group)
            .fold(States::default(), |all, class| union(all, states(next(class)..next(class) + 1)))
    };
    (0..GROUPS).map(after).collect()
}

fn classes_of(members: &[Mask], group: usize) -> impl Iterator<Item = usize> {
    let mask = members.get(group).copied().unwrap_or(0);
    (0..64).filter(move |&class| has(mask, class as u8))
}

fn states(range: std::ops::Range<usize>) -> States {
    let mut set = States::default();
    range.for_each(|state| set[state / 64] |= 1 << (state % 64));
    set
}

fn union(one: States, other: States) -> States {
    std::array::from_fn(|word| one[word] | other[word])
}

fn list(set: &States) -> impl Iterator<Item = usize> + '_ {
    (0..MAX_STATES).filter(|&state| set[state / 64] >> (state % 64) & 1 != 0)
}
