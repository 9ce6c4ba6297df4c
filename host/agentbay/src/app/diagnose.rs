//! What keeps the models from running, found out as far as asked: by looking, or by having each answer a line.

use std::time::Duration;

use agentbay_domain::{Category, Conversation, Failure, Message, Outcome, Role};
use agentbay_runs::doctor::{Examined, Versions, examine};
use agentbay_runs::{Answer, Request, Run, Runner, Snapshots, Step, Tasks};

use super::load::Loaded;

/// What a model is asked with `--ask`.
const QUESTION: &str = "Answer with the one word: ok";

/// How long the processes of the last run may take to end.
const PATIENCE: Duration = Duration::from_secs(15);

/// What is known of a model, and what it answered if it was asked.
#[derive(Debug)]
pub struct Diagnosis {
    /// What is known without running it.
    pub examined: Examined,
    /// What it answered, or why it did not.
    pub answer: Option<Result<String, Failure>>,
}

impl Diagnosis {
    /// Whether nothing was found that keeps the model from running.
    pub fn is_well(&self) -> bool {
        self.examined.faults.is_empty() && !matches!(self.answer, Some(Err(_)))
    }
}

/// Looks at all models, and asks each that could answer if `ask` is set, one after the other.
pub async fn diagnose(loaded: Loaded, ask: bool) -> Vec<Diagnosis> {
    let Loaded { config, snapshot, host, metrics, .. } = loaded;
    let examined = examine(&snapshot, &host, Some(&Versions::default())).await;
    let (snapshots, tasks) = (Snapshots::default(), Tasks::default());
    snapshots.publish(snapshot);
    let runner = Runner::new(snapshots, host, config.plugins.runs(), metrics, tasks.clone());
    let mut diagnoses = Vec::new();
    for examined in examined {
        let answer =
            if ask && examined.faults.is_empty() { Some(answer(&runner, &examined.model).await) } else { None };
        diagnoses.push(Diagnosis { examined, answer });
    }
    tasks.stop(PATIENCE).await;
    diagnoses
}

async fn answer(runner: &Runner, model: &str) -> Result<String, Failure> {
    let question = Message::text(Role::User, QUESTION);
    let unasked = |reason: String| Failure::new(Category::Unknown, reason, "");
    let conversation = Conversation::try_from(vec![question]).map_err(|error| unasked(error.to_string()))?;
    let request = Request { model: model.to_owned(), conversation, partial: false, session: None };
    let run = runner.start(request, None).map_err(|error| unasked(error.to_string()))?;
    listen(run).await
}

async fn listen(mut run: Run) -> Result<String, Failure> {
    let mut answered = Answer::default();
    loop {
        match run.next().await {
            Step::Reply(reply) => answered.add(reply),
            Step::Trying { .. } | Step::Session(_) | Step::Failed(_) | Step::PluginFailed(_) => {}
            Step::Ended(ended) => {
                return match ended.outcome {
                    Outcome::Finished { answer, .. } => {
                        Ok(if answered.content.is_empty() { answer.unwrap_or_default() } else { answered.content })
                    }
                    Outcome::Failed { failure, .. } => Err(failure),
                };
            }
        }
    }
}
