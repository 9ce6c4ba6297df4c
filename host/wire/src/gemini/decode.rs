//! Decodes a request: the conversation, and the form of the answer. The model is in the path.
//!
//! Clients mix snake_case and camelCase at any depth, which is why no name here has a second spelling.

use agentbay_domain::{AnswerFormat, AnswerSchema, Ask, Conversation};

use super::schema::{Dialect, translated};
use crate::body;
use crate::conversation::{self, Field};
use crate::ignored;
use crate::malformed::Malformed;
use crate::raw::Raw;
use crate::tool_choice;

/// A request for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerateRequest {
    /// The conversation to answer.
    pub conversation: Conversation,
    /// What the answer must be like.
    pub ask: Ask,
    /// The answer includes the reasoning before it.
    pub thoughts: bool,
    /// The names of the parameters that have no effect, sorted.
    pub ignored: Vec<String>,
}

/// The keys of a body, and of `generationConfig`, that have an effect.
const USED: [&str; 6] = ["contents", "systemInstruction", "generationConfig", "toolConfig", "cachedContent", "model"];
const USED_CONFIG: [&str; 9] = [
    "candidateCount",
    "responseModalities",
    "thinkingConfig",
    "stopSequences",
    "maxOutputTokens",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "_responseJsonSchema",
];

const CONTENTS: Field = Field {
    name: "contents",
    missing: "`contents` is missing: send a list with at least one content of the role `user`",
};

/// Decodes a request for an answer. Unknown keys are ignored.
///
/// # Errors
/// See [`Malformed`].
pub fn decode(body: &[u8]) -> Result<GenerateRequest, Malformed> {
    let json = body::json(body, "`contents`")?;
    let body = json.value();
    let [contents, system, config] = body.fields(["contents", "systemInstruction", "generationConfig"]);
    let [tool_config, cached] = body.fields(["toolConfig", "cachedContent"]);
    let mode = tool_config.and_then(|config| config.field("functionCallingConfig")).and_then(|c| c.field("mode"));
    if !mode.is_none_or(tool_choice::is_free) {
        let message = "an agent uses its own tools and cannot be made to call the client's: leave `toolConfig` out";
        return Err(Malformed::field("toolConfig", message));
    }
    if cached.is_some_and(|cached| cached.text().is_none_or(|name| !name.is_empty())) {
        let message = "there is no cached content here: send all of the conversation in `contents`";
        return Err(Malformed::field("cachedContent", message));
    }
    let ignored =
        ignored::of_all([(body, &USED[..])].into_iter().chain(config.map(|config| (config, &USED_CONFIG[..]))));
    let config = Config(config);
    config.check()?;
    let conversation = conversation::read(conversation::instructions(system), contents, CONTENTS)?;
    Ok(GenerateRequest { conversation, ask: config.ask()?, thoughts: config.thoughts(), ignored })
}

/// Estimates the tokens of a request that is not sent to an agent.
///
/// # Errors
/// See [`Malformed`].
pub fn count_tokens(body: &[u8]) -> Result<u64, Malformed> {
    let json = body::json(body, "`contents`")?;
    let body = json.value();
    let request = body.field("generateContentRequest").unwrap_or(body);
    let [contents, system, tools] = request.fields(["contents", "systemInstruction", "tools"]);
    let mut messages = conversation::history(contents, CONTENTS)?;
    messages.append(&mut conversation::instructions(system));
    Ok(conversation::tokens(&messages, tools))
}

/// `generationConfig`.
struct Config<'a>(Option<Raw<'a>>);

impl<'a> Config<'a> {
    fn fields<const N: usize>(&self, names: [&str; N]) -> [Option<Raw<'a>>; N] {
        self.0.map_or([None; N], |config| config.fields(names))
    }

