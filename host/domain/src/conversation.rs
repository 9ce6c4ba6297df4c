//! The conversation that a client sends, as messages of blocks, independent of the API that it arrives through.

use super::Media;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions of the application.
    System,
    /// The newer name for `System`.
    Developer,
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// The result of a tool of the client.
    Tool,
    /// An unknown role. Its messages are passed on, and never treated as the user's.
    Other,
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
            Self::Other => "other",
        }
    }

    /// Returns whether its messages are instructions instead of turns.
    pub fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its author.
    pub role: Role,
    /// Its content, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Plain text.
    Text(String),
    /// Context that the client's program adds to a message of the user, in tags of its own. It is not what the user asks.
    Context(String),
    /// An agent's reasoning before its answer.
    Reasoning(String),
    /// A call of a client's tool.
    Call {
        /// The id to which the result refers. Empty if the client sent none.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments, as the model wrote them.
        input: String,
    },
    /// The result of a tool call. It is data, not text of the user.
    Result {
        /// The id of the call.
        call: String,
        /// The tool's name, if the result itself names it.
        name: Option<String>,
        /// The tool's output.
        text: String,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// Content of an unknown type, as its JSON, or as the type if that is too long.
    Unknown(String),
    /// An image, a sound or a file.
    Media(Media),
    /// Content that no CLI can receive, such as the id of a file.
    Attachment {
        /// Its type, in the client's terms.
        kind: String,
        /// Its replacement in the prompt.
        shown: String,
    },
}

impl Message {
    /// Creates a message of one text block.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, blocks: vec![Block::Text(text.into())] }
    }
}

impl Message {
    fn is_empty_answer(&self) -> bool {
        self.role == Role::Assistant && self.blocks.iter().all(Block::is_blank)
    }
}

impl Block {
    /// Returns whether it contains nothing to answer.
    fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) | Self::Context(text) | Self::Reasoning(text) => text.trim().is_empty(),
            Self::Call { .. } | Self::Result { .. } | Self::Unknown(_) | Self::Media(_) | Self::Attachment { .. } => {
                false
            }
        }
    }
}

/// The messages so far, which end with something for the agent to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation(Vec<Message>);

/// A reason why an agent cannot answer the messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConversationError {
    /// There are no messages.
    #[error("the list of messages is empty: send at least one message of the role `user`")]
    Empty,
    /// Nothing is left to answer.
    #[error(
        "there is nothing to answer: after the last `assistant` message, send one of the role `user` with text in it"
    )]
    NothingToAnswer,
    /// The question contains something that no CLI can receive.
    #[error(
        "a part of the type `{kind}` cannot be given to a CLI: send its content in base64, the `http` URL of it, or text"
    )]
    Attachment {
        /// Its type, in the client's terms.
        kind: String,
    },
}

impl Conversation {
    /// All messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.0
    }

    /// System and developer messages, in order.
    pub fn instructions(&self) -> impl Iterator<Item = &Message> {
        self.0.iter().filter(|message| message.role.instructs())
    }

    /// The turns up to the assistant's last one: the context of the task.
    pub fn context(&self) -> impl Iterator<Item = &Message> {
        self.0[..self.task_start()].iter().filter(|message| !message.role.instructs())
    }

    /// The turns after the assistant's last one: the task.
    pub fn task(&self) -> impl Iterator<Item = &Message> {
        self.0[self.task_start()..].iter().filter(|message| !message.role.instructs())
    }

    /// The name of the tool of a call.
    pub fn called(&self, id: &str) -> Option<&str> {
        let blocks = self.0.iter().flat_map(|message| &message.blocks);
        blocks.into_iter().find_map(|block| match block {
            Block::Call { id: other, name, .. } if !id.is_empty() && id == other => Some(name.as_str()),
            _ => None,
        })
    }

    /// The user's last message, if the assistant has not answered it: the question. The client can no longer change
    /// earlier messages.
    fn question(&self) -> Option<&Message> {
        self.task().filter(|message| message.role == Role::User).last()
    }

    /// Returns whether the task has media.
    pub fn has_media(&self) -> bool {
        self.0.iter().flat_map(|message| &message.blocks).any(|block| matches!(block, Block::Media(_)))
    }

    /// The same conversation with media replaced by what names them to the agent.
    #[must_use]
    pub fn with_media_named(&self, mut name: impl FnMut(&Media) -> String) -> Self {
        let mut messages = self.0.clone();
        for block in messages.iter_mut().flat_map(|message| &mut message.blocks) {
            if let Block::Media(media) = block {
                *block = Block::Attachment { kind: media.mime.clone(), shown: name(media) };
            }
        }
        Self(messages)
    }

    /// Replaces the media of answered messages, since the agent has received them then.
    fn forget_media(&mut self) {
        let task = self.task_start();
        for block in self.0[..task].iter_mut().flat_map(|message| &mut message.blocks) {
            if let Block::Media(Media { mime, shown, .. }) = block {
                *block = Block::Attachment { kind: std::mem::take(mime), shown: std::mem::take(shown) };
            }
        }
    }

    fn asks_something(&self) -> bool {
        let says = |message: &Message| !message.blocks.iter().all(Block::is_blank);
        let answered = self.task_start() > 0;
        self.task().any(says) || (!answered && self.instructions().any(says))
    }

    fn task_start(&self) -> usize {
        self.0.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |last| last + 1)
    }
}

