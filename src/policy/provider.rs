//! Providers, models and targets: who may be called, as what, and where.

use super::breaker::BreakerRules;
use super::class::Class;
use super::contract::Capabilities;
use super::dialect::Dialect;
use super::ids::{ModelId, ProviderId};
use super::probe::{ProbeRules, Seed};
use super::ramp::RampRules;
use super::retry::RetryRatio;
use super::script::Script;
use super::units::{Millis, Prices};
use crate::source::Span;

super::class::words! {
    /// The dialect a provider speaks.
    Api {
        OpenaiChat "openai-chat" "OpenAI Chat Completions, or a server that is compatible with it";
        AnthropicMessages "anthropic-messages" "Anthropic Messages, or a server that is compatible with it";
        Emulated "emulated" "the built-in emulator";
    }
}

impl Api {
    /// The dialect of its requests and answers.
    pub fn dialect(self) -> Dialect {
        match self {
            Api::OpenaiChat | Api::Emulated => Dialect::Chat,
            Api::AnthropicMessages => Dialect::Messages,
        }
    }
}

/// Text that may come from outside the policy. Resolved when serving, never by `check`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    /// As written.
    Literal(String),
    /// `env NAME [else "default"]`
    Env {
        /// The variable.
        name: String,
        /// Where it is not set.
        default: Option<String>,
    },
    /// `file "PATH" [else "default"]`
    File {
        /// The path.
        path: String,
        /// Where it is not there.
        default: Option<String>,
    },
}

/// Who is called.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its documentation.
    pub docs: Option<String>,
    /// Its dialect.
    pub api: Api,
    /// Where it is; the api's own default where absent.
    pub base_url: Option<Text>,
    /// Its credentials: none for a server that asks for none; several are a pool that `next-key` walks.
    pub keys: Vec<Text>,
    /// Headers sent with each call.
    pub headers: Vec<(String, Text)>,
    /// Client headers handed on, in lower case.
    pub pass_headers: Vec<String>,
    /// Providers that share one share fate.
    pub account: String,
    /// Longest time for a connection.
    pub timeout_connect: Millis,
    /// When its scopes are left alone: its own, the set's, or the language's.
    pub breaker: BreakerRules,
    /// The retry bucket of each of its targets.
    pub retry: RetryRatio,
}

impl Provider {
    /// Default of `timeout-connect`.
    pub const TIMEOUT_CONNECT: Millis = Millis(2_000);
}

/// What "the same thing" means: targets of one model may stand in for each other.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its documentation.
    pub docs: Option<String>,
    /// What it states.
    pub capabilities: Capabilities,
}

/// A correction of how a target's failures are classified: `failure STATUS "code or phrase" is CLASS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The answer's status.
    pub status: u16,
    /// A code, or a piece of the message; in any case.
    pub text: Option<String>,
    /// What it is.
    pub class: Class,
}

/// A model at a provider: what is called.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its documentation.
    pub docs: Option<String>,
    /// Its model.
    pub model: ModelId,
    /// Its provider.
    pub provider: ProviderId,
    /// The model's name sent to the provider.
    pub upstream: String,
    /// Where it is.
    pub region: Option<String>,
    /// Where it differs from the model's.
    pub prices: Prices,
    /// Where it differs from the model's.
    pub retention: Option<Millis>,
    /// How its weights are stored, as declared: `fp8`. No decision depends on it.
    pub quantization: Option<String>,
    /// Switched on in git.
    pub enabled: bool,
    /// The header by which it de-duplicates.
    pub idempotency_key: Option<String>,
    /// How the emulator answers for it.
    pub script: Option<Script>,
    /// Most calls in flight.
    pub max_concurrent: Option<u32>,
    /// How its failures are classified where the tables are wrong; the first that fits holds.
    pub corrections: Vec<Correction>,
    /// The baseline it states.
    pub seed: Option<Seed>,
    /// Its own probe, its provider's or the set's; none: it is not probed.
    pub probe: Option<ProbeRules>,
    /// Its own ramp, its provider's or the set's; without stages it is full at once.
    pub ramp: RampRules,
}
