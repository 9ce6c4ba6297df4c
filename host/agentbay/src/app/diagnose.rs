//! Reasons why models cannot run: found by examination, and with `--ask` by one request to each model.

use std::time::Duration;

use agentbay_domain::{Ask, Category, Conversation, Failure, Message, Outcome, Role};
use agentbay_runs::doctor::{Examined, Versions, examine};
use agentbay_runs::{Answer, BlockKind, Request, Run, Runner, Snapshots, Step, Tasks};

use super::load::Loaded;
use super::screen::Screen;

/// The prompt of `--ask`.
const QUESTION: &str = "Answer with the one word: ok";

/// How long the processes of the last run may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// The state of a model, and its answer if it was asked.
#[derive(Debug)]
pub struct Diagnosis {
    /// What is known without running it.
    pub examined: Examined,
    /// The answer, or the reason why there is none.
    pub answer: Option<Result<String, Failure>>,
}

impl Diagnosis {
    /// Returns whether nothing was found that keeps the model from running.
    pub fn is_healthy(&self) -> bool {
        self.examined.faults.is_empty() && !matches!(self.answer, Some(Err(_)))
    }
}

/// Examines all models. With `ask`, it also asks each model without a fault, one after the other.
pub async fn diagnose(loaded: Loaded, ask: bool, screen: &dyn Screen) -> Vec<Diagnosis> {
    let Loaded { config, snapshot, environment, metrics, .. } = loaded;
    screen.progress(Some("examining the models"));
    let examined = examine(&snapshot, &environment, Some(&Versions::default())).await;
    let (snapshots, tasks) = (Snapshots::default(), Tasks::default());
    snapshots.publish(snapshot);
    let runner = Runner::new(snapshots, environment, config.plugins.runs(), metrics, tasks.clone());
    let mut diagnoses = Vec::new();
    let count = examined.len();
    for (at, examined) in examined.into_iter().enumerate() {
        let asked = ask && examined.faults.is_empty();
        if asked {
            screen.progress(Some(&format!("asking {} ({} of {count})", examined.model, at + 1)));
        }
        let answer = if asked { Some(answer(&runner, &examined.model).await) } else { None };
        diagnoses.push(Diagnosis { examined, answer });
    }
    tasks.stop(STOP_TIMEOUT).await;
    screen.progress(None);
    diagnoses
}

async fn answer(runner: &Runner, model: &str) -> Result<String, Failure> {
    let question = Message::text(Role::User, QUESTION);
    let refused = |reason: String| Failure::new(Category::Unknown, reason, "");
    let conversation = Conversation::try_from(vec![question]).map_err(|error| refused(error.to_string()))?;
    let request = Request { model: model.to_owned(), conversation, ask: Ask::default(), partial: false, session: None };
    let run = runner.start(request, None).map_err(|error| refused(error.to_string()))?;
    read_answer(run).await
}

async fn read_answer(mut run: Run) -> Result<String, Failure> {
    let mut answered = Answer::default();
    loop {
        match run.next().await {
            Step::Reply(reply) => answered.add(reply),
            Step::Trying { .. } | Step::Session(_) | Step::Failed(_) | Step::PluginFailed(_) => {}
            Step::Ended(ended) => {
                return match ended.outcome {
                    Outcome::Finished { answer, .. } => {
                        answered.add_final(answer);
                        Ok(answered.text_of(BlockKind::Text))
                    }
                    Outcome::Failed { failure, .. } => Err(failure),
                };
            }
        }
    }
}
