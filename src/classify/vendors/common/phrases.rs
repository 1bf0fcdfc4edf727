//! Short phrases, whatever the code: in English, and in the languages that vendors and relays answer in.
//!
//! In: nothing. Out: rows, all of them pieces of messages in lower case. They run from what waiting cannot help to what it
//! can, and from limits of requests to limits of tokens, so that a message which names both is read by what it is about.

use crate::classify::rules::{NEVER_FITS, Rule, phrase, under};
use crate::policy::{Class, Scope};

const OPENAI: &str = "https://platform.openai.com/docs/guides/error-codes";
const COMPATIBLE: &str = "error bodies of servers that are compatible with OpenAI";
const CLOUDFLARE: &str = "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/";
const REQUEST: Option<Scope> = Some(Scope::Request);
const ACCOUNT: Option<Scope> = Some(Scope::Account);
const MODEL: Option<Scope> = Some(Scope::Model);
const PROVIDER: Option<Scope> = Some(Scope::Provider);

/// Short phrases, whatever the code.
#[rustfmt::skip]
pub const PHRASES: &[Rule] = &[
    // Larger than a minute's allowance: no wait ever helps here, and nothing is said of how much fits.
    phrase(NEVER_FITS, &["request too large for*tokens per min"], Class::RateLimit, REQUEST, OPENAI),
    phrase("phrase-request-too-large-for-limit", &["request too large for"], Class::ContextOverflow, REQUEST, OPENAI),
    phrase(
        "phrase-policy",
        &[
            "content management policy", "content policy", "content_policy", "content filter", "usage polic",
            "safety system", "safety filter", "safety check", "safety guideline", "safety reasons", "moderation",
            "your input was flagged", "was flagged", "been flagged", "inappropriate content", "sensitive content",
            "sensitive information", "sensitive word", "unsafe content", "harmful content", "prohibited content",
            "prohibited use", "considered high risk", "terms of use", "blocked output", "blocked by guardrail",
            "guardrail check", "guardrail interv", "prompt shield", "jailbreak", "responsible ai", "content violat",
            "violates our", "community guidelines", "敏感", "违规", "不当内容", "不安全内容", "内容安全", "安全审核", "不适当",
            "contenido inapropiado", "contenu inapproprié",
        ],
        Class::Policy,
        REQUEST,
        COMPATIBLE,
    ),
    phrase(
        "phrase-quota",
        &[
            "insufficient balance", "insufficient credit", "insufficient fund", "insufficient quota",
            "insufficient account balance", "balance is insufficient", "balance insufficient",
            "balance is not enough", "balance not enough", "not enough balance", "not enough credit",
            "not enough fund", "credit balance", "exceeded your current quota", "out of credit", "no credits",
            "no remaining credit", "available credits", "credits exhausted", "run out of credit", "depleted",
            "spending limit", "spend limit", "spend cap", "spending cap", "monthly spending", "usage cap",
            "monthly limit", "daily limit", "weekly limit", "yearly limit", "monthly usage", "daily usage",
            "weekly usage", "session usage", "usage limit reached", "reached your usage limit",
            "usage limit has been reached", "your specified api usage limits", "monthly quota", "daily quota",
            "monthly included", "free quota", "free tier has been exhausted", "quota has been exhausted",
            "quota exhausted", "quota is exhausted", "used up", "per day", "per-day", "byday", "per 86400s",
            "per month", "/ month", "s/month", "/ day", "s/day", "(tpd)", "(rpd)", "daily rate limit",
            "daily request", "daily token", "billing hard limit", "billing details", "payment required",
            "payment method required", "past due", "unpaid", "overdue", "arrear", "in good standing",
            "please recharge", "please top up", "top up your", "please purchase", "purchase more credits",
            "key limit exceeded", "exceeded budget", "budget has been exceeded", "over budget", "budget exceeded",
            "max budget", "limit: 0", "余额不足", "额度不足", "额度已用", "额度已耗尽", "配额已", "配额不足", "欠费", "充值", "账户余额", "資金不足",
            "残高", "saldo insuficiente", "guthaben", "crédit insuffisant",
        ],
        Class::QuotaExhausted,
        None,
        COMPATIBLE,
    ),
    phrase(
        "phrase-rate-account",
        &[
            "your account's rate limit", "organization max", "account rate limit", "trial key", "per api key",
            "for your api key", "rate limit for your account", "your usage limits",
        ],
        Class::RateLimit,
        ACCOUNT,
        COMPATIBLE,
    ),
    phrase("phrase-rate-edge", &["you are being rate limited"], Class::RateLimit, PROVIDER, CLOUDFLARE),
    phrase(
        "phrase-overloaded",
        &[
            "overloaded", "high demand", "high traffic", "heavy traffic", "high load", "heavy load", "under load",
            "no capacity", "at capacity", "over capacity", "capacity exceeded", "capacity temporarily exceeded",
            "capacity limit", "capacity constraint", "insufficient capacity", "out of capacity", "lack of capacity",
            "not enough capacity", "insufficient system resource", "loading model", "currently loading",
            "model is loading", "is still loading", "is being loaded", "model is starting", "warming up",
            "cold start", "scaled to zero", "scaling up", "model busy", "model is busy", "server busy",
            "server is busy", "servers are busy", "service busy", "service is busy", "system is busy", "system busy",
            "too busy", "currently busy", "is busy", "queue is full", "queue full", "queue is at",
            "maximum pending requests", "no available workers", "no available worker", "no available instance",
            "no healthy", "not ready yet", "is not ready", "out of memory", "繁忙", "过载", "負荷", "负载", "拥挤", "资源不足",
            "混み合って", "混雑", "überlastet", "surchargé", "sobrecargado", "перегружен",
        ],
        Class::Overloaded,
        None,
        COMPATIBLE,
    ),
    phrase(
        "phrase-rate",
        &[
            "rate limit", "ratelimit", "rate-limit", "too many requests", "too many concurrent",
            "too many api calls", "per minute", "per min", "per second", "per hour", "s/minute", "/ minute",
            "requests per", "tokens per", "queries per", "(rpm)", "(tpm)", "(rps)", "max rpm", "max tpm",
            "max concurrency", "concurrency limit", "concurrent request", "concurrency exceeded", "rate exceeded",
            "request limit exceeded", "request rate", "throttl", "call frequency", "qps", "请求过于频繁", "请求频率", "频率过高",
            "频率限制", "速率限制", "限流", "请求数过多", "并发", "レート制限", "リクエストが多すぎ", "zu viele anfragen", "trop de requêtes",
            "demasiadas solicitudes", "слишком много запросов",
        ],
        Class::RateLimit,
        None,
        COMPATIBLE,
    ),
    phrase(
        "phrase-context",
        &[
            "context length", "context window", "context size", "context limit", "maximum context", "max context",
            "context_length", "prompt is too long", "prompt too long", "input is too long", "input too long",
            "inputs too long", "prompt exceeds", "input exceeds", "messages exceed", "exceeds max length",
            "exceeds maximum length", "exceeds the maximum length", "exceeds maximum input", "too many input tokens",
            "too many prompt tokens", "input token count", "input token limit", "number of input tokens",
            "prompt token count", "number of tokens allowed", "maximum number of tokens", "maximum allowed tokens",
            "maximum tokens allowed", "tokens exceed", "token count exceeds", "exceeds the token limit",
            "exceed the token limit", "exceeds token limit", "model token limit", "token limit exceeded",
            "maximum token limit", "input tokens exceeded", "reduce the length of", "reduce your prompt",
            "shorten your", "maximum input length", "maximum prompt length", "max input length", "max_input_length",
            "max_model_len", "max_seq_len", "maximum sequence length", "longer than the model",
            "longer than the maximum", "inputs` tokens", "inputs tokens + max_new_tokens", "range of input length",
            "length of input", "n_ctx", "上下文长度", "上下文窗口", "输入长度", "输入过长", "超过最大长度", "最大长度", "超出长度", "令牌数超", "token数超", "トークン数",
            "kontextlänge", "longueur de contexte",
        ],
        Class::ContextOverflow,
        REQUEST,
        COMPATIBLE,
    ),
    phrase(
        "phrase-tool-generation",
        &[
            "failed to call a function", "tool call validation failed", "did not call a tool",
            "failed to generate json", "failed to parse tool call", "failed to parse input at pos",
            "malformed function call", "invalid tool call generated", "model output is not valid",
            "output does not match the schema", "generated json", "model produced invalid",
            "failed to validate json",
        ],
        Class::SchemaInvalid,
        REQUEST,
        "https://console.groq.com/docs/errors",
    ),
    phrase(
        "phrase-auth",
        &[
            "incorrect api key", "invalid api key", "invalid api-key", "invalid api_key", "invalid apikey",
            "invalid x-api-key", "api key not valid", "api key is invalid", "api key is not valid",
            "api key is missing", "api key is required", "api key expired", "api key has expired",
            "api key not found", "api key has been", "api key is disabled", "no api key", "no api-key",
            "missing api key", "missing api-key", "api_key client option", "invalid key", "invalid authentication",
            "invalid auth", "authentication fail", "authentication required", "not authenticated",
            "missing authentication", "missing authorization", "missing bearer", "no auth credentials",
            "invalid token", "invalid bearer", "invalid access token", "token expired", "token has expired",
            "token is expired", "expired token", "token is invalid", "jwt", "invalid credential", "security token",
            "signature we calculated", "login fail", "无效的令牌", "令牌无效", "令牌已过期", "无效的api", "身份验证", "认证失败", "鉴权", "未授权", "密钥",
            "認証", "clé api", "api-schlüssel", "clave de api", "chave de api", "авторизац",
        ],
        Class::Auth,
        None,
        COMPATIBLE,
    ),
    under(&[400, 404, 422, 500, 502, 503], phrase("phrase-unauthorized", &["unauthorized", "unauthenticated"], Class::Auth, None, COMPATIBLE)),
    phrase(
        "phrase-region",
        &[
            "location is not supported", "location not supported", "unsupported countr", "country is not supported",
            "countries, regions", "country, region", "not available in your", "not supported in your",
            "region is not supported", "not available in this region", "not available in your region", "your region",
            "your country",
        ],
        Class::Permission,
        PROVIDER,
        COMPATIBLE,
    ),
    phrase(
        "phrase-model",
        &[
            "model does not exist", "model not exist", "model not found", "model * does not exist",
            "model * not found", "model * was not found", "model * not exist", "model * is not found",
            "models/* not found", "model * doesn't exist", "no such model", "unknown model", "invalid model name",
            "invalid model '", "invalid model:", "invalid model \"", "invalid model identifier",
            "model identifier is invalid", "not found the model", "model not available", "model is not available",
            "model * is not available", "model * not available", "model * no longer", "model * is not supported",
            "model not supported", "model is not supported", "unsupported model", "not a valid model",
            "unable to access * model", "no models loaded", "not deployed", "model * deprecated",
            "model * decommissioned", "model * retired", "been decommissioned", "been deprecated", "end of its life",
            "end of life", "no endpoints found", "no allowed providers", "no available channel", "模型不存在", "模型未找到",
            "不支持该模型", "无可用渠道", "モデルが見つかり",
        ],
        Class::NotFound,
        None,
        COMPATIBLE,
    ),
    phrase(
        "phrase-model-access",
        &[
            "access to the model", "access to model", "access to this model", "permission to use model",
            "not allowed to access model", "not have access to", "gated repo", "must accept the",
            "model is not enabled", "model access is denied",
        ],
        Class::Permission,
        MODEL,
        COMPATIBLE,
    ),
    phrase(
        "phrase-deployment",
        &[
            "deployment * does not exist", "deployment does not exist", "deployment * not found",
            "endpoint * does not exist", "endpoint * not found", "endpoint is paused", "endpoint is not running",
        ],
        Class::NotFound,
        Some(Scope::Deployment),
        COMPATIBLE,
    ),
    phrase(
        "phrase-route",
        &[
            "no handler found", "no route matched", "unknown url", "invalid url (", "unknown request url",
            "cannot post", "route not found", "unrecognized request url", "page not found", "path not found",
            "unknownoperation",
        ],
        Class::NotFound,
        PROVIDER,
        COMPATIBLE,
    ),
    phrase(
        "phrase-too-large",
        &[
            "request entity too large", "payload too large", "body too large", "body size", "body is too large",
            "content too large", "exceeds the maximum size", "maximum request size", "request size",
            "too many bytes", "file too large", "file is too large", "image too large", "image exceeds",
            "exceeds * mb", "exceed * mb", "size limit of", "maximum allowed size", "maximum payload", "请求体过大",
        ],
        Class::PayloadTooLarge,
        REQUEST,
        COMPATIBLE,
    ),
    phrase(
        "phrase-connect-upstream",
        &[
            "upstream connect error", "upstream request timeout", "connection termination", "bad gateway",
            "connection refused", "network connection lost", "connection reset by peer", "upstream server",
            "upstream prematurely", "server disconnected",
        ],
        Class::ServerError,
        None,
        "https://www.envoyproxy.io/docs/envoy/latest/faq/load_balancing/",
    ),
];
