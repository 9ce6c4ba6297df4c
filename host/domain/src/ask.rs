//! What a client asks of an answer besides its content: its format, and where it ends.

/// The requirements of an answer. The default requires nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// The format of the answer.
    pub format: AnswerFormat,
    /// Texts before which the answer ends. None of them is empty.
    pub stop: Vec<String>,
    /// The maximum length in tokens.
    pub max_output: Option<u64>,
}

/// The format of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AnswerFormat {
    /// Any text.
    #[default]
    Text,
    /// A JSON object.
    Json,
    /// JSON that follows a schema.
    Schema(AnswerSchema),
}

/// The schema of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSchema {
    /// Its name, for error messages; may be empty.
    pub name: String,
    /// The JSON Schema, an object.
    pub json: String,
}
