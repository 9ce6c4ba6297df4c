//! Every name of the program is in the documents: settings, limits, routes, headers, metrics, codes, messages, commands. The
//! program lists the names where it can; the others are read from the source of the host.

use std::collections::BTreeSet;
use std::fs;

use super::markdown::{Document, checkout};
use super::source::{codes, literals, messages, routes, sources};
use crate::support::{Machine, Request, chat};

const CONFIGURATION: &str = "docs/src/configuration.md";
const API: &str = "docs/src/api.md";

/// The names whose text, made by `text_of`, is not in the document.
fn missing(page: &str, names: &BTreeSet<String>, text_of: impl Fn(&str) -> String) -> Vec<String> {
    let page = Document::read(page).text;
    names.iter().filter(|name| !page.contains(&text_of(name))).cloned().collect()
}

/// The names that are not in the document as code.
fn undocumented(page: &str, names: &BTreeSet<String>) -> Vec<String> {
    missing(page, names, |name| format!("`{name}`"))
}

fn from_source(names: impl Fn(&str) -> Vec<String>) -> BTreeSet<String> {
    sources().iter().flat_map(|source| names(&source.text)).collect()
}

/// The keys of a section: the program lists them in the fault of an unknown key.
fn keys(file: &str, settings: &str) -> BTreeSet<String> {
    let machine = Machine::new();
    machine.write(file, settings);
    let faults = machine.faults();
    let known = faults.iter().find_map(|fault| fault.split("unknown key: the keys here are ").nth(1));
    let known = known.unwrap_or_else(|| panic!("{settings}: {faults:?}"));
    known.split(", ").map(|key| key.trim_matches('`').to_owned()).collect()
}

const MODEL: &str = "[models.m]\ndriver = \"echo\"\nrepo = \".\"\n";
const UNKNOWN: &str = "qqqqqqqqqqqqqqqqqqqq = 1";

#[test]
fn every_settings_key_has_its_row() {
    let section = |name: &str| keys("proxy.toml", &format!("[{name}]\n{UNKNOWN}\n{MODEL}"));
    let in_model = |table: &str| keys("proxy.toml", &format!("{MODEL}{table} = {{ {UNKNOWN} }}\n"));
    let row = |name: &str| format!("\n| `{name}` |");
    let mut count = 0;
    for (what, prefix, known) in [
        ("[server]", "", section("server")),
        ("[plugins]", "", section("plugins")),
        ("[plugins.NAME]", "", section("plugins.x")),
        ("[defaults]", "", section("defaults")),
        ("[models.NAME]", "", keys("proxy.toml", &format!("{MODEL}{UNKNOWN}\n"))),
        ("worktree", "worktree.", in_model("worktree")),
        ("policy", "policy.", in_model("policy")),
        ("[limits]", "", section("limits")),
    ] {
        let lost = missing(CONFIGURATION, &known, |name| row(&format!("{prefix}{name}")));
        assert!(lost.is_empty(), "{CONFIGURATION} has no row of a table for {what}: {lost:?}");
        count += known.len();
    }
    assert!(count > 70, "only {count} keys were found");
    let sections = keys("proxy.toml", &format!("{UNKNOWN}\n{MODEL}"));
    let lost = missing(CONFIGURATION, &sections, |name| format!("\n## `[{name}"));
    assert!(lost.is_empty(), "{CONFIGURATION} has no heading for {lost:?}");
    let unknown = "{\"m\": {\"driver\": \"echo\", \"repoPath\": \".\", \"qqqqqqqqqqqqqqqqqqqq\": 1}}";
    assert_eq!(undocumented(CONFIGURATION, &keys("models.json", unknown)), [""; 0]);
}

