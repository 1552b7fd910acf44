//! Random patterns.

use polytok_pattern::{Error, Splitter};
use proptest::prelude::*;

use crate::compared::{ComparedPattern, pieces, pieces_in_bulk};
use crate::texts::{property_config, text};

/// Generates a character or a class; most of the classes overlap.
fn atom() -> impl Strategy<Value = String> {
    let atoms = [
        "a",
        "b",
        "'",
        " ",
        ".",
        r"\s",
        r"\S",
        r"\p{L}",
        r"\p{Lu}",
        r"\P{L}",
        r"[ab]",
        r"[^a]",
        r"[\r\n]",
        r"[^\s\p{L}]",
        r"[\p{L}&&[^b]]",
        r"\d",
        r"\w",
        r"\n",
        r"\.",
        r"[a-c\-]",
    ];
    prop::sample::select(atoms.to_vec()).prop_map(str::to_string)
}

fn run() -> impl Strategy<Value = String> {
    let quantifiers = ["", "", "", "?", "*", "+", "{2}", "{1,3}", "{2,}", "{1,2}+", "?+", "*+", "++"];
    (atom(), prop::sample::select(quantifiers.to_vec())).prop_map(|(atom, sign)| atom + sign)
}

fn item() -> impl Strategy<Value = String> {
    let group = (prop::collection::vec(prop::collection::vec(run(), 1..3), 1..4), any::<bool>(), any::<bool>())
        .prop_map(|(all, fold, optional)| {
            let all: Vec<String> = all.iter().map(|sequence| sequence.concat()).collect();
            format!("(?{}:{}){}", if fold { "i" } else { "" }, all.join("|"), if optional { "?" } else { "" })
        });
    let look_ahead = (atom(), prop::sample::select(vec!["=", "!"])).prop_map(|(atom, sign)| format!("(?{sign}{atom})"));
    prop_oneof![8 => run(), 2 => group, 1 => look_ahead, 1 => Just("$".to_string())]
}

/// Generates a pattern, and an equivalent pattern for the reference.
fn pattern() -> impl Strategy<Value = (String, String)> {
    let sequences = prop::collection::vec(prop::collection::vec(item(), 1..5), 1..5);
    sequences.prop_map(|all| {
        let joined = |join: fn(&Vec<String>) -> String| all.iter().map(join).collect::<Vec<_>>().join("|");
        (joined(|items| items.concat()), joined(|items| separated(items)))
    })
}

/// Joins items, with an empty group before each item that equals the item two places earlier. `fancy_regex` (at least
/// 0.19 to 0.20) rewrites `a+b?a+` to `a+(?:b?a+)?`, so that the pattern matches a single `a`. Other engines and
/// polytok's scanner run `a+b?a+` as written.
fn separated(items: &[String]) -> String {
    let is_repeated = |at: usize| at > 1 && items[at] == items[at - 2];
    items
        .iter()
        .enumerate()
        .map(|(at, item)| if is_repeated(at) { format!("(?=){item}") } else { item.clone() })
        .collect()
}

proptest! {
    #![proptest_config(property_config(1000))]

    #[test]
    fn generated_patterns(
        (pattern, reference) in pattern(),
        leaves_gaps in prop::bool::weighted(0.9),
        texts in prop::collection::vec(text("aaabbBAcé .'1\n\r ", 14), 8),
    ) {
        // A pattern has a rule only if the matches leave no gap.
        let rest = if leaves_gaps { "" } else { r"|\s|\S" };
        let compared = ComparedPattern::with_reference(&pattern, &(pattern.clone() + rest), &(reference + rest));
        texts.iter().for_each(|text| compared.check(text));
        compared.splitter.prepare();
        compared.check(&texts.concat().repeat(4));
        // On long runs the reference can reach its limit of steps.
        let chars = texts.iter().flat_map(|text| text.chars().take(2)).enumerate();
        let runs: String = chars.flat_map(|(at, c)| std::iter::repeat_n(c, 66 + 5 * at)).collect();
        if compared.splitter.is_scanner() {
            prop_assert_eq!(pieces_in_bulk(&compared.splitter, &runs), pieces(&compared.splitter, &runs), "{} on {:?}", compared.name, runs);
        }
    }

    #[test]
    fn any_string_compiles_or_is_refused(pattern in r"[ab\\\[\](){}?*+|^$.,:!=<&ipPsLN0-9\-]{0,20}") {
        let reference = fancy_regex::Regex::new(&pattern);
        match (Splitter::compile(&pattern), reference) {
            (Ok(splitter), Ok(reference)) => {
                let compared = ComparedPattern { name: pattern, splitter, reference };
                ["", "aabab ab", "(a)b[a]{0}p{N}09-", "a\nb$^ s\\p,:"].iter().for_each(|text| compared.check(text));
            }
            (Err(Error::Pattern(message)), Err(_)) => prop_assert!(message.contains("split pattern")),
            (splitter, reference) => panic!("{pattern:?}: {:?}, {:?}", splitter.map(|_| ()), reference.map(|_| ())),
        }
    }
}

#[test]
fn an_item_repeated_around_an_optional_item_is_required_twice() {
    let patterns = [["a+", "b?", "a+"], ["a+", r"\d{0,2}", "a+"]];
    for items in patterns.map(|items| items.map(str::to_string)) {
        let compared = ComparedPattern::with_reference(&items.concat(), &items.concat(), &separated(&items));
        assert!(compared.splitter.is_scanner(), "{}", compared.name);
        ["aa", "aba", "ab", "a a", "a1a a"].iter().for_each(|text| compared.check(text));
        assert_eq!(pieces(&compared.splitter, "a."), []);
    }
}
