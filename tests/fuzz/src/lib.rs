//! Common code of the fuzz targets: passes bytes to a plugin's transcript as the host does.

use agentbay_plugin_sdk::{Agent, ExitStatus, KillReason, StreamName, Transcript, testing};

/// Passes a run to a transcript. The first two bytes select the grouping of lines into calls and the exit status; lines that start with
/// `!` are standard error.
pub fn transcript<A: Agent>(data: &[u8]) {
    let [grouping, end, output @ ..] = data else { return };
    let turn = testing::turn("Say hello");
    let mut transcript = A::Transcript::new(&turn);
    transcript.begin(&turn);
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.split('\n').collect();
    for group in lines.chunks(usize::from(grouping % 8) + 1) {
        match group[0].strip_prefix('!') {
            Some(first) => {
                let text = [&[first], &group[1..]].concat().join("\n");
                transcript.output(StreamName::Stderr, &text);
            }
            None => {
                transcript.output(StreamName::Stdout, &group.join("\n"));
            }
        }
    }
    transcript.exit(match end % 4 {
        0 => ExitStatus::Code(0),
        1 => ExitStatus::Code(1),
        2 => ExitStatus::Signal(9),
        _ => ExitStatus::Killed(KillReason::Timeout),
    });
}
