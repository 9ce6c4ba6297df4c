//! The dialogue with the agent: the order of messages, and which of them are the answer. Protocol version 1, in which the answer
//! to `session/prompt` ends the turn.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde_json::json;

use super::Dialect;
use super::copilot::{self, CopilotMessages, MessageKind};
use super::permission::{self, PermissionPolicy};
use super::rpc::{self, Message};
use super::tokens;
use super::tool::Tool;
use crate::classify::{self, ErrorReport};
use crate::exit_outcome::{limit_failure, merge_final_events};
use crate::unrecognized::Unrecognized;
use crate::{
    AnswerText, Category, Event, ExitStatus, Failure, JsonReader, Level, Outcome, Piece, StderrTail, Stop, StreamName,
    Transcript, Turn, Value, exit_outcome, failed, failed_without_answer, finished, json, notice,
    outcome_without_output, settle,
};

/// The ids of the requests, in the order in which they are sent.
const INITIALIZE: u64 = 1;
const SESSION: u64 = 2;
const PROMPT: u64 = 3;

/// The error code for "authentication required".
const AUTH_REQUIRED: i64 = -32000;

/// The message of the error code -32603, which explains nothing.
const INTERNAL_ERROR: &str = "Internal error";

/// The whole message of Node.js for a lost connection.
const BROKEN_OFF: &str = "terminated";

/// The dialogue with one agent.
#[derive(Debug)]
pub struct Dialogue<D> {
    dialect: PhantomData<D>,
    turn: Turn,
    policy: PermissionPolicy,
    /// The request that the agent has to answer next; `None` before and after the turn.
    awaited: Option<u64>,
    session: String,
    /// The name that the agent reported.
    agent: String,
    /// The login instructions that the agent reported.
    login: String,
    answer_text: AnswerText,
    message: String,
    tools: BTreeMap<String, Tool>,
    copilot: CopilotMessages,
    /// A message that may be the error which ended the turn.
    possible_error: String,
    /// The last refused call, unless the agent continued after it.
    refused: Option<String>,
    /// The answer to the prompt. Updates may follow it.
    answer: Option<Value>,
    understood: bool,
    reader: JsonReader,
    unrecognized: Unrecognized,
    stderr: StderrTail,
}

impl<D: Dialect> Transcript for Dialogue<D> {
    fn new(turn: &Turn) -> Self {
        Self {
            dialect: PhantomData,
            turn: turn.clone(),
            policy: PermissionPolicy::of(turn),
            awaited: None,
            session: String::new(),
            agent: String::new(),
            login: D::login_hint().to_owned(),
            answer_text: AnswerText::default(),
            message: String::new(),
            tools: BTreeMap::new(),
            copilot: CopilotMessages::default(),
            possible_error: String::new(),
            refused: None,
            answer: None,
            understood: false,
            reader: JsonReader::default(),
            unrecognized: Unrecognized::default(),
            stderr: StderrTail::default(),
        }
    }

    fn begin(&mut self, turn: &Turn) -> Vec<Event> {
        self.turn = turn.clone();
        self.policy = PermissionPolicy::of(turn);
        self.awaited = Some(INITIALIZE);
        // File and terminal access is not offered: the agent has its own.
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
            "clientInfo": { "name": "agentbay", "title": "AgentBay", "version": env!("CARGO_PKG_VERSION") },
        });
        vec![rpc::request(INITIALIZE, "initialize", &params)]
    }

    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        match source {
            StreamName::Stdout => {
                let mut reader = std::mem::take(&mut self.reader);
                reader.push_lines(text, &mut |piece| self.piece(piece, &mut events));
                self.reader = reader;
            }
            StreamName::Stderr => self.stderr.push_lines(text),
        }
        events
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        let mut events = Vec::new();
        std::mem::take(&mut self.reader).finish(&mut |piece| self.piece(piece, &mut events));
        merge_final_events(events, || self.end_of_process(how))
    }
}

