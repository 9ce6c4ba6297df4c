//! The mark that every process bears which is started for a run: a variable of its environment that names the run and
//! the host, by which what is left of a run is found wherever it went. Names and numbers of processes are not proof
//! enough: the host is known by its number together with its birth.

use std::ffi::OsStr;
use std::fmt;
use std::process;
use std::str::FromStr;
use std::sync::OnceLock;

use agentbay_domain::RunId;

use super::birth::Birth;

/// The variable. Its value is `RUN/PID/TICKS/BOOT`: the name of the run, the host's process number, and its birth.
pub(super) const VARIABLE: &str = "AGENTBAY_RUN";

/// A process that starts others for runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    pid: u32,
    birth: Birth,
}

/// The mark of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) run: RunId,
    pub(super) host: Host,
}

/// A text names no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a host is named by its process number, the ticks at its start and the machine's boot id, as in 4711/123456/0f1e…"
)]
pub struct NoHost;

impl Host {
    /// This process.
    pub fn this() -> Self {
        static THIS: OnceLock<Host> = OnceLock::new();
        *THIS.get_or_init(|| {
            let pid = process::id();
            Self { pid, birth: Birth::of(pid).unwrap_or(Birth::UNKNOWN) }
        })
    }

    pub(super) fn birth(self) -> Birth {
        self.birth
    }

    pub(super) fn pid(self) -> u32 {
        self.pid
    }
}

impl Mark {
    /// The mark of a run of this process.
    pub(super) fn of(run: RunId) -> Self {
        Self { run, host: Host::this() }
    }

    /// The mark among the variables of a process, each as `NAME=VALUE`.
    pub(super) fn among<'a>(variables: impl IntoIterator<Item = &'a OsStr>) -> Option<Self> {
        let mut variables = variables.into_iter().filter_map(OsStr::to_str);
        variables.find_map(|variable| variable.strip_prefix(VARIABLE)?.strip_prefix('=')?.parse().ok())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.pid, self.birth)
    }
}

impl FromStr for Host {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let (pid, birth) = text.split_once('/').ok_or(NoHost)?;
        Ok(Self { pid: pid.parse().map_err(|_| NoHost)?, birth: birth.parse().map_err(|_| NoHost)? })
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.run, self.host)
    }
}

impl FromStr for Mark {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let (run, host) = text.split_once('/').ok_or(NoHost)?;
        Ok(Self { run: run.parse().map_err(|_| NoHost)?, host: host.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_among_the_variables_of_a_process() {
        let mark = Mark::of(RunId::new());
        let variables = ["HOME=/h".to_owned(), format!("AGENTBAY_RUN={mark}"), "AGENTBAY_RUNS=1".to_owned()];
        assert_eq!(Mark::among(variables.iter().map(OsStr::new)), Some(mark));
        for other in ["AGENTBAY_RUN=x", "AGENTBAY_RUN=/1/2", "XAGENTBAY_RUN=1"] {
            assert_eq!(Mark::among([OsStr::new(other)]), None);
        }
    }

    #[test]
    fn a_host_is_known_by_number_and_birth_and_not_by_a_time_of_the_wall_clock() {
        let host = Host::this();
        assert_eq!(host.to_string().parse(), Ok(host));
        assert_eq!(Birth::of(host.pid()), Some(host.birth()));
        assert_eq!("4711/1764300000".parse::<Host>(), Err(NoHost));
    }
}
