//! How to start a CLI: the answer of a plugin, checked for what no process could be started with.
//!
//! Whether the program may be started at all is decided in `run::policy`.

/// A file to write into the run's private folder before the start.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PlanFile {
    name: String,
    text: String,
}

impl PlanFile {
    /// A plain file name: it names something in the folder and nowhere else.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the file holds.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// How to start a CLI.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Plan {
    program: String,
    args: Vec<String>,
    env: Vec<(String, Option<String>)>,
    files: Vec<PlanFile>,
}

/// Why a plan cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The operating system takes no NUL in arguments and variables.
    #[error("the plan has a NUL byte in {0}")]
    Nul(String),
    /// A variable's name is empty or has `=` in it.
    #[error("the plan has a variable named {0:?}")]
    VariableName(String),
    /// A file name would lead out of the run's folder.
    #[error("the plan has a file named {0:?}, which is no plain file name")]
    FileName(String),
    /// More files than a CLI is configured by.
    #[error("the plan has {0} files, and {MOST_FILES} is the most")]
    Files(usize),
}

/// What CLIs are started with: a file of settings, a schema, one of instructions. What is in them is limited by what a
/// call may hand over.
const MOST_FILES: usize = 64;

impl Plan {
    /// Checks the parts of a plan.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn new(
        program: String,
        args: Vec<String>,
        env: Vec<(String, Option<String>)>,
        files: Vec<(String, String)>,
    ) -> Result<Self, PlanError> {
        if let Some(at) = args.iter().position(|arg| arg.contains('\0')) {
            return Err(PlanError::Nul(format!("argument {}", at + 1)));
        }
        for (name, value) in &env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(PlanError::VariableName(shown(name)));
            }
            if value.as_ref().is_some_and(|value| value.contains('\0')) {
                return Err(PlanError::Nul(format!("the variable {}", shown(name))));
            }
        }
        if files.len() > MOST_FILES {
            return Err(PlanError::Files(files.len()));
        }
        for (name, _) in &files {
            if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
                return Err(PlanError::FileName(shown(name)));
            }
        }
        let files = files.into_iter().map(|(name, text)| PlanFile { name, text }).collect();
        Ok(Self { program, args, env, files })
    }

    /// The program's bare name; empty if the plugin declares none.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The arguments.
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// Variables to set, or to take away.
    pub fn env(&self) -> &[(String, Option<String>)] {
        &self.env
    }

    /// Files to write before the start.
    pub fn files(&self) -> &[PlanFile] {
        &self.files
    }
}

/// As much of a name as a message needs.
fn shown(name: &str) -> String {
    name.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(args: &[&str], env: &[(&str, Option<&str>)], files: &[&str]) -> Result<Plan, PlanError> {
        Plan::new(
            "cli".to_owned(),
            args.iter().map(|&arg| arg.to_owned()).collect(),
            env.iter().map(|&(name, value)| (name.to_owned(), value.map(str::to_owned))).collect(),
            files.iter().map(|&name| (name.to_owned(), String::new())).collect(),
        )
    }

    #[test]
    fn what_no_process_can_be_started_with_is_refused() {
        assert_eq!(plan(&["a", "b\0"], &[], &[]), Err(PlanError::Nul("argument 2".to_owned())));
        assert_eq!(plan(&[], &[("A", Some("\0"))], &[]), Err(PlanError::Nul("the variable A".to_owned())));
        for name in ["", "A=B", "A\0"] {
            assert_eq!(plan(&[], &[(name, None)], &[]), Err(PlanError::VariableName(name.to_owned())));
        }
    }

    #[test]
    fn a_file_name_cannot_lead_out_of_the_folder() {
        for name in ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "a\0"] {
            assert_eq!(plan(&[], &[], &[name]), Err(PlanError::FileName(name.to_owned())));
        }
        assert!(plan(&["-"], &[("A", Some("b")), ("C", None)], &["schema.json"]).is_ok());
    }

    #[test]
    fn there_are_not_more_files_than_a_cli_could_want() {
        let names: Vec<String> = (0..=MOST_FILES).map(|number| number.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(plan(&[], &[], &names[1..]).is_ok());
        assert_eq!(plan(&[], &[], &names), Err(PlanError::Files(MOST_FILES + 1)));
    }
}
