//! What a client said so far, in text. How a surface spells it is not known here.

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions of the application.
    System,
    /// The newer name of the same.
    Developer,
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// The result of a tool of the client.
    Tool,
}

impl Role {
    /// The role's name as the chat protocol spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// Whether it gives instructions rather than taking part.
    pub fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: String,
}

/// What was said so far, ending with something for the agent to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation(Vec<Message>);

/// Why messages are no conversation that an agent could answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConversationError {
    /// There are no messages.
    #[error("`messages` is empty: send at least one message of the role `user`")]
    Empty,
    /// Nothing is left to answer.
    #[error(
        "there is nothing to answer: after the last `assistant` message, send one of the role `user` with text in it"
    )]
    NothingToAnswer,
}

impl Conversation {
    /// What was said, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.0
    }

    /// System and developer messages, in order.
    pub fn instructions(&self) -> impl Iterator<Item = &Message> {
        self.0.iter().filter(|message| message.role.instructs())
    }

    /// The turns up to the last one of the assistant: what the agent must know to understand its task.
    pub fn context(&self) -> impl Iterator<Item = &Message> {
        self.0[..self.task_start()].iter().filter(|message| !message.role.instructs())
    }

    /// What was said since the assistant spoke last: what is to be answered.
    pub fn task(&self) -> impl Iterator<Item = &Message> {
        self.0[self.task_start()..].iter().filter(|message| !message.role.instructs())
    }

    fn task_start(&self) -> usize {
        self.0.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |last| last + 1)
    }
}

impl TryFrom<Vec<Message>> for Conversation {
    type Error = ConversationError;

    fn try_from(messages: Vec<Message>) -> Result<Self, ConversationError> {
        if messages.is_empty() {
            return Err(ConversationError::Empty);
        }
        let conversation = Self(messages);
        if conversation.task().all(|message| message.text.trim().is_empty()) {
            return Err(ConversationError::NothingToAnswer);
        }
        Ok(conversation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message { role, text: text.to_owned() }
    }

    #[test]
    fn the_task_is_what_came_after_the_last_answer() {
        let messages = vec![
            message(Role::System, "be brief"),
            message(Role::User, "one"),
            message(Role::Assistant, "1"),
            message(Role::Developer, "be kind"),
            message(Role::User, "two"),
            message(Role::Tool, "2"),
        ];
        let conversation = Conversation::try_from(messages.clone()).unwrap();
        assert_eq!(conversation.instructions().collect::<Vec<_>>(), [&messages[0], &messages[3]]);
        assert_eq!(conversation.context().collect::<Vec<_>>(), [&messages[1], &messages[2]]);
        assert_eq!(conversation.task().collect::<Vec<_>>(), [&messages[4], &messages[5]]);
    }

    #[test]
    fn a_conversation_with_nothing_to_answer_is_refused() {
        assert_eq!(Conversation::try_from(vec![]), Err(ConversationError::Empty));
        for messages in [
            vec![message(Role::System, "be brief")],
            vec![message(Role::User, " \n")],
            vec![message(Role::User, "hi"), message(Role::Assistant, "hello")],
        ] {
            assert_eq!(Conversation::try_from(messages), Err(ConversationError::NothingToAnswer));
        }
    }
}
