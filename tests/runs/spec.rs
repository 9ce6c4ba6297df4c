//! Tests from the specification: registry, prompt, command lines, answers in mixed output, and an agent file that is
//! obeyed. The CLIs are small scripts, or the stand-in where a test reads what a CLI received.

use serde_json::{Value, json};

use crate::support::{Machine, Repo, chat, codex_says, error};

/// Gemini CLI's JSON lines for a message with `text` and the end of the turn.
fn gemini_says(text: &str) -> String {
    let message = json!({"type": "message", "role": "assistant", "content": text, "delta": true});
    format!("{message}\n{}\n", json!({"type": "result", "status": "success"}))
}

fn qwen_says(text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    let message = json!({"type": "assistant", "message": {"role": "assistant", "content": content}});
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": text});
    format!("{message}\n{result}\n")
}

/// A script that ignores its input and prints a fixed text.
fn echoing(output: &str) -> String {
    format!("cat > /dev/null\ncat <<'END'\n{output}END")
}

/// A machine with a models.json for three models, each with its own CLI and repository.
fn three_models() -> (Machine, [Repo; 3]) {
    let machine = Machine::new();
    let repos = ["repoX", "repoY", "repoZ"].map(|name| machine.repo(name));
    let [x, y, z] = &repos;
    let models = json!({
        "codex-repoX": {"driver": "codex", "repoPath": x.name(), "agentFile": "AGENTS.md", "worktree": false},
        "qwen-repoY": {"driver": "qwen", "repoPath": y.name()},
        "gemini-repoZ": {"driver": "gemini", "repoPath": z.name(), "agentFile": "OTHER.md"},
    });
    machine.write("models.json", models.to_string());
    (machine, repos)
}

#[test]
fn the_models_of_a_registry_answer_with_the_output_of_their_clis() {
    let (machine, _repos) = three_models();
    machine.script("codex", &echoing(&codex_says("Codex was here.")));
    machine.script("qwen", &echoing(&qwen_says("Qwen was here.")));
    machine.script("gemini", &echoing(&gemini_says("Gemini was here.")));
    let proxy = machine.serve();
    assert_eq!(proxy.models(), ["codex-repoX", "gemini-repoZ", "qwen-repoY"]);
    assert_eq!(proxy.ask("codex-repoX", "hi"), "Codex was here.");
    assert_eq!(proxy.ask("qwen-repoY", "hi"), "Qwen was here.");
    assert_eq!(proxy.ask("gemini-repoZ", "hi"), "Gemini was here.");
}

/// The arguments and the folder that a CLI was started with.
fn started(machine: &Machine, cli: &str) -> (Value, Value) {
    let seen = machine.seen(cli);
    (seen["argv"].clone(), seen["cwd"].clone())
}

#[test]
pub(crate) fn each_cli_is_started_with_its_arguments_in_its_repository() {
    let (machine, [x, y, z]) = three_models();
    machine.recording("codex", &["say", &codex_says("c")]);
    machine.recording("qwen", &["say", &qwen_says("q")]);
    machine.recording("gemini", &["say", &gemini_says("g")]);
    let proxy = machine.serve();

    assert_eq!(proxy.ask("codex-repoX", "hi"), "c");
    let argv =
        json!(["exec", "--json", "--cd", x.name(), "--skip-git-repo-check", "--sandbox", "workspace-write", "-"]);
    assert_eq!(started(&machine, "codex"), (argv, x.name().into()));

    assert_eq!(proxy.ask("qwen-repoY", "hi"), "q");
    let format = ["--output-format", "stream-json", "--input-format", "stream-json"];
    let argv = json!([&format[..], &["--approval-mode", "auto-edit"]].concat());
    assert_eq!(started(&machine, "qwen"), (argv, y.name().into()));
    assert_eq!(proxy.streamed("qwen-repoY", "hi").content, "q");
    let argv = json!([&format[..], &["--include-partial-messages", "--approval-mode", "auto-edit"]].concat());
    assert_eq!(started(&machine, "qwen"), (argv, y.name().into()));

    assert_eq!(proxy.ask("gemini-repoZ", "hi"), "g");
    let argv = json!(["--output-format", "stream-json", "--approval-mode", "auto_edit", "--skip-trust"]);
    assert_eq!(started(&machine, "gemini"), (argv, z.name().into()));
}