impl<D: Dialect> Dialogue<D> {
    fn end_of_process(&mut self, how: ExitStatus) -> Outcome {
        let stderr = self.stderr.text();
        let mut outcome = exit_outcome(how, stderr, || match (self.understood, self.unrecognized.is_blank()) {
            (true, _) => failed_without_answer("The agent ended before it had finished its turn", stderr),
            (false, false) => failed_without_answer(&self.unrecognized.message("The agent"), stderr),
            (false, true) => outcome_without_output(stderr, self.turn.session.is_some()),
        });
        if let (Some(failure), false) = (&mut outcome.failure, self.understood) {
            failure.detail = self.unrecognized.detail(std::mem::take(&mut failure.detail));
        }
        outcome
    }

    fn piece(&mut self, piece: Piece<'_>, events: &mut Vec<Event>) {
        let is_understood = self.understood;
        match piece {
            Piece::Object(value, source) => match Message::of(&value) {
                Some(message) => self.message(message, events),
                None => self.unknown(source, events, |unrecognized| unrecognized.object(&value, source, is_understood)),
            },
            Piece::Text(text) if text.trim().is_empty() => {}
            Piece::Text(text) if is_understood => self.unknown(text, events, |_| {}),
            Piece::Text(text) => self.unknown(text, events, |unrecognized| unrecognized.text(text)),
        }
    }

    fn unknown(&mut self, text: &str, events: &mut Vec<Event>, keep: impl FnOnce(&mut Unrecognized)) {
        keep(&mut self.unrecognized);
        if self.awaited.is_some() {
            let shown: String = text.trim_end_matches('\n').chars().take(200).collect();
            events.push(notice(Level::Debug, format!("not a message: {shown}")));
        }
    }

    fn message(&mut self, message: Message<'_>, events: &mut Vec<Event>) {
        if let (Some(_), Message::Notification { method: "session/update", params }) = (&self.answer, &message) {
            return self.late(params, events);
        }
        if self.awaited.is_none() {
            return;
        }
        self.understood = true;
        match message {
            Message::Notification { method: "session/update", params } => self.update(params, events),
            Message::Notification { method, params } => {
                if json::at(params, &["update"]).is_some() {
                    self.unrecognized.kind(Some(method));
                }
            }
            Message::Request { id, method: "session/request_permission", params } => self.ask(id, params, events),
            Message::Request { id, method, .. } => events.push(rpc::method_not_found(id, method)),
            Message::Result { id, result } if self.awaited == Some(id) => self.result(id, result, events),
            Message::Error { id, error } if self.awaited == Some(id) => {
                let failure = self.failure(id, error);
                self.done(failure.into(), events);
            }
            Message::Result { .. } | Message::Error { .. } => {}
        }
    }

    fn result(&mut self, id: u64, result: &Value, events: &mut Vec<Event>) {
        match id {
            INITIALIZE => self.initialized(result, events),
            SESSION => self.opened(result, events),
            _ => self.answered(result, events),
        }
    }

    fn initialized(&mut self, result: &Value, events: &mut Vec<Event>) {
        self.copilot = CopilotMessages::of(result);
        let ways = json::items(result, &["authMethods"]).iter();
        let ways =
            ways.filter_map(|way| json::non_empty_text(way, &["description"]).or(json::non_empty_text(way, &["name"])));
        if self.login.is_empty() {
            self.login = ways.collect::<Vec<_>>().join(", or: ");
        }
        self.agent = json::to_text(result, &["agentInfo", "name"]);
        let can = |name: &str| json::at(result, &["agentCapabilities", "sessionCapabilities", name]).is_some();
        let mut params = json!({ "cwd": self.turn.workdir, "mcpServers": [] });
        if can("additionalDirectories") && !self.turn.extra_dirs.is_empty() {
            params["additionalDirectories"] = json!(self.turn.extra_dirs);
        }
        let method = match self.turn.session.clone() {
            None => "session/new",
            Some(session) if json::is_true(result, &["agentCapabilities", "loadSession"]) => {
                params["sessionId"] = json!(session);
                self.session = session;
                "session/load"
            }
            Some(_) => {
                let message = "The agent cannot resume a session";
                return self.done(failed(Category::Validation, message, ""), events);
            }
        };
        self.awaited = Some(SESSION);
        events.push(rpc::request(SESSION, method, &params));
    }