#[test]
fn every_limit_has_its_default_and_states_who_may_set_it() {
    let sample = fs::read_to_string(checkout().join("proxy.toml")).unwrap();
    let limits = sample.split("\n[limits]\n").nth(1).expect("the sample has limits");
    let shown: Vec<(&str, &str)> = limits
        .lines()
        .filter(|line| !line.starts_with("# "))
        .filter_map(|line| line.trim_start_matches('#').split_once(" = "))
        .collect();
    assert!(shown.len() > 30, "the sample shows {} limits", shown.len());
    let own = keys("proxy.toml", &format!("{MODEL}limits = {{ {UNKNOWN} }}\n"));
    let page = Document::read(CONFIGURATION).text;
    for (name, default) in shown {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` | `{default}` |")));
        let row = row.unwrap_or_else(|| panic!("{CONFIGURATION} does not say that `{name}` is {default} by default"));
        let setter = if name.starts_with("plugin_") {
            "| plugin |"
        } else if own.contains(name) {
            "| model |"
        } else {
            "| |"
        };
        assert!(row.ends_with(setter), "{row} should end with {setter:?}");
    }
    // Where a limit of plugins is explained to authors, it has the same default.
    let guide = Document::read("docs/src/writing-plugins.md").text;
    for row in page.lines().filter(|line| line.starts_with("| `plugin_")) {
        let (name, default) = (row.split('`').nth(1).unwrap(), row.split('`').nth(3).unwrap().trim_matches('"'));
        let expected = format!("| `{name}` | {default} |");
        assert!(guide.contains(&expected), "docs/src/writing-plugins.md has no row {expected:?}");
    }
}

/// The defaults in parentheses after a key in prose, as `limits.git_timeout` (5 min): key and default in the form of proxy.toml.
fn defaults_in_prose(text: &str) -> Vec<(String, String)> {
    let spans = ["`limits.", "`server.", "`plugins."].into_iter().flat_map(|section| text.split(section).skip(1));
    let default = |span: &str| {
        let (key, behind) = span.split_once('`')?;
        let value = behind.trim_start().strip_prefix('(')?.split([')', ',']).next()?;
        let (number, unit) = value.split_once(' ').unwrap_or((value, ""));
        number.parse::<u64>().ok()?;
        Some((
            key.to_owned(),
            match unit {
                "" => number.to_owned(),
                "KiB" | "MiB" | "GiB" => format!("\"{number} {unit}\""),
                "min" => format!("\"{number}m\""),
                unit => format!("\"{number}{unit}\""),
            },
        ))
    };
    spans.filter_map(default).collect()
}