#[test]
fn a_models_settings_become_arguments_of_its_cli() {
    let machine = Machine::configured(
        "[defaults]\nrepo = \".\"\n[models.m]\ndriver = \"codex\"\nmodel = \"gpt-x\"\npermission = \"read-only\"\n",
    );
    machine.recording("codex", &["say", &codex_says("c")]);
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", "hi"), "c");
    let work = machine.name("work");
    let argv = json!([
        "exec",
        "--json",
        "--cd",
        work,
        "--skip-git-repo-check",
        "--sandbox",
        "read-only",
        "--model",
        "gpt-x",
        "-"
    ]);
    assert_eq!(started(&machine, "codex"), (argv, work.into()));
}

/// A machine with one model that uses the driver `generic` with these options.
fn generic(options: &str) -> Machine {
    Machine::configured(&format!(
        "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = {{ {options} }}\n"
    ))
}

#[test]
fn a_generic_cli_receives_its_arguments_and_the_prompt_where_its_options_put_it() {
    let machine = generic("args = [\"--quiet\", \"a b\"]");
    machine.recording("cli", &["say", "done"]);
    assert_eq!(machine.serve().ask("m", "--help"), "done");
    let seen = machine.seen("cli");
    assert_eq!((&seen["argv"], &seen["stdin"]), (&json!(["--quiet", "a b"]), &json!("--help")));

    let machine = generic("args = [\"-p\"], prompt = \"arg\"");
    machine.recording("cli", &["say", "done"]);
    assert_eq!(machine.serve().ask("m", "--help"), "done");
    let seen = machine.seen("cli");
    assert_eq!((&seen["argv"], &seen["stdin"]), (&json!(["-p", " --help"]), &json!("")));
}

#[test]
fn the_prompt_is_the_agent_file_and_the_task_or_the_task_alone() {
    let (machine, [x, ..]) = three_models();
    for cli in ["codex", "qwen", "gemini"] {
        let says = match cli {
            "codex" => codex_says("c"),
            "qwen" => qwen_says("q"),
            _ => gemini_says("g"),
        };
        machine.recording(cli, &["say", &says]);
    }
    x.commit("AGENTS.md", "Always answer in rhyme.\nNever swear.\n");
    let proxy = machine.serve();
    let mut body = chat("codex-repoX", "Say hello.");
    body["messages"].as_array_mut().unwrap().insert(0, json!({"role": "system", "content": "Be brief."}));

    assert_eq!(proxy.complete(&body).status, 200);
    let with = "Always answer in rhyme.\nNever swear.\n\n--- USER TASK ---\nBe brief.\nSay hello.";
    assert_eq!(machine.seen("codex")["stdin"], with);
    let without = "Be brief.\nSay hello.";
    body["model"] = "gemini-repoZ".into();
    assert_eq!(proxy.complete(&body).status, 200);
    assert_eq!(machine.seen("gemini")["stdin"], without);
    // Qwen Code changes a prompt that it reads as plain text, so it receives a message.
    body["model"] = "qwen-repoY".into();
    assert_eq!(proxy.complete(&body).status, 200);
    let message: Value = serde_json::from_str(machine.seen("qwen")["stdin"].as_str().unwrap()).unwrap();
    assert_eq!(message["message"]["content"][0]["text"], without);
}