impl TryFrom<Vec<Message>> for Conversation {
    type Error = ConversationError;

    /// Removes empty messages of the assistant at the end, which clients add before an answer arrives.
    fn try_from(mut messages: Vec<Message>) -> Result<Self, ConversationError> {
        if messages.is_empty() {
            return Err(ConversationError::Empty);
        }
        while messages.last().is_some_and(Message::is_empty_answer) {
            messages.pop();
        }
        let mut conversation = Self(messages);
        conversation.forget_media();
        let asked = conversation.question().map_or(&[][..], |message| &message.blocks);
        let attachment = asked.iter().find_map(|block| match block {
            Block::Attachment { kind, .. } => Some(kind.clone()),
            _ => None,
        });
        match attachment {
            Some(kind) => Err(ConversationError::Attachment { kind }),
            None if conversation.asks_something() => Ok(conversation),
            None => Err(ConversationError::NothingToAnswer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MediaContent;
    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message::text(role, text)
    }

    fn image(role: Role) -> Message {
        let image = Block::Attachment { kind: "image_url".to_owned(), shown: "[image]".to_owned() };
        Message { role, blocks: vec![image] }
    }

    #[test]
    fn the_task_is_everything_after_the_last_answer() {
        let messages = vec![
            message(Role::System, "be brief"),
            message(Role::User, "one"),
            message(Role::Assistant, "1"),
            message(Role::Developer, "be kind"),
            message(Role::User, "two"),
            message(Role::Tool, "2"),
            message(Role::Assistant, " "),
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
            vec![message(Role::System, " ")],
            vec![message(Role::User, " \n")],
            vec![message(Role::User, "hi"), message(Role::Assistant, "hello")],
            vec![message(Role::System, "be brief"), message(Role::Assistant, "hello")],
            vec![message(Role::Assistant, "")],
        ] {
            assert_eq!(Conversation::try_from(messages), Err(ConversationError::NothingToAnswer));
        }
    }

    #[test]
    fn instructions_alone_and_a_result_without_text_can_be_answered() {
        let result = Block::Result { call: String::new(), name: None, text: String::new(), is_error: false };
        for messages in [
            vec![message(Role::System, "say hello")],
            vec![message(Role::Assistant, "1"), Message { role: Role::Tool, blocks: vec![result] }],
        ] {
            assert!(Conversation::try_from(messages.clone()).is_ok(), "{messages:?}");
        }
    }

    #[test]
    fn an_attachment_is_refused_only_in_the_question() {
        let refused = Conversation::try_from(vec![message(Role::User, "one"), image(Role::User)]);
        assert_eq!(refused, Err(ConversationError::Attachment { kind: "image_url".to_owned() }));
        for earlier in [image(Role::User), image(Role::Assistant), image(Role::Tool), image(Role::System)] {
            assert!(Conversation::try_from(vec![earlier, message(Role::User, "two")]).is_ok());
        }
        assert!(
            Conversation::try_from(vec![image(Role::User), message(Role::Assistant, "1"), image(Role::Tool)]).is_ok()
        );
    }

    #[test]
    fn media_are_kept_for_the_agent_until_they_are_answered() {
        let media = |shown: &str| {
            Block::Media(Media {
                mime: "image/png".to_owned(),
                content: MediaContent::Bytes([1][..].into()),
                shown: shown.to_owned(),
            })
        };
        let user = |block: Block| Message { role: Role::User, blocks: vec![block] };
        let attached = |shown: &str| Block::Attachment { kind: "image/png".to_owned(), shown: shown.to_owned() };
        let messages = vec![
            user(media("[one]")),
            message(Role::Assistant, "1"),
            user(media("[two]")),
            message(Role::User, "compare"),
        ];
        let conversation = Conversation::try_from(messages).unwrap();
        let blocks = |conversation: &Conversation| -> Vec<Block> {
            conversation.messages().iter().flat_map(|message| message.blocks.clone()).collect()
        };
        assert!(conversation.has_media());
        assert_eq!(blocks(&conversation)[..3], [attached("[one]"), Block::Text("1".to_owned()), media("[two]")]);
        let named = conversation.with_media_named(|media| format!("{} here", media.shown));
        assert_eq!((blocks(&named)[2].clone(), named.has_media()), (attached("[two] here"), false));
    }
}
