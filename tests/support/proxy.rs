//! The serving program.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::chat::{Streamed, chat};
use super::http::{Answer, Request};
use super::sse::Events;
use super::wait::{DEADLINE, wait_for};

/// A program that serves until this is dropped.
pub(crate) struct Proxy {
    child: Child,
    address: SocketAddr,
    log: Arc<Log>,
}

/// The log of the program.
#[derive(Default)]
struct Log {
    text: Mutex<String>,
    grown: Condvar,
}

impl Proxy {
    /// Starts the program without standard input, and waits for its address.
    pub(super) fn start(command: Command) -> Self {
        Self::start_with(command, Stdio::null())
    }

    /// Starts a program that receives key presses.
    pub(super) fn start_with_keys(command: Command) -> Self {
        Self::start_with(command, Stdio::piped())
    }

    fn start_with(mut command: Command, stdin: Stdio) -> Self {
        let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Log::default());
        let stderr = child.stderr.take().unwrap();
        let follows = Arc::clone(&log);
        thread::spawn(move || follows.follow(stderr));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").map(str::to_owned);
        let Some(address) = address else {
            child.wait().unwrap();
            panic!("it does not listen, but printed {line:?} and logged:\n{}", log.text.lock().unwrap());
        };
        Self { child, address: address.parse().unwrap(), log }
    }

    /// The address that it listens on.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends a request and waits for the whole answer.
    pub(crate) fn send(&self, request: &Request) -> Answer {
        let (head, body) = request.send(self.address);
        head.with(body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(&Request::get(path))
    }

    /// Sends the body of a request for a completion.
    pub(crate) fn complete(&self, body: &Value) -> Answer {
        self.send(&Request::complete(body))
    }

    /// Sends one message to a model, and returns the answer.
    pub(crate) fn ask(&self, model: &str, text: &str) -> String {
        self.complete(&chat(model, text)).content()
    }

    /// Sends one message to a model, and returns head and events of the stream, which has usage.
    pub(crate) fn stream(&self, model: &str, text: &str) -> (Answer, Events) {
        let mut body = chat(model, text);
        body["stream"] = true.into();
        body["stream_options"] = serde_json::json!({"include_usage": true});
        self.stream_of(&body)
    }

    /// Sends the body of a request for a stream.
    pub(crate) fn stream_of(&self, body: &Value) -> (Answer, Events) {
        self.events(&Request::complete(body))
    }

    /// Sends a request for a stream of any surface.
    pub(crate) fn events(&self, request: &Request) -> (Answer, Events) {
        let (head, body) = request.send(self.address);
        (head, Events::of(body))
    }

    /// Sends one message to a model, and returns the streamed answer.
    pub(crate) fn streamed(&self, model: &str, text: &str) -> Streamed {
        let (head, events) = self.stream(model, text);
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
        Streamed::read(events)
    }

    /// The names of the models.
    pub(crate) fn models(&self) -> Vec<String> {
        let list = self.get("/v1/models").json();
        list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap().to_owned()).collect()
    }

    /// Reloads settings and plugins.
    pub(crate) fn reload(&self) -> Answer {
        self.send(&Request::post("/v1/plugins/reload", "{}"))
    }

    /// The runs that are active.
    pub(crate) fn runs(&self) -> Vec<Value> {
        let Value::Array(runs) = self.get("/v1/runs").json()["data"].take() else { panic!("no list of runs") };
        runs
    }

    /// Waits until no run is active.
    pub(crate) fn wait_until_idle(&self) {
        wait_for("all runs to end", || self.runs().is_empty());
    }

    /// Waits for a line of the log with all of these parts, and returns it.
    pub(crate) fn logged(&self, parts: &[&str]) -> String {
        self.log.wait_for(parts)
    }

    /// The log so far.
    pub(crate) fn log(&self) -> String {
        self.log.text.lock().unwrap().clone()
    }

    /// Sends SIGTERM, and returns the exit status.
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.end()
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its resident memory in KiB.
    pub(crate) fn resident(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// Its peak resident memory in KiB.
    pub(crate) fn most_resident(&self) -> u64 {
        self.status("VmHWM:")
    }

    /// A size from the status file of its process.
    fn status(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a size");
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Sends key presses to its terminal.
    pub(crate) fn press(&self, keys: &[u8]) {
        self.child.stdin.as_ref().expect("a terminal").write_all(keys).unwrap();
    }

    /// Waits until it has ended by itself, and returns the exit status.
    pub(crate) fn ended(mut self) -> ExitStatus {
        self.wait()
    }

    fn end(&mut self) -> ExitStatus {
        if let Some(status) = self.child.try_wait().unwrap() {
            return status;
        }
        self.signal(Signal::TERM);
        self.wait()
    }

    fn wait(&mut self) -> ExitStatus {
        let child = Mutex::new(&mut self.child);
        wait_for("the program to end", || child.lock().unwrap().try_wait().unwrap().is_some());
        self.child.wait().unwrap()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if thread::panicking() {
            // A second panic would abort the tests.
            let _gone = self.child.kill();
            let _reaped = self.child.wait();
            self.log.show();
        } else {
            self.end();
        }
    }
}

impl Log {
    fn follow(&self, stderr: impl Read) {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            *self.text.lock().unwrap() += &(line + "\n");
            self.grown.notify_all();
        }
    }

    fn wait_for(&self, parts: &[&str]) -> String {
        let found = |log: &str| {
            let fits = |line: &&str| parts.iter().all(|part| line.contains(part));
            log.lines().find(fits).map(str::to_owned)
        };
        let log = self.text.lock().unwrap();
        let (log, _) = self.grown.wait_timeout_while(log, DEADLINE, |log| found(log).is_none()).unwrap();
        let line = found(&log);
        drop(log);
        line.unwrap_or_else(|| panic!("no line of the log has all of {parts:?}"))
    }

    /// Shows the log of a failed test.
    #[expect(clippy::print_stderr, reason = "the test harness shows it if the test failed")]
    fn show(&self) {
        if let Ok(log) = self.text.lock() {
            eprintln!("the program logged:\n{log}");
        }
    }
}