#[test]
fn a_run_gets_a_dumb_terminal_and_few_variables() {
    let machine = Machine::configured(
        "[models.m]\ndriver = \"codex\"\nrepo = \".\"\nenv = { CI = false, MINE = \"1\", AGENTBAY_LOG = true, AGENTBAY_RUN = false }\n",
    );
    machine.recording("codex", &["say", &codex_says("c")]);
    assert_eq!(machine.serve().ask("m", "hi"), "c");
    let mut env = machine.seen("codex")["env"].take();
    // The shell of the script sets these.
    for name in ["PWD", "OLDPWD", "SHLVL", "_", "XDG_CACHE_HOME"] {
        env.as_object_mut().unwrap().remove(name);
    }
    // This identifies the processes of the run.
    let mark = env.as_object_mut().unwrap().remove("AGENTBAY_RUN").unwrap();
    assert_eq!(mark.as_str().unwrap().split('/').count(), 4, "{mark}");
    let path = format!("{}:{}", machine.name("bin"), machine.name("tools"));
    let home = machine.name("home");
    assert_eq!(env, json!({"HOME": home, "MINE": "1", "NO_COLOR": "1", "PATH": path, "TERM": "dumb"}));
}

#[test]
fn only_the_last_block_of_mixed_output_is_the_answer() {
    let machine = generic("");
    let output = "Loading model...\n[tool] ls\nREADME.md\n\n\x1b[32mThe answer\x1b[0m is 42.  \r\nIt was 41.\n\n  \n\n";
    machine.recording("cli", &["say", "--err", "warning: old version\n", output]);
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", "hi"), "The answer is 42.  \nIt was 41.");
    assert_eq!(proxy.streamed("m", "hi").content, "The answer is 42.  \nIt was 41.");
}

/// INV-CLI-PARSE-004.
#[test]
fn escape_sequences_are_stripped_before_events_are_read_and_from_standard_error() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\nretries = 0\n");
    let coloured = codex_says("plain")
        .replace("{\"item\"", "\x1b[2K\x1b[1G{\"item\"")
        .replace(":\"agent", ":\x1b[32m\"agent\x1b[0m");
    machine.recording("codex", &["say", &format!("\x1b]0;title\x07{coloured}")]);
    assert_eq!(machine.serve().ask("m", "hi"), "plain");
    machine.recording("codex", &["say", "--err", "\x1b[31mboom\x1b[0m\n", "--exit", "3", ""]);
    let answer = machine.serve().complete(&chat("m", "hi"));
    assert_eq!(answer.json()["error"]["detail"], "boom");
}

#[test]
fn empty_output_is_answered_as_no_output() {
    let machine = generic("");
    machine.stand_in("cli", &["say", " \n\n"]);
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", "hi"), "No output from CLI.");
    assert_eq!(proxy.streamed("m", "hi").content, "No output from CLI.");
}

#[test]
fn an_agent_file_that_forces_an_answer_is_obeyed() {
    let machine = generic("");
    let repo = machine.repo("repo").with("AGENTS.md", "FORCED: forty-two\n");
    let toml = format!("[models.m]\ndriver = \"generic\"\nrepo = \"{}\"\nprogram = \"cli\"\n", repo.name());
    machine.write("proxy.toml", toml);
    // An agent that obeys its agent file.
    machine.script("cli", "grep -o 'FORCED: .*' || echo 'no rule'");
    assert_eq!(machine.serve().ask("m", "What is six times nine?"), "FORCED: forty-two");
}

#[test]
pub(crate) fn a_failed_cli_is_answered_with_its_standard_error() {
    let machine = generic("");
    machine.stand_in("cli", &["say", "--err", "boom: no such thing\n", "--exit", "3", "half an answer"]);
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("m", "hi"));
    let expected =
        error("CLI failed: boom: no such thing", "server_error", None, "unknown", Some("boom: no such thing"));
    assert_eq!((answer.status, answer.json()), (500, expected));
    assert_eq!(answer.header("x-should-retry"), Some("false"));
}
