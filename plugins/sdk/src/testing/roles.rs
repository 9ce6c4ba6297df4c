//! Tests of CLIs that print role lines: the command line, and an empty standard input.

use std::fmt::Debug;
use std::io;

use super::turn;
use crate::{Agent, Category, Event, Failure, Permission, Plan, Transcript, Turn};

/// The prompt is one argument, for every first character.
///
/// # Errors
/// With the plan that differs, as all of these.
pub fn prompts<A: Agent>(program: &str) -> io::Result<()> {
    ["Say hello", "--help", "-p", "/help", "", "two\nlines \"quoted\""].into_iter().try_for_each(|prompt| {
        let args = ["--directory", "/repo", &format!("--prompt={prompt}")];
        same(&A::prepare(&turn(prompt)), &Ok(Plan::new(program, args)))
    })
}

/// The model is an option. Full access changes nothing.
///
/// # Errors
/// With the plan that differs.
pub fn model<A: Agent>(program: &str) -> io::Result<()> {
    let turn = Turn { model: Some("a-model".into()), permission: Permission::FullAccess, ..turn("x") };
    let args = ["--directory", "/repo", "--model", "a-model", "--prompt=x"];
    same(&A::prepare(&turn), &Ok(Plan::new(program, args)))
}

/// A prompt that is longer than an argument can be is refused.
///
/// # Errors
/// With the plan that differs.
pub fn longest_prompt<A: Agent>(program: &str) -> io::Result<()> {
    let longest = 128 * 1024 - 1 - "--prompt=".len();
    same(&A::prepare(&turn(&"x".repeat(longest))).is_ok(), &true)?;
    let message = format!(
        "the prompt is 131063 bytes long, and {program} takes it as an argument, which holds no more than 128 KiB"
    );
    same(&A::prepare(&turn(&"x".repeat(longest + 1))), &Err(Failure::new(Category::Validation, message, "")))
}

/// A read-only turn, or one that resumes a session, is refused.
///
/// # Errors
/// With the plan that differs.
pub fn refused<A: Agent>(program: &str) -> io::Result<()> {
    let reader = Turn { permission: Permission::ReadOnly, ..turn("x") };
    let message = format!("{program} cannot be kept from changing files: `permission` cannot be \"read-only\"");
    same(&A::prepare(&reader), &Err(Failure::new(Category::Configuration, message, "")))?;
    let resumed = Turn { session: Some("1".into()), ..turn("x") };
    let message = format!("{program} cannot resume a session by its id");
    same(&A::prepare(&resumed), &Err(Failure::new(Category::Validation, message, "")))
}

/// Standard input is closed at once.
///
/// # Errors
/// With the events that differ.
pub fn no_input<A: Agent>() -> io::Result<()> {
    let events = A::Transcript::new(&turn("x")).begin(&turn("Say hello"));
    same(&events, &vec![Event::Reply(String::new()), Event::EndInput])
}

fn same<T: PartialEq + Debug>(actual: &T, expected: &T) -> io::Result<()> {
    if actual == expected { Ok(()) } else { Err(io::Error::other(format!("{actual:?} instead of {expected:?}"))) }
}
