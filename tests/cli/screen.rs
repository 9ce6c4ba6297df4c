//! Output on a terminal and in a pipe: tables, the models of a server, colours and progress.

use std::fs;

use crate::support::{ECHO, Machine, binary, fixtures, wait_for};

const CODEX: &str = "[models.codex]\ndriver = \"codex\"\nrepo = \".\"\n";

/// A path of the checkout.
fn checkout(name: &str) -> String {
    fixtures().parent().unwrap().join(name).to_str().unwrap().to_owned()
}

/// The text that stays on the screen, line by line, without colours and what was cleared.
pub(crate) fn lines(screen: &str) -> Vec<String> {
    let screen = without_colours(screen).replace("\r\n", "\n");
    let shown = |line: &str| {
        let kept = line.rsplit("\u{1b}[2K").next().unwrap_or_default().rsplit('\r').next().unwrap_or_default();
        kept.trim_end().to_owned()
    };
    screen.lines().map(shown).collect()
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(|c: char| c.is_ascii_alphabetic()) {
            Some((code, rest)) if part[code.len()..].starts_with('m') => kept += rest,
            _ => kept += &format!("\u{1b}[{part}"),
        }
    }
    kept
}

/// A server on a terminal, until it has shown its models. All bytes of the terminal, and the lines on it.
fn served(machine: &Machine, variables: &[(&str, &str)]) -> Option<(String, Vec<String>)> {
    let args = ["serve", "--listen", "127.0.0.1:0"];
    let run = machine.run_on_screen(100, "shows why a model cannot run", &args, variables)?;
    assert_eq!(run.code, Some(0), "{run:?}");
    let lines = lines(&run.stdout);
    Some((run.stdout, lines))
}

#[test]
fn on_a_terminal_a_server_shows_its_models_and_their_state_after_its_address() {
    let machine =
        Machine::configured(&format!("{ECHO}{CODEX}[models.a-longer-name]\ndriver = \"echo\"\nrepo = \".\"\n"));
    let Some((_, lines)) = served(&machine, &[]) else { return };
    let first = lines.iter().position(|line| line.starts_with("listening on http://127.0.0.1:")).unwrap();
    // The log goes to the same terminal.
    let is_of_the_log = |line: &&String| line.contains(" WARN ") || line.contains(" INFO ");
    let shown: Vec<&String> = lines[first + 1..].iter().filter(|line| !is_of_the_log(line)).collect();
    let program = binary("agentbay").display().to_string();
    let expected = [
        "MODEL          DRIVER  STATE       PROGRAM".to_owned(),
        format!("a-longer-name  echo    ready       {program}"),
        "codex          codex   cannot run  -".to_owned(),
        format!("echo           echo    ready       {program}"),
        "`agentbay doctor` shows why a model cannot run".to_owned(),
    ];
    assert_eq!(shown, expected.iter().collect::<Vec<_>>());
}

#[test]
fn in_a_pipe_a_server_prints_its_address_alone_and_a_plain_log() {
    let machine = Machine::configured(&format!("{ECHO}{CODEX}"));
    let out = machine.path("out");
    let mut child = machine
        .command(&["serve", "--listen", "127.0.0.1:0"])
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(machine.path("log")).unwrap())
        .spawn()
        .unwrap();
    let log = || fs::read_to_string(machine.path("log")).unwrap();
    wait_for("the faults of the models", || log().contains("a model cannot run: models.codex.program"));
    wait_for("the address", || fs::read_to_string(&out).unwrap().contains('\n'));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
    let printed = fs::read_to_string(out).unwrap();
    assert!(printed.starts_with("listening on http://127.0.0.1:") && printed.lines().count() == 1, "{printed}");
    assert!(!log().contains('\u{1b}'), "{}", log());
}

#[test]
fn the_log_has_colours_on_a_terminal_unless_no_color_is_set_or_the_terminal_is_dumb() {
    let machine = Machine::configured(&format!("{ECHO}{CODEX}"));
    let coloured = |variables: &[(&str, &str)]| {
        let (screen, _) = served(&machine, variables)?;
        assert!(without_colours(&screen).contains("a model cannot run: models.codex.program"), "{screen}");
        Some(screen.contains("\u{1b}[33m WARN\u{1b}[0m"))
    };
    let cases: [(&[(&str, &str)], bool); 4] =
        [(&[], true), (&[("NO_COLOR", "1")], false), (&[("NO_COLOR", "")], true), (&[("TERM", "dumb")], false)];
    for (variables, expected) in cases {
        let Some(coloured) = coloured(variables) else { return };
        assert_eq!(coloured, expected, "{variables:?}");
    }
}

