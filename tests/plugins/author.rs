//! The commands for authors of plugins: projects, recorded runs, and tests of a plugin without a server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Machine, Run, fixtures, is_alive, wait_for};

/// The repository.
fn root() -> PathBuf {
    fixtures().parent().unwrap().to_owned()
}

fn prebuilt(id: &str) -> String {
    root().join(format!("plugins/prebuilt/{id}.wasm")).to_str().unwrap().to_owned()
}

/// A component built for the tests.
fn built(id: &str) -> String {
    fixtures().join(format!("plugins/{id}.wasm")).to_str().unwrap().to_owned()
}

fn recorded(cli: &str) -> String {
    fixtures().join(cli).to_str().unwrap().to_owned()
}

/// A machine with a recorded run of a CLI that prints `stdout` and exits with 0.
fn with_run(stdout: &str) -> Machine {
    let machine = Machine::new();
    let folder = machine.path("work/fixtures/run");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("stdout"), stdout).unwrap();
    fs::write(folder.join("meta.json"), r#"{"exit_code": 0}"#).unwrap();
    machine
}

fn check(machine: &Machine, args: &[&str]) -> Run {
    machine.run(&[&["plugin", "check"], args].concat())
}

fn checked_json(machine: &Machine, args: &[&str]) -> (Option<i32>, Value) {
    let run = check(machine, &[args, &["--json"]].concat());
    assert_eq!(run.stderr, "");
    (run.code, serde_json::from_str(&run.stdout).unwrap())
}

/// The files below a folder, with their content.
fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(file, text)| (path.join(file), text)));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    let inside = |(path, text): (PathBuf, Vec<u8>)| (path.strip_prefix(dir).unwrap().to_owned(), text);
    let mut found: Vec<(PathBuf, Vec<u8>)> = found.into_iter().map(inside).collect();
    found.sort();
    found
}

#[test]
fn prebuilt_components_give_the_golden_events_for_every_split_of_recorded_output() {
    let machine = Machine::new();
    for (id, cli, runs) in [("grok", "grok", 8), ("opencode", "opencode", 47), ("acp", "acp", 16)] {
        let run = check(&machine, &[&prebuilt(id), &recorded(cli)]);
        let verdict = format!("the command lines are valid; {runs} of {runs} recorded runs passed");
        assert_eq!((run.code, run.stdout.lines().last(), run.stderr.as_str()), (Some(0), Some(verdict.as_str()), ""));
    }
}

#[test]
fn check_shows_the_description_of_a_plugin() {
    let run = check(&Machine::new(), &[&built("stranger")]);
    let lines: Vec<&str> = run.stdout.lines().filter(|line| !line.starts_with("  sha256    ")).collect();
    let title = format!("stranger 1.0.0 (Stranger) in {}", built("stranger"));
    let expected = [
        title.as_str(),
        "  starts    stranger",
        "  output    text",
        "  features  partial",
        "  models    -",
        "the command lines are valid; no recorded runs were given",
    ];
    assert_eq!((run.code, lines), (Some(0), expected.to_vec()));
}

#[test]
fn every_fault_of_a_plugin_is_reported_with_its_evidence() {
    let machine = with_run("hello\nthere\nbye\n");
    let (code, report) = checked_json(&machine, &[&built("careless"), "fixtures"]);
    let plans = [
        "`describe` claims `read-only`, but `prepare` plans the same command line whether or not `permission` is \"read-only\"",
        "`describe` claims `resume`, but `prepare` plans the same command line whether or not a `session` is resumed",
        "`prepare` passes a prompt that starts with `-` as an option: write the prompt to standard input, or put `--` before it",
        "`prepare` plans to start \"sh\", which `describe` does not declare",
        "`prepare` sets the variable LD_PRELOAD, which no plugin may set: it changes what programs load or which server they \
         contact",
    ];
    assert_eq!((code, &report["well"], &report["plans"]), (Some(1), &json!(false), &json!(plans)));

    let run = &report["runs"][0];
    assert_eq!((&run["name"], &run["events"], &run["golden"]), (&json!("run"), &json!(5), &json!("not-compared")));
    let faults = run["faults"].as_array().unwrap().iter();
    let faults: Vec<(&str, &str)> =
        faults.map(|fault| (fault["kind"].as_str().unwrap(), fault["what"].as_str().unwrap())).collect();
    let trap = "with line 1 of standard output replaced by \"null\": the plugin failed in `transcript.output`: \
                wasm trap: wasm `unreachable` instruction executed";
    let expected = [
        ("chunking", "split a byte at a time, the events differ from those of unsplit output"),
        ("false-finish", "truncated before its first line, it counts as finished"),
        ("trap", trap),
        ("no-golden", "there is no golden.json"),
    ];
    assert_eq!(faults, expected);
}

