//! What a request is: the facts that guards, the contract filter and the record read. Made once per request by the
//! gateway or a test, never changed after.

use crate::policy::{Dialect, Effects, Fact, Millis, Modalities, StructuredOutput, TargetId, Terms};

/// The facts of one request.
#[derive(Clone, Debug)]
pub struct Facts {
    /// `x-switchback-id`; also the seed of every draw.
    pub id: String,
    /// The request's `model`, as the client wrote it.
    pub model: String,
    /// Whether the answer is to stream.
    pub stream: bool,
    /// Whether tools are given.
    pub tools: bool,
    /// Whether several tool calls at once are asked for outright.
    pub parallel_tools: bool,
    /// What form the answer must have.
    pub structured_output: StructuredOutput,
    /// Input tokens, estimated upwards.
    pub tokens: u64,
    /// Output tokens asked for, of each answer; absent where the request names none.
    pub max_output: Option<u64>,
    /// How many answers are asked for; each may be as long as `max_output`.
    pub choices: u64,
    /// Kinds of content in the request.
    pub modalities: Modalities,
    /// Who asks.
    pub client: Option<String>,
    /// From where.
    pub region: Option<String>,
    /// In which session.
    pub session: Option<String>,
    /// The headers that some guard names, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The request's `metadata`, strings only.
    pub metadata: Vec<(String, String)>,
    /// What the request itself may set off: provider-run tools or stored state. Only ever tightens the route's word.
    pub effects: Effects,
    /// The dialect that it is written in.
    pub dialect: Dialect,
    /// What it says that targets of another dialect would not be told. The one field is for the one other dialect.
    pub beyond: Terms,
    /// When the request was received.
    pub received_at: Millis,
    /// The caller's own deadline, from receipt. Only ever shortens the budget's.
    pub deadline: Option<Millis>,
    /// The one target the caller wants, already looked up in the route's chains.
    pub pin: Option<TargetId>,
}

impl Facts {
    /// Facts of a plain request: no stream, text only, nothing asked for.
    pub fn plain(id: impl Into<String>, model: impl Into<String>) -> Facts {
        Facts {
            id: id.into(),
            model: model.into(),
            stream: false,
            tools: false,
            parallel_tools: false,
            structured_output: StructuredOutput::None,
            tokens: 0,
            max_output: None,
            choices: 1,
            modalities: Modalities::default().with(crate::policy::Modality::Text),
            client: None,
            region: None,
            session: None,
            headers: Vec::new(),
            metadata: Vec::new(),
            effects: Effects::None,
            dialect: Dialect::Chat,
            beyond: Terms::default(),
            received_at: Millis::ZERO,
            deadline: None,
            pin: None,
        }
    }

    /// What sessions are hashed by: the session, or the request where there is none.
    pub fn session_key(&self) -> &str {
        self.session.as_deref().unwrap_or(&self.id)
    }

    /// A fact that is text; absent where the request does not have it or the fact is of another kind.
    pub fn text(&self, fact: &Fact) -> Option<&str> {
        match fact {
            Fact::Model => Some(&self.model),
            Fact::Client => self.client.as_deref(),
            Fact::Region => self.region.as_deref(),
            Fact::Session => self.session.as_deref(),
            Fact::Header(name) => find(&self.headers, name),
            Fact::Metadata(name) => find(&self.metadata, name),
            Fact::Stream
            | Fact::Tools
            | Fact::Tokens
            | Fact::MaxOutput
            | Fact::Modalities
            | Fact::RetryAfter
            | Fact::Status
            | Fact::Code
            | Fact::Stage
            | Fact::AttemptNumber
            | Fact::AttemptOnTarget
            | Fact::TimeLeft
            | Fact::Spent => None,
        }
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
}
