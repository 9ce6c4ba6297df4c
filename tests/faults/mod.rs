//! The table of known faults: what a CLI does, the expected outcome, and whether it occurred. `make faults` prints the table.
//! The numbers are those of the project's lists of faults and cases.
//!
//! Each line is a test of this suite that is run again: through the real binary, with a real process. So the table is only
//! printed on request.

mod output;

use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::api::{connections, errors, stream};
use crate::runs::{cases, killed, limits, process, queue, retry, spec, system};
use crate::security::auth;
use crate::workspace::{git_hangs, worktree};

/// Number of lines that run at once.
const AT_ONCE: usize = 4;

struct Fault {
    name: &'static str,
    /// What the CLI does.
    does: &'static str,
    /// The expected outcome.
    expected: &'static str,
    /// Fails on another outcome.
    test: fn(),
}

const fn fault(name: &'static str, does: &'static str, expected: &'static str, test: fn()) -> Fault {
    Fault { name, does, expected, test }
}

/// Faults that are not tested, with the reason.
const NOT_TESTED: [(&str, &str, &str); 1] =
    [("case-054", "is a launcher of Windows that cuts its arguments", "no Windows")];

const FAULTS: [Fault; 62] = [
    fault(
        "1",
        "prints 70 KiB, then reads standard input to its end",
        "it is closed: the answer comes",
        process::case_052_a_long_prompt_and_long_system_messages_reach_a_cli_that_prints_before_it_reads,
    ),
    fault(
        "2",
        "reports the end of its turn and stays",
        "answered at once, then ended",
        process::case_057_a_cli_that_does_not_exit_after_its_result_has_answered,
    ),
    fault(
        "3",
        "prints half and nothing more",
        "504 timeout with the half",
        retry::a_silent_cli_is_an_error_after_the_last_retry,
    ),
    fault(
        "4",
        "would ask a person for permission",
        "started so that it never asks",
        spec::each_cli_is_started_with_its_arguments_in_its_repository,
    ),
    fault(
        "5",
        "exits with 0 and prints nothing",
        "`No output from CLI.`",
        output::exit_0_without_output_is_answered_with_a_note,
    ),
    fault(
        "6",
        "reports a rate limit as success, exit 0",
        "429 rate_limit",
        output::a_failure_that_is_reported_as_success_is_a_failure,
    ),
    fault(
        "7",
        "has no login and reports it on stderr only",
        "401 authentication",
        output::a_missing_login_without_an_event_is_recognised_by_its_message,
    ),
    fault(
        "8",
        "has an empty result after its text",
        "its text",
        output::the_assistant_text_is_the_answer_if_the_result_is_empty,
    ),
    fault(
        "9",
        "takes a prompt of 200 KiB as an argument",
        "400 validation, names the argument",
        process::a_prompt_that_is_too_long_for_an_argument_is_refused_with_the_reason,
    ),
    fault(
        "10",
        "prints its text in pieces and whole",
        "once",
        output::a_text_that_arrives_in_pieces_and_whole_is_sent_once,
    ),
    fault(
        "11",
        "prints turn.failed and exits with 0",
        "502 server",
        output::a_failed_turn_is_a_failure_with_any_exit_code,
    ),
    fault(
        "12",
        "fails with words on stderr only",
        "500 with the words",
        spec::a_failed_cli_is_answered_with_its_standard_error,
    ),
    fault(
        "13",
        "leaves processes that ignore SIGTERM; host killed",
        "none left, work saved",
        killed::no_process_outlives_a_killed_program_and_the_work_is_saved_at_the_next_start,
    ),
    fault(
        "13b",
        "leaves a process in a separate session",
        "it ends with the run",
        killed::a_process_that_left_the_group_of_its_cli_is_killed_with_the_run,
    ),
    fault(
        "14",
        "leaves a process that holds the pipe",
        "answered, slot freed",
        process::a_descendant_that_holds_the_pipe_open_does_not_keep_the_repository_busy,
    ),
    fault(
        "15",
        "prints 100 MB to a slow reader",
        "held back, memory bounded",
        process::a_slow_client_slows_the_pipe_and_does_not_fill_the_memory,
    ),
    fault(
        "16",
        "prints a line of 3 MiB",
        "the next lines are read",
        cases::case_003_a_line_of_three_megabytes_does_not_affect_later_lines,
    ),
    fault(
        "17",
        "runs on until it is cancelled",
        "listed as it is, then ended",
        queue::a_run_can_be_inspected_and_cancelled,
    ),
    fault("18", "runs 32 times at once in worktrees", "no failure, none left", worktree::thirty_two_worktrees_at_once),
    fault(
        "19",
        "leaves changes and new files",
        "saved under a ref",
        worktree::case_067_changes_and_new_files_are_saved_under_a_ref_and_ignored_ones_are_not,
    ),
    fault(
        "20",
        "leaves work that cannot be saved",
        "kept, logged, released later",
        worktree::case_065_stale_worktrees_are_released_and_foreign_folders_are_not_touched,
    ),
    fault(
        "21",
        "would refuse to run inside another CLI",
        "does not know of one",
        output::a_cli_does_not_inherit_the_session_of_another_one,
    ),
    fault(
        "22",
        "has lost the session",
        "404, resumed once",
        output::a_missing_session_is_not_found_and_not_resumed_again,
    ),
    fault(
        "23",
        "fails after it changed the repository",
        "not retried",
        retry::a_run_that_changed_the_repository_is_not_retried,
    ),
    fault(
        "24",
        "fails with a rate limit, then answers",
        "the next one runs at once",
        output::a_failure_does_not_block_later_requests,
    ),
    fault(
        "git.1",
        "has a git that hangs before it is started",
        "504, ended, slot freed",
        git_hangs::a_git_that_hangs_before_the_cli_is_ended_and_its_slot_is_free_for_the_next_run,
    ),
    fault(
        "git.2",
        "is cancelled while git hangs",
        "answered, never started",
        git_hangs::a_run_whose_git_hangs_can_be_cancelled_and_its_cli_is_never_started,
    ),
    fault(
        "git.3",
        "leaves work that git hangs on",
        "kept, saved at the next start",
        git_hangs::work_that_cannot_be_saved_in_time_stays_and_is_saved_at_the_next_start,
    ),
    fault(
        "git.4",
        "has a git that hangs; host stopped",
        "all ended, nothing lost",
        git_hangs::a_git_that_hangs_does_not_outlive_a_program_that_is_stopped,
    ),
    fault(
        "git.5",
        "left worktrees that git hangs on; host started",
        "the port opens",
        git_hangs::the_port_opens_while_a_git_hangs_that_releases_stale_worktrees,
    ),
    fault("25", "(a page under another name sends a request)", "403", auth::a_foreign_host_name_is_refused),
    fault(
        "26",
        "belongs to another server that goes on",
        "left alone by a second one",
        killed::only_processes_of_a_host_that_certainly_ended_are_killed_whatever_the_clock_shows,
    ),
    fault(
        "27",
        "has files that block when opened",
        "the second SIGTERM ends it all",
        killed::a_second_signal_ends_the_program_even_if_a_task_blocks,
    ),
    fault(
        "28",
        "sends requests without end and reads no answer",
        "held back, 504",
        limits::a_cli_that_does_not_read_its_replies_is_throttled_and_killed_with_that_reason,
    ),
    fault(
        "29",
        "exits, and a descendant holds the pipe",
        "answered after a silence",
        limits::streams_that_a_descendant_holds_open_do_not_delay_the_answer,
    ),
    fault(
        "case-052",
        "gets 1 MiB, 200 KiB of system text, both",
        "200, all of it by stdin",
        process::case_052_a_long_prompt_and_long_system_messages_reach_a_cli_that_prints_before_it_reads,
    ),
    fault(
        "case-055",
        "launcher, child, grandchild that ignore SIGTERM",
        "504, nothing left",
        process::case_055_a_launcher_whose_worker_ignores_the_signal_leaves_no_process_behind,
    ),
    fault(
        "case-057",
        "says ok and never ends",
        "200 ok",
        process::case_057_a_cli_that_does_not_exit_after_its_result_has_answered,
    ),
    fault(
        "case-058",
        "floods stderr before it answers",
        "200, not blocked",
        cases::case_058_a_flood_on_standard_error_does_not_block_the_answer,
    ),
    fault(
        "case-061",
        "answers a client that goes away, queued",
        "never starts, place freed",
        queue::case_061_a_client_that_disconnects_while_it_waits_never_runs_and_frees_its_slot,
    ),
    fault(
        "case-061b",
        "answers a client that disconnects, whole",
        "ended",
        stream::a_client_that_disconnects_before_a_whole_answer_ends_the_cli_too,
    ),
    fault(
        "case-061c",
        "answers a client that disconnects, streamed",
        "ended",
        stream::a_client_that_disconnects_ends_the_cli_and_its_descendants,
    ),
    fault(
        "case-062",
        "forks twice ten times, 50 runs",
        "no zombie",
        process::case_062_no_zombie_is_left_of_runs_that_fork_twice,
    ),
    fault(
        "case-064",
        "has a repository without a commit",
        "configuration, clear error",
        worktree::case_064_a_repository_without_a_commit_is_a_clear_error,
    ),
    fault(
        "case-065",
        "finds stale, locked and foreign folders",
        "released, or not touched",
        worktree::case_065_stale_worktrees_are_released_and_foreign_folders_are_not_touched,
    ),
    fault(
        "case-066",
        "fills a submodule",
        "worktree removed",
        worktree::case_066_a_submodule_that_the_agent_fills_does_not_keep_the_worktree,
    ),
    fault(
        "case-067.1",
        "leaves new files",
        "saved under a ref",
        worktree::case_067_changes_and_new_files_are_saved_under_a_ref_and_ignored_ones_are_not,
    ),
    fault(
        "case-067.2",
        "commits on a detached HEAD",
        "kept under a ref",
        worktree::a_commit_of_a_run_is_kept_under_a_ref,
    ),
    fault(
        "case-067.4",
        "leaves ignored files only",
        "removed, no ref",
        worktree::case_067_only_ignored_files_leave_no_ref,
    ),
    fault(
        "case-068",
        "inherits GIT_DIR and more of another repository",
        "works in its own",
        worktree::case_068_inherited_variables_of_git_have_no_effect,
    ),
    fault(
        "case-076",
        "is asked by a client with a key",
        "key not passed to the CLI",
        process::case_076_the_clients_key_is_not_passed_to_the_cli,
    ),
    fault(
        "case-078.1",
        "has a folder that is gone",
        "404, names the folder",
        errors::a_missing_repository_is_reported_by_its_path,
    ),
    fault(
        "case-078.2",
        "is not on PATH",
        "404, how to install",
        errors::a_missing_cli_is_reported_with_its_installation,
    ),
    fault(
        "case-078.3",
        "cannot be executed",
        "configuration, with the reason",
        errors::a_cli_that_cannot_be_started_is_reported_with_the_reason,
    ),
    fault(
        "t2-12",
        "draws a spinner, even into a pipe",
        "the answer without its frames",
        output::t2_12_a_spinner_that_is_drawn_into_a_pipe_is_not_part_of_the_answer,
    ),
    fault(
        "t2-14",
        "is a script whose interpreter is not on PATH",
        "configuration, names it",
        system::t2_14_an_interpreter_that_is_not_on_path_is_named_instead_of_a_missing_model,
    ),
    fault(
        "t2-14b",
        "meets EACCES, ENOSPC, EMFILE, a broken setting",
        "configuration, what to do",
        system::a_refusal_of_the_system_is_reported_as_such_for_every_driver_and_not_retried,
    ),
    fault(
        "t2-14c",
        "is a CR script, a folder, for another machine, …",
        "configuration, what to do",
        system::a_file_that_this_machine_cannot_execute_is_refused_with_the_reason,
    ),
    fault(
        "t2-29",
        "is being written to for a moment",
        "retried, 200",
        system::t2_29_the_start_of_a_program_that_is_being_written_to_is_retried,
    ),
    fault(
        "t2-29b",
        "is being written to for longer",
        "502 with Retry-After",
        system::t2_29_a_program_that_is_written_to_for_longer_is_a_failure_that_clients_may_retry,
    ),
    fault(
        "30",
        "(clients connect and send nothing)",
        "closed after a time",
        connections::a_connection_without_a_request_in_time_is_closed,
    ),
    fault(
        "31",
        "(more clients connect than permitted)",
        "they wait",
        connections::connections_above_the_limit_wait_for_others_to_end,
    ),
];