    /// A loaded session keeps its id, which the agent does not repeat.
    fn opened(&mut self, result: &Value, events: &mut Vec<Event>) {
        if let Some(id) = json::non_empty_id(result, &["sessionId"]) {
            self.session = id;
        }
        events.push(Event::Session(self.session.clone()));
        let blocks = D::blocks(&self.agent, &self.turn.prompt);
        let params = json!({ "sessionId": self.session, "prompt": blocks });
        self.awaited = Some(PROMPT);
        events.push(rpc::request(PROMPT, "session/prompt", &params));
    }

    /// The agent may answer before the last updates of its turn.
    fn answered(&mut self, result: &Value, events: &mut Vec<Event>) {
        events.extend(tokens::of_turn(result).map(Event::Usage));
        self.answer = Some(result.clone());
        self.awaited = None;
        let outcome = self.outcome(result, events);
        events.extend([settle(), Event::Done(outcome)]);
    }

    /// An update after the answer. The last outcome counts.
    fn late(&mut self, params: &Value, events: &mut Vec<Event>) {
        let Some(result) = self.answer.clone() else { return };
        let before = events.len();
        self.update(params, events);
        if events.len() > before {
            let outcome = self.outcome(&result, events);
            events.push(Event::Done(outcome));
        }
    }

    fn outcome(&mut self, result: &Value, events: &mut Vec<Event>) -> Outcome {
        let stop = match json::text(result, &["stopReason"]) {
            Some("cancelled") => {
                let message = "The agent says that the turn was cancelled";
                return failed(Category::Unknown, message, self.stderr.text());
            }
            Some("max_tokens") => Stop::MaxTokens,
            Some("max_turn_requests") => Stop::MaxTurns,
            Some("refusal") => Stop::Refusal,
            Some(_) | None => Stop::EndTurn,
        };
        let possible_error = std::mem::take(&mut self.possible_error);
        if let Some(error) = copilot::error(&possible_error, result) {
            return classify::failure(error).with_login_hint(&self.login).into();
        }
        self.answer_text.push(&possible_error, events);
        match &self.refused {
            Some(call) => refused(call).into(),
            None if self.answer_text.has_text() => Outcome { stop, ..finished(None) },
            None => {
                let failure = self.unrecognized.failure("The agent").or_else(|| limit_failure(stop));
                Outcome { stop, failure, answer: None }
            }
        }
    }

    fn done(&mut self, outcome: Outcome, events: &mut Vec<Event>) {
        self.awaited = None;
        events.extend([Event::EndInput, Event::Done(outcome)]);
    }

    fn failure(&self, id: u64, error: &Value) -> Failure {
        let message = json::text(error, &["message"]).or(error.as_str()).unwrap_or_default();
        let message = message.strip_prefix(INTERNAL_ERROR).unwrap_or(message).trim_start_matches([':', ' ']);
        let details = json::non_empty_text(error, &["data", "details"]).map(String::from);
        let details = details.unwrap_or_else(|| json::to_text(error, &["data"]));
        let text = [message, &details].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n");
        if json::integer(error, &["code"]) == Some(AUTH_REQUIRED) {
            let failure = Failure::new(Category::Authentication, "The agent is not logged in", text);
            return failure.with_login_hint(&self.login);
        }
        let code = if text == BROKEN_OFF { "connection closed" } else { "" };
        let failure = ErrorReport::new(&text).code(code).failure().with_login_hint(&self.login);
        if failure.category == Category::Unknown && id == SESSION && self.turn.session.is_some() {
            return Failure::new(Category::NotFound, "The agent cannot load the session", text);
        }
        failure
    }

