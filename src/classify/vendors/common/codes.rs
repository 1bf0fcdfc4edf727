//! Codes and types that can only mean one thing, whoever sends them.
//!
//! In: nothing. Out: rows, all of them codes in the normal form. A code that means something else at one vendor stands in
//! that vendor's table, which is asked first.

use crate::classify::rules::{Rule, code};
use crate::policy::{Class, Scope};

const OPENAI: &str = "https://platform.openai.com/docs/guides/error-codes";
const ANTHROPIC: &str = "https://docs.anthropic.com/en/api/errors";
const REQUEST: Option<Scope> = Some(Scope::Request);
const PROVIDER: Option<Scope> = Some(Scope::Provider);

/// Codes and types that can only mean one thing.
#[rustfmt::skip]
pub const CODES: &[Rule] = &[
    code(
        "code-context",
        &[
            "contextlengthexceeded", "exceedcontextsizeerror", "toomanyprompttokens", "contextwindowexceeded*",
            "contextoverflow*", "toomanytokens", "maxtokensexceeded", "prompttoolong", "inputtoolong",
            "tokenlimitexceeded", "contextlengtherror", "maxcontextlengthexceeded", "requesttokenstoolarge",
            "promptislong", "inputtokensexceeded",
        ],
        Class::ContextOverflow,
        REQUEST,
        OPENAI,
    ),
    code(
        "code-tool-generation",
        &[
            "toolusefailed", "jsonvalidatefailed", "malformedfunctioncall", "malformedtooluse",
            "malformedmodeloutput", "invalidtoolcall", "jsonschemavalidationerror", "toolcallvalidationfailed",
            "unexpectedtoolcall", "outputparsefailed",
        ],
        Class::SchemaInvalid,
        REQUEST,
        "https://console.groq.com/docs/errors",
    ),
    code(
        "code-policy",
        &[
            "contentfilter*", "contentpolicy*", "moderationblocked", "responsibleaipolicyviolation",
            "datainspectionfailed", "inputdatainspectionfailed", "outputdatainspectionfailed", "safetyerror",
            "promptblocked", "sensitivecontent*", "sensitivewords*", "guardrailintervened", "guardrail*",
            "prohibitedcontent", "contentblocked", "invalidprompt", "cyberpolicyviolation", "contentmoderation*",
            "unsafecontent", "flaggedcontent", "hookfailed",
        ],
        Class::Policy,
        REQUEST,
        OPENAI,
    ),
    code(
        "code-quota",
        &[
            "insufficientquota", "billinghardlimitreached", "billingnotactive", "creditbalanceexhausted",
            "creditbalancetoolow", "exceededcurrentquotaerror", "paymentrequired*", "notenoughbalance",
            "insufficientbalance*", "insufficientcredit*", "insufficientfunds", "creditlimit", "creditsexhausted",
            "outofcredits", "insufficientuserquota", "preconsumetokenquotafailed", "quotanotenough", "billingerror",
            "budgetexceeded*", "*spendlimitexceeded", "spendinglimit*", "usagelimitreached", "usagelimitexceeded",
            "usagenotincluded", "quotaexhausted", "dailylimitexceeded", "monthlylimitexceeded",
            "servicequotaexceeded*", "arrearage", "accountoverdue*", "overdue*", "freetieronly",
            "allocationquotafreetieronly", "*perday", "*perdayper*", "planlimit*", "dailyquota*",
        ],
        Class::QuotaExhausted,
        None,
        OPENAI,
    ),
    code(
        "code-region",
        &[
            "unsupportedcountryregionterritory", "unsupportedlocation", "regionnotsupported", "locationnotsupported",
            "countrynotsupported", "geoblocked",
        ],
        Class::Permission,
        PROVIDER,
        OPENAI,
    ),
    code(
        "code-deployment",
        &["deploymentnotfound", "endpointnotfound", "resourcenotready"],
        Class::NotFound,
        Some(Scope::Deployment),
        "https://learn.microsoft.com/azure/ai-services/openai/",
    ),
    code(
        "code-model",
        &[
            "modelnotfound*", "invalidmodel", "invalidmodelerror", "modelnotavailable", "modelnotexist*",
            "modeldoesnotexist", "unknownmodel", "modelnotsupported", "unsupportedmodel", "modeldeprecated",
            "modelretired", "modeldecommissioned", "modelnotallowed", "nosuchmodel", "modelpricemissing",
            "modelnameerror",
        ],
        Class::NotFound,
        None,
        OPENAI,
    ),
    code(
        "code-auth",
        &[
            "invalidapikey", "*invalidapikey", "incorrectapikey", "authenticationerror", "authenticationfailed*",
            "expiredapikey", "apikeyinvalid", "apikeyexpired", "apikeynotfound", "invalidtoken", "tokenexpired",
            "accesstokenexpired", "invalidauthentication*", "invalidcredentials", "unrecognizedclient*",
            "expiredtoken*", "invalidsignature*", "missingauthenticationtoken*", "incompletesignature*",
            "invalidclienttokenid", "missingapikey", "noapikey", "accountdeactivated", "invalidaccesskey*",
            "unauthenticated", "signaturedoesnotmatch", "invalidissuer", "missingcredentials", "requestexpired",
            "keyexpired", "keyrevoked", "apikeydisabled",
        ],
        Class::Auth,
        None,
        OPENAI,
    ),
    code(
        "code-overloaded",
        &[
            "overloaded", "overloadederror", "engineoverloaded*", "serverisoverloaded", "serveroverloaded",
            "serviceoverloaded", "queueexceeded", "modelcapacityexhausted", "capacityexceeded", "nocapacity",
            "modelnotready*", "modelloading", "serverbusy", "systembusy", "modelbusy", "insufficientsystemresource",
            "temporarilyoverloaded", "serversoverloaded", "insufficientcapacity*", "queuefull", "modeloverloaded*",
            "flexcapacityexceeded",
        ],
        Class::Overloaded,
        None,
        ANTHROPIC,
    ),
    code(
        "code-too-large",
        &[
            "requesttoolarge", "payloadtoolarge", "requestentitytoolarge", "contenttoolarge", "filetoolarge",
            "imagetoolarge", "requestbodytoolarge", "entitytoolarge", "requestsizetoolarge",
        ],
        Class::PayloadTooLarge,
        REQUEST,
        ANTHROPIC,
    ),
    code(
        "code-locked",
        &["conversationlocked", "concurrentmodification", "resourcelocked"],
        Class::RateLimit,
        REQUEST,
        OPENAI,
    ),
    code(
        "code-organization",
        &["invalidorganization", "mismatchedorganization", "mismatchedproject", "invalidproject"],
        Class::Auth,
        None,
        OPENAI,
    ),
    code(
        "code-forbidden",
        &[
            "ipnotauthorized", "missingscope", "insufficientpermissions",
            "organizationverificationrequired", "accessdenied*", "requestforbidden",
            "mpagreementbeingcreated", "regionrestricted",
        ],
        Class::Permission,
        None,
        OPENAI,
    ),
    // All that the account may do has ended, whatever the model.
    code(
        "code-account-closed",
        &[
            "accountsuspended", "accountdisabled", "usersuspended", "organizationrestricted", "organizationdisabled",
            "accessterminated",
        ],
        Class::Permission,
        Some(Scope::Account),
        OPENAI,
    ),
    code("code-parameter", &["unknownparameter", "unsupportedparameter", "unsupportedvalue", "missingrequiredparameter", "invalidfunctionparameters", "invalidjsonschema", "invalidtype", "unrecognizedarguments"], Class::InvalidRequest, REQUEST, OPENAI),
];
