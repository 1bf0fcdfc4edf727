//! The rows: one line for each word of each block, in the order in which a reader would want them.
//!
//! Flags: `required`, `repeatable`, `later` (a word of the language whose effect does not exist yet).

use super::Block::{self, *};
use super::Naming::{self, *};
use super::Status::{self, InEffect, Later};
use super::ValueType::{self, *};
use super::{BlockRow, Setting};

type Words = &'static [(&'static str, Status)];

const APIS: Words = &[
    ("openai-chat", InEffect),
    ("openai-responses", Later),
    ("azure-openai", Later),
    ("anthropic-messages", InEffect),
    ("gemini", Later),
    ("bedrock-converse", Later),
    ("emulated", InEffect),
];
const MODALITIES: Words =
    &[("text", InEffect), ("image", InEffect), ("audio", InEffect), ("video", InEffect), ("file", InEffect)];
const TOOLS: Words = &[("no", InEffect), ("yes", InEffect), ("parallel", InEffect)];
const STRUCTURED: Words = &[("none", InEffect), ("json-object", InEffect), ("json-schema", InEffect)];
const LIMITS: Words = &[("skip", InEffect), ("clamp", Later)];
const STREAMS: Words = &[("fail", InEffect), ("buffer", Later), ("resume", Later)];
const EFFECTS: Words = &[("none", InEffect), ("unknown", InEffect)];
const IDEMPOTENCY: Words = &[("off", InEffect), ("best-effort", Later), ("required", Later)];
const CAPTURE: Words = &[("no", InEffect), ("yes", Later)];
const KINDS: Words = &[("generate", InEffect), ("tools", InEffect), ("embedding", Later), ("endpoint", InEffect)];
const PREFER: Words = &[("healthy", InEffect), ("same-model", InEffect)];
const BAD_ANSWER: Words = &[("fail", InEffect), ("slow", InEffect)];
const SCOPES: Words =
    &[("account", InEffect), ("region", InEffect), ("model", InEffect), ("target", InEffect), ("capability", InEffect)];

const fn flagged(flags: &[&str], flag: &str) -> bool {
    let mut i = 0;
    // Indexing is bounded by the loop; iterators cannot run at compile time.
    #[allow(clippy::indexing_slicing)]
    while i < flags.len() {
        let (a, b) = (flags[i].as_bytes(), flag.as_bytes());
        let mut same = a.len() == b.len();
        let mut j = 0;
        while same && j < a.len() {
            same = a[j] == b[j];
            j += 1;
        }
        if same {
            return true;
        }
        i += 1;
    }
    false
}

const fn row(
    block: Block,
    word: &'static str,
    value: ValueType,
    flags: &[&str],
    default: &'static str,
    meaning: &'static str,
) -> Setting {
    Setting {
        block,
        word,
        value,
        default,
        required: flagged(flags, "required"),
        repeatable: flagged(flags, "repeatable"),
        status: if flagged(flags, "later") { Later } else { InEffect },
        since: 1,
        meaning,
    }
}

const fn block(block: Block, word: &'static str, naming: Naming, status: Status, meaning: &'static str) -> BlockRow {
    BlockRow { block, word, naming, status, meaning }
}

macro_rules! table {
    ($($block:ident $name:literal $naming:ident $status:ident $what:literal {
        $($word:literal $value:expr, [$($flag:ident)*] $default:literal $meaning:literal;)*
    })*) => {
        /// Every kind of block.
        pub const BLOCKS: &[BlockRow] = &[$(block($block, $name, $naming, $status, $what),)*];
        /// Every setting of every block.
        pub const SETTINGS: &[Setting] = &[$($(
            row($block, $word, $value, &[$(stringify!($flag)),*], $default, $meaning),
        )*)*];
    };
}

