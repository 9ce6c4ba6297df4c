//! A minimal run of the whole benchmark: that it works, not its figures.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::bars::{BARS, Bar};
use crate::row::Kind;

/// Every part once. The folder for compiled plugins is that of the end-to-end tests, so that nothing is compiled here.
const SMALLEST: Plan = Plan {
    pace: 0.0,
    cold_starts: 0,
    warm_starts: 1,
    rounds: 1,
    slice: Duration::from_millis(20),
    burst: 1,
    lines: 3,
    processes: 3,
    files: 300,
    streams: 20,
    settled: Duration::ZERO,
    transcript: 100,
    parsed: 1000,
    prompt: 1000,
    watched: Duration::ZERO,
};

fn built(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let file = tests.ancestors().nth(2).unwrap().join(name);
    assert!(file.is_file(), "{} is missing: run `make bins`", file.display());
    file
}

#[test]
fn every_figure_of_a_program_is_measured() {
    let tests = std::env::current_exe().unwrap();
    let setup = Setup {
        binaries: vec![Binary { name: "this".into(), program: built("agentbay") }],
        stand_in: built("stand-in"),
        fixtures: Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("fixtures"),
        groups: Group::ALL.into(),
        plan: SMALLEST,
        quick: true,
        seed: 1,
        cache: Some(tests.ancestors().nth(3).unwrap().join("tmp/cache")),
    };
    let report = run(&setup).unwrap();
    let of = |kind| report.rows.iter().filter(|row| row.kind == kind).count();
    assert_eq!([Kind::Time, Kind::Rate, Kind::Delay, Kind::Duration].map(of), [22, 10, 1, 6]);
    for row in &report.rows {
        assert!(row.programs.iter().all(|rounds| !rounds.is_empty()), "{row:?}");
    }
    let delay = report.rows.iter().find(|row| row.kind == Kind::Delay).unwrap();
    let lines = 2 * SMALLEST.lines as usize;
    assert_eq!([delay.programs[0][0].direct.len(), delay.programs[0][0].through.len()], [lines; 2]);

    let folder = tempfile::tempdir().unwrap();
    let file = saved::save(&report, folder.path()).unwrap();
    assert_eq!(saved::load(&file).unwrap().to_string(), report.to_string());

    // Starts with an empty cache are left out here, since they compile.
    let measured = |name: &str| report.rows.iter().any(|row| row.name == name) || name.contains("empty cache");
    let unmeasured =
        BARS.iter().filter(|bar| bar.group != Group::Peers).flat_map(Bar::rows).filter(|name| !measured(name));
    assert_eq!(unmeasured.collect::<Vec<_>>(), [""; 0]);
}
