//! Plans: a plugin's instructions for starting a CLI, validated so that the operating system accepts them.
//!
//! Whether the program may be started is decided by the policy in the `runs` crate.

/// A file to write into the run's private folder before the start.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PlanFile {
    name: String,
    text: String,
}

impl PlanFile {
    /// A plain file name, without a path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The content of the file.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A plugin's instructions for starting a CLI.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Plan {
    program: String,
    args: Vec<String>,
    env: Vec<(String, Option<String>)>,
    files: Vec<PlanFile>,
}

/// A reason to refuse a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The operating system accepts no NUL in arguments and variables.
    #[error("the plan has a NUL byte in {0}")]
    NulByte(String),
    /// A variable's name is empty or contains `=`.
    #[error("the plan has a variable with the invalid name {0:?}")]
    InvalidVariableName(String),
    /// A file name would point outside the run's folder.
    #[error("the plan has a file with the invalid name {0:?}: a file name has no path")]
    InvalidFileName(String),
    /// There are too many files.
    #[error("the plan has {0} files: at most {MAX_FILES} are allowed")]
    TooManyFiles(usize),
}

/// CLIs need a few files: settings, a schema, instructions. Their content is limited by the result size of a plugin
/// call.
const MAX_FILES: usize = 64;

impl Plan {
    /// Validates and creates a plan.
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
            return Err(PlanError::NulByte(format!("argument {}", at + 1)));
        }
        for (name, value) in &env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(PlanError::InvalidVariableName(shorten(name)));
            }
            if value.as_ref().is_some_and(|value| value.contains('\0')) {
                return Err(PlanError::NulByte(format!("the variable {}", shorten(name))));
            }
        }
        if files.len() > MAX_FILES {
            return Err(PlanError::TooManyFiles(files.len()));
        }
        for (name, _) in &files {
            if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
                return Err(PlanError::InvalidFileName(shorten(name)));
            }
        }
        let files = files.into_iter().map(|(name, text)| PlanFile { name, text }).collect();
        Ok(Self { program, args, env, files })
    }

    /// The bare name of the program. Empty if the plugin declares none.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The arguments.
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// Variables to set, or, without a value, to remove.
    pub fn env(&self) -> &[(String, Option<String>)] {
        &self.env
    }

    /// Files to write before the start.
    pub fn files(&self) -> &[PlanFile] {
        &self.files
    }
}

/// Shortens a name for a message.
fn shorten(name: &str) -> String {
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
    fn arguments_and_variables_that_no_process_accepts_are_refused() {
        assert_eq!(plan(&["a", "b\0"], &[], &[]), Err(PlanError::NulByte("argument 2".to_owned())));
        assert_eq!(plan(&[], &[("A", Some("\0"))], &[]), Err(PlanError::NulByte("the variable A".to_owned())));
        for name in ["", "A=B", "A\0"] {
            assert_eq!(plan(&[], &[(name, None)], &[]), Err(PlanError::InvalidVariableName(name.to_owned())));
        }
    }

    #[test]
    fn a_file_name_cannot_point_outside_the_folder() {
        for name in ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "a\0"] {
            assert_eq!(plan(&[], &[], &[name]), Err(PlanError::InvalidFileName(name.to_owned())));
        }
        assert!(plan(&["-"], &[("A", Some("b")), ("C", None)], &["schema.json"]).is_ok());
    }

    #[test]
    fn the_number_of_files_is_limited() {
        let names: Vec<String> = (0..=MAX_FILES).map(|number| number.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(plan(&[], &[], &names[1..]).is_ok());
        assert_eq!(plan(&[], &[], &names), Err(PlanError::TooManyFiles(MAX_FILES + 1)));
    }
}
