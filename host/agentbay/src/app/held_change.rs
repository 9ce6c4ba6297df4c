//! A change of the settings that removes something. It is used only after its files have not changed for a while: a file that
//! is being written may be valid before it is complete.

use std::time::Duration;

use agentbay_config::{Config, Fingerprints, Models};
use tokio::time::{Instant, sleep_until};

/// The change that waits, if there is one.
#[derive(Debug, Default)]
pub(super) struct HeldChange(Option<Change>);

#[derive(Debug)]
struct Change {
    seen: Fingerprints,
    until: Instant,
}

impl HeldChange {
    /// Returns whether a change may be used: its files have not changed for `hold`.
    pub(super) fn has_settled(&mut self, seen: &Fingerprints, hold: Duration, now: Instant) -> bool {
        let until = match &self.0 {
            Some(change) if change.seen == *seen => change.until,
            Some(_) | None => now + hold,
        };
        self.0 = (until > now).then(|| Change { seen: seen.clone(), until });
        self.0.is_none()
    }

    /// Forgets the change: the files are different now.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Waits until the files have to be read again. Never returns if no change waits.
    pub(super) async fn due(&self) {
        match &self.0 {
            Some(change) => sleep_until(change.until).await,
            None => std::future::pending().await,
        }
    }
}

/// The keys and models that a change removes.
pub(super) fn removed(before: (&Config, &Fingerprints), now: (&Config, &Fingerprints)) -> Vec<String> {
    let mut removed = now.1.removed_since(before.1);
    if !now.0.server.access.has_all_keys_of(&before.0.server.access)
        && !removed.iter().any(|key| key.starts_with("server"))
    {
        removed.push("an API key".to_owned());
    }
    if matches!((&before.0.models, &now.0.models), (Models::Discovered { .. }, Models::Configured(_))) {
        removed.push("the models found on PATH".to_owned());
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_used_after_its_hold_and_another_change_has_a_hold_of_its_own() {
        let (hold, start, seen) = (Duration::from_secs(2), Instant::now(), Fingerprints::default());
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut held = HeldChange::default();
        let settled = [0, 1, 2].map(|at| held.has_settled(&seen, hold, after(at)));
        assert_eq!(settled, [false, false, true]);

        assert!(!held.has_settled(&seen, hold, after(10)));
        held.clear();
        let settled = [11, 12, 13].map(|at| held.has_settled(&seen, hold, after(at)));
        assert_eq!(settled, [false, false, true]);
        assert!(HeldChange::default().has_settled(&seen, Duration::ZERO, start));
    }
}
