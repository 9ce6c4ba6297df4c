//! The command line: the model's arguments, those for the features of a turn, and the prompt.

use agentbay_plugin_sdk::{Category, Failure, Permission, Plan, PlanFile, Turn};

use crate::options::{Abilities, Prompt, Settings};

const PROMPT_FILE: &str = "prompt.txt";
const SCHEMA_FILE: &str = "schema.json";

/// The command line. The host supplies the program.
///
/// The order: `args`, arguments for the turn, the prompt. A `--` at the end of `args` stays right before the prompt.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let settings = Settings::read(turn)?;
    let (dashes, args) = match settings.args.split_last() {
        Some((last, args)) if last == "--" => (true, args),
        _ => (false, settings.args.as_slice()),
    };
    let mut plan = Plan::new("", []);
    let mut is_placed = false;
    for arg in args {
        let arg = arg.replace("{workdir}", &turn.workdir).replace("{prompt_file}", &in_run_dir(turn, PROMPT_FILE));
        plan = match (settings.prompt, arg.strip_suffix("{prompt}")) {
            (Prompt::Arg, Some(before)) => {
                is_placed = true;
                as_argument(plan, before, turn)?
            }
            _ => plan.arg(&arg),
        };
    }
    plan = asked(plan, &settings.abilities, turn)?;
    if dashes {
        plan = plan.arg("--");
    }
    match settings.prompt {
        Prompt::Stdin => {}
        Prompt::Arg if is_placed => {}
        Prompt::Arg => plan = as_argument(plan, "", turn)?,
        Prompt::File => plan.files.push(PlanFile { name: PROMPT_FILE.into(), text: turn.prompt.clone() }),
    }
    Ok(plan)
}

fn as_argument(plan: Plan, before: &str, turn: &Turn) -> Result<Plan, Failure> {
    let advice = "where the CLI can read it, set the option `prompt` to \"stdin\" or \"file\"";
    plan.prompt_argument(before, &turn.prompt).map_err(|failure| Failure { detail: advice.into(), ..failure })
}

/// Adds the arguments for the turn, or refuses a feature without arguments.
fn asked(mut plan: Plan, abilities: &Abilities, turn: &Turn) -> Result<Plan, Failure> {
    if let Some(model) = &turn.model {
        let args = able(&abilities.model, Category::Configuration, || {
            format!(
                "`model` is \"{model}\", and the driver `generic` does not know how this CLI takes it: add `model_args`, such as [\"--model\", \"{{model}}\"], to the model's options"
            )
        })?;
        plan = filled(plan, args, "{model}", model)?;
    }
    plan.args.extend(match turn.permission {
        Permission::ReadOnly => able(&abilities.read_only, Category::Configuration, || {
            "`permission` is \"read-only\", and the driver `generic` does not know how this CLI is kept from changing files: add `read_only_args`, such as [\"--plan\"], to the model's options".into()
        })?
        .iter()
        .cloned(),
        Permission::WorkspaceWrite | Permission::FullAccess => abilities.write.iter().cloned(),
    });
    for dir in &turn.extra_dirs {
        let args = able(&abilities.extra_dir, Category::Configuration, || {
            "the driver `generic` does not know how this CLI takes further folders: add `extra_dir_args`, such as [\"--add-dir\", \"{dir}\"], to the model's options".into()
        })?;
        plan = filled(plan, args, "{dir}", dir)?;
    }
    if let Some(schema) = &turn.output_schema {
        let args = able(&abilities.schema, Category::Validation, || {
            "the driver `generic` does not know how this CLI is held to a JSON Schema: add `schema_args`, such as [\"--schema\", \"{schema_file}\"], to the model's options".into()
        })?;
        let file = in_run_dir(turn, SCHEMA_FILE);
        let by_file = args.iter().any(|arg| arg.contains("{schema_file}"));
        plan =
            if by_file { filled(plan, args, "{schema_file}", &file)? } else { filled(plan, args, "{schema}", schema)? };
        if by_file {
            plan.files.push(PlanFile { name: SCHEMA_FILE.into(), text: schema.clone() });
        }
    }
    if let Some(session) = &turn.session {
        let args = able(&abilities.resume, Category::Validation, || {
            "the driver `generic` does not know how this CLI goes on with a session: add `resume_args`, such as [\"--resume\", \"{session}\"], to the model's options".into()
        })?;
        plan = filled(plan, args, "{session}", session)?;
    }
    Ok(plan)
}

fn able(
    args: &Option<Vec<String>>,
    category: Category,
    refusal: impl FnOnce() -> String,
) -> Result<&[String], Failure> {
    args.as_deref().ok_or_else(|| Failure::new(category, refusal(), ""))
}

/// Adds arguments with a value in place of the placeholder. At the start of an argument it must not look like an option.
fn filled(mut plan: Plan, args: &[String], placeholder: &str, value: &str) -> Result<Plan, Failure> {
    for arg in args {
        let whole = arg.replace(placeholder, value);
        plan = if arg.starts_with(placeholder) { plan.value(placeholder, &whole)? } else { plan.arg(&whole) };
    }
    Ok(plan)
}

fn in_run_dir(turn: &Turn, name: &str) -> String {
    format!("{}/{name}", turn.run_dir)
}
