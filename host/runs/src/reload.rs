//! Asking for a look at settings and plugins, and hearing what it found. Who looks, and how, is `app`'s.

use std::mem;
use std::path::PathBuf;
use std::sync::Arc;

use agentbay_domain::PluginId;
use agentbay_plugin_host::Refusal;
use tokio::sync::{mpsc, oneshot};

/// So many may have asked and not been noticed yet; more wait to ask.
const PLACES: usize = 64;

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The snapshot that was published.
    pub generation: u64,
    /// The plugins in use from now on.
    pub plugins: Vec<PluginId>,
    /// The files that are not.
    pub refused: Vec<Refusal>,
    /// The files that are still being loaded: when one is through, another look follows by itself.
    pub loading: Vec<PathBuf>,
    /// What is wrong with the settings, one fault each. If anything is, they stay as they were.
    pub faults: Vec<String>,
}

/// Asks for looks. A clone asks the same one.
#[derive(Debug, Clone)]
pub struct Looks(mpsc::Sender<Asker>);

/// Whoever has asked, for the one who looks.
#[derive(Debug)]
pub struct Asked {
    coming: mpsc::Receiver<Asker>,
    here: Vec<Asker>,
}

/// Those whose question a look that begins now answers.
#[derive(Debug)]
pub struct Askers(Vec<Asker>);

type Asker = oneshot::Sender<Arc<Found>>;

/// The two ends.
pub fn looks() -> (Looks, Asked) {
    let (asks, coming) = mpsc::channel(PLACES);
    (Looks(asks), Asked { coming, here: Vec::new() })
}

impl Looks {
    /// Has everything looked at again, by a look that begins after this, and waits until it is over. Nothing comes of it
    /// if the process stops.
    pub async fn again(&self) -> Option<Arc<Found>> {
        let (asker, answer) = oneshot::channel();
        self.0.send(asker).await.ok()?;
        answer.await.ok()
    }
}

impl Asked {
    /// Waits until somebody asks. Nobody is forgotten if it is given up on.
    pub async fn somebody(&mut self) {
        match self.coming.recv().await {
            Some(asker) => self.here.push(asker),
            None => std::future::pending().await,
        }
    }

    /// All who have asked until now: one look is for all of them.
    pub fn askers(&mut self) -> Askers {
        while let Ok(asker) = self.coming.try_recv() {
            self.here.push(asker);
        }
        Askers(mem::take(&mut self.here))
    }
}

impl Askers {
    /// Tells them.
    pub fn tell(self, found: Found) {
        let found = Arc::new(found);
        for asker in self.0 {
            // Whoever has gone away need not know.
            let _gone = asker.send(Arc::clone(&found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(generation: u64) -> Found {
        Found { generation, plugins: Vec::new(), refused: Vec::new(), loading: Vec::new(), faults: Vec::new() }
    }

    #[tokio::test]
    async fn all_who_ask_before_a_look_begins_are_told_by_it_and_who_asks_later_by_the_next() {
        let (looks, mut asked) = looks();
        let look = async {
            asked.somebody().await;
            let first = asked.askers();
            let late = looks.again();
            first.tell(found(1));
            let next = async {
                asked.somebody().await;
                asked.askers().tell(found(2));
            };
            tokio::join!(late, next).0
        };
        let (one, other, late) = tokio::join!(looks.again(), looks.again(), look);
        assert_eq!([one, other, late].map(|told| told.map(|found| found.generation)), [Some(1), Some(1), Some(2)]);
    }

    #[tokio::test]
    async fn nobody_waits_for_a_look_that_does_not_come() {
        let (looks, mut asked) = looks();
        let stops = async move {
            asked.somebody().await;
        };
        assert_eq!(tokio::join!(looks.again(), stops).0, None);
        assert_eq!(looks.again().await, None);
    }
}
