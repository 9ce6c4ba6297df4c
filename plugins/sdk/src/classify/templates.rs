//! The table in other languages, for the projects of `agentbay plugin new`. `RENEW=1` writes the files.

use std::path::Path;
use std::{fs, io};

use super::table::{Row, TABLE};
use crate::testing::golden::category;

const ABOUT: &str =
    "Error texts of CLIs and their failure categories: the table of AgentBay's SDK. The first matching row counts.";

fn list<T>(items: &[T], shown: impl Fn(&T) -> String) -> String {
    items.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// The rows for JavaScript and Python, which differ only in their truth values.
fn rows(yes: &str, no: &str) -> String {
    let row = |row: &Row| {
        let statuses = list(row.statuses, u64::to_string);
        let words = list(row.words, |words| format!("{words:?}"));
        let burst = if row.burst_only { yes } else { no };
        format!("    [{:?}, {:?}, [{statuses}], [{words}], {burst}],\n", category(row.category), row.message)
    };
    TABLE.iter().map(row).collect()
}

fn javascript() -> String {
    let fields = "Each row: category, message, HTTP statuses, words, whether it counts only with a short wait.";
    format!("// {ABOUT}\n// {fields}\nexport const TABLE = [\n{}];\n", rows("true", "false"))
}

fn python() -> String {
    let fields = "Each row: category, message, HTTP statuses, words, whether it counts only with a short wait.";
    format!("\"\"\"{ABOUT}\n\n{fields}\n\"\"\"\n\nTABLE = [\n{}]\n", rows("True", "False"))
}

fn c() -> String {
    let row = |row: &Row| {
        let category = category(row.category).to_uppercase().replace('-', "_");
        let statuses = list(row.statuses, u64::to_string);
        let statuses = if statuses.is_empty() { "0".to_owned() } else { format!("{statuses}, 0") };
        let words = row.words.iter().map(|words| format!("{words:?}, ")).collect::<String>();
        let burst = row.burst_only;
        format!(
            "    {{EXPORTS_AGENT_CATEGORY_{category}, {:?}, {{{statuses}}}, {burst},\n     (const char *[]){{{words}0}}}},\n",
            row.message
        )
    };
    let rows: String = TABLE.iter().map(row).collect();
    format!("// {ABOUT}\n// Lists end with 0.\n{rows}")
}

#[test]
#[expect(clippy::disallowed_methods, reason = "an explicit request of the person who runs the test")]
fn the_templates_have_the_table_of_the_sdk() -> io::Result<()> {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../templates");
    for (file, text) in [
        ("js/failure-table.js", javascript()),
        ("python/failure_table.py", python()),
        ("c/support/failure_table.h", c()),
    ] {
        let path = templates.join(file);
        if std::env::var_os("RENEW").is_some() {
            fs::write(&path, text)?;
        } else {
            let is_same = fs::read_to_string(&path)? == text;
            assert!(
                is_same,
                "{file} differs from the table of the SDK; to update it: RENEW=1 cargo test -p agentbay-plugin-sdk the_templates"
            );
        }
    }
    Ok(())
}
