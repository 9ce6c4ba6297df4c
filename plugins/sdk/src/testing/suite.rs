//! Owns the tests that plugins have in common: `suite!` writes them where the tests of a plugin stand, so that those state only
//! what is the plugin's own. What each test checks is in `invariants.rs`, `golden.rs`, `generated` and `roles.rs`.

use std::io;
use std::path::Path;

use super::{
    Capture, Grouping, answer_of, captures, check_damaged, check_groupings, check_interleaved, check_mutated,
    check_mutated_streams, check_truncated, compare, damaged, replay, turn,
};
use crate::{Agent, ExitStatus, Turn};

/// Recorded runs of a CLI, and how they differ from those of others. `suite!` takes the fields after the folder.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The recorded runs.
    pub runs: Vec<Capture>,
    /// The turn in which a run was recorded, as far as its golden file depends on it.
    pub turn: fn(&Capture) -> Turn,
    /// The answer that a run has to give if it went well, where that is known: what the scripted model said.
    pub answer: fn(&Capture) -> Option<String>,
    /// The CLI prints when its turn is over. A plugin judges any other by its exit, also where its output is damaged.
    pub prints_end: bool,
    /// How many changed streams are tried.
    pub changed_streams: u32,
}

impl Suite {
    /// All recorded runs in a folder.
    ///
    /// # Errors
    /// As [`captures`].
    pub fn read(folder: impl AsRef<Path>) -> io::Result<Self> {
        let runs = captures(folder)?;
        Ok(Self { runs, turn: |_| turn("Say hello"), answer: answer_of, prints_end: true, changed_streams: 60 })
    }

    /// Each run gives the events and the outcome of its golden file.
    ///
    /// # Errors
    /// With all differences.
    pub fn golden<A: Agent>(&self) -> io::Result<()> {
        compare::<A>(&self.runs, self.turn)
    }

    /// Each run gives the same however its output is grouped.
    ///
    /// # Errors
    /// With the first difference.
    pub fn groupings<A: Agent>(&self) -> io::Result<()> {
        self.runs.iter().try_for_each(|run| check_groupings::<A>(run, &turn("x")))
    }

    /// No run that is cut off is a success, unless the CLI had printed the end of its turn.
    ///
    /// # Errors
    /// With the first one that is.
    pub fn truncated<A: Agent>(&self) -> io::Result<()> {
        self.runs.iter().try_for_each(|run| check_truncated::<A>(run, &turn("x")))
    }

    /// No damaged output makes the plugin panic, and it is a success only with the end of the turn, if the CLI prints one.
    ///
    /// # Errors
    /// With the first output that is a success without.
    pub fn damaged<A: Agent>(&self) -> io::Result<()> {
        self.runs.iter().try_for_each(|run| {
            if self.prints_end {
                return check_damaged::<A>(run, &turn("x"));
            }
            for stdout in damaged(&run.stdout) {
                replay::<A>(&turn("x"), &stdout, Grouping::Whole, ExitStatus::Code(0));
            }
            Ok(())
        })
    }

    /// No event with a value of another type makes the plugin panic.
    pub fn mutated<A: Agent>(&self) {
        self.runs.iter().for_each(|run| check_mutated::<A>(run, &turn("x")));
    }

    /// Two runs at a time give what each gives alone.
    ///
    /// # Errors
    /// With the first pair that differs.
    pub fn interleaved<A: Agent>(&self) -> io::Result<()> {
        self.runs.windows(2).try_for_each(|pair| check_interleaved::<A>(&pair[0], &pair[1], &turn("x")))
    }

