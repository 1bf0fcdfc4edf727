//! Proxies and CDNs whose upstream does not matter: what they say in plain text.

use crate::classify::rules::{Rule, phrase, under};
use crate::policy::{Class, Scope};

const CLOUDFLARE: &str = "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/";
const ENVOY: &str = "https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage";

/// Rows.
pub const RULES: &[Rule] = &[
    phrase(
        "edge-rate",
        &["error code: 1015", "local_rate_limited", "rate limited"],
        Class::RateLimit,
        Some(Scope::Provider),
        CLOUDFLARE,
    ),
    under(
        &[403, 409, 429, 530],
        phrase(
            "edge-blocked",
            &["error code: 1020", "error code: 1010", "error code: 1009", "error code: 1006"],
            Class::Permission,
            Some(Scope::Provider),
            CLOUDFLARE,
        ),
    ),
    phrase("edge-tunnel", &["error code: 1033", "tunnel"], Class::ServerError, Some(Scope::Deployment), CLOUDFLARE),
    phrase(
        "edge-upstream",
        &["upstream connect error", "upstream request timeout", "stream timeout", "no healthy upstream"],
        Class::ServerError,
        None,
        ENVOY,
    ),
    phrase("edge-waf", &["rbac: access denied", "jwt is missing"], Class::Permission, None, ENVOY),
];