#[test]
fn defaults_in_prose_are_those_of_the_sample() {
    let sample = fs::read_to_string(checkout().join("proxy.toml")).unwrap();
    let mut count = 0;
    for page in super::markdown::pages() {
        for (key, default) in defaults_in_prose(&page.prose()) {
            let line = format!("\n#{key} = {default}\n");
            assert!(sample.contains(&line), "{}: `{key}` is not {default} by default", page.path);
            count += 1;
        }
    }
    assert!(count > 20, "only {count} defaults were found");
    let found = defaults_in_prose(
        "`limits.git_timeout` (5 min), `limits.queue`, `limits.runs` (all), `server.shutdown_timeout` (30 s, or so)",
    );
    let expected = [("git_timeout", "\"5m\""), ("shutdown_timeout", "\"30s\"")]
        .map(|(key, default)| (key.to_owned(), default.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn every_route_is_on_the_page_of_the_api() {
    let routes = from_source(routes);
    assert!(routes.len() > 10, "only {routes:?} were found");
    assert_eq!(undocumented(API, &routes), [""; 0]);
}

#[test]
fn every_header_is_on_the_page_of_the_api() {
    let prefixes = ["x-", "access-control-", "sec-fetch-", "idempotency-", "grpc-", "amz-"];
    let is_header = |literal: &String| {
        prefixes.iter().any(|prefix| literal.len() > prefix.len() && literal.starts_with(prefix))
            && literal.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let mut headers = from_source(|source| literals(source).into_iter().filter(is_header).collect());
    // Those that have a constant.
    headers.extend(from_source(|source| {
        let named = source.split("header::").skip(1).map(|rest| {
            let name: String = rest.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
            name.to_lowercase().replace('_', "-")
        });
        named.filter(|name| name.len() > 1).collect()
    }));
    assert!(headers.len() > 20, "only {headers:?} were found");
    assert_eq!(undocumented(API, &headers), [""; 0]);
}

#[test]
fn every_category_and_code_is_on_the_page_of_the_api() {
    let contract = fs::read_to_string(checkout().join("wit/agent.wit")).unwrap();
    let categories = contract.split("enum category {").nth(1).and_then(|rest| rest.split('}').next()).unwrap();
    let lines = categories.lines().map(|line| line.split("//").next().unwrap());
    let names = lines.flat_map(|line| line.split(',')).map(|name| name.trim().replace('-', "_"));
    let categories: BTreeSet<String> = names.filter(|name| !name.is_empty()).collect();
    assert_eq!(categories.len(), 10, "{categories:?}");
    let status = |code: &str| format!("\n| `{code}` | ");
    assert_eq!(missing(API, &categories, status), [""; 0]);

    let mut codes = from_source(codes);
    let machine = Machine::configured(&format!("[server]\napi_keys = [\"right\"]\n{MODEL}"));
    let proxy = machine.serve();
    let key = |request: Request| request.header("authorization", "Bearer right");
    let question = || Request::post("/v1/chat/completions", chat("m", "hi").to_string());
    for request in [
        question(),
        key(question()).header("host", "elsewhere.example"),
        key(question()).header("origin", "https://elsewhere.example"),
        key(question()).header("content-type", "text/plain"),
        key(Request::get("/v1/chat/completions")),
        key(Request::get("/nowhere")),
        key(Request::post("/v1/chat/completions", chat("nobody", "hi").to_string())),
        key(Request::post("/v1/chat/completions", "{")),
    ] {
        codes.insert(proxy.send(&request).json()["error"]["code"].as_str().unwrap().to_owned());
    }
    assert!(codes.len() > 12, "only {codes:?} were found");
    assert_eq!(undocumented(API, &codes), [""; 0]);
}

#[test]
fn every_metric_has_its_row_with_its_labels() {
    let machine = Machine::configured(MODEL);
    let proxy = machine.serve();
    proxy.ask("m", "hi");
    let served = proxy.get("/metrics").body;
    let names = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        words
            .filter(|word| word.starts_with("agentbay_") && word.len() > "agentbay_".len())
            .map(str::to_owned)
            .collect()
    };
    let served_names: BTreeSet<String> = served.lines().filter(|line| !line.starts_with('#')).flat_map(names).collect();
    assert!(served_names.len() > 7, "only {served_names:?} were served");
    // A counter without a count is not served, and is in the host's own tests.
    let is_metric = |literal: &String| literal.starts_with("agentbay_") && literal.contains(' ');
    let mut known =
        from_source(|source| literals(source).into_iter().filter(is_metric).flat_map(|text| names(&text)).collect());
    known.extend(served_names);
    let row = |name: &str| format!("\n| `{name}` |");
    assert_eq!(missing("docs/src/metrics.md", &known, row), [""; 0]);

    let page = Document::read("docs/src/metrics.md").text;
    for line in served.lines().filter(|line| !line.starts_with('#')) {
        let Some((name, labels)) = line.split_once('{') else { continue };
        let labels = labels.split("\",").filter_map(|label| label.split("=\"").next());
        let labels: Vec<String> = labels.map(|label| format!("`{label}`")).collect();
        let row = format!("| `{name}` | {} |", labels.join(", "));
        assert!(page.contains(&row), "docs/src/metrics.md has no row {row:?}");
    }
}

/// The commands of the program, each with the options that its help names.
fn commands(machine: &Machine, command: &[&str], found: &mut Vec<(String, Vec<String>)>) {
    let help = machine.run(&[command, &["-h"]].concat()).stdout;
    let part = |heading: &str| help.split(heading).nth(1).map(|rest| rest.split("\n\n").next().unwrap().to_owned());
    let entries = |text: Option<String>| -> Vec<String> {
        let text = text.unwrap_or_default();
        text.lines().filter(|line| !line.starts_with("         ")).map(str::trim).map(str::to_owned).collect()
    };
    let options = entries(part("\nOptions:\n").map(|text| text.replace("      --", "  --")));
    let options = options.iter().filter_map(|line| line.split(' ').find(|word| word.starts_with("--")));
    found.push((command.join(" "), options.map(str::to_owned).collect()));
    for line in entries(part("\nCommands:\n")) {
        let name = line.split(' ').next().unwrap();
        if !name.is_empty() && name != "help" {
            commands(machine, &[command, &[name]].concat(), found);
        }
    }
}

#[test]
fn every_command_and_option_is_in_the_docs() {
    let mut found = Vec::new();
    commands(&Machine::new(), &[], &mut found);
    let text: String = super::markdown::pages().into_iter().map(|page| page.text).collect();
    let mut lost = Vec::new();
    for (command, options) in &found {
        if !text.contains(&format!("agentbay {command}")) && !text.contains(&format!("`{command}")) {
            lost.push(format!("agentbay {command}"));
        }
        let unknown = options.iter().filter(|option| *option != "--help" && !text.contains(option.as_str()));
        lost.extend(unknown.map(|option| format!("agentbay {command} {option}")));
    }
    assert!(found.len() > 12, "only {found:?} were found");
    assert_eq!(lost, [""; 0]);
}

/// Returns whether another text contains the parts of this text, in this order.
fn contains_parts(parts: &str, text: &str) -> bool {
    let mut rest = text;
    parts.split('…').all(|part| match rest.split_once(part.trim()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// The code spans of a table's first cells.
fn shown_messages() -> Vec<String> {
    let page = Document::read("docs/src/troubleshooting.md").text;
    let mut shown = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cell = row.split(" | ").next().unwrap().trim_start_matches("| ");
        let mut rest = cell;
        while let Some(open) = rest.find('`') {
            let ticks = rest[open..].len() - rest[open..].trim_start_matches('`').len();
            let fence = "`".repeat(ticks);
            let Some((span, after)) = rest[open + ticks..].split_once(&fence) else { break };
            shown.push(span.trim().to_owned());
            rest = after;
        }
    }
    assert!(shown.len() > 100, "only {} messages were found", shown.len());
    shown
}

#[test]
fn every_message_that_is_explained_exists() {
    let mut known: Vec<String> = sources().iter().flat_map(|source| literals(&source.text)).collect();
    let no_output = fs::read_to_string(checkout().join("plugins/sdk/src/exit_outcome.rs")).unwrap();
    known.extend(literals(&no_output));
    let lost: Vec<String> =
        shown_messages().into_iter().filter(|shown| !known.iter().any(|text| contains_parts(shown, text))).collect();
    assert!(lost.is_empty(), "no source has these messages of docs/src/troubleshooting.md:\n{}", lost.join("\n"));
}

/// Returns whether a message has words of its own beside its placeholders.
fn has_words(message: &str) -> bool {
    let own = message.split('{').map(|part| part.split_once('}').map_or(part, |(_, own)| own));
    own.flat_map(str::chars).any(char::is_alphabetic)
}

#[test]
fn every_error_of_the_host_is_explained() {
    let shown = shown_messages();
    let is_explained = |message: &String| shown.iter().any(|shown| contains_parts(shown, message));
    let mut lost = Vec::new();
    for source in sources() {
        let own = messages(&source.text).into_iter().filter(|message| has_words(message) && !is_explained(message));
        lost.extend(own.map(|message| format!("{}: {message}", source.path)));
    }
    assert!(lost.is_empty(), "docs/src/troubleshooting.md explains none of these:\n{}", lost.join("\n"));
    assert!([has_words("{a}: b"), has_words("b {}")].into_iter().all(|has| has) && !has_words("{path}:{line}: {0}"));
}
