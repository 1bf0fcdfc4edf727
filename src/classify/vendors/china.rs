//! Vendors in China: most have numeric codes, and some words of their own.

use crate::classify::rules::{Rule, both, code, phrase, under};
use crate::policy::{Class, Scope};

const REQUEST: Option<Scope> = Some(Scope::Request);
const ACCOUNT: Option<Scope> = Some(Scope::Account);
const NOVITA_DOCS: &str = "https://novita.ai/docs/api-reference/basic-error-code";
const DEEPSEEK_DOCS: &str = "https://api-docs.deepseek.com/quick_start/error_codes";
const DASHSCOPE_DOCS: &str = "https://help.aliyun.com/zh/model-studio/error-code";
const ZHIPU_DOCS: &str = "https://docs.z.ai/api-reference/api-code";
const MOONSHOT_DOCS: &str = "https://platform.moonshot.ai/docs/api/chat";
const MINIMAX_DOCS: &str = "https://platform.minimax.io/docs/api-reference/errorcode";
const ARK_DOCS: &str = "https://www.volcengine.com/docs/82379/1299023";
const BAIDU_DOCS: &str = "https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh";
const TENCENT_DOCS: &str = "https://cloud.tencent.com/document/product/1729/101843";
const SPARK_DOCS: &str = "https://www.xfyun.cn/doc/spark/HTTP%E8%B0%83%E7%94%A8%E6%96%87%E6%A1%A3.html";
const SILICONFLOW_DOCS: &str = "https://docs.siliconflow.cn/en/faqs/error-code";

/// Rows for Novita.
pub const NOVITA: &[Rule] = &[
    code("novita-balance", &["notenoughbalance"], Class::QuotaExhausted, None, NOVITA_DOCS),
    code("novita-unavailable", &["servicenotavailable"], Class::ServerError, None, NOVITA_DOCS),
    code("novita-model", &["modelnotfound"], Class::NotFound, None, NOVITA_DOCS),
    code("novita-auth", &["failedtoauth", "invalidapikey"], Class::Auth, None, NOVITA_DOCS),
];

/// Rows for DeepSeek.
pub const DEEPSEEK: &[Rule] = &[
    phrase("deepseek-balance", &["insufficient balance"], Class::QuotaExhausted, None, DEEPSEEK_DOCS),
    phrase("deepseek-key", &["authentication fails"], Class::Auth, None, DEEPSEEK_DOCS),
    phrase("deepseek-model", &["model not exist"], Class::NotFound, None, DEEPSEEK_DOCS),
    phrase("deepseek-risk", &["content exists risk"], Class::Policy, REQUEST, DEEPSEEK_DOCS),
];

/// Rows for DashScope.
pub const DASHSCOPE: &[Rule] = &[
    code(
        "dashscope-free-tier",
        &[
            "allocationquotafreetieronly",
            "*freetieronly",
            "commoditynotpurchased",
            "prepaidbilloverdue",
            "postpaidbilloverdue",
            "arrearage",
        ],
        Class::QuotaExhausted,
        None,
        DASHSCOPE_DOCS,
    ),
    phrase(
        "dashscope-free-tier-words",
        &["free tier of the model", "good standing"],
        Class::QuotaExhausted,
        None,
        DASHSCOPE_DOCS,
    ),
    // The vendor's own page calls this code a limit of tokens a minute.
    code(
        "dashscope-quota",
        &["throttling*", "limitrequests", "limitburstrate", "insufficientquota", "ratequota", "allocationquota"],
        Class::RateLimit,
        None,
        DASHSCOPE_DOCS,
    ),
    code(
        "dashscope-inspection",
        &["*datainspectionfailed", "ipinfringementsuspect", "faqrulehit", "customrolebocked"],
        Class::Policy,
        REQUEST,
        DASHSCOPE_DOCS,
    ),
    phrase("dashscope-length", &["range of input length"], Class::ContextOverflow, REQUEST, DASHSCOPE_DOCS),
    code(
        "dashscope-model",
        &["modelnotfound", "modelaccessdenied", "modelnotsupported"],
        Class::NotFound,
        None,
        DASHSCOPE_DOCS,
    ),
    code(
        "dashscope-unpurchased",
        &["accessdeniedunpurchased", "workspaceaccessdenied", "unpurchased"],
        Class::Permission,
        None,
        DASHSCOPE_DOCS,
    ),
    code("dashscope-key", &["invalidapikey"], Class::Auth, None, DASHSCOPE_DOCS),
    code(
        "dashscope-unavailable",
        &["modelservingerror", "serviceunavailable", "modelunavailable"],
        Class::Overloaded,
        None,
        DASHSCOPE_DOCS,
    ),
    code("dashscope-timeout", &["requesttimeout", "responsetimeout"], Class::ServerError, None, DASHSCOPE_DOCS),
    code("dashscope-parameter", &["invalidparameter*"], Class::InvalidRequest, REQUEST, DASHSCOPE_DOCS),
];

