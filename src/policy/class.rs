//! Failure classes, stages, scopes and refusals: the vocabulary of what went wrong.
//!
//! The class table is the language's; the columns a decision needs are methods here. Matches are total, so a new class
//! has to be given a place in each of them.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal $meaning:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`: ", $meaning, ".")] $variant,)*
        }

        impl $name {
            /// All, in the order of the language's table.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The word of the language.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// What it means, in a few words.
            pub fn meaning(self) -> &'static str {
                match self { $($name::$variant => $meaning,)* }
            }

            /// The one that is written so.
            pub fn from_word(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|x| x.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(self.word())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What a failed attempt is.
    Class {
        Connect "connect" "name lookup, refusal, TLS, or a reset before headers";
        TimeoutHeaders "timeout-headers" "the granted time ran out before headers";
        TimeoutFirstToken "timeout-first-token" "the granted time ran out before output";
        TimeoutIdle "timeout-idle" "it stood still after headers and before all output";
        RateLimit "rate-limit" "too fast; a short wait helps";
        QuotaExhausted "quota-exhausted" "money or a hard allowance is gone";
        Overloaded "overloaded" "no room on the other side";
        ServerError "server-error" "something broke on the other side";
        Auth "auth" "the credential is missing, wrong or revoked";
        Permission "permission" "the credential is known and not allowed";
        NotFound "not-found" "no such model, deployment or route";
        InvalidRequest "invalid-request" "malformed, or a parameter it does not take";
        ContextOverflow "context-overflow" "too many tokens";
        PayloadTooLarge "payload-too-large" "too many bytes";
        Policy "policy" "refused or cut by a safety or usage rule";
        SchemaInvalid "schema-invalid" "output fails the schema or the tool's parameters";
        EmptyResponse "empty-response" "success with nothing in it";
        MalformedResponse "malformed-response" "not an answer of this dialect";
        Truncated "truncated" "ended by length below the request's own limit, or without an end marker";
        StreamEarly "stream-early" "an error event before output that names no better class";
        PartialStream "partial-stream" "anything after output was forwarded";
        Unknown "unknown" "none of the others";
    }
}

words! {
    /// How far an attempt had come when it failed: decides whether it may be repeated.
    Stage {
        NotSent "not-sent" "no byte of the request left";
        Rejected "rejected" "the target said that it did not process it";
        Sent "sent" "it may have been processed";
        Headers "headers" "an answer had begun, no output yet";
        Output "output" "output had begun";
    }
}

words! {
    /// How wide an answer shows the failure to be.
    Scope {
        Request "request" "only this call";
        Model "model" "this model with this account";
        Account "account" "all that uses this key or balance";
        Deployment "deployment" "one deployment, endpoint or server";
        Region "region" "one location of the vendor";
        Provider "provider" "everything at this vendor";
    }
}

words! {
    /// The gateway's own refusals.
    Refusal {
        NoTarget "no-target" "no target admits the request now";
        Contract "contract" "no target of the chain meets the contract";
        Deadline "deadline" "the deadline passed";
        Spend "spend" "the money cap is reached";
        Limit "limit" "the client's own limit is reached";
        Disabled "disabled" "switched off";
        Duplicate "duplicate" "the idempotency key was used before";
    }
}

/// What an outcome is for a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blame {
    /// A success.
    Success,
    /// A failure.
    Failure,
    /// Opens at once.
    Hard,
    /// Too fast: no failure, but a trial fails by it.
    Throttled,
    /// Says nothing about the target.
    Neutral,
}

/// What a class can never lead to, beside what it can.
impl Class {
    /// The breaker column of the class table. Timeouts are `Failure` here; the granted-time rule may make them neutral.
    pub fn blame(self) -> Blame {
        match self {
            Class::Connect
            | Class::TimeoutHeaders
            | Class::TimeoutFirstToken
            | Class::TimeoutIdle
            | Class::Overloaded
            | Class::ServerError
            | Class::SchemaInvalid
            | Class::EmptyResponse
            | Class::MalformedResponse
            | Class::Truncated
            | Class::StreamEarly
            | Class::PartialStream => Blame::Failure,
            Class::RateLimit => Blame::Throttled,
            Class::QuotaExhausted | Class::Auth | Class::Permission | Class::NotFound => Blame::Hard,
            Class::InvalidRequest
            | Class::ContextOverflow
            | Class::PayloadTooLarge
            | Class::Policy
            | Class::Unknown => Blame::Neutral,
        }
    }

