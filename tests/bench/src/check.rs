//! Judges a report by the bars.

use std::fmt;

use crate::bars::{BARS, Bar, Figure, Limit};
use crate::group::Group;
use crate::report::Report;
use crate::row::{Round, Row, flat};
use crate::statistics::{median, percentile};

/// The result of one bar for one program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The figure reaches it.
    Met(f64),
    /// The figure does not.
    Missed(f64),
    /// The report has no such figure.
    NotMeasured,
}

/// The results of all bars whose group was measured.
#[derive(Debug)]
pub struct Check<'a> {
    lines: Vec<(&'a str, &'static Bar, Verdict)>,
}

impl<'a> Check<'a> {
    /// Judges each program of a report.
    pub fn of(report: &'a Report) -> Self {
        let bars = || BARS.iter().filter(|bar| report.groups.contains(&bar.group));
        let of_program = |(number, name): (usize, &'a String)| {
            // Peers have no bars of their own.
            let bars = bars().filter(move |bar| number == 0 || bar.group != Group::Peers);
            bars.map(move |bar| (name.as_str(), bar, judge(bar, &report.rows, number)))
        };
        Self { lines: report.programs.iter().map(|program| &program.name).enumerate().flat_map(of_program).collect() }
    }

    /// Whether every bar is met.
    pub fn is_met(&self) -> bool {
        self.lines.iter().all(|(.., verdict)| matches!(verdict, Verdict::Met(_)))
    }
}

impl fmt::Display for Check<'_> {
    /// A line for each bar.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (program, bar, verdict) in &self.lines {
            let limit = bar.limit.text(bar.unit);
            match verdict {
                Verdict::Met(value) => writeln!(f, "met: {program}: {}: {}, {limit}", bar.name(), (bar.unit)(*value))?,
                Verdict::Missed(value) => {
                    writeln!(f, "MISSED: {program}: {}: {}, {limit}; {}", bar.name(), (bar.unit)(*value), bar.reason)?
                }
                Verdict::NotMeasured => {
                    writeln!(f, "NOT MEASURED: {program}: {}, {limit}; {}", bar.name(), bar.reason)?;
                }
            }
        }
        let met = self.lines.iter().filter(|(.., verdict)| matches!(verdict, Verdict::Met(_))).count();
        writeln!(f, "{met} of {} bars are met", self.lines.len())
    }
}

/// Judges one program by one bar.
fn judge(bar: &Bar, rows: &[Row], program: usize) -> Verdict {
    match figure(bar, rows, program).filter(|figure| figure.is_finite()) {
        Some(value) if bar.limit.is_met_by(value) => Verdict::Met(value),
        Some(value) => Verdict::Missed(value),
        None => Verdict::NotMeasured,
    }
}

fn figure(bar: &Bar, rows: &[Row], program: usize) -> Option<f64> {
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let rounds = |name: &str| row(name)?.programs.get(program);
    let own = rounds(bar.row)?;
    let peers = |of: &dyn Fn(&Vec<Round>) -> Option<f64>| {
        let others = row(bar.row).map_or(&[][..], |row| &row.programs);
        others.iter().skip(1).filter_map(of).collect::<Vec<_>>().into_iter()
    };
    let through = |rounds: &Vec<Round>| median(&flat(rounds, |round| round.through.clone()));
    let shares = |rounds: &Vec<Round>| median(&flat(rounds, Round::share));
    let added = |rounds: &Vec<Round>| median(&flat(rounds, Round::added));
    match bar.figure {
        Figure::Median => through(own),
        Figure::P99 => percentile(&flat(own, |round| round.through.clone()), 99.0),
        Figure::AddedMedian => added(own),
        Figure::AddedP99 => percentile(&flat(own, Round::added), 99.0),
        Figure::Share => shares(own),
        Figure::ShareAgainst(other) => Some(shares(own)? / shares(rounds(other)?)?),
        Figure::AddedOfPeers => {
            let best = peers(&added).min_by(f64::total_cmp)?;
            // Less than nothing is added only by chance.
            Some(best / added(own)?.max(f64::MIN_POSITIVE))
        }
        Figure::MedianOfPeers => Some(through(own)? / peers(&through).max_by(f64::total_cmp)?),
        Figure::AddedAgainst(other) => Some(added(own)? - added(rounds(other)?)?),
    }
}

