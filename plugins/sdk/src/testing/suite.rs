//! The common tests of plugins. `suite!` writes them into a plugin's test files, so that those contain only the plugin's own tests.
//! The checks are in `invariants.rs`, `golden.rs`, `generated` and `roles.rs`.

use std::io;
use std::path::Path;

use super::{
    Capture, Grouping, answer_of, captures, check_corrupted, check_groupings, check_interleaved, check_mutated,
    check_mutated_streams, check_truncated, compare, corrupted, replay, turn,
};
use crate::{Agent, ExitStatus, Turn};

/// Recorded runs of a CLI, with their differences from those of others. `suite!` takes the fields after the folder.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The recorded runs.
    pub runs: Vec<Capture>,
    /// The turn of a recorded run, as far as its golden file depends on it.
    pub turn: fn(&Capture) -> Turn,
    /// The expected answer of a successful run, where it is known: the scripted model's.
    pub answer: fn(&Capture) -> Option<String>,
    /// The CLI prints the end of its turn. Otherwise the exit status decides, even for corrupted output.
    pub prints_end: bool,
    /// Number of mutated streams.
    pub mutated_streams: u32,
}

impl Suite {
    /// All recorded runs in a folder.
    ///
    /// # Errors
    /// As [`captures`].
    pub fn read(folder: impl AsRef<Path>) -> io::Result<Self> {
        let runs = captures(folder)?;
        Ok(Self { runs, turn: |_| turn("Say hello"), answer: answer_of, prints_end: true, mutated_streams: 60 })
    }

    /// Each run gives the events and the outcome of its golden file.
    ///
    /// # Errors
    /// With all differences.
    pub fn golden<A: Agent>(&self) -> io::Result<()> {
        compare::<A>(&self.runs, self.turn)
    }

    /// Each run gives the same for every grouping of its output.
    ///
    /// # Errors
    /// With the first difference.
    pub fn groupings<A: Agent>(&self) -> io::Result<()> {
        self.runs.iter().try_for_each(|run| check_groupings::<A>(run, &turn("x")))
    }

    /// No truncated run is a success, unless the CLI had printed the end of its turn.
    ///
    /// # Errors
    /// With the first run that is a success.
    pub fn truncated<A: Agent>(&self) -> io::Result<()> {
        self.runs.iter().try_for_each(|run| check_truncated::<A>(run, &turn("x")))
    }

    /// No corrupted output makes the plugin panic, and it is a success only with the end of the turn, if the CLI prints one.
    ///
    /// # Errors
    /// With the first output that is a success without it.
    pub fn corrupted<A: Agent>(&self) -> io::Result<()> {
        self.runs.iter().try_for_each(|run| {
            if self.prints_end {
                return check_corrupted::<A>(run, &turn("x"));
            }
            for stdout in corrupted(&run.stdout) {
                replay::<A>(&turn("x"), &stdout, Grouping::Whole, ExitStatus::Code(0));
            }
            Ok(())
        })
    }

    /// No event with a value of another type makes the plugin panic.
    pub fn mutated<A: Agent>(&self) {
        self.runs.iter().for_each(|run| check_mutated::<A>(run, &turn("x")));
    }

    /// Two interleaved runs give the same as each of them alone.
    ///
    /// # Errors
    /// With the first pair that differs.
    pub fn interleaved<A: Agent>(&self) -> io::Result<()> {
        self.runs.windows(2).try_for_each(|pair| check_interleaved::<A>(&pair[0], &pair[1], &turn("x")))
    }

    /// The answer of a successful run is the scripted model's. INV-CLI-PARSE-002.
    ///
    /// # Errors
    /// With the first answer that differs, or if no answer is known.
    pub fn answers<A: Agent>(&self) -> io::Result<()> {
        let mut compared = 0;
        for run in &self.runs {
            let replay = run.replay::<A>(&turn("x"), Grouping::Whole);
            let Some(answer) = (self.answer)(run).filter(|_| replay.outcome.failure.is_none()) else { continue };
            if replay.answer() != answer {
                return Err(io::Error::other(format!("{}: {:?} instead of {answer:?}", run.name(), replay.answer())));
            }
            compared += 1;
        }
        if compared == 0 { Err(io::Error::other("no recorded run has a known answer")) } else { Ok(()) }
    }