    fn check(&self) -> Result<(), Malformed> {
        let [candidates, modalities] = self.fields(["candidateCount", "responseModalities"]);
        if candidates.is_some_and(|count| !matches!(count.number(), Some(0.0 | 1.0))) {
            let message = "an agent gives one answer: leave `candidateCount` out, or set it to 1";
            return Err(Malformed::field("generationConfig.candidateCount", message));
        }
        let modalities = modalities.and_then(Raw::items).unwrap_or_default();
        let is_text = |modality: &Raw<'_>| {
            let name = modality.text().unwrap_or_default().to_ascii_uppercase();
            matches!(name.as_str(), "TEXT" | "MODALITY_UNSPECIFIED")
        };
        if !modalities.is_empty() && !modalities.iter().any(is_text) {
            let message = "an agent answers in text: leave `responseModalities` out, or name `TEXT` in it";
            return Err(Malformed::field("generationConfig.responseModalities", message));
        }
        Ok(())
    }

    fn thoughts(&self) -> bool {
        let [thinking] = self.fields(["thinkingConfig"]);
        thinking.and_then(|thinking| thinking.field("includeThoughts")).and_then(Raw::flag).unwrap_or(false)
    }

    fn ask(&self) -> Result<Ask, Malformed> {
        let [stop, max] = self.fields(["stopSequences", "maxOutputTokens"]);
        let stop = body::texts(stop, "generationConfig.stopSequences")?;
        // Zero is a number that is not set in Google's JSON.
        let max = max.filter(|max| max.number() != Some(0.0));
        let max_output = body::max_output(max, "generationConfig.maxOutputTokens")?;
        Ok(Ask { format: self.format()?, stop, max_output })
    }

    fn format(&self) -> Result<AnswerFormat, Malformed> {
        let [mime, schema, json_schema] = self.fields(["responseMimeType", "responseSchema", "responseJsonSchema"]);
        let mime = mime.and_then(Raw::text).unwrap_or_default().trim().to_ascii_lowercase();
        if mime == "text/x.enum" {
            let message =
                "`text/x.enum` is not available: ask for `application/json`, with a schema that has an `enum`";
            return Err(Malformed::field("generationConfig.responseMimeType", message));
        }
        let given = json_schema.map(|schema| (schema, Dialect::JsonSchema, "generationConfig.responseJsonSchema"));
        match given.or(schema.map(|schema| (schema, Dialect::OpenApi, "generationConfig.responseSchema"))) {
            Some((schema, dialect, param)) => {
                let refuse = || Malformed::field(param, "the schema is not an object, or nested more than 100 deep");
                let json = translated(schema, dialect).ok_or_else(refuse)?;
                let name = schema.field("title").and_then(Raw::text).unwrap_or_default();
                Ok(AnswerFormat::Schema(AnswerSchema { name, json }))
            }
            // Any JSON, not only an object.
            None if mime == "application/json" => {
                Ok(AnswerFormat::Schema(AnswerSchema { name: String::new(), json: "{}".to_owned() }))
            }
            None => Ok(AnswerFormat::Text),
        }
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{Block, Message, Role};
    use serde_json::{Value, json};

    use super::*;

    fn decoded(body: &Value) -> Result<GenerateRequest, Malformed> {
        decode(body.to_string().as_bytes())
    }

    fn with_config(config: &Value) -> Value {
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "generationConfig": config})
    }

    #[test]
    fn contents_and_instructions_are_read_in_every_form() {
        let user = Message::text(Role::User, "hi");
        for contents in [
            json!("hi"),
            json!(["hi"]),
            json!([{"text": "hi"}]),
            json!({"parts": {"text": "hi"}}),
            json!([{"parts": [{"text": "hi"}]}]),
            json!([{"role": "", "parts": [{"text": "hi", "thought_signature": "x"}]}]),
            json!([{"role": "USER", "parts": [{"text": "hi"}]}]),
        ] {
            let request = decoded(&json!({"contents": contents})).unwrap();
            assert_eq!(request.conversation.messages(), std::slice::from_ref(&user), "{contents}");
        }
        let expected = [Message::text(Role::System, "be brief"), user];
        for system in [
            json!("be brief"),
            json!({"parts": [{"text": "be brief"}]}),
            json!({"role": "user", "parts": {"text": "be brief"}}),
            json!([{"text": "be brief"}]),
            json!([{"role": "system", "parts": [{"text": "be brief"}]}]),
        ] {
            for key in ["systemInstruction", "system_instruction"] {
                let request = decoded(&json!({"contents": "hi", key: system})).unwrap();
                assert_eq!(request.conversation.messages(), expected, "{system}");
            }
        }
        for empty in [json!(""), json!({}), json!({"parts": []}), Value::Null] {
            let request = decoded(&json!({"contents": "hi", "systemInstruction": empty})).unwrap();
            assert_eq!(request.conversation.messages().len(), 1, "{empty}");
        }
    }

    #[test]
    fn calls_results_thoughts_and_media_are_read_in_both_spellings() {
        let call = Block::Call { id: "1".to_owned(), name: "f".to_owned(), input: r#"{"a":1}"#.to_owned() };
        let result = Block::Result {
            call: "1".to_owned(),
            name: Some("f".to_owned()),
            text: r#"{"output":"x"}"#.to_owned(),
            is_error: false,
        };
        let image = Block::Attachment { kind: "image/png".to_owned(), shown: "[image]".to_owned() };
        for (call_key, result_key, data_key, mime_key) in [
            ("functionCall", "functionResponse", "inlineData", "mimeType"),
            ("function_call", "function_response", "inline_data", "mime_type"),
        ] {
            let contents = json!([
                {"role": "user", "parts": [{"text": "look"}, {data_key: {mime_key: "image/png", "data": "_-8="}}]},
                {"role": "model", "parts": [
                    {"text": "hm", "thought": true}, {"text": "so", "thoughtSignature": "c2ln"},
                    {call_key: {"id": "1", "name": "f", "args": {"a": 1}}, "thought_signature": "c2ln"},
                ]},
                {"role": "user", "parts": [{result_key: {"id": "1", "name": "f", "response": {"output": "x"}}}]},
            ]);
            let request = decoded(&json!({"contents": contents})).unwrap();
            let blocks: Vec<&[Block]> = request.conversation.messages().iter().map(|m| &m.blocks[..]).collect();
            let text = |text: &str| Block::Text(text.to_owned());
            assert_eq!(blocks[0], [text("look"), image.clone()]);
            assert_eq!(blocks[1], [Block::Reasoning("hm".to_owned()), text("so"), call.clone()]);
            assert_eq!(blocks[2], std::slice::from_ref(&result));
        }
    }

    #[test]
    fn the_form_of_the_answer_is_read() {
        let schema = |name: &str, json: &str| {
            AnswerFormat::Schema(AnswerSchema { name: name.to_owned(), json: json.to_owned() })
        };
        for (config, format) in [
            (json!({}), AnswerFormat::Text),
            (json!({"responseMimeType": "text/plain"}), AnswerFormat::Text),
            (json!({"response_mime_type": "application/json"}), schema("", "{}")),
            (
                json!({"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT", "title": "Out"}}),
                schema("Out", r#"{"title":"Out","type":"object"}"#),
            ),
            (json!({"response_json_schema": {"type": "object"}}), schema("", r#"{"type":"object"}"#)),
        ] {
            assert_eq!(decoded(&with_config(&config)).unwrap().ask.format, format, "{config}");
        }
        let config = json!({
            "stopSequences": ["END", "", null], "max_output_tokens": "100", "candidateCount": 1, "temperature": 2,
            "thinkingConfig": {"include_thoughts": true, "thinkingBudget": -1}, "responseModalities": ["IMAGE", "text"],
        });
        let GenerateRequest { ask, thoughts, ignored, .. } = decoded(&with_config(&config)).unwrap();
        assert_eq!((ask.stop, ask.max_output, thoughts), (vec!["END".to_owned()], Some(100), true));
        assert_eq!(ignored, ["temperature"]);
        let unset = json!({"stopSequences": [], "maxOutputTokens": 0, "candidateCount": 0, "thinkingConfig": {}});
        let GenerateRequest { ask, thoughts, .. } = decoded(&with_config(&unset)).unwrap();
        assert_eq!((ask, thoughts), (Ask::default(), false));
        let unused = json!({"contents": "hi", "safety_settings": [{}], "tools": [], "generation_config": {"top_k": 1, "topP": null}});
        assert_eq!(decoded(&unused).unwrap().ignored, ["safety_settings", "top_k"]);
    }

    #[test]
    fn an_unsupported_request_is_refused_with_the_name_of_the_field() {
        let with = |key: &str, value: Value| json!({"contents": "hi", key: value});
        for (body, param, says) in [
            (json!({}), Some("contents"), "`contents` is missing"),
            (json!({"contents": 1}), Some("contents"), "`contents` is missing"),
            (json!({"contents": []}), Some("contents"), "empty"),
            (json!({"contents": [{"role": "robot", "parts": []}]}), Some("contents"), "`robot`"),
            (json!([]), None, "not a JSON object"),
            (with("cachedContent", json!("cachedContents/x")), Some("cachedContent"), "no cached content"),
            (with("toolConfig", json!({"function_calling_config": {"mode": "ANY"}})), Some("toolConfig"), "own tools"),
            (with_config(&json!({"candidateCount": 2})), Some("generationConfig.candidateCount"), "one answer"),
            (
                with_config(&json!({"responseModalities": ["IMAGE"]})),
                Some("generationConfig.responseModalities"),
                "in text",
            ),
            (
                with_config(&json!({"responseMimeType": "text/x.enum"})),
                Some("generationConfig.responseMimeType"),
                "application/json",
            ),
            (
                with_config(&json!({"maxOutputTokens": -1})),
                Some("generationConfig.maxOutputTokens"),
                "not a positive number",
            ),
            (with_config(&json!({"stopSequences": 1})), Some("generationConfig.stopSequences"), "not a list"),
            (with_config(&json!({"responseSchema": []})), Some("generationConfig.responseSchema"), "not an object"),
            (
                with_config(&json!({"responseJsonSchema": 1})),
                Some("generationConfig.responseJsonSchema"),
                "not an object",
            ),
        ] {
            let refused = decoded(&body).unwrap_err();
            assert_eq!(refused.param, param, "{body}");
            assert!(refused.message.contains(says), "{refused}");
        }
        for mode in
            [json!({}), json!({"mode": "AUTO"}), json!({"mode": "MODE_UNSPECIFIED", "allowedFunctionNames": []})]
        {
            let free = json!({"functionCallingConfig": mode, "retrievalConfig": {"languageCode": "en"}});
            assert!(decoded(&with("toolConfig", free)).is_ok(), "{mode}");
        }
    }

    #[test]
    fn the_tokens_of_a_request_are_estimated_also_of_one_that_no_agent_can_answer() {
        let image = json!({"inlineData": {"data": "x".repeat(400), "mimeType": "image/png"}});
        let contents = json!([{"role": "user", "parts": [{"text": "x".repeat(33)}, image]}]);
        let count = |body: &Value| count_tokens(body.to_string().as_bytes());
        assert_eq!(count(&json!({"contents": contents})), Ok(10));
        let system = json!({"parts": [{"text": "y".repeat(40)}]});
        let request = json!({"model": "models/m", "contents": contents, "systemInstruction": system});
        assert_eq!(count(&json!({"generateContentRequest": request})), Ok(20));
        assert!(count(&json!({})).is_err());
    }
}