table! {
    Provider "provider" Named InEffect "Who is called: an API, its address and its credential." {
        "api"             OneOf(APIS), [required] "" "The dialect it speaks.";
        "base-url"        Reference,   [] "the api's own" "Where it is.";
        "key"             Reference,   [] "" "Its credential, always by reference; left out for a server that asks for none.";
        "keys"            Form("[env NAME, env NAME]"), [] "" "A pool of credentials that next-key walks.";
        "header"          Form("NAME VALUE"), [repeatable] "" "A header sent with each call; never one that carries a credential.";
        "pass-headers"    List,        [] "[]" "Client headers that are handed on; never credentials or cookies.";
        "account"         Text,        [] "the provider's name" "Providers that name the same account share fate.";
        "timeout-connect" Duration,    [] "2s" "Longest time for a connection.";
        "vendor"          Name,        [later] "" "The table of quirks and error rules to read it by.";
        "breaker"         Block(Breaker), [] "the defaults block's" "When its scopes are left alone.";
        "retry-ratio"     Form("20%, at least 1/s, burst 20"), [] "20%, at least 1/s, burst 20" "How many retries its targets take, as a share of arrivals.";
        "probe"           Block(Probe), [] "the defaults block's" "How its targets' health is looked at.";
        "ramp"            Block(Ramp), [] "the defaults block's" "How its targets come back.";
    }
    Model "model" Named InEffect "What \"the same thing\" means: targets of one model may stand in for each other." {
        "modalities"        ListOf(MODALITIES), [] "" "Kinds of input it takes.";
        "streaming"         Flag,   [] "" "Whether it streams.";
        "tools"             OneOf(TOOLS), [] "" "Tool calling: no < yes < parallel.";
        "structured-output" OneOf(STRUCTURED), [] "" "Structured output: none < json-object < json-schema.";
        "context"           Tokens, [] "" "Input and output together, in tokens.";
        "max-output"        Tokens, [] "" "Output, in tokens.";
        "prefill"           Flag,   [] "" "Whether it goes on from a given beginning of its answer.";
        "reasoning"         Flag,   [] "" "Whether it reasons.";
        "price"             Prices, [] "" "What a million tokens cost.";
        "retention"         Duration, [] "" "How long the provider keeps what it was sent.";
        "like"              Text,   [later] "" "Fills what the built-in catalogue knows of a model.";
        "quality"           Percent, [] "" "How good it is, by the operator's own measurement; for `order score`.";
        "tokenizer"         Name,   [later] "" "How its tokens are counted.";
    }
    Target "target" Named InEffect "A model at a provider: what is called." {
        "model"           Block(Model),    [required] "" "What it serves.";
        "provider"        Block(Provider), [required] "" "Who serves it.";
        "upstream"        Text,     [] "the model's name" "The model's name sent to the provider.";
        "region"          Name,     [] "" "Where it is.";
        "retention"       Duration, [] "the model's" "How long what it was sent is kept, where that differs from the model's.";
        "price"           Prices,   [] "the model's" "What a million tokens cost, where that differs from the model's.";
        "enabled"         Flag,     [] "yes" "Switched off in git with no.";
        "idempotency-key" Text,     [] "" "The header by which it de-duplicates repeated calls.";
        "script"          Form("{ answers OUTCOME … }"), [] "" "How the emulator answers for it.";
        "max-concurrent"  Count,    [] "none" "Above it the target is passed over as busy.";
        "quantization"    Text,     [] "" "How its weights are stored, as declared; targets of one model that differ draw advice.";
        "baseline"        Form("p50 300ms, p95 900ms"), [repeatable] "" "Latencies to start from until enough probes are in.";
        "probe"           Form("NAME | none"), [] "the provider's" "How its health is looked at.";
        "ramp"            Form("NAME | none"), [] "the provider's" "How it comes back.";
        "drop"            List,     [later] "" "Request fields that are left out for it.";
        "set"             Form("FIELD VALUE"), [repeatable later] "" "A request field that is set for it.";
        "failure"         Form("STATUS \"code or phrase\" is CLASS"), [repeatable] "" "A correction of how its failures are classified.";
    }
    Contract "contract" Named InEffect "The least that an answer must be able to do." {
        "extends"           Block(Contract), [] "" "Takes over another contract's settings; own ones win.";
        "modalities"        ListOf(MODALITIES), [] "[text]" "Kinds of input that must be taken.";
        "streaming"         Flag,   [] "no" "Whether streaming is needed.";
        "tools"             OneOf(TOOLS), [] "no" "The least tool calling.";
        "structured-output" OneOf(STRUCTURED), [] "none" "The least structured output.";
        "context"           Form(">= 64k"), [] "" "The least context, in tokens.";
        "max-output"        Form(">= 4k"), [] "" "The least output limit, in tokens.";
        "prefill"           Flag,   [] "no" "Whether going on from a given beginning is needed.";
        "reasoning"         Flag,   [] "no" "Whether reasoning is needed.";
        "regions"           List,   [] "any" "Regions that are allowed, as names or patterns.";
        "retention"         Form("<= 30d"), [] "any" "The longest that what was sent may be kept.";
        "price"             Form("<= $20/M out"), [repeatable] "any" "The highest price.";
        "output-limit"      OneOf(LIMITS), [] "skip" "What happens to a request for more output than a target gives.";
        "task-success"      Form(">= 94%"), [later] "" "The least success in the operator's evaluation.";
        "schema-valid"      Form(">= 99.5%"), [later] "" "The least share of valid answers in the operator's evaluation.";
        "evidence-age"      Duration, [later] "90d" "How old an evaluation may be.";
    }
    Evaluation "evaluation" Paired Later "Evidence that a model keeps a contract." {
        "task-success" Percent, [later] "" "Measured success.";
        "schema-valid" Percent, [later] "" "Measured share of valid answers.";
        "samples"      Count,   [required later] "" "How many were measured.";
        "measured"     Form("2026-10-02"), [required later] "" "When.";
        "report"       Text,    [later] "" "Where the report is.";
    }
    Tier "tier" Named InEffect "Which targets may answer, in which order." {
        "chain"       Form("{ TARGET [when GUARD]; … }"), [required repeatable] "" "The targets in order, one rank a line; `chain in [REGION]` for some regions.";
        "last-resort" Flag, [] "no" "Whether a target that is down or open may be asked when nothing else is left.";
        "slow-above"  Duration, [] "" "A latency above this is slow for this tier: it keeps its own copy of each target's health.";
        "order"       Form("as-written | price | latency [every D] | score [every D] { latency P; price P; quality P }"), [] "as-written" "How ranks are ordered.";
        "prefer"      OneOf(PREFER), [] "healthy" "Whether a healthy other model goes before a degraded equivalent.";
        "exercise"    Form("N% of TARGET"), [repeatable] "" "A share of sessions that keeps a standby proven.";
        "affinity"    Form("none | session for D"), [] "none" "How long a session stays where this tier last served it.";
    }
    Matrix "matrix" Named InEffect "What each failure class leads to." {
        "extends"   Block(Matrix), [] "" "Takes over another matrix's rows, after its own.";
        "otherwise" Form("-> ACTION, …"), [] "" "The row for every class without an unguarded row above it; last.";
    }
    Budget "budget" Named InEffect "What one request may take: time, calls, money." {
        "extends"         Block(Budget), [] "" "Takes over another budget's settings; own ones win.";
        "deadline"        Duration, [required] "" "From receipt to the first output of a stream, or to the end of any other answer.";
        "attempts"        Count,    [required] "" "How many upstream calls there may be, of whatever kind.";
        "per-target"      Count,    [] "2" "Calls at one target in one request.";
        "attempt-timeout" Form("8s"), [] "what the deadline leaves" "Longest time of one attempt; on a stream it ends at first output.";
        "headers"         Duration, [] "attempt-timeout" "Longest time to the response headers.";
        "first-token"     Duration, [] "attempt-timeout" "Longest time to a stream's first output.";
        "idle"            Duration, [] "15s" "Longest silence between output.";
        "total"           Duration, [] "none" "Longest length of a whole stream.";
        "min-attempt"     Duration, [] "500ms" "Less than this left is not worth a call.";
        "reserve"         Duration, [] "40% of deadline, at most attempt-timeout" "Kept for the next candidate while an untried one is left.";
        "backoff"         Form("250ms to 4s, jitter full"), [] "250ms to 4s, jitter full" "Pauses before retries: base and cap, doubling.";
        "replays"         Count,    [] "2" "How often a pure request may be repeated after an attempt that may have been processed.";
        "rounds"          Count,    [] "1" "How often used targets may be chosen again.";
        "min-rate"        Form("5/s"), [later] "none" "The least output, in characters a second.";
        "spend"           Form("$0.60/request | $5/day then stop | $5/day then use TIER"), [repeatable] "none" "The most that all attempts of a request may cost at worst, and that a route may cost a day.";
        "hedge"           Form("after p95, at least 500ms"), [] "off" "One duplicate of a late call of a pure request, at another target of its model.";
    }
    Breaker "breaker" Named InEffect "When a failing scope is left alone, and when it is tried again." {
        "extends"          Block(Breaker), [] "" "Takes over another breaker's settings; own ones win.";
        "scopes"           ListOf(SCOPES), [] "[account, region, model, target, capability]" "What failures are counted by.";
        "trip"             Form("when errors >= 50% over 30s, min 20"), [repeatable] "when errors >= 50% over 30s, min 20; when consecutive >= 5" "When it opens.";
        "open"             Form("30s, doubling to 5m"), [] "30s, doubling to 5m, jitter 10%" "How long it stays open.";
        "half-open"        Form("1 at once, 2 successes"), [] "1 at once, 2 successes" "How it is tried again.";
        "stable"           Duration, [] "the ramp's whole length" "Closed this long, the next trip starts at open again.";
        "hint-cap"         Duration, [] "5m" "Most that a hint lengthens an open time.";
        "timeout-evidence" Percent,  [] "50%" "Share of the limit that must have been granted for a timeout to count.";
        "hold"             Form("CLASS up to D, default D"), [repeatable] "rate-limit up to 5m, default 1s; overloaded, server-error up to 5m; quota-exhausted up to 6h, default 5m" "How long nobody is sent there after such a failure.";
    }
    Probe "probe" Named InEffect "How health is looked at without traffic." {
        "extends"    Block(Probe), [] "" "Takes over another probe's settings; own ones win.";
        "every"      Form("10s, jitter 10%"), [] "10s, jitter 10%" "How often.";
        "timeout"    Duration,  [] "min(every, 10s)" "How long a probe may take.";
        "kind"       OneOf(KINDS), [] "generate" "What is asked.";
        "prompt"     Text,      [] "\"ping\"" "What is said.";
        "max-tokens" Count,     [] "5" "How much is answered.";
        "answer"     Form("contains \"TEXT\""), [] "not empty" "What makes an answer good.";
        "bad-answer" OneOf(BAD_ANSWER), [] "fail" "What a garbled answer counts as.";
        "slow"       Form("when latency > 3x baseline, at least 500ms"), [repeatable] "when latency > 3x baseline, at least 500ms" "What counts as slow.";
        "down"       Form("after N failures"), [] "after 3 failures" "When it is down.";
        "up"         Form("after N passes"), [] "after 2 passes" "When it is up again.";
        "degraded"   Form("after N slow"), [] "after 3 slow" "When it is degraded.";
        "recovered"  Form("after N ok"), [] "after 3 ok" "When it has recovered.";
        "baseline"   Form("100 probes, min 20, renew 30m"), [] "100 probes, min 20, renew 30m" "What slow is measured against.";
        "traffic"    Flag,      [] "no" "Whether live latencies enter.";
        "spend"      Form("$X/day"), [] "none" "The most money for probes.";
    }
    Ramp "ramp" Named InEffect "How a recovered target gets its traffic back: stages `N% for D`, rising, then `100%`." {
        "extends"  Block(Ramp), [] "" "Takes over another ramp's stages and rollback; own ones win.";
        "rollback" Form("when errors >= 20%, min 20"), [repeatable] "when errors >= 20%, min 20; when consecutive >= 5" "When the traffic is taken away again.";
    }
    Route "route" Named InEffect "Which requests get which contract, tier, matrix and budget." {
        "version"      Count, [] "" "The author's own version number, shown in records.";
        "serves"       List,  [] "the route's name" "Values of the request's model that select it.";
        "match"        Guard, [] "" "Which of those requests it takes; asked before the route without one.";
        "before"       Block(Route), [] "" "Asked before this other route where both match.";
        "contract"     Block(Contract), [] "" "What the answer must be able to do, beside what the request itself uses.";
        "tier"         Block(Tier), [required] "" "Who may answer.";
        "matrix"       Block(Matrix), [] "the defaults block's" "What failures lead to.";
        "budget"       Block(Budget), [] "the defaults block's" "What it may take.";
        "stream"       OneOf(STREAMS), [] "fail" "What happens to a stream that breaks after output.";
        "side-effects" OneOf(EFFECTS), [] "none" "Whether requests may have set something off at the provider.";
        "idempotency"  OneOf(IDEMPOTENCY), [] "off" "Whether a ledger de-duplicates requests.";
        "capture"      OneOf(CAPTURE), [] "no" "Whether prompts and answers are recorded.";
        "failover"     Form("yes | no | N%"),  [] "yes" "Kill switch, or canary share, for going to another target of the model.";
        "fallback"     Form("yes | no | N%"),  [] "yes" "Kill switch, or canary share, for going to another model.";
        "exhausted"    Form("stop as STATUS | wait up to D"), [] "stop as 503" "What happens when no target is left.";
        "validate"     Form("schema yes|no"), [later] "schema yes" "Whether answers are checked against the request's schema.";
        "answer"       Form("schema file \"PATH\""), [later] "" "The route's own check of a whole answer.";
        "cache"        Form("exact for D"), [later] "" "Keeps complete answers to pure requests.";
        "guarantee"    Form("attempts <= 4"), [repeatable later] "" "Something that is proved of every path.";
    }
    Defaults "defaults" Bare InEffect "What holds where a route does not say otherwise." {
        "matrix"         Block(Matrix), [] "" "For routes that name none.";
        "budget"         Block(Budget), [] "" "For routes that name none.";
        "session-header" Text, [] "x-switchback-session" "The client header that names the session.";
        "region-header"  Text, [] "x-switchback-region" "The client header that names the region.";
        "breaker"        Block(Breaker), [] "" "For providers that name none.";
        "probe"          Block(Probe), [] "" "For targets and providers that name none.";
        "ramp"           Block(Ramp), [] "" "For targets and providers that name none.";
    }
    Objective "objective" Paired Later "The reliability that a route is held to." {
        "success"   Form("99.9% over 7d"), [later] "" "The share of requests that must be served.";
        "p99"       Duration, [later] "" "The latency that one in a hundred may exceed.";
        "breach"    Form("$10 per 0.1%"), [later] "" "What missing it costs.";
        "otherwise" Text, [later] "" "What people do by hand.";
    }
    Alert "alert" Named Later "A webhook for what an operator must know." {
        "url"  Reference, [required later] "" "Where it is sent.";
        "when" Form("no-target | reload-rejected | budget-burn | store-down | switch-changed"), [repeatable later] "" "What it is sent for.";
        "at"   Form("most 1/5min"), [later] "" "How often at most.";
    }
    Client "client" Named Later "Who may ask, and how much." {
        "key"        Form("sha256 \"…\""), [later] "" "The client's key, as a digest or a reference.";
        "routes"     List,  [later] "" "What it may ask for.";
        "region"     Name,  [later] "" "Where it is.";
        "rate"       Form("600/min"), [later] "" "How often it may ask.";
        "spend"      Form("$200/day"), [later] "" "How much money it may cost.";
        "concurrent" Count, [later] "" "How much it may ask at once.";
    }
    Test "test" Titled InEffect "A story in virtual time, and what must come of it." {
        "send"   Form("ROUTE { facts }"), [repeatable] "" "A request.";
        "expect" Form("served by TARGET | refused CLASS [as STATUS] | attempts == N | elapsed < D | cost < $X | path [CLASS, ACTION, ok] | never TARGET | skipped TARGET as REASON | output \"TEXT\" | ended with error"), [repeatable] "" "What must have come of the last request.";
        "given"  Form("dice N% [for PURPOSE] | spent $X for ROUTE"), [repeatable] "" "What dice show, and what a route has spent today.";
        "at"     Form("D LINE"), [repeatable] "" "When a line happens.";
    }
    Load "load" Titled Later "Many requests in virtual time, and what must come of them." {
        "expect" Form("failed == 0"), [repeatable later] "" "What must have come of them.";
        "from"   Form("D to D LINE"), [repeatable later] "" "When a line holds.";
        "at"     Form("D LINE"), [repeatable later] "" "When a line begins to hold.";
        "every"  Form("N% of calls LINE"), [repeatable later] "" "A share of calls that a line is for.";
    }
}