#[test]
fn events_that_reach_no_client_are_reported() {
    let machine = with_run("waste\n");
    let (code, report) = checked_json(&machine, &[&built("careless"), "fixtures"]);
    let faults = report["runs"][0]["faults"].as_array().unwrap().iter();
    let dropped: Vec<(&str, u64)> = faults
        .filter(|fault| fault["kind"] == "dropped")
        .map(|fault| (fault["what"].as_str().unwrap(), fault["more"].as_u64().unwrap()))
        .collect();
    let first = "the session \"a b/../$(x)\" is not sent to clients: an id has letters, digits, `.`, `_`, `:` and `-`, at most \
                 200, starting with a letter or digit";
    // Five more: the input that is not JSON, the result without a call, two counts, the text after the end.
    assert_eq!((code, dropped), (Some(1), vec![(first, 5)]));
}

#[test]
fn a_long_recorded_run_is_corrupted_in_a_sample_and_at_a_few_lines_of_its_full_length() {
    let machine = with_run(&("hello\n".repeat(3000) + "bye\n"));
    let (code, report) = checked_json(&machine, &[&built("careless"), "fixtures"]);
    let faults = report["runs"][0]["faults"].as_array().unwrap().iter();
    let faults: Vec<(&str, &str, u64)> = faults
        .map(|fault| {
            (fault["kind"].as_str().unwrap(), fault["what"].as_str().unwrap(), fault["more"].as_u64().unwrap())
        })
        .collect();
    let trap = "sampled to 119 lines, with line 1 of standard output replaced by \"null\": the plugin failed in \
                `transcript.output`: wasm trap: wasm `unreachable` instruction executed";
    let finish = "sampled to 119 lines, truncated before its first line, it counts as finished";
    let (lines, full_length_lines) = (119, 4);
    let truncations = |lines| 2 * (2 * lines + 1);
    // Truncation after the last line changes nothing. Seven replacement lines do not make the plugin trap.
    let finishes = truncations(lines) - 2 + 7 + truncations(full_length_lines);
    let expected = [
        ("chunking", "split a byte at a time, the events differ from those of unsplit output", 5),
        ("false-finish", finish, finishes - 1),
        ("trap", trap, 2 * (lines + full_length_lines) - 1),
        ("no-golden", "there is no golden.json", 0),
    ];
    assert_eq!((code, faults), (Some(1), expected.to_vec()));
}

#[test]
fn a_difference_from_the_golden_file_is_shown_line_by_line() {
    let machine = Machine::new();
    let folder = machine.path("work/plain");
    fs::create_dir(&folder).unwrap();
    for (name, content) in files(&fixtures().join("grok/plain")) {
        fs::write(folder.join(name), content).unwrap();
    }
    let golden = fs::read_to_string(folder.join("golden.json")).unwrap();
    fs::write(folder.join("golden.json"), golden.replace("says hello", "says goodbye")).unwrap();
    let run = check(&machine, &[&prebuilt("grok"), "plain"]);
    let lines: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("      ")).collect();
    let rest = "This is a plain answer in one short paragraph.\"}";
    let expected = [
        "      the events differ from golden.json".to_owned(),
        "          {\"events\":[".to_owned(),
        format!("        - {{\"text\":\"The scripted model says goodbye. {rest}"),
        format!("        + {{\"text\":\"The scripted model says hello. {rest}"),
        "          ],".to_owned(),
    ];
    assert_eq!((run.code, lines), (Some(1), expected.iter().map(String::as_str).collect()));

    let renewed = check(&machine, &[&prebuilt("grok"), "plain", "--renew"]);
    assert_eq!((renewed.code, fs::read_to_string(folder.join("golden.json")).unwrap()), (Some(0), golden));
    assert!(renewed.stdout.contains("golden.json was rewritten:\n"), "{}", renewed.stdout);
}

