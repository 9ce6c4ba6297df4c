//! A running server with its client, and one kind of run, direct or through it.

use anyhow::{Result, ensure};

use crate::answer::Answer;
use crate::client::Client;
use crate::direct;
use crate::server::Server;
use crate::site::{Agent, PROMPT, Site};

/// A running server and its client.
pub(super) struct Running<'a> {
    pub(super) site: &'a Site,
    pub(super) server: Server,
    client: Client,
}

/// A kind of run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) agent: Agent,
    pub(super) streamed: bool,
}

impl<'a> Running<'a> {
    pub(super) fn new(site: &'a Site) -> Result<Self> {
        let server = site.serve(&site.cache())?;
        let client = Client::connect(server.address)?;
        Ok(Self { site, server, client })
    }

    pub(super) fn pair(&mut self, case: Case, prompt: &str, direct_first: bool) -> Result<(Answer, Answer)> {
        if direct_first {
            let direct = self.direct(case, prompt)?;
            Ok((direct, self.through(case, prompt)?))
        } else {
            let through = self.through(case, prompt)?;
            Ok((self.direct(case, prompt)?, through))
        }
    }

    fn direct(&self, case: Case, prompt: &str) -> Result<Answer> {
        direct::run(&mut self.site.cli(case.agent), prompt)
    }

    fn through(&mut self, case: Case, prompt: &str) -> Result<Answer> {
        self.client.ask(case.agent.model(), prompt, case.streamed)
    }

    /// Runs every agent, whole and streamed, and compares the answers with the CLI's output.
    pub(super) fn check(&mut self) -> Result<()> {
        for (agent, streamed) in self.site.agents() {
            let case = Case { agent, streamed };
            let (direct, through) = (self.direct(case, PROMPT)?.text(), self.through(case, PROMPT)?.text());
            let is_right = match agent {
                Agent::Echo | Agent::EchoDefault | Agent::EchoLarge => direct == PROMPT && through == PROMPT,
                Agent::Replayed | Agent::ReplayedDefault | Agent::ReplayedLarge | Agent::Computing => {
                    self.site.is_replayed(&through)
                }
                Agent::Stamped => direct.matches('.').count() == through.matches('.').count(),
            };
            ensure!(is_right, "{case:?} answers {through:?}");
        }
        Ok(())
    }
}