    /// Mutated streams lose no text, and none of their events is shown as an answer.
    ///
    /// # Errors
    /// As [`check_mutated_streams`].
    pub fn mutated_streams<A: Agent>(&self) -> io::Result<()> {
        check_mutated_streams::<A>(&self.runs, &turn("Say hello"), self.mutated_streams)
    }
}

/// Writes the common tests of plugins.
///
/// For the recorded runs in a folder; fields of [`Suite`] follow where the plugin's differ:
///
/// ```ignore
/// suite!(Claude, recorded: "../../fixtures/claude", mutated_streams: 80);
/// ```
///
/// For generated runs, written in the CLI's format by a `fn(&Script) -> Vec<Value>`:
///
/// ```ignore
/// suite!(Codex, generated: lines);
/// ```
///
/// For the command line and the input of a CLI that prints role lines, with its program:
///
/// ```ignore
/// suite!(Grok, roles: "ax-grok");
/// ```
#[macro_export]
macro_rules! suite {
    ($agent:ty, recorded: $folder:literal $(, $field:ident: $value:expr)* $(,)?) => {
        fn suite() -> ::std::io::Result<$crate::testing::Suite> {
            let read = $crate::testing::Suite::read(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder))?;
            Ok($crate::testing::Suite { $($field: $value,)* ..read })
        }

        #[test]
        fn every_recorded_run_gives_the_expected_events_and_outcome() -> ::std::io::Result<()> {
            suite()?.golden::<$agent>()
        }

        #[test]
        fn every_grouping_of_lines_gives_the_same() -> ::std::io::Result<()> {
            suite()?.groupings::<$agent>()
        }

        #[test]
        fn a_truncated_run_is_a_success_only_if_the_cli_had_reported_its_end() -> ::std::io::Result<()> {
            suite()?.truncated::<$agent>()
        }

        #[test]
        fn corrupted_output_causes_no_panic_and_is_a_success_only_with_its_end() -> ::std::io::Result<()> {
            suite()?.corrupted::<$agent>()
        }

        #[test]
        fn a_mutated_event_causes_no_panic() -> ::std::io::Result<()> {
            suite()?.mutated::<$agent>();
            Ok(())
        }

        #[test]
        fn two_interleaved_runs_do_not_affect_each_other() -> ::std::io::Result<()> {
            suite()?.interleaved::<$agent>()
        }

        #[test]
        fn the_answer_is_that_of_the_model() -> ::std::io::Result<()> {
            suite()?.answers::<$agent>()
        }

        #[test]
        fn a_mutated_stream_loses_no_text_and_shows_no_event_as_an_answer()
        -> ::std::io::Result<()> {
            suite()?.mutated_streams::<$agent>()
        }
    };
    ($agent:ty, generated: $lines:expr $(,)?) => {
        #[test]
        fn a_generated_run_is_returned_unchanged_and_a_truncated_one_is_not_a_success() -> ::std::io::Result<()> {
            $crate::testing::check_generated::<$agent>($lines)
        }
    };
    ($agent:ty, roles: $program:literal $(,)?) => {
        #[test]
        fn the_prompt_is_one_argument_and_never_an_option() -> ::std::io::Result<()> {
            $crate::testing::roles::prompts::<$agent>($program)
        }

        #[test]
        fn the_model_is_an_option_and_full_access_changes_nothing() -> ::std::io::Result<()> {
            $crate::testing::roles::model::<$agent>($program)
        }

        #[test]
        fn a_prompt_longer_than_an_argument_is_refused() -> ::std::io::Result<()> {
            $crate::testing::roles::longest_prompt::<$agent>($program)
        }

        #[test]
        fn a_read_only_or_resumed_turn_is_refused() -> ::std::io::Result<()> {
            $crate::testing::roles::refused::<$agent>($program)
        }

        #[test]
        fn standard_input_is_closed_without_text() -> ::std::io::Result<()> {
            $crate::testing::roles::no_input::<$agent>()
        }
    };
}

pub use suite;
