//! Owns the dialogue with the agent: who says what after what, and what of it is the answer. Protocol version 1, in which
//! the answer to `session/prompt` ends the turn.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde_json::json;

use super::Dialect;
use super::asides::{self, Asides, Judgement};
use super::permission::{self, Leave};
use super::rpc::{self, Message};
use super::tokens;
use super::tool::Tool;
use crate::classify::{self, Report};
use crate::ending::{at_the_end, cut_off};
use crate::unread::Unread;
use crate::{
    Category, Event, ExitStatus, Failure, JsonReader, Level, Outcome, Piece, Speech, StderrTail, Stop, StreamName,
    Transcript, Turn, Value, ended, ended_without_answer, failed, finished, json, notice, settle, silent,
};

/// The numbers of the requests, in the order in which they are sent.
const INITIALIZE: u64 = 1;
const SESSION: u64 = 2;
const PROMPT: u64 = 3;

/// The error code for "authentication required".
const AUTH_REQUIRED: i64 = -32000;

/// The words of the error code -32603, which tell nothing.
const INTERNAL_ERROR: &str = "Internal error";

/// All that Node.js says where a connection broke off.
const BROKEN_OFF: &str = "terminated";

/// One agent and what is said to it.
#[derive(Debug)]
pub struct Dialogue<D> {
    dialect: PhantomData<D>,
    turn: Turn,
    leave: Leave,
    /// The request that the agent has to answer next; none before the turn began and after it ended.
    awaited: Option<u64>,
    session: String,
    /// What the agent calls itself.
    agent: String,
    /// Its ways to log in, in its own words.
    login: String,
    speech: Speech,
    message: String,
    tools: BTreeMap<String, Tool>,
    asides: Asides,
    /// What may be the error that ended the turn.
    suspect: String,
    /// The call that was refused last, unless the agent went on after it.
    refused: Option<String>,
    /// The answer to the prompt, once it came. Pieces of the turn may come behind it.
    answer: Option<Value>,
    heard: bool,
    reader: JsonReader,
    unread: Unread,
    stderr: StderrTail,
}

impl<D: Dialect> Transcript for Dialogue<D> {
    fn new(turn: &Turn) -> Self {
        Self {
            dialect: PhantomData,
            turn: turn.clone(),
            leave: Leave::of(turn),
            awaited: None,
            session: String::new(),
            agent: String::new(),
            login: D::login_hint().to_owned(),
            speech: Speech::default(),
            message: String::new(),
            tools: BTreeMap::new(),
            asides: Asides::default(),
            suspect: String::new(),
            refused: None,
            answer: None,
            heard: false,
            reader: JsonReader::default(),
            unread: Unread::default(),
            stderr: StderrTail::default(),
        }
    }

    fn begin(&mut self, turn: &Turn) -> Vec<Event> {
        self.turn = turn.clone();
        self.leave = Leave::of(turn);
        self.awaited = Some(INITIALIZE);
        // Files and terminals are not offered: the agent has its own.
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
        at_the_end(events, || self.end_of_process(how))
    }
}

impl<D: Dialect> Dialogue<D> {
    fn end_of_process(&mut self, how: ExitStatus) -> Outcome {
        let said = self.stderr.text();
        let mut outcome = ended(how, said, || match (self.heard, self.unread.is_blank()) {
            (true, _) => ended_without_answer("The agent ended before it had finished its turn", said),
            (false, false) => ended_without_answer(&self.unread.message("The agent"), said),
            (false, true) => silent(said, self.turn.session.is_some()),
        });
        if let (Some(failure), false) = (&mut outcome.failure, self.heard) {
            failure.detail = self.unread.detail(std::mem::take(&mut failure.detail));
        }
        outcome
    }

    fn piece(&mut self, piece: Piece<'_>, events: &mut Vec<Event>) {
        let is_heard = self.heard;
        match piece {
            Piece::Object(value, source) => match Message::of(&value) {
                Some(message) => self.message(message, events),
                None => self.unknown(source, events, |unread| unread.object(&value, source, is_heard)),
            },
            Piece::Text(text) if text.trim().is_empty() => {}
            Piece::Text(text) => self.unknown(text, events, |unread| {
                if !is_heard {
                    unread.text(text)
                }
            }),
        }
    }

