//! The terminal of the person who started the program: whether there is one, its width, colours and progress. Pipes get plain
//! lines and no progress.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentbay_domain::{Environment, terminal_safe};
use agentbay_runs::doctor::Examined;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing_subscriber::fmt::MakeWriter;

use super::NO_MODELS;
use super::table::Table;
use crate::app::Screen;

/// The time between two frames of the progress line.
const FRAME: Duration = Duration::from_millis(100);

/// Moves to the start of the line and clears it.
const CLEAR_LINE: &[u8] = b"\r\x1b[2K";

/// Standard output and standard error.
#[derive(Debug)]
pub(super) struct Console {
    /// The columns of standard output, if it is a terminal.
    width: Option<usize>,
    stdout_is_terminal: bool,
    /// Standard error is a terminal that understands escape sequences.
    stderr_moves: bool,
    /// Standard error may be coloured.
    colours: bool,
    progress: Mutex<Option<ProgressBar>>,
    /// There is a progress line.
    busy: Arc<AtomicBool>,
}

impl Console {
    /// Examines the streams of this process.
    pub(super) fn new(environment: &Environment) -> Self {
        let is_set = |name| environment.get(name).is_some_and(|value| !value.is_empty());
        let is_dumb = environment.get("TERM").is_none_or(|term| term == "dumb");
        let stdout_is_terminal = io::stdout().is_terminal();
        let size = if stdout_is_terminal { terminal_size::terminal_size_of(io::stdout()) } else { None };
        let stderr_moves = io::stderr().is_terminal() && !is_dumb;
        Self {
            width: size.map(|(terminal_size::Width(columns), _)| columns.into()),
            stdout_is_terminal,
            stderr_moves,
            colours: stderr_moves && !is_set("NO_COLOR"),
            progress: Mutex::default(),
            busy: Arc::default(),
        }
    }

    /// Returns whether the log is coloured.
    pub(super) fn colours(&self) -> bool {
        self.colours
    }

    /// The destination of the log.
    pub(super) fn log(&self) -> Log {
        Log(Arc::clone(&self.busy))
    }

    /// Prints a table to standard output.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(super) fn print<const N: usize>(&self, table: &Table<N>) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        for line in table.lines(self.width) {
            writeln!(stdout, "{line}")?;
        }
        stdout.flush()
    }

    fn show_progress(&self, work: Option<&str>) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match (work, &*progress) {
            (Some(work), Some(bar)) => bar.set_message(work.to_owned()),
            (Some(work), None) => {
                self.busy.store(true, Ordering::Release);
                *progress = Some(spinner(work));
            }
            (None, _) => {
                if let Some(bar) = progress.take() {
                    bar.finish_and_clear();
                }
                self.busy.store(false, Ordering::Release);
            }
        }
    }
}

fn spinner(work: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    // The default style shows the message too.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(work.to_owned());
    bar.enable_steady_tick(FRAME);
    bar
}

impl Screen for Console {
    fn progress(&self, work: Option<&str>) {
        if self.stderr_moves {
            self.show_progress(work.map(terminal_safe).as_deref());
        }
    }

    /// The first line on standard output of a server: programs that start one wait for it.
    fn listening(&self, address: SocketAddr) -> io::Result<()> {
        let mut stdout = io::stdout();
        writeln!(stdout, "listening on http://{address}")?;
        stdout.flush()
    }

    fn shows_models(&self) -> bool {
        self.stdout_is_terminal
    }

    fn models(&self, models: &[Examined]) {
        let mut table = Table::new(["MODEL", "DRIVER", "STATE", "PROGRAM"]);
        for Examined { model, driver, program, faults, .. } in models {
            let state = if faults.is_empty() { "ready" } else { "cannot run" };
            table.row([model, driver, state, program.as_deref().unwrap_or_default()].map(str::to_owned), []);
        }
        let mut lines = table.lines(self.width);
        if models.is_empty() {
            lines = vec![NO_MODELS.to_owned()];
        } else if models.iter().any(|model| !model.faults.is_empty()) {
            lines.push("`agentbay doctor` shows why a model cannot run".to_owned());
        }
        // A terminal that was closed shows nothing, and the server continues.
        let _shown = io::stdout().lock().write_all((lines.join("\n") + "\n").as_bytes());
    }
}

/// Standard error as the destination of the log: a line of the log takes the place of the progress line, which follows below.
#[derive(Debug, Clone)]
pub(super) struct Log(Arc<AtomicBool>);

impl<'a> MakeWriter<'a> for Log {
    type Writer = io::Stderr;

    fn make_writer(&'a self) -> io::Stderr {
        let mut stderr = io::stderr();
        if self.0.load(Ordering::Acquire) {
            // The log itself reports nothing either if standard error is closed.
            let _cleared = stderr.write_all(CLEAR_LINE);
        }
        stderr
    }
}
