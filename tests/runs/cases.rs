//! Faults that users reported of real CLIs and that the host handles; the output passes through a real process. The
//! numbers are those of the bank of cases. The plugins' part is tested beside the plugins.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{Machine, Streamed, chat};

/// A recording of a run that prints these pieces, each in one write, and exits with 0.
fn recording(machine: &Machine, stdout: &[&[u8]], stderr: &[u8]) -> PathBuf {
    let dir = machine.path("recording");
    fs::create_dir(&dir).unwrap();
    let reads = |pieces: &[&[u8]]| -> Vec<_> {
        pieces.iter().enumerate().map(|(at, piece)| json!({"ms": at * 3, "bytes": piece.len()})).collect()
    };
    let meta = json!({
        "exit_code": 0, "signal": null, "wall_ms": stdout.len() * 3,
        "stdout_reads": reads(stdout), "stderr_reads": reads(&[stderr]),
    });
    fs::write(dir.join("meta.json"), meta.to_string()).unwrap();
    fs::write(dir.join("stdout"), stdout.concat()).unwrap();
    fs::write(dir.join("stderr"), stderr).unwrap();
    dir
}

/// The answer of such a run, which is the same whole and streamed.
fn answer(driver: &str, stdout: &[&[u8]], stderr: &[u8]) -> Streamed {
    let machine = Machine::configured(&format!("[models.m]\ndriver = \"{driver}\"\nprogram = \"cli\"\nrepo = \".\"\n"));
    let dir = recording(&machine, stdout, stderr);
    machine.stand_in("cli", &["replay", dir.to_str().unwrap()]);
    let proxy = machine.serve();
    let streamed = proxy.streamed("m", "Say hello");
    let whole = proxy.complete(&chat("m", "Say hello"));
    assert_eq!(whole.content(), streamed.content);
    streamed
}

fn codex_lines(text: &str) -> Vec<String> {
    let events = [
        json!({"type": "thread.started", "thread_id": "th-3"}),
        json!({"type": "item.completed", "item": {"id": "i0", "type": "agent_message", "text": text}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}),
    ];
    events.iter().map(|event| format!("{event}\n")).collect()
}

#[test]
pub(crate) fn case_003_a_line_of_three_megabytes_does_not_affect_later_lines() {
    let result = json!({"type": "item.completed", "item": {
        "id": "t1", "type": "command_execution", "command": "cat big", "exit_code": 0, "status": "completed",
        "aggregated_output": "x".repeat(3 * 1024 * 1024),
    }});
    let mut lines = codex_lines("done");
    lines.insert(1, format!("{result}\n"));
    let pieces: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    assert_eq!(answer("codex", &pieces, b"").content, "done");
}

#[test]
fn case_004_characters_that_are_split_between_two_reads_stay_whole() {
    let text = "台 가 🌍";
    let lines = codex_lines(text).concat();
    let bytes = lines.as_bytes();
    let first = lines.find('台').unwrap();
    // A cut inside each of the three characters.
    let cuts = [0, first + 1, first + 5, first + 10, bytes.len()];
    let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
    assert!(pieces[..3].iter().all(|piece| std::str::from_utf8(piece).is_err()));
    assert_eq!(answer("codex", &pieces, b"").content, text);
}

#[test]
fn case_013_a_banner_and_escapes_before_the_first_event_are_ignored() {
    let banner =
        "\u{1b}[1;32mwelcome to devshell\u{1b}[0m\n  {commands}: build, test\n\n\u{1b}]0;title\u{7}\u{1b}[?2004h";
    let lines = banner.to_owned() + &codex_lines("fine").concat();
    assert_eq!(answer("codex", &[lines.as_bytes()], b"").content, "fine");
}

#[test]
fn case_018_only_line_feeds_end_a_line() {
    let text = "a\u{2028}b\u{85}c\u{c}d is escaped";
    assert_eq!(answer("codex", &[codex_lines(text).concat().as_bytes()], b"").content, text);
}

#[test]
pub(crate) fn case_058_a_flood_on_standard_error_does_not_block_the_answer() {
    let lines = codex_lines("ok").concat();
    assert_eq!(answer("codex", &[lines.as_bytes()], &b"warning\n".repeat(25_000)).content, "ok");
}
