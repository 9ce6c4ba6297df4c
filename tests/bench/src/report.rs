//! The report as text: a table for each kind of figure, and a comparison of the programs with the first one.

mod compare;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::group::Group;
use crate::machine::Machine;
use crate::row::{Kind, Round, Row, flat};
use crate::statistics::{median, percentile};
use crate::table::Table;
use crate::{Binary, machine};

/// A program that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The results: raw figures and their origin. As JSON it is the file that a run leaves.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// The groups that were measured.
    pub groups: Vec<Group>,
    /// Whether it was a quick measurement.
    pub quick: bool,
    /// The programs.
    pub programs: Vec<Program>,
    /// The machine.
    pub machine: Machine,
    /// The date and time of its end, in UTC.
    pub date: String,
    /// The share of the processors that other processes used before and after.
    pub used: [f64; 2],
    /// The duration.
    pub took: Duration,
    /// The seed of the order.
    pub seed: u64,
    /// The figures.
    pub rows: Vec<Row>,
}

impl Program {
    pub(crate) fn of(binary: &Binary) -> Self {
        let output = binary.program.to_str().and_then(|program| machine::output(program, &["--version"]));
        let version = output.and_then(|output| output.lines().next().map(str::to_owned)).unwrap_or_default();
        Self { name: binary.name.clone(), version }
    }
}

impl Report {
    /// Whether the machine was idle, so that the figures are valid.
    pub fn is_quiet(&self) -> bool {
        self.used.iter().all(|used| *used <= machine::QUIET)
    }

    /// The table of the rows of a kind; `None` without rows.
    fn table(&self, kind: Kind, head: &[&str], cells: impl Fn(&[Round]) -> Vec<String>) -> Option<String> {
        let mut table = Table::new(head);
        let rows: Vec<_> = self.rows.iter().filter(|row| row.kind == kind).collect();
        for row in &rows {
            for (program, rounds) in self.programs.iter().zip(&row.programs) {
                let name =
                    if self.programs.len() == 1 { row.name.clone() } else { format!("{}: {}", row.name, program.name) };
                table.push([vec![name], cells(rounds)].concat());
            }
        }
        (!rows.is_empty()).then(|| table.to_string())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let programs: Vec<_> =
            self.programs.iter().map(|program| format!("{} ({})", program.name, program.version)).collect();
        let [before, after] = self.used.map(|used| used * 100.0);
        let day = self.date.split('T').next().unwrap_or_default();
        writeln!(f, "{day}; {}; {}\n", programs.join(", "), self.machine)?;
        writeln!(
            f,
            "Measured for {} s with seed {}; others used {before:.0} % of the processors before and {after:.0} % after.\n",
            self.took.as_secs(),
            self.seed
        )?;
        if !self.is_quiet() {
            writeln!(f, "**The machine was busy: these figures mean nothing.**\n")?;
        }
        if self.quick {
            writeln!(f, "A quick measurement: few samples, for a first impression.\n")?;
        }
        let through = if self.groups == [Group::Peers] { "through it" } else { "AgentBay" };
        let head = ["time of a run", "direct", through, "added, median", "10 to 90 %", "p99", "pairs"];
        let times = self.table(Kind::Time, &head, time);
        let head = ["runs a second", "direct", through, "share, median", "10 to 90 %", "slices"];
        let rates = self.table(Kind::Rate, &head, |rounds| compared(rounds, |rate| format!("{rate:.0}")));
        let head = ["from write to read", "direct", "p99", through, "p99", "lines"];
        let delays = self.table(Kind::Delay, &head, delay);
        let head = ["duration", "median", "least", "most", "times"];
        let durations = self.table(Kind::Duration, &head, |rounds| alone(rounds, seconds));
        let head = ["memory", "median", "least", "most", "times"];
        let memory = self.table(Kind::Memory, &head, |rounds| alone(rounds, mebibytes));
        let head = ["requests without a correct answer", "failed", "of"];
        let failures = self.table(Kind::Failures, &head, failures);
        let head = ["bytes read a second", "native", "component", "share, median", "10 to 90 %", "times"];
        let throughputs = self.table(Kind::Throughput, &head, |rounds| compared(rounds, per_second));
        let mut tables = vec![times, rates, throughputs, delays, durations, memory, failures];
        if self.programs.len() > 1 && self.groups != [Group::Peers] {
            tables.push(Some(compare::table(self)));
        }
        write!(f, "{}", tables.into_iter().flatten().collect::<Vec<_>>().join("\n"))
    }
}

fn direct(rounds: &[Round]) -> Vec<f64> {
    flat(rounds, |round| round.direct.clone())
}

fn through(rounds: &[Round]) -> Vec<f64> {
    flat(rounds, |round| round.through.clone())
}

