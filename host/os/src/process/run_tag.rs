//! The tag of every process that is started for a run: an environment variable that names the run and the host, by which
//! remaining processes of a run are found in any process group. Process names and numbers alone are not proof: a host is
//! identified by its process number together with its start time.

use std::ffi::OsStr;
use std::fmt;
use std::process;
use std::str::FromStr;
use std::sync::OnceLock;

use agentbay_domain::RunId;

use super::start_time::StartTime;

/// The variable. Its value is `RUN/PID/TICKS/BOOT`: the name of the run, the host's process number, and its start time.
pub(super) const VARIABLE: &str = "AGENTBAY_RUN";

/// Identity of a process that starts others for runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostProcess {
    pid: u32,
    start_time: StartTime,
}

/// The tag of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunTag {
    pub(super) run: RunId,
    pub(super) host: HostProcess,
}

/// A text does not name a host process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a host process is written as process number, start time in ticks and boot id of the machine, as in 4711/123456/0f1e…"
)]
pub struct InvalidHostProcess;

impl HostProcess {
    /// This process.
    pub fn this() -> Self {
        static THIS: OnceLock<HostProcess> = OnceLock::new();
        *THIS.get_or_init(|| {
            let pid = process::id();
            Self { pid, start_time: StartTime::of(pid).unwrap_or(StartTime::UNKNOWN) }
        })
    }

    pub(super) fn start_time(self) -> StartTime {
        self.start_time
    }

    pub(super) fn pid(self) -> u32 {
        self.pid
    }
}

impl RunTag {
    /// The tag for a run of this process.
    pub(super) fn of(run: RunId) -> Self {
        Self { run, host: HostProcess::this() }
    }

    /// Finds the tag among the variables of a process, each as `NAME=VALUE`.
    pub(super) fn find<'a>(variables: impl IntoIterator<Item = &'a OsStr>) -> Option<Self> {
        let mut variables = variables.into_iter().filter_map(OsStr::to_str);
        variables.find_map(|variable| variable.strip_prefix(VARIABLE)?.strip_prefix('=')?.parse().ok())
    }
}

impl fmt::Display for HostProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.pid, self.start_time)
    }
}

impl FromStr for HostProcess {
    type Err = InvalidHostProcess;

    fn from_str(text: &str) -> Result<Self, InvalidHostProcess> {
        let (pid, start_time) = text.split_once('/').ok_or(InvalidHostProcess)?;
        Ok(Self {
            pid: pid.parse().map_err(|_| InvalidHostProcess)?,
            start_time: start_time.parse().map_err(|_| InvalidHostProcess)?,
        })
    }
}

impl fmt::Display for RunTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.run, self.host)
    }
}

impl FromStr for RunTag {
    type Err = InvalidHostProcess;

    fn from_str(text: &str) -> Result<Self, InvalidHostProcess> {
        let (run, host) = text.split_once('/').ok_or(InvalidHostProcess)?;
        Ok(Self { run: run.parse().map_err(|_| InvalidHostProcess)?, host: host.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_among_the_variables_of_a_process() {
        let tag = RunTag::of(RunId::new());
        let variables = ["HOME=/h".to_owned(), format!("AGENTBAY_RUN={tag}"), "AGENTBAY_RUNS=1".to_owned()];
        assert_eq!(RunTag::find(variables.iter().map(OsStr::new)), Some(tag));
        for other in ["AGENTBAY_RUN=x", "AGENTBAY_RUN=/1/2", "XAGENTBAY_RUN=1"] {
            assert_eq!(RunTag::find([OsStr::new(other)]), None);
        }
    }

    #[test]
    fn a_host_is_identified_by_number_and_start_time_and_not_by_wall_clock_time() {
        let host = HostProcess::this();
        assert_eq!(host.to_string().parse(), Ok(host));
        assert_eq!(StartTime::of(host.pid()), Some(host.start_time()));
        assert_eq!("4711/1764300000".parse::<HostProcess>(), Err(InvalidHostProcess));
    }
}