#[test]
fn a_table_fits_the_terminal_and_a_pipe_gets_whole_lines() {
    let machine = Machine::configured("[models.\"日本語\"]\ndriver = \"nobody\"\nrepo = \".\"\n");
    let fault = "the driver `nobody` is not loaded: put its component into the plugin folder (`agentbay plugin add FILE`), \
                 or name another driver";
    let piped = machine.run(&["check"]);
    let whole = format!("WHERE  {:20}  FAULT\n-      models.日本語.driver  {fault}\n", "KEY");
    assert_eq!((piped.code, piped.stdout), (Some(1), whole));

    let Some(wide) = machine.run_on_screen(80, "", &["check"], &[]) else { return };
    let expected = [
        "WHERE  KEY                   FAULT",
        "-      models.日本語.driver  the driver `nobody` is not loaded: put its",
        "                             component into the plugin folder (`agentbay plugin",
        "                             add FILE`), or name another driver",
    ];
    assert_eq!((wide.code, lines(&wide.stdout)), (Some(1), expected.map(str::to_owned).to_vec()));

    let narrow = machine.run_on_screen(40, "", &["check"], &[]).unwrap();
    let expected = [
        "WHERE  -",
        "KEY    models.日本語.driver",
        "FAULT  the driver `nobody` is not",
        "       loaded: put its component into",
        "       the plugin folder (`agentbay",
        "       plugin add FILE`), or name",
        "       another driver",
    ];
    assert_eq!((narrow.code, lines(&narrow.stdout)), (Some(1), expected.map(str::to_owned).to_vec()));
}

#[test]
fn names_with_control_characters_are_escaped_in_a_table() {
    let machine = Machine::configured("[models.echo]\ndriver = \"echo\"\nrepo = \"a\\u001b[2Jb\"\n");
    let run = machine.run(&["check"]);
    assert!(run.stdout.contains("a\\u{1b}[2Jb does not exist") && !run.stdout.contains('\u{1b}'), "{}", run.stdout);
}

#[test]
fn long_work_shows_its_progress_on_a_terminal_and_clears_it() {
    let machine = Machine::configured(ECHO);
    let run = |args: &[&str]| machine.run_on_screen(80, "", args, &[]);
    let Some(doctor) = run(&["doctor", "--ask"]) else { return };
    for work in ["compiling plugins", "examining the models", "asking echo (1 of 1)"] {
        assert!(doctor.stdout.contains(work), "{work}: {:?}", doctor.stdout);
        assert!(!lines(&doctor.stdout).iter().any(|line| line.contains(work)), "{:?}", doctor.stdout);
    }
    assert!(lines(&doctor.stdout).iter().any(|line| line.contains("answered: Answer with")), "{:?}", doctor.stdout);

    let [component, recorded] = ["plugins/prebuilt/grok.wasm", "fixtures/grok/plain"].map(checkout);
    let check = run(&["plugin", "check", &component, &recorded]).unwrap();
    for work in ["checking grok.wasm", "checking grok.wasm (recorded run 1 of 1)"] {
        assert!(check.stdout.contains(work), "{work}: {:?}", check.stdout);
    }
    assert!(!lines(&check.stdout).iter().any(|line| line.contains("recorded run 1 of 1")), "{:?}", check.stdout);

    let dumb = machine.run_on_screen(80, "", &["doctor", "--ask"], &[("TERM", "dumb")]).unwrap();
    assert!(!dumb.stdout.contains('\u{1b}') && !dumb.stdout.contains("compiling"), "{:?}", dumb.stdout);
}

#[test]
fn in_a_pipe_nothing_shows_progress() {
    let machine = Machine::configured(ECHO);
    let [component, recorded] = ["plugins/prebuilt/grok.wasm", "fixtures/grok/plain"].map(checkout);
    for args in [&["doctor", "--ask"][..], &["plugin", "check", &component, &recorded], &["plugin", "list"], &["check"]]
    {
        let run = machine.run(args);
        assert_eq!((run.stderr.as_str(), run.stdout.contains('\u{1b}')), ("", false), "{args:?}");
    }
}