    fn unknown(&mut self, text: &str, events: &mut Vec<Event>, keep: impl FnOnce(&mut Unread)) {
        keep(&mut self.unread);
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
        self.heard = true;
        match message {
            Message::Notification { method: "session/update", params } => self.update(params, events),
            Message::Notification { method, params } => {
                if json::at(params, &["update"]).is_some() {
                    self.unread.kind(Some(method));
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
        self.asides = Asides::of(result);
        let ways = json::items(result, &["authMethods"]).iter();
        let ways = ways.filter_map(|way| json::some_text(way, &["description"]).or(json::some_text(way, &["name"])));
        if self.login.is_empty() {
            self.login = ways.collect::<Vec<_>>().join(", or: ");
        }
        self.agent = json::shown(result, &["agentInfo", "name"]);
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

    /// A session that was loaded keeps its id, which is not told again.
    fn opened(&mut self, result: &Value, events: &mut Vec<Event>) {
        if let Some(id) = json::some_id(result, &["sessionId"]) {
            self.session = id;
        }
        events.push(Event::Session(self.session.clone()));
        let blocks = D::blocks(&self.agent, &self.turn.prompt);
        let params = json!({ "sessionId": self.session, "prompt": blocks });
        self.awaited = Some(PROMPT);
        events.push(rpc::request(PROMPT, "session/prompt", &params));
    }

    /// The agent may answer before it has told the last pieces of its turn.
    fn answered(&mut self, result: &Value, events: &mut Vec<Event>) {
        events.extend(tokens::of_turn(result).map(Event::Usage));
        self.answer = Some(result.clone());
        self.awaited = None;
        let outcome = self.verdict(result, events);
        events.extend([settle(), Event::Done(outcome)]);
    }

    /// A piece of the turn that comes behind the answer. The last verdict counts.
    fn late(&mut self, params: &Value, events: &mut Vec<Event>) {
        let Some(result) = self.answer.clone() else { return };
        let before = events.len();
        self.update(params, events);
        if events.len() > before {
            let outcome = self.verdict(&result, events);
            events.push(Event::Done(outcome));
        }
    }

    fn verdict(&mut self, result: &Value, events: &mut Vec<Event>) -> Outcome {
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
        let suspect = std::mem::take(&mut self.suspect);
        if let Some(said) = asides::error(&suspect, result) {
            return classify::failure(said).with_login_hint(&self.login).into();
        }
        self.speech.say(&suspect, events);
        match &self.refused {
            Some(call) => refused(call).into(),
            None if self.speech.spoke() => Outcome { stop, ..finished(None) },
            None => Outcome { stop, failure: self.unread.lost("The agent").or_else(|| cut_off(stop)), answer: None },
        }
    }

    fn done(&mut self, outcome: Outcome, events: &mut Vec<Event>) {
        self.awaited = None;
        events.extend([Event::EndInput, Event::Done(outcome)]);
    }

    fn failure(&self, id: u64, error: &Value) -> Failure {
        let message = json::text(error, &["message"]).or(error.as_str()).unwrap_or_default();
        let message = message.strip_prefix(INTERNAL_ERROR).unwrap_or(message).trim_start_matches([':', ' ']);
        let details = json::some_text(error, &["data", "details"]).map(String::from);
        let details = details.unwrap_or_else(|| json::shown(error, &["data"]));
        let said = [message, &details].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n");
        if json::integer(error, &["code"]) == Some(AUTH_REQUIRED) {
            let failure = Failure::new(Category::Authentication, "The agent is not logged in", said);
            return failure.with_login_hint(&self.login);
        }
        let code = if said == BROKEN_OFF { "connection closed" } else { "" };
        let failure = Report::new(&said).code(code).failure().with_login_hint(&self.login);
        if failure.category == Category::Unknown && id == SESSION && self.turn.session.is_some() {
            return Failure::new(Category::NotFound, "The agent cannot load the session", said);
        }
        failure
    }

    fn update(&mut self, params: &Value, events: &mut Vec<Event>) {
        // Before that an agent that loads a session tells what was said in it.
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
                    self.unread.kind(json::text(update, &["content", "type"]));
                }
                self.say(update, text, events);
                events.extend(tokens::of_step(update).map(Event::Usage));
            }
            Some("agent_thought_chunk") if !text.is_empty() => events.push(Event::Reasoning(text.into())),
            Some("tool_call" | "tool_call_update") => self.tool(update, events),
            Some("agent_thought_chunk" | "user_message_chunk") => {}
            // Plans, commands, modes, how full the context is.
            kind => {
                if json::at(update, &["content"]).is_some() {
                    self.unread.kind(kind);
                }
            }
        }
    }

    /// Not every agent names its messages. With those that do not, the calls between them part them.
    fn say(&mut self, update: &Value, text: &str, events: &mut Vec<Event>) {
        let message = json::text(update, &["messageId"]).unwrap_or_default();
        if message != self.message {
            message.clone_into(&mut self.message);
            self.speech.part();
        }
        self.clear_suspect(events);
        match self.asides.judge(text) {
            Judgement::Answer => self.speech.say(text, events),
            Judgement::Remark => return events.push(notice(Level::Warning, text)),
            Judgement::Suspect => text.clone_into(&mut self.suspect),
        }
        if !text.is_empty() {
            self.refused = None;
        }
    }

    /// Something follows: it did not end the turn.
    fn clear_suspect(&mut self, events: &mut Vec<Event>) {
        let suspect = std::mem::take(&mut self.suspect);
        self.speech.say(&suspect, events);
    }

    fn tool(&mut self, update: &Value, events: &mut Vec<Event>) {
        self.clear_suspect(events);
        self.speech.part();
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

    /// A question comes when the arguments are known.
    fn ask(&mut self, id: &Value, params: &Value, events: &mut Vec<Event>) {
        let call = json::at(params, &["toolCall"]).unwrap_or(&Value::Null);
        let call_id = json::id(call, &["toolCallId"]);
        let tool = self.tools.entry(call_id.clone()).or_default();
        tool.update(call);
        let is_allowed = self.leave.allows(&tool.known());
        if !is_allowed {
            let title = json::shown(&tool.known(), &["title"]);
            events.push(notice(Level::Info, format!("refused, for `permission` does not let it through: {title}")));
            self.refused = Some(title);
        }
        self.speech.part();
        events.extend(tool.call(&call_id).map(Event::ToolCall));
        events.push(rpc::answer(id, &permission::outcome(is_allowed, json::items(params, &["options"]))));
    }
}

/// Some agents end their turn at a call that is refused, without a word.
fn refused(call: &str) -> Failure {
    let message = "The agent ended its turn at a call that was refused: raise `permission` of the model";
    Failure::new(Category::Configuration, message, call)
}