impl Limit {
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }

    fn text(self, unit: fn(f64) -> String) -> String {
        match self {
            Self::AtMost(limit) => format!("at most {}", unit(limit)),
            Self::AtLeast(limit) => format!("at least {}", unit(limit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Kind;

    /// Two rows with equal rounds but for the direct figure.
    fn rows(direct: [f64; 2], through: &[f64]) -> [Row; 2] {
        let row = |name: &str, direct: f64| Row {
            name: name.into(),
            kind: Kind::Time,
            programs: vec![vec![Round { direct: vec![direct; through.len()], through: through.to_vec() }]],
        };
        [row("one", direct[0]), row("other", direct[1])]
    }

    fn bar(figure: Figure, limit: Limit) -> Bar {
        Bar { group: Group::Time, row: "one", figure, limit, unit: |value| value.to_string(), reason: "" }
    }

    #[test]
    fn each_figure_is_computed_from_its_samples() {
        let rows = rows([2.0, 1.0], &[3.0, 4.0, 9.0]);
        let value = |figure| super::figure(&bar(figure, Limit::AtMost(0.0)), &rows, 0);
        assert_eq!(value(Figure::Median), Some(4.0));
        assert_eq!(value(Figure::P99), Some(9.0));
        assert_eq!(value(Figure::AddedMedian), Some(2.0));
        assert_eq!(value(Figure::AddedP99), Some(7.0));
        assert_eq!(value(Figure::Share), Some(2.0));
        assert_eq!(value(Figure::ShareAgainst("other")), Some(0.5));
        assert_eq!(value(Figure::AddedAgainst("other")), Some(-1.0));
        assert_eq!(value(Figure::AddedAgainst("third")), None);
    }

    #[test]
    fn the_best_peer_is_the_measure() {
        let program = |direct: f64, through: f64| vec![Round { direct: vec![direct], through: vec![through] }];
        let programs = vec![program(1.0, 3.0), program(1.0, 9.0), program(1.0, 7.0), Vec::new()];
        let rows = [Row { name: "one".into(), kind: Kind::Time, programs }];
        let value = |figure| super::figure(&bar(figure, Limit::AtLeast(0.0)), &rows, 0);
        assert_eq!(value(Figure::AddedOfPeers), Some(3.0));
        assert_eq!(value(Figure::MedianOfPeers), Some(3.0 / 9.0));
        let alone = [Row { programs: vec![program(1.0, 3.0)], ..rows[0].clone() }];
        assert_eq!(super::judge(&bar(Figure::AddedOfPeers, Limit::AtLeast(0.0)), &alone, 0), Verdict::NotMeasured);
    }

    #[test]
    fn a_bar_is_met_or_missed_or_not_measured() {
        let judge = |limit, rows: &[Row]| super::judge(&bar(Figure::Median, limit), rows, 0);
        let measured = rows([1.0, 1.0], &[4.0]);
        assert_eq!(judge(Limit::AtMost(4.0), &measured), Verdict::Met(4.0));
        assert_eq!(judge(Limit::AtMost(3.9), &measured), Verdict::Missed(4.0));
        assert_eq!(judge(Limit::AtLeast(4.0), &measured), Verdict::Met(4.0));
        assert_eq!(judge(Limit::AtLeast(4.1), &measured), Verdict::Missed(4.0));
        assert_eq!(judge(Limit::AtMost(4.0), &rows([1.0, 1.0], &[])), Verdict::NotMeasured);
        assert_eq!(judge(Limit::AtMost(4.0), &[]), Verdict::NotMeasured);
        assert_eq!(judge(Limit::AtMost(4.0), &rows([1.0, 1.0], &[f64::NAN])), Verdict::NotMeasured);
    }
}