/// Rows for Zhipu and Z.ai.
pub const ZHIPU: &[Rule] = &[
    code("zhipu-auth", &["1000", "1001", "1002", "1003", "1004", "1100"], Class::Auth, None, ZHIPU_DOCS),
    code(
        "zhipu-account",
        &["1110", "1111", "1112", "1120", "1121", "1220", "1222"],
        Class::Permission,
        None,
        ZHIPU_DOCS,
    ),
    code(
        "zhipu-balance",
        &[
            "1113", "1308", "1309", "1310", "1311", "1304", "1313", "1314", "1315", "1316", "1317", "1318", "1319",
            "1320", "1321",
        ],
        Class::QuotaExhausted,
        None,
        ZHIPU_DOCS,
    ),
    code("zhipu-model", &["1211", "1212", "1221"], Class::NotFound, None, ZHIPU_DOCS),
    code("zhipu-length", &["1261"], Class::ContextOverflow, REQUEST, ZHIPU_DOCS),
    code("zhipu-unsafe", &["1301"], Class::Policy, REQUEST, ZHIPU_DOCS),
    code("zhipu-rate", &["1302", "1303"], Class::RateLimit, None, ZHIPU_DOCS),
    code("zhipu-busy", &["1305", "1312"], Class::Overloaded, None, ZHIPU_DOCS),
    code("zhipu-parameter", &["1210", "1213", "1214", "1215", "1300"], Class::InvalidRequest, REQUEST, ZHIPU_DOCS),
    code("zhipu-server", &["1200", "1230", "1231", "1234"], Class::ServerError, None, ZHIPU_DOCS),
];

/// Rows for Moonshot.
pub const MOONSHOT: &[Rule] = &[
    code("moonshot-quota", &["exceededcurrentquotaerror"], Class::QuotaExhausted, None, MOONSHOT_DOCS),
    both(
        "moonshot-daily",
        &["ratelimitreachederror"],
        &["max tpd", "max rpd"],
        Class::QuotaExhausted,
        None,
        MOONSHOT_DOCS,
    ),
    code("moonshot-rate", &["ratelimitreachederror"], Class::RateLimit, ACCOUNT, MOONSHOT_DOCS),
    code("moonshot-busy", &["engineoverloadederror"], Class::Overloaded, None, MOONSHOT_DOCS),
    code("moonshot-filter", &["contentfilter"], Class::Policy, REQUEST, MOONSHOT_DOCS),
    phrase(
        "moonshot-tokens",
        &["model token limit", "token length too long"],
        Class::ContextOverflow,
        REQUEST,
        MOONSHOT_DOCS,
    ),
    code("moonshot-model", &["resourcenotfounderror"], Class::NotFound, None, MOONSHOT_DOCS),
];

/// Rows for MiniMax: the code is in `base_resp.status_code`.
pub const MINIMAX: &[Rule] = &[
    code("minimax-rate", &["1002", "1039", "1041", "2045"], Class::RateLimit, None, MINIMAX_DOCS),
    code("minimax-auth", &["1004", "2049"], Class::Auth, None, MINIMAX_DOCS),
    code("minimax-balance", &["1008", "2056"], Class::QuotaExhausted, None, MINIMAX_DOCS),
    code("minimax-policy", &["1026", "1027"], Class::Policy, REQUEST, MINIMAX_DOCS),
    code("minimax-parameter", &["2013", "1042"], Class::InvalidRequest, REQUEST, MINIMAX_DOCS),
    code("minimax-server", &["1000", "1001", "1013", "1024", "1033"], Class::ServerError, None, MINIMAX_DOCS),
];

/// Rows for Volcengine Ark.
pub const VOLCENGINE: &[Rule] = &[
    code(
        "ark-overdue",
        &["accountoverdue*", "overduebalance", "quotaexceeded", "inferencequotaexceeded", "setlimitexceeded"],
        Class::QuotaExhausted,
        None,
        ARK_DOCS,
    ),
    code("ark-busy", &["serveroverloaded", "serviceoverloaded"], Class::Overloaded, None, ARK_DOCS),
    code(
        "ark-rate",
        &["*ratelimitexceeded*", "requestbursttoofast", "*tpmexceeded*", "*rpmexceeded*"],
        Class::RateLimit,
        None,
        ARK_DOCS,
    ),
    code(
        "ark-sensitive",
        &[
            "sensitivecontentdetected*",
            "inputtextsensitive*",
            "outputtextsensitive*",
            "inputimagesensitive*",
            "outputimagesensitive*",
            "inputtextrisk*",
            "contentsecurity*",
        ],
        Class::Policy,
        REQUEST,
        ARK_DOCS,
    ),
    code(
        "ark-endpoint",
        &["invalidendpointormodel*", "invalidendpoint*", "modelnotopen", "endpointisdisabled"],
        Class::NotFound,
        None,
        ARK_DOCS,
    ),
    code(
        "ark-auth",
        &["authenticationerror", "invalidaccountstatus", "missingauthorization"],
        Class::Auth,
        None,
        ARK_DOCS,
    ),
    code(
        "ark-permission",
        &["accessdenied", "operationdenied*", "unauthorizedoperation"],
        Class::Permission,
        None,
        ARK_DOCS,
    ),
];

