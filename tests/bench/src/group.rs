//! The groups of figures, which can be measured separately, and their times.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A group of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The start of the program.
    Start,
    /// Its memory.
    Memory,
    /// The time of a run, one after the other.
    Time,
    /// The time of a run with others in flight.
    InFlight,
    /// Runs per second.
    Rate,
    /// Runs per second with many other processes on the machine.
    Crowd,
    /// The time of a run in a large repository.
    Repository,
    /// The time of a run with a long prompt.
    Prompt,
    /// The delay of a delta.
    Delay,
    /// The time from a cancellation to the end of the last process.
    Cancel,
    /// The time from the rename of a component to its first answer.
    Reload,
    /// The speed of reading a transcript, and a plugin instance.
    Parse,
    /// All of that beside other programs, which is measured separately.
    Peers,
}

impl Group {
    /// All groups of this program alone, in the order of measurement.
    pub const ALL: [Self; 12] = [
        Self::Start,
        Self::Memory,
        Self::Reload,
        Self::Parse,
        Self::Time,
        Self::InFlight,
        Self::Rate,
        Self::Crowd,
        Self::Repository,
        Self::Prompt,
        Self::Delay,
        Self::Cancel,
    ];

    /// The name for the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Memory => "memory",
            Self::Time => "time",
            Self::InFlight => "in-flight",
            Self::Rate => "rate",
            Self::Crowd => "crowd",
            Self::Repository => "repository",
            Self::Prompt => "prompt",
            Self::Delay => "delay",
            Self::Cancel => "cancel",
            Self::Reload => "reload",
            Self::Parse => "parse",
            Self::Peers => "peers",
        }
    }

    /// The time of its parts that are bounded by time, in a full measurement. All together stay below ten minutes.
    pub(crate) fn lasting(self) -> Duration {
        Duration::from_secs(match self {
            Self::Start | Self::Memory | Self::Crowd | Self::Repository => 40,
            Self::Time => 60,
            Self::Peers => 180,
            Self::InFlight => 80,
            Self::Rate => 100,
            Self::Delay | Self::Reload | Self::Parse => 25,
            Self::Prompt | Self::Cancel => 20,
        })
    }
}

impl FromStr for Group {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|group| group.name() == word);
        found.ok_or_else(|| format!("the groups are {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_on_the_command_line_as_in_the_figures() {
        for group in Group::ALL {
            assert_eq!(group.name().parse(), Ok(group));
            assert_eq!(serde_json::to_value(group).unwrap(), group.name());
        }
        assert!("speed".parse::<Group>().unwrap_err().contains("in-flight"));
    }

    #[test]
    fn all_groups_take_ten_minutes_at_most() {
        let all: Duration = Group::ALL.into_iter().map(Group::lasting).sum();
        assert!(all <= Duration::from_secs(9 * 60), "{all:?}");
    }
}
