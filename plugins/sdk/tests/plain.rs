//! The plain-text rule.

use agentbay_plugin_sdk::{KEPT_BYTES, LastBlock, last_block};
use proptest::prelude::*;

#[test]
fn the_last_block_that_is_not_blank_is_the_answer() {
    let cases = [
        ("", None),
        (" \n\t\n\n", None),
        ("one", Some("one")),
        ("one\ntwo\n", Some("one\ntwo")),
        ("log\n\nanswer", Some("answer")),
        ("log\n \t \nanswer\n\n \n", Some("answer")),
        ("log\n\n  indented\n    more  \nlast  \n", Some("indented\n    more  \nlast")),
    ];
    for (text, block) in cases {
        assert_eq!(last_block(text), block.map(String::from), "{text:?}");
    }
}

#[test]
fn the_start_of_a_block_above_the_limit_is_kept() {
    let mut block = LastBlock::default();
    block.push("log\n\nä");
    for _ in 0..3 {
        block.push(&"é".repeat(KEPT_BYTES / 2));
    }
    assert_eq!(block.take(), Some(format!("ä{}", "é".repeat(KEPT_BYTES / 2 - 1))));
}

#[test]
fn the_kept_text_at_the_limit_does_not_depend_on_the_split() {
    for pieces in [vec!["abéc"], vec!["ab", "é", "c"], vec!["a", "bé", "c"]] {
        let mut block = LastBlock::with_limit(3);
        pieces.iter().for_each(|piece| block.push(piece));
        assert_eq!(block.take(), Some("abé".into()), "{pieces:?}");
    }
}

proptest! {
    #[test]
    fn any_cut_of_the_text_gives_the_same_block(pieces in prop::collection::vec("[a \t\né]{0,6}", 0..12)) {
        let mut block = LastBlock::default();
        for piece in &pieces {
            block.push(piece);
        }
        let text = pieces.concat();
        prop_assert_eq!(block.take(), last_block(&text));

        let blocks = text.split('\n').map(str::trim_end).collect::<Vec<_>>().join("\n");
        let last = blocks.split("\n\n").map(str::trim).filter(|block| !block.is_empty()).last().map(String::from);
        let bare = last_block(&blocks);
        prop_assert_eq!(bare, last);
    }
}