impl Fault {
    /// Runs the test. The error is the first line of its failure.
    fn run(&self) -> Result<(), String> {
        catch_unwind(self.test).map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            text.unwrap_or("a panic").lines().next().unwrap_or_default().to_owned()
        })
    }
}

/// One line of the table.
#[expect(clippy::print_stdout, reason = "the table is for a person who runs the test")]
fn line(name: &str, does: &str, expected: &str, seen: &str, verdict: &str) {
    println!("{name:<11} {does:<50} {expected:<28} {seen:<28} {verdict}");
}

#[test]
#[ignore = "each line is a separate test: `make faults` prints the table"]
fn every_fault_has_its_expected_outcome() {
    let (next, seen) = (AtomicUsize::new(0), Mutex::new(vec![None; FAULTS.len()]));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(fault) = FAULTS.get(at) else { return };
                    let outcome = fault.run();
                    seen.lock().unwrap()[at] = Some(outcome);
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    line("fault", "the CLI …", "expected", "seen", "verdict");
    for (fault, seen) in FAULTS.iter().zip(&seen) {
        match seen.as_ref().unwrap() {
            Ok(()) => line(fault.name, fault.does, fault.expected, "as expected", "right"),
            Err(wrong) => line(fault.name, fault.does, fault.expected, wrong, "WRONG"),
        }
    }
    for (name, does, why) in NOT_TESTED {
        line(name, does, "", "", &format!("not tested: {why}"));
    }
    let wrong = seen.iter().filter(|seen| matches!(seen, Some(Err(_)))).count();
    assert_eq!(wrong, 0, "of {} lines", FAULTS.len());
}
