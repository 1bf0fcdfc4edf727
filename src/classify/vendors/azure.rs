//! Azure OpenAI and Azure AI Foundry.

use crate::classify::rules::{Rule, code, phrase, under};
use crate::policy::{Class, Scope};

const DOCS: &str = "https://learn.microsoft.com/azure/ai-services/openai/how-to/quota";
const FILTER: &str = "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter";
const DEPLOYMENT: Option<Scope> = Some(Scope::Deployment);

/// Rows.
pub const RULES: &[Rule] = &[
    code(
        "azure-filter",
        &["contentfilter", "responsibleaipolicyviolation"],
        Class::Policy,
        Some(Scope::Request),
        FILTER,
    ),
    code("azure-deployment", &["deploymentnotfound"], Class::NotFound, DEPLOYMENT, DOCS),
    phrase(
        "azure-key",
        &["invalid subscription key", "wrong api endpoint", "missing subscription key"],
        Class::Auth,
        None,
        DOCS,
    ),
    phrase(
        "azure-firewall",
        &["virtual network", "firewall rule", "public access is disabled"],
        Class::Permission,
        None,
        DOCS,
    ),
    phrase(
        "azure-principal",
        &["lacks the required data action", "does not have access to api"],
        Class::Permission,
        None,
        DOCS,
    ),
    phrase(
        "azure-call-volume",
        &["out of call volume quota"],
        Class::QuotaExhausted,
        None,
        "https://learn.microsoft.com/azure/api-management/quota-policy",
    ),
    phrase(
        "azure-spillover",
        &["no capacity", "provisioned-managed deployment", "high demand"],
        Class::Overloaded,
        DEPLOYMENT,
        DOCS,
    ),
    phrase(
        "azure-rate",
        &["exceeded * rate limit", "exceeded token rate limit", "exceeded call rate limit"],
        Class::RateLimit,
        DEPLOYMENT,
        DOCS,
    ),
    code("azure-rate-code", &["ratelimitreached", "toomanyrequests"], Class::RateLimit, DEPLOYMENT, DOCS),
    code(
        "azure-operation",
        &["operationnotsupported", "unsupportedapiversion"],
        Class::InvalidRequest,
        Some(Scope::Request),
        DOCS,
    ),
    under(&[404], phrase("azure-resource", &["resource not found"], Class::NotFound, DEPLOYMENT, DOCS)),
];