/// Rows for Baidu Qianfan.
pub const BAIDU: &[Rule] = &[
    code(
        "baidu-rate",
        &[
            "18",
            "336501",
            "336502",
            "336503",
            "336504",
            "336505",
            "336507",
            "4",
            "rpmratelimitexceeded",
            "tpmratelimitexceeded",
            "preemptible*",
        ],
        Class::RateLimit,
        None,
        BAIDU_DOCS,
    ),
    code("baidu-quota", &["17", "19", "coupon*", "insufficientquota"], Class::QuotaExhausted, None, BAIDU_DOCS),
    code(
        "baidu-auth",
        &["13", "14", "15", "100", "110", "111", "invalidiamtoken", "invalidappid"],
        Class::Auth,
        None,
        BAIDU_DOCS,
    ),
    code("baidu-permission", &["6", "336005"], Class::Permission, None, BAIDU_DOCS),
    code("baidu-length", &["336103", "336007", "336104"], Class::ContextOverflow, REQUEST, BAIDU_DOCS),
    code("baidu-busy", &["336100", "2"], Class::Overloaded, None, BAIDU_DOCS),
    code("baidu-server", &["336000", "1"], Class::ServerError, None, BAIDU_DOCS),
    code("baidu-parameter", &["336001", "336002", "336003", "336006"], Class::InvalidRequest, REQUEST, BAIDU_DOCS),
];

/// Rows for Tencent Hunyuan.
pub const TENCENT: &[Rule] = &[
    code(
        "tencent-arrears",
        &[
            "*accountarrears",
            "*resourceunavailableinarrears",
            "*freequotaexhausted",
            "*chargestatusexception",
            "failedoperationresourcepackexhausted",
            "*resourcepackexhausted",
        ],
        Class::QuotaExhausted,
        None,
        TENCENT_DOCS,
    ),
    code("tencent-rate", &["requestlimitexceeded*", "limitexceeded*"], Class::RateLimit, None, TENCENT_DOCS),
    code("tencent-auth", &["authfailure*"], Class::Auth, None, TENCENT_DOCS),
    code(
        "tencent-sensitive",
        &["*illegaltext*", "*textillegal*", "operationdeniedtextillegaldetected"],
        Class::Policy,
        REQUEST,
        TENCENT_DOCS,
    ),
    code(
        "tencent-busy",
        &["failedoperationengineserverlimitexceeded", "*enginerequesttimeout", "*serverbusy"],
        Class::Overloaded,
        None,
        TENCENT_DOCS,
    ),
    code(
        "tencent-parameter",
        &["invalidparameter*", "missingparameter", "unknownparameter"],
        Class::InvalidRequest,
        REQUEST,
        TENCENT_DOCS,
    ),
];

/// Rows for iFlytek Spark.
pub const SPARK: &[Rule] = &[
    code("spark-rate", &["11202", "11203", "10007", "10010"], Class::RateLimit, None, SPARK_DOCS),
    code("spark-quota", &["11200", "11201"], Class::QuotaExhausted, None, SPARK_DOCS),
    code("spark-policy", &["10013", "10014", "10019"], Class::Policy, REQUEST, SPARK_DOCS),
    code("spark-length", &["10907"], Class::ContextOverflow, REQUEST, SPARK_DOCS),
    code("spark-busy", &["10008", "10012", "10110", "10222"], Class::Overloaded, None, SPARK_DOCS),
    code("spark-auth", &["10015", "10016", "10017", "10313", "10316"], Class::Auth, None, SPARK_DOCS),
    code("spark-parameter", &["10003", "10004", "10005", "10163"], Class::InvalidRequest, REQUEST, SPARK_DOCS),
];

/// Rows for SiliconFlow.
pub const SILICONFLOW: &[Rule] = &[
    code("siliconflow-balance", &["30001", "30011"], Class::QuotaExhausted, None, SILICONFLOW_DOCS),
    code("siliconflow-model", &["20012"], Class::NotFound, None, SILICONFLOW_DOCS),
    code("siliconflow-verification", &["30003", "30014"], Class::Permission, None, SILICONFLOW_DOCS),
    code("siliconflow-busy", &["50505", "50603", "50604"], Class::Overloaded, None, SILICONFLOW_DOCS),
    under(
        &[429],
        phrase(
            "siliconflow-rate",
            &["limit reached", "ipm limit", "tpm limit", "rpm limit"],
            Class::RateLimit,
            None,
            SILICONFLOW_DOCS,
        ),
    ),
];