    /// The answer of a run that went well is what the scripted model said. INV-CLI-PARSE-002.
    ///
    /// # Errors
    /// With the first answer that differs, or if there is none to compare.
    pub fn answers<A: Agent>(&self) -> io::Result<()> {
        let mut compared = 0;
        for run in &self.runs {
            let replay = run.replay::<A>(&turn("x"), Grouping::Whole);
            let Some(answer) = (self.answer)(run).filter(|_| replay.outcome.failure.is_none()) else { continue };
            if replay.answer() != answer {
                return Err(io::Error::other(format!("{}: {:?} is not {answer:?}", run.name(), replay.answer())));
            }
            compared += 1;
        }
        if compared == 0 { Err(io::Error::other("no recorded run has an answer that is known")) } else { Ok(()) }
    }

    /// Changed streams lose no text, and none of their events is shown as an answer.
    ///
    /// # Errors
    /// As [`check_mutated_streams`].
    pub fn changed<A: Agent>(&self) -> io::Result<()> {
        check_mutated_streams::<A>(&self.runs, &turn("Say hello"), self.changed_streams)
    }
}

/// Writes the tests that plugins have in common.
///
/// Of the recorded runs in a folder of the package; fields of [`Suite`] follow where the plugin's differ:
///
/// ```ignore
/// suite!(Claude, recorded: "../../fixtures/claude", changed_streams: 80);
/// ```
///
/// Of runs that nobody recorded, written as the CLI prints them by a `fn(&Script) -> Vec<Value>`:
///
/// ```ignore
/// suite!(Codex, generated: lines);
/// ```
///
/// Of the command line and the input of a CLI that prints role lines, by its program:
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
        fn any_grouping_of_lines_gives_the_same() -> ::std::io::Result<()> {
            suite()?.groupings::<$agent>()
        }

        #[test]
        fn a_run_cut_off_anywhere_is_a_success_only_if_it_had_said_that_it_was_done() -> ::std::io::Result<()> {
            suite()?.truncated::<$agent>()
        }

        #[test]
        fn damaged_output_is_no_panic_and_a_success_only_with_its_end() -> ::std::io::Result<()> {
            suite()?.damaged::<$agent>()
        }

        #[test]
        fn an_event_with_a_value_that_should_be_another_is_no_panic() -> ::std::io::Result<()> {
            suite()?.mutated::<$agent>();
            Ok(())
        }

        #[test]
        fn two_runs_at_a_time_do_not_touch_each_other() -> ::std::io::Result<()> {
            suite()?.interleaved::<$agent>()
        }

        #[test]
        fn the_answer_is_what_the_model_said() -> ::std::io::Result<()> {
            suite()?.answers::<$agent>()
        }

        #[test]
        fn events_that_are_written_ordered_and_surrounded_as_never_before_lose_no_text_and_are_no_answer()
        -> ::std::io::Result<()> {
            suite()?.changed::<$agent>()
        }
    };
    ($agent:ty, generated: $lines:expr $(,)?) => {
        #[test]
        fn a_run_that_is_made_up_is_told_as_it_is_and_a_part_of_it_is_no_success() -> ::std::io::Result<()> {
            $crate::testing::check_generated::<$agent>($lines)
        }
    };
    ($agent:ty, roles: $program:literal $(,)?) => {
        #[test]
        fn the_prompt_is_one_argument_that_cannot_be_taken_for_an_option() -> ::std::io::Result<()> {
            $crate::testing::roles::prompts::<$agent>($program)
        }

        #[test]
        fn the_model_is_passed_on_and_full_access_is_the_same_command_line() -> ::std::io::Result<()> {
            $crate::testing::roles::model::<$agent>($program)
        }

        #[test]
        fn a_prompt_that_no_argument_can_hold_is_refused() -> ::std::io::Result<()> {
            $crate::testing::roles::longest_prompt::<$agent>($program)
        }

        #[test]
        fn what_it_cannot_do_is_refused() -> ::std::io::Result<()> {
            $crate::testing::roles::refused::<$agent>($program)
        }

        #[test]
        fn standard_input_is_closed_without_a_word() -> ::std::io::Result<()> {
            $crate::testing::roles::no_input::<$agent>()
        }
    };
}

pub use suite;
