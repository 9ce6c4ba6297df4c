//! Whether a program is slower than the first one.

use super::{Report, mebibytes, seconds};
use crate::row::{Kind, Round, Row, flat};
use crate::statistics::{Better, Slowdown, Verdict, median, slowdown};
use crate::table::Table;

/// The compared part of a figure.
type Series = (&'static str, Better, fn(&Round) -> Vec<f64>, fn(f64) -> String);

/// Compares each program with the first one, figure by figure.
pub(super) fn table(report: &Report) -> String {
    let mut tables = String::new();
    for (number, program) in report.programs.iter().enumerate().skip(1) {
        let first = &report.programs[0].name;
        let head = ["medians", first, &program.name, "slower by", "95 % of", "more than 5 % slower"];
        let mut table = Table::new(&head);
        for row in &report.rows {
            for series in series(row.kind) {
                table.push(line(report, row, number, series));
            }
        }
        tables += &table.to_string();
    }
    tables
}

/// Small changes of the added time are large relative to it, so the whole time, which includes the CLI's, is compared too.
fn series(kind: Kind) -> Vec<Series> {
    let through: fn(&Round) -> Vec<f64> = |round| round.through.clone();
    match kind {
        Kind::Time => vec![("", Better::Less, through, seconds), (", added", Better::Less, Round::added, seconds)],
        Kind::Rate => vec![(", a second", Better::More, through, |rate| format!("{rate:.0}"))],
        Kind::Delay | Kind::Duration => vec![("", Better::Less, through, seconds)],
        // Not of the programs that are compared.
        Kind::Failures | Kind::Throughput => Vec::new(),
        Kind::Memory => vec![("", Better::Less, through, mebibytes)],
    }
}

fn line(report: &Report, row: &Row, number: usize, (what, better, of, as_text): Series) -> Vec<String> {
    let [first, second] = [0, number].map(|program| row.programs[program].iter().map(of).collect::<Vec<_>>());
    let found = slowdown(&first, &second, better, report.seed);
    let figure = |program: usize| median(&flat(&row.programs[program], of)).map_or("–".into(), as_text);
    let percent = |part: f64| format!("{:+.1} %", part * 100.0);
    let interval = found.and_then(|found| found.interval);
    let verdict = match found.as_ref().map(Slowdown::verdict) {
        _ if !report.is_quiet() => "machine busy",
        Some(Verdict::Slower) => "**yes**",
        Some(Verdict::NotSlower) => "no",
        Some(Verdict::Open) | None => "not shown",
    };
    vec![
        format!("{}{what}", row.name),
        figure(0),
        figure(number),
        found.map_or("–".into(), |found| percent(found.estimate)),
        interval.map_or("–".into(), |(low, high)| format!("{} to {}", percent(low), percent(high))),
        verdict.into(),
    ]
}
