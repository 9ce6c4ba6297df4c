//! The bars: figures that must be reached, each with its limit and its reason. `make bench CHECK=1` judges by them.

use crate::group::Group;
use crate::report::{mebibytes, per_second, percent, seconds};

/// A bar.
#[derive(Debug)]
pub(crate) struct Bar {
    /// The group of its figure.
    pub(crate) group: Group,
    /// The row of its figure.
    pub(crate) row: &'static str,
    /// The judged part of the row.
    pub(crate) figure: Figure,
    /// The limit.
    pub(crate) limit: Limit,
    /// The figure as text.
    pub(crate) unit: fn(f64) -> String,
    /// The reason for the limit.
    pub(crate) reason: &'static str,
}

/// The part of a row that is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Figure {
    /// The median through the program.
    Median,
    /// The 99th percentile through the program.
    P99,
    /// The median of the difference to the direct run.
    AddedMedian,
    /// The 99th percentile of that difference.
    AddedP99,
    /// The median of the share of the direct figure.
    Share,
    /// That share as a part of another row's.
    ShareAgainst(&'static str),
    /// The median of the added time beyond another row's.
    AddedAgainst(&'static str),
    /// The lowest median of a peer's added time, divided by this program's.
    AddedOfPeers,
    /// The median of this program's figure, divided by the highest of a peer.
    MedianOfPeers,
}

/// The limit of a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// The figure may not be higher.
    AtMost(f64),
    /// The figure may not be lower.
    AtLeast(f64),
}

impl Bar {
    /// The rows that it needs.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> Vec<&'static str> {
        match self.figure {
            Figure::ShareAgainst(other) | Figure::AddedAgainst(other) => vec![self.row, other],
            _ => vec![self.row],
        }
    }

    pub(crate) fn name(&self) -> String {
        let part = match self.figure {
            Figure::Median => "median".into(),
            Figure::P99 => "p99".into(),
            Figure::AddedMedian => "added, median".into(),
            Figure::AddedP99 => "added, p99".into(),
            Figure::Share => "share of the direct figure".into(),
            Figure::ShareAgainst(other) => format!("share, as a part of that of `{other}`"),
            Figure::AddedOfPeers => "less added than by the best peer, times".into(),
            Figure::MedianOfPeers => "more than the best peer, times".into(),
            Figure::AddedAgainst(other) => format!("added beyond `{other}`"),
        };
        format!("{}: {part}", self.row)
    }
}

const MS: f64 = 1e-3;
const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

const fn bar(
    group: Group,
    row: &'static str,
    figure: Figure,
    limit: Limit,
    unit: fn(f64) -> String,
    reason: &'static str,
) -> Bar {
    Bar { group, row, figure, limit, unit, reason }
}

use Figure::{AddedAgainst, AddedMedian, AddedOfPeers, AddedP99, Median, MedianOfPeers, P99, Share, ShareAgainst};
use Limit::{AtLeast, AtMost};

const UNNOTICED: &str = "a proxy without a sandbox adds three times as much";
const SCATTER: &str = "one run in a hundred may meet the scheduler, not a lock or a scan of the machine";
const STARTS: &str = "the machine starts processes for its agents, not for the proxy";

const OUTPUT: &str = "no CLI prints as fast, so that the sandbox never holds it back";
const SANDBOX: &str = "a sandbox whose price nobody pays attention to";
const EACH_RUN: &str = "every run has an instance of its own";

const NATIVE: &str = "a native program without a runtime's work for each run";

fn times(factor: f64) -> String {
    format!("{factor:.1}")
}

const GROWS: &str = "nothing of the repository's size happens before the first word";