#[test]
fn check_refuses_a_plugin_that_the_host_would_refuse_under_the_same_limits() {
    let machine = Machine::configured("[plugins.endless.limits]\ncall_cpu = \"50ms\"\n");
    let file = built("endless");
    let reason = "the plugin failed in `describe`: it used up the time of one call (`limits.plugin_call_cpu`)";
    let run = check(&machine, &[&file]);
    assert_eq!((run.code, run.stdout), (Some(1), format!("refused: {file}: {reason}\n")));
    let (code, report) = checked_json(&machine, &[&file]);
    assert_eq!((code, &report["refused"], &report["well"]), (Some(1), &json!(reason), &json!(false)));
}

#[test]
fn a_folder_without_a_recorded_run_ends_with_2_unlike_a_faulty_plugin() {
    let machine = Machine::new();
    let run = check(&machine, &[&prebuilt("echo"), "."]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.starts_with(".: no recorded run: "), "{}", run.stderr);
}

fn run_stranger(machine: &Machine, args: &[&str]) -> Run {
    let file = built("stranger");
    machine.run(&[&["plugin", "run", file.as_str(), "--prompt", "hi"], args].concat())
}

#[test]
fn a_turn_runs_the_granted_program_and_prints_plan_events_and_end() {
    let machine = Machine::new();
    machine.script("stranger", "printf '%s, it is %s' \"$1\" \"$TERM\"");
    let run = run_stranger(&machine, &["--allow", "stranger"]);
    let stdout = format!(
        "program      {}\nargument     \"--hello\"\ntext         \"--hello, it is dumb\"\nfinished\n\
         tokens       1 in, 5 out (estimated: the CLI reported none)\n",
        machine.name("bin/stranger")
    );
    assert_eq!(run, Run { code: Some(0), stdout, stderr: String::new() });
}

#[test]
fn a_turn_can_be_printed_as_json_lines() {
    let machine = Machine::new();
    machine.script("mine", "echo no >&2; exit 3");
    let run = run_stranger(&machine, &["--program", "mine", "--json"]);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let plan = json!({"plan": {
        "program": "stranger", "file": machine.name("bin/mine"), "args": ["--hello"], "sets": [], "removes": [], "files": [],
    }});
    let failure = &lines[1]["outcome"]["failure"];
    assert_eq!((run.code, lines.len(), &lines[0]), (Some(1), 2, &plan));
    assert_eq!((&failure["category"], &failure["detail"]), (&json!("unknown"), &json!("no")));
}

#[test]
fn a_program_without_a_grant_is_not_started_and_the_message_states_how_to_grant_it() {
    let machine = Machine::new();
    machine.recording("stranger", &["say", "hello"]);
    let run = run_stranger(&machine, &[]);
    let expected = "the plugin wants to start `stranger`: to allow it, add `--allow stranger`, or `--program FILE` to start \
                    that file instead\n";
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(2), "", expected));
    assert!(!machine.path("stranger.json").exists());
}

