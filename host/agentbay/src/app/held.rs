//! A change of the settings that takes something away, and is not used until its files have stood still: a file that is
//! still being written may be valid already, without the keys or models that are to follow.

use std::time::Duration;

use agentbay_config::{Config, Models, Seen};
use tokio::time::{Instant, sleep_until};

/// A change that waits, if there is one.
#[derive(Debug, Default)]
pub(super) struct Held(Option<Change>);

#[derive(Debug)]
struct Change {
    seen: Seen,
    until: Instant,
}

impl Held {
    /// Whether a change that takes something away may be used: its files are as they were this long ago.
    pub(super) fn has_settled(&mut self, seen: &Seen, hold: Duration, now: Instant) -> bool {
        let until = match &self.0 {
            Some(change) if change.seen == *seen => change.until,
            Some(_) | None => now + hold,
        };
        self.0 = (until > now).then(|| Change { seen: seen.clone(), until });
        self.0.is_none()
    }

    /// Gives the change up: the files are no longer so.
    pub(super) fn give_up(&mut self) {
        self.0 = None;
    }

    /// Waits until it is time to read the files again; forever if no change waits.
    pub(super) async fn due(&self) {
        match &self.0 {
            Some(change) => sleep_until(change.until).await,
            None => std::future::pending().await,
        }
    }
}

/// What a change takes away, in the words of the settings.
pub(super) fn lost(before: (&Config, &Seen), now: (&Config, &Seen)) -> Vec<String> {
    let mut lost = now.1.lost_since(before.1);
    if !now.0.server.access.has_all_keys_of(&before.0.server.access)
        && !lost.iter().any(|key| key.starts_with("server"))
    {
        lost.push("an API key".to_owned());
    }
    if matches!((&before.0.models, &now.0.models), (Models::Discovered { .. }, Models::Configured(_))) {
        lost.push("the models found on PATH".to_owned());
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_used_when_it_has_stood_still_and_another_one_waits_from_its_own_beginning() {
        let (hold, start, seen) = (Duration::from_secs(2), Instant::now(), Seen::default());
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut held = Held::default();
        let settled = [0, 1, 2].map(|at| held.has_settled(&seen, hold, after(at)));
        assert_eq!(settled, [false, false, true]);

        assert!(!held.has_settled(&seen, hold, after(10)));
        held.give_up();
        let settled = [11, 12, 13].map(|at| held.has_settled(&seen, hold, after(at)));
        assert_eq!(settled, [false, false, true]);
        assert!(Held::default().has_settled(&seen, Duration::ZERO, start));
    }
}