/// All bars.
pub(crate) const BARS: &[Bar] = &[
    bar(Group::Time, "recorded run, whole", AddedMedian, AtMost(0.6 * MS), seconds, UNNOTICED),
    bar(Group::Time, "recorded run, whole", AddedP99, AtMost(3.0 * MS), seconds, SCATTER),
    bar(Group::Time, "recorded run, whole, default `retries`", AddedMedian, AtMost(0.6 * MS), seconds, UNNOTICED),
    bar(Group::Time, "recorded run, whole, default `retries`", AddedP99, AtMost(3.0 * MS), seconds, SCATTER),
    bar(Group::Rate, "recorded run, 16 at once", Share, AtLeast(0.6), percent, STARTS),
    bar(Group::Rate, "recorded run that computes for 5 ms, 16 at once", Share, AtLeast(0.8), percent, STARTS),
    bar(
        Group::Crowd,
        "recorded run, 16 at once, many other processes",
        ShareAgainst("recorded run, 16 at once, few other processes"),
        AtLeast(0.95),
        percent,
        "a run costs nothing that grows with the machine",
    ),
    bar(
        Group::Repository,
        "echo, large repository",
        AddedAgainst("echo, small repository"),
        AtMost(0.2 * MS),
        seconds,
        GROWS,
    ),
    bar(
        Group::Repository,
        "recorded run, large repository",
        AddedAgainst("recorded run, small repository"),
        AtMost(0.2 * MS),
        seconds,
        GROWS,
    ),
    bar(Group::Delay, "delay of a delta", Median, AtMost(0.15 * MS), seconds, "text appears as the CLI prints it"),
    bar(Group::Delay, "delay of a delta", P99, AtMost(1.5 * MS), seconds, "nothing buffers, nothing waits for a timer"),
    bar(
        Group::Start,
        "start to listening, full cache",
        Median,
        AtMost(30.0 * MS),
        seconds,
        "a start that a user does not notice, and a script need not wait for",
    ),
    bar(
        Group::Start,
        "start to listening, empty cache",
        Median,
        AtMost(300.0 * MS),
        seconds,
        "the first start of a new version compiles in the background",
    ),
    bar(
        Group::Start,
        "start to first answer of `echo`, empty cache",
        Median,
        AtMost(1500.0 * MS),
        seconds,
        "only the plugin that is asked for is waited for",
    ),
    bar(
        Group::Memory,
        "resident memory, idle",
        Median,
        AtMost(32.0 * MIB),
        mebibytes,
        "it runs beside an editor and a browser all day",
    ),
    bar(
        Group::Memory,
        "memory per open stream",
        Median,
        AtMost(150.0 * KIB),
        mebibytes,
        "a thousand streams fit beside a thousand agents",
    ),
    bar(
        Group::Memory,
        "resident memory after the streams",
        Median,
        AtMost(64.0 * MIB),
        mebibytes,
        "a burst does not cost memory for the rest of the day",
    ),
    bar(
        Group::Reload,
        "rename of a component to its first answer",
        Median,
        AtMost(500.0 * MS),
        seconds,
        "an author who saves a plugin asks it at once",
    ),
    bar(Group::Parse, "transcript of `claude`", Median, AtLeast(1e8), per_second, OUTPUT),
    bar(Group::Parse, "transcript of `claude`", Share, AtLeast(0.4), percent, SANDBOX),
    bar(Group::Parse, "transcript of `codex`", Median, AtLeast(1e8), per_second, OUTPUT),
    bar(Group::Parse, "transcript of `codex`", Share, AtLeast(0.4), percent, SANDBOX),
    bar(Group::Parse, "instance of `claude`, made and dropped", Median, AtMost(50e-6), seconds, EACH_RUN),
    bar(Group::Parse, "instance of `codex`, made and dropped", Median, AtMost(50e-6), seconds, EACH_RUN),
    bar(Group::Peers, "whole", AddedOfPeers, AtLeast(4.0), times, NATIVE),
    bar(Group::Peers, "stream: first text", AddedOfPeers, AtLeast(4.0), times, NATIVE),
    bar(Group::Peers, "16 at once", MedianOfPeers, AtLeast(4.0), times, NATIVE),
];