fn time(rounds: &[Round]) -> Vec<String> {
    let added = flat(rounds, Round::added);
    let text = |time| written(time, seconds);
    let medians = [median(&direct(rounds)), median(&through(rounds)), median(&added)].map(text);
    [&medians[..], &[spread(&added, seconds), text(percentile(&added, 99.0)), added.len().to_string()]].concat()
}

/// Two figures and their ratio.
fn compared(rounds: &[Round], as_text: fn(f64) -> String) -> Vec<String> {
    let shares = flat(rounds, Round::share);
    vec![
        written(median(&direct(rounds)), as_text),
        written(median(&through(rounds)), as_text),
        written(median(&shares), percent),
        spread(&shares, percent),
        rounds.len().to_string(),
    ]
}

fn delay(rounds: &[Round]) -> Vec<String> {
    let (direct, through) = (direct(rounds), through(rounds));
    let times = [median(&direct), percentile(&direct, 99.0), median(&through), percentile(&through, 99.0)];
    [&times.map(|time| written(time, seconds))[..], &[through.len().to_string()]].concat()
}

fn alone(rounds: &[Round], as_text: impl Fn(f64) -> String) -> Vec<String> {
    let values = through(rounds);
    let figures = [median(&values), percentile(&values, 0.0), percentile(&values, 100.0)];
    [&figures.map(|figure| written(figure, &as_text))[..], &[values.len().to_string()]].concat()
}

fn failures(rounds: &[Round]) -> Vec<String> {
    [through(rounds), direct(rounds)].map(|counts| counts.iter().sum::<f64>().to_string()).into()
}

/// The range of the middle 80 % of the values.
fn spread(values: &[f64], as_text: impl Fn(f64) -> String) -> String {
    let ends = [10.0, 90.0].map(|percent| written(percentile(values, percent), &as_text));
    ends.join(" to ")
}

fn written(value: Option<f64>, as_text: impl Fn(f64) -> String) -> String {
    value.map_or("–".into(), as_text)
}

pub(crate) fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// Three digits or more.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds.abs() {
        size if size < 0.001 => format!("{:.0} µs", seconds * 1e6),
        size if size < 0.1 => format!("{:.2} ms", seconds * 1e3),
        size if size < 1.0 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// Millions of bytes per second.
pub(crate) fn per_second(bytes: f64) -> String {
    format!("{:.1} MB/s", bytes / 1e6)
}

pub(crate) fn mebibytes(bytes: f64) -> String {
    let kib = bytes / 1024.0;
    if kib.abs() < 1024.0 { format!("{kib:.0} KiB") } else { format!("{:.1} MiB", kib / 1024.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of two programs with one figure of each kind, in which the second program takes half as long again.
    fn report(used: f64) -> Report {
        let rounds = |through: f64| {
            let round = |number: u32| {
                let noise = 1.0 + f64::from(number % 3) / 1000.0;
                Round { direct: vec![0.001; 2], through: vec![through * noise, through * noise] }
            };
            (0..30).map(round).collect::<Vec<_>>()
        };
        let row =
            |name: &str, kind, through: [f64; 2]| Row { name: name.into(), kind, programs: through.map(rounds).into() };
        let program = |name: &str| Program { name: name.into(), version: "1".into() };
        Report {
            rows: vec![
                row("echo", Kind::Time, [0.003, 0.0045]),
                row("rate", Kind::Rate, [0.0002, 0.0002]),
                row("delay", Kind::Delay, [0.0002, 0.0002]),
            ],
            programs: vec![program("old"), program("new")],
            machine: Machine::this(),
            date: "2026-01-01T00:00:00Z".into(),
            groups: vec![Group::Time],
            quick: false,
            used: [0.0, used],
            took: Duration::from_secs(7),
            seed: 1,
        }
    }

    #[test]
    fn a_row_says_what_each_program_adds_to_the_direct_run() {
        let text = report(0.0).to_string();
        let line = |begin: &str| {
            let line = text.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("{begin}: {text}"));
            line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        let echo = ["echo: old", "1.00 ms", "3.00 ms", "2.00 ms", "2.00 ms to 2.01 ms", "2.01 ms", "60"];
        assert_eq!(line("| echo: old"), echo);
        assert_eq!(line("| rate: new"), ["rate: new", "0", "0", "20 %", "20 % to 20 %", "30"]);
        assert_eq!(line("| delay: old"), ["delay: old", "1.00 ms", "1.00 ms", "200 µs", "200 µs", "60"]);
        assert_eq!(line("| echo "), ["echo", "3.00 ms", "4.50 ms", "+50.0 %", "+50.0 % to +50.0 %", "**yes**"]);
        assert_eq!(line("| delay "), ["delay", "200 µs", "200 µs", "+0.0 %", "+0.0 % to +0.0 %", "no"]);
    }

    #[test]
    fn a_busy_machine_gives_no_verdict() {
        let text = report(0.5).to_string();
        assert!(text.contains("these figures mean nothing") && text.contains(" machine busy |"), "{text}");
        assert!(!text.contains("**yes**"), "{text}");
    }
}