    fn update(&mut self, params: &Value, events: &mut Vec<Event>) {
        // Earlier updates repeat the messages of a loaded session.
        if self.awaited != Some(PROMPT) && self.answer.is_none() {
            return;
        }
        let Some(update) = json::at(params, &["update"]) else {
            return;
        };
        let text = json::text(update, &["content", "text"]).unwrap_or_default();
        match json::text(update, &["sessionUpdate"]) {
            Some("agent_message_chunk") => {
                if json::text(update, &["content", "text"]).is_none() {
                    self.unrecognized.kind(json::text(update, &["content", "type"]));
                }
                self.push_text(update, text, events);
                events.extend(tokens::of_step(update).map(Event::Usage));
            }
            Some("agent_thought_chunk") if !text.is_empty() => events.push(Event::Reasoning(text.into())),
            Some("tool_call" | "tool_call_update") => self.tool(update, events),
            Some("agent_thought_chunk" | "user_message_chunk") => {}
            // Plans, commands, modes, context usage.
            kind => {
                if json::at(update, &["content"]).is_some() {
                    self.unrecognized.kind(kind);
                }
            }
        }
    }

    /// Not every agent sends message ids. Without them, tool calls separate messages.
    fn push_text(&mut self, update: &Value, text: &str, events: &mut Vec<Event>) {
        let message = json::text(update, &["messageId"]).unwrap_or_default();
        if message != self.message {
            message.clone_into(&mut self.message);
            self.answer_text.end_message();
        }
        self.release_possible_error(events);
        match self.copilot.kind(text) {
            MessageKind::Answer => self.answer_text.push(text, events),
            MessageKind::Notice => return events.push(notice(Level::Warning, text)),
            MessageKind::PossibleError => text.clone_into(&mut self.possible_error),
        }
        if !text.is_empty() {
            self.refused = None;
        }
    }

    /// Emits the held-back message as text: something follows, so it is not the error that ended the turn.
    fn release_possible_error(&mut self, events: &mut Vec<Event>) {
        let possible_error = std::mem::take(&mut self.possible_error);
        self.answer_text.push(&possible_error, events);
    }

    fn tool(&mut self, update: &Value, events: &mut Vec<Event>) {
        self.release_possible_error(events);
        self.answer_text.end_message();
        let id = json::id(update, &["toolCallId"]);
        let mut tool = self.tools.remove(&id).unwrap_or_default();
        tool.update(update);
        if tool.is_running() || tool.is_over() {
            events.extend(tool.call(&id).map(Event::ToolCall));
        }
        if tool.is_over() {
            let result = tool.result(&id);
            if !result.is_error {
                self.refused = None;
            }
            events.push(Event::ToolResult(result));
        } else {
            self.tools.insert(id, tool);
        }
    }

    /// Answers a permission request, which arrives when the arguments are known.
    fn ask(&mut self, id: &Value, params: &Value, events: &mut Vec<Event>) {
        let call = json::at(params, &["toolCall"]).unwrap_or(&Value::Null);
        let call_id = json::id(call, &["toolCallId"]);
        let tool = self.tools.entry(call_id.clone()).or_default();
        tool.update(call);
        let is_allowed = self.policy.allows(&tool.known());
        if !is_allowed {
            let title = json::to_text(&tool.known(), &["title"]);
            events.push(notice(Level::Info, format!("refused, because `permission` does not allow it: {title}")));
            self.refused = Some(title);
        }
        self.answer_text.end_message();
        events.extend(tool.call(&call_id).map(Event::ToolCall));
        events.push(rpc::answer(id, &permission::outcome(is_allowed, json::items(params, &["options"]))));
    }
}

/// The failure of an agent that ends its turn silently at a refused call.
fn refused(call: &str) -> Failure {
    let message = "The agent ended its turn at a call that was refused: raise `permission` of the model";
    Failure::new(Category::Configuration, message, call)
}