#[test]
fn an_embedded_plugin_may_start_its_own_program() {
    let run = Machine::new().run(&["plugin", "run", &prebuilt("echo"), "--prompt", "hello"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.contains("\ntext         \"hello\"\nfinished\n"), "{}", run.stdout);
}

/// The files of a template, filled in with a plugin's id.
fn filled(template: &Path, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let fill = |text: Vec<u8>| match String::from_utf8(text) {
        Ok(text) => text.replace("{{name}}", name).into_bytes(),
        Err(other) => other.into_bytes(),
    };
    files(template).into_iter().map(|(path, text)| (path, fill(text))).collect()
}

#[test]
fn a_new_project_consists_of_the_template_the_contract_and_the_sdk() {
    let machine = Machine::new();
    let run = machine.run(&["plugin", "new", "my-cli"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.starts_with("my-cli is a plugin project. Next:\n  cd my-cli\n  ./build\n"), "{}", run.stdout);

    let templates = root().join("plugins/templates");
    let mut expected = filled(&templates.join("rust"), "my-cli");
    let is_own: Vec<PathBuf> = expected.iter().map(|(path, _)| path.clone()).collect();
    expected.extend(filled(&templates.join("common"), "my-cli").into_iter().filter(|(path, _)| !is_own.contains(path)));
    expected.push(("wit/agent.wit".into(), fs::read(root().join("wit/agent.wit")).unwrap()));
    let sdk = files(&root().join("plugins/sdk/src"));
    expected.extend(sdk.into_iter().map(|(path, text)| (Path::new("sdk/src").join(path), text)));
    expected.sort();
    let project = machine.path("work/my-cli");
    let made = files(&project);
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(names(&made), names(&expected));
    for ((path, is), (_, should)) in made.iter().zip(&expected) {
        assert!(is == should, "{}", path.display());
        let mode = fs::metadata(project.join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o111 != 0, is.starts_with(b"#!"), "{}", path.display());
    }
}

#[test]
fn a_project_with_the_name_of_an_embedded_plugin_or_in_a_used_folder_is_refused() {
    let machine = Machine::new();
    let message = |args: &[&str]| {
        let run = machine.run(&[&["plugin", "new"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}");
        run.stderr
    };
    assert_eq!(message(&["claude"]), "`claude` is the name of an embedded plugin: choose another name\n");
    assert!(message(&["My CLI"]).contains("invalid driver name \"My CLI\""), "{}", message(&["My CLI"]));
    assert!(message(&["mine", "--lang", "cobol"]).contains("choose `rust`, `js`, `python` or `c`"));
    machine.write("note", "mine");
    assert_eq!(message(&["mine", "--dir", "."]), ". is not empty: choose another folder with --dir\n");
    assert_eq!(files(&machine.path("work")), [(PathBuf::from("note"), b"mine".to_vec())]);
}

#[test]
fn a_run_of_a_cli_is_recorded_without_private_data_and_can_be_checked() {
    let machine = Machine::new();
    machine.script("stranger", "cat; echo \"$HOME $PWD/src $MY_TOKEN\"; echo 'Bearer abcdefgh12' >&2; exit 3");
    machine.write("prompt", "say hello\n");
    machine.write("turn.json", r#"{"session": "s-1"}"#);
    let options = ["--stdin", "prompt", "--turn", "turn.json", "--env", "MY_TOKEN=very-secret"];
    let command = ["--", "stranger", "--dir", &machine.name("work")];
    let run = machine.run(&[&["plugin", "record"], &options[..], &command].concat());

    let (home, work) = (machine.name("home"), machine.name("work"));
    assert_eq!((run.code, run.stdout), (Some(0), format!("say hello\n{home} {work}/src very-secret\n")));
    let lines: Vec<&str> = run.stderr.lines().collect();
    let expected = [
        "Bearer abcdefgh12",
        "recorded fixtures/stranger (exit code 3)",
        "  removed: a bearer token, 1 times",
        "  removed: the home folder, 1 times",
        "  removed: the value of MY_TOKEN, 1 times",
        "  removed: the working directory, 2 times",
    ];
    assert_eq!(lines[..lines.len() - 1], expected);

    let folder = machine.path("work/fixtures/stranger");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let (stdout, stderr) = ("say hello\n/home/user /repo/src REDACTED\n", "Bearer REDACTED\n");
    assert_eq!((read("stdout").as_str(), read("stderr").as_str()), (stdout, stderr));
    let mut meta: Value = serde_json::from_str(&read("meta.json")).unwrap();
    for (reads, stream) in [("stdout_reads", stdout), ("stderr_reads", stderr)] {
        let reads = meta.as_object_mut().unwrap().remove(reads).unwrap();
        let bytes = reads.as_array().unwrap().iter().map(|read| read["bytes"].as_u64().unwrap()).sum::<u64>();
        assert_eq!(bytes, stream.len() as u64);
    }
    meta["wall_ms"].take();
    let expected = json!({
        "cli": "stranger", "argv": ["stranger", "--dir", "/repo"], "stdin": "say hello\n", "exit_code": 3, "signal": null,
        "wall_ms": null, "turn": {"session": "s-1"},
    });
    assert_eq!(meta, expected);

    assert_eq!(check(&machine, &[&built("stranger"), "fixtures", "--renew"]).code, Some(0));
    assert_eq!(check(&machine, &[&built("stranger"), "fixtures"]).code, Some(0));
    let again = machine.run(&["plugin", "record", "--", "stranger"]);
    let expected = "fixtures/stranger already exists: choose another folder with --out, or remove it\n";
    assert_eq!((again.code, again.stderr.as_str()), (Some(2), expected));
}

#[test]
fn a_recorded_cli_and_all_its_processes_end_when_the_author_stops_the_command() {
    let (file, record) = (built("stranger"), ["plugin", "record", "--", "stranger"]);
    let run = ["plugin", "run", &file, "--prompt", "hi", "--allow", "stranger"];
    for (args, signal) in
        [(&record[..], Signal::INT), (&run, Signal::INT), (&record, Signal::KILL), (&run, Signal::KILL)]
    {
        let machine = Machine::new();
        let locks = machine.hanging("stranger", "here");
        let mut program = machine.start(args);
        wait_for("both to run", || locks.iter().all(|lock| lock.exists()));
        kill_process(Pid::from_child(&program), signal).unwrap();
        let code = program.wait().unwrap().code();
        let is_kept = args == record && signal == Signal::INT;
        assert_eq!(code, (signal == Signal::INT).then_some(if is_kept { 0 } else { 2 }));
        for lock in &locks {
            wait_for("it to be ended", || !is_alive(lock));
        }
        let meta = fs::read(machine.path("work/fixtures/stranger/meta.json")).ok();
        let killed = meta.map(|meta| serde_json::from_slice::<Value>(&meta).unwrap()["killed"].take());
        assert_eq!(killed, is_kept.then(|| json!("cancelled")));
    }
}

#[test]
fn a_cli_that_never_ends_is_recorded_until_the_timeout() {
    let machine = Machine::new();
    machine.script("stranger", "echo 'Paste your code here:'; exec sleep 1000");
    let run = machine.run(&["plugin", "record", "--timeout", "1s", "--", "stranger"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("recorded fixtures/stranger (killed)\n"), "{}", run.stderr);
    let read = |name: &str| fs::read_to_string(machine.path("work/fixtures/stranger").join(name)).unwrap();
    let meta: Value = serde_json::from_str(&read("meta.json")).unwrap();
    assert_eq!((read("stdout"), &meta["killed"], &meta["exit_code"]), (run.stdout, &json!("timeout"), &json!(null)));
    assert_eq!(check(&machine, &[&built("stranger"), "fixtures", "--renew"]).code, Some(0));

    let wrong = machine.run(&["plugin", "record", "--timeout", "soon", "--out", "x", "--", "stranger"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("write it as 90s or 5m"), "{}", wrong.stderr);
}

#[test]
fn plugin_run_passes_variables_to_the_cli_as_a_model_does() {
    let machine = Machine::new();
    machine.script("stranger", "echo \"$MADE_UP ${OTHER-none}\"");
    let run = ["plugin", "run", &built("stranger"), "--prompt", "hi", "--allow", "stranger"];
    let run = machine.run(&[&run[..], &["--env", "MADE_UP=here", "--env", "OTHER"]].concat());
    assert!(run.code == Some(0) && run.stdout.contains("here none"), "{}{}", run.stdout, run.stderr);
}

#[test]
fn a_plugin_is_packed_with_its_version_its_checksum_and_the_grant_it_needs() {
    let machine = Machine::new();
    let run = machine.run(&["plugin", "pack", &built("stranger"), "--out", "dist"]);
    let (_, report) = checked_json(&machine, &[&built("stranger")]);
    let sha256 = report["plugin"]["sha256"].as_str().unwrap();
    let stdout = format!(
        "dist/stranger-1.0.0.wasm\ndist/stranger-1.0.0.wasm.sha256\n\nFor the proxy.toml of its users:\n\n\
         [plugins.stranger]\nprograms = [\"stranger\"]\nenv = []\nhome_files = []\nsha256 = \"{sha256}\"\n"
    );
    assert_eq!(run, Run { code: Some(0), stdout, stderr: String::new() });
    let expected = [
        ("stranger-1.0.0.wasm".into(), fs::read(built("stranger")).unwrap()),
        ("stranger-1.0.0.wasm.sha256".into(), format!("{sha256}  stranger-1.0.0.wasm\n").into_bytes()),
    ];
    assert_eq!(files(&machine.path("work/dist")), expected);

    let careless = machine.run(&["plugin", "pack", &built("careless"), "--out", "dist"]);
    assert_eq!((careless.code, careless.stdout.as_str()), (Some(2), ""));
    assert!(careless.stderr.contains("passes a prompt that starts with `-` as an option"), "{}", careless.stderr);
}

/// The names of the custom sections of a component and of everything nested in it.
fn customs(component: &[u8]) -> Vec<String> {
    let sections = wasmparser::Parser::new(0).parse_all(component).map(Result::unwrap);
    let customs = sections.filter_map(|section| match section {
        wasmparser::Payload::CustomSection(custom) => Some(custom.name().to_owned()),
        _ => None,
    });
    customs.collect()
}

#[test]
fn a_stripped_component_gives_the_same_events_without_its_names() {
    let machine = Machine::new();
    let run = machine.run(&["plugin", "pack", &prebuilt("grok"), "--strip", "--out", "dist"]);
    let (whole, stripped) =
        (fs::read(prebuilt("grok")).unwrap(), fs::read(machine.path("work/dist/grok-0.1.0.wasm")).unwrap());
    let (had, by) = (whole.len(), whole.len() - stripped.len());
    assert!(by > had / 10, "{by} of {had}");
    assert!(customs(&whole).contains(&"name".to_owned()));
    assert_eq!(customs(&stripped), Vec::<String>::new());

    let (code, report) = checked_json(&machine, &["dist/grok-0.1.0.wasm", &recorded("grok")]);
    assert_eq!((code, report["runs"].as_array().unwrap().len()), (Some(0), 8));
    let sha256 = report["plugin"]["sha256"].as_str().unwrap();
    let stdout = format!(
        "dist/grok-0.1.0.wasm\ndist/grok-0.1.0.wasm.sha256\nstripped of {by} of {had} bytes\n\nFor the proxy.toml of its \
         users:\n\n[plugins.grok]\nprograms = [\"ax-grok\"]\nenv = []\nhome_files = []\nsha256 = \"{sha256}\"\n"
    );
    assert_eq!(run, Run { code: Some(0), stdout, stderr: String::new() });
    let checksum = fs::read_to_string(machine.path("work/dist/grok-0.1.0.wasm.sha256")).unwrap();
    assert_eq!(checksum, format!("{sha256}  grok-0.1.0.wasm\n"));
}

#[test]
fn the_grant_that_pack_prints_is_the_one_that_add_writes() {
    let machine = Machine::configured("[models.echo]\ndriver = \"echo\"\nrepo = \".\"\n");
    let packed = machine.run(&["plugin", "pack", &prebuilt("claude"), "--out", "dist"]).stdout;
    assert_eq!(machine.run(&["plugin", "add", "dist/claude-0.1.0.wasm", "--yes"]).code, Some(0));
    let written = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    let table = |text: &str| text[text.find("[plugins.claude]").unwrap()..].to_owned();
    assert_eq!(table(&written), table(&packed));
    let home = "home_files = [\".claude.json\", \".credentials.json\", \"settings.json\"]\n";
    assert!(packed.contains(home) && packed.contains("\"DISABLE_TELEMETRY\"]\n"), "{packed}");
}