    /// Whether it is one of the timeouts, to which the granted-time rule applies.
    pub fn is_timeout(self) -> bool {
        matches!(self, Class::TimeoutHeaders | Class::TimeoutFirstToken | Class::TimeoutIdle)
    }

    /// The status a client is told when a row *stops* on this class without naming one. Never 429: the caller is not
    /// the one who was too fast.
    pub fn client_status(self) -> u16 {
        match self {
            Class::InvalidRequest | Class::ContextOverflow | Class::Policy => 400,
            Class::PayloadTooLarge => 413,
            Class::TimeoutHeaders | Class::TimeoutFirstToken | Class::TimeoutIdle => 504,
            Class::RateLimit | Class::QuotaExhausted | Class::Overloaded => 503,
            Class::Connect
            | Class::ServerError
            | Class::Auth
            | Class::Permission
            | Class::NotFound
            | Class::SchemaInvalid
            | Class::EmptyResponse
            | Class::MalformedResponse
            | Class::Truncated
            | Class::StreamEarly
            | Class::PartialStream
            | Class::Unknown => 502,
        }
    }

    /// The `never` column: whether the class table rules this action out. `stop` is never ruled out.
    pub fn forbids(self, verb: Verb) -> bool {
        use Verb::{Continue, Failover, Fallback, NextKey, Repair, Retry, Wait};
        let never: &[Verb] = match self {
            Class::Connect
            | Class::TimeoutHeaders
            | Class::TimeoutFirstToken
            | Class::TimeoutIdle
            | Class::RateLimit
            | Class::Overloaded
            | Class::ServerError
            | Class::StreamEarly
            | Class::Unknown => &[Repair, Continue],
            Class::QuotaExhausted | Class::Auth | Class::Permission | Class::NotFound | Class::InvalidRequest => {
                &[Retry, Wait, Repair, Continue]
            }
            Class::ContextOverflow | Class::PayloadTooLarge => &[Retry, Wait, Failover, Repair, Continue],
            Class::Policy => &[Retry, Wait, NextKey, Failover, Repair, Continue],
            Class::SchemaInvalid | Class::EmptyResponse | Class::MalformedResponse => &[Wait, Continue],
            Class::Truncated => &[Wait, Repair],
            Class::PartialStream => &[Retry, Wait, NextKey, Failover, Fallback, Repair, Continue],
        };
        never.contains(&verb)
    }
}

words! {
    /// The verbs of matrix actions.
    Verb {
        Retry "retry" "the same target again, after backoff";
        Wait "wait" "the same target, after its hint";
        NextKey "next-key" "the same target, with the next key of the pool";
        Failover "failover" "another target of the same model";
        Fallback "fallback" "a target of another model";
        Repair "repair" "the same target, told what was wrong with its output";
        Continue "continue" "the same target, asked to go on after a length cut";
        Stop "stop" "the error goes to the client";
    }
}

impl Verb {
    /// Whether it is reserved and refused, since it has no effect yet.
    pub fn is_later(self) -> bool {
        matches!(self, Verb::Repair | Verb::Continue)
    }
}

/// A set of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClassSet(u32);

impl ClassSet {
    /// Every class.
    pub fn all() -> ClassSet {
        Class::ALL.iter().fold(ClassSet::default(), |set, class| set.with(*class))
    }

    fn bit(class: Class) -> u32 {
        1 << (class as u32)
    }

    /// The set and this class.
    #[must_use]
    pub fn with(self, class: Class) -> ClassSet {
        ClassSet(self.0 | Self::bit(class))
    }

    /// The set without another.
    #[must_use]
    pub fn without(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 & !other.0)
    }

    /// Both sets.
    #[must_use]
    pub fn union(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 & other.0)
    }

    /// Whether the class is in it.
    pub fn contains(self, class: Class) -> bool {
        self.0 & Self::bit(class) != 0
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its classes, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Class> {
        Class::ALL.iter().copied().filter(move |c| self.contains(*c))
    }
}
