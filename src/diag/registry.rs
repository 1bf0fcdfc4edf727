//! The one registry of diagnostic codes.
//!
//! A code is its number; name, level and page hang on it here and nowhere else. The page is the text of
//! `docs/diagnostics/SBxxxx.md`, which is also what `explain` prints; it carries a trigger and a clean counterpart
//! that tests run.

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The set cannot be served.
    Error,
    /// It can be served, and somebody should look.
    Warning,
    /// It could be better.
    Advice,
}

impl Level {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Advice => "advice",
        }
    }
}

/// What the registry knows of a code.
#[derive(Debug)]
pub struct Entry {
    /// `SB0101`.
    pub id: &'static str,
    /// `unclosed-bracket`.
    pub name: &'static str,
    /// Its level.
    pub level: Level,
    /// Its page, in Markdown.
    pub page: &'static str,
}

macro_rules! registry {
    ($($variant:ident $id:literal $name:literal $level:ident;)*) => {
        /// A kind of diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(
                #[doc = concat!("`", $id, "` ", $name, ".")]
                $variant,
            )*
        }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The registry's entry.
            pub fn entry(self) -> &'static Entry {
                match self {
                    $(Code::$variant => {
                        static ENTRY: Entry = Entry {
                            id: $id,
                            name: $name,
                            level: Level::$level,
                            page: include_str!(concat!("../../docs/diagnostics/", $id, ".md")),
                        };
                        &ENTRY
                    })*
                }
            }

            /// The code of an id (`SB0101`) or a name (`unclosed-bracket`), in any case.
            pub fn find(word: &str) -> Option<Code> {
                Code::ALL.iter().copied().find(|c| {
                    let entry = c.entry();
                    entry.id.eq_ignore_ascii_case(word) || entry.name.eq_ignore_ascii_case(word)
                })
            }
        }
    };
}

registry! {
    // SB01xx: text and shape.
    UnclosedBracket "SB0101" "unclosed-bracket" Error;
    StrayCloser "SB0102" "stray-closer" Error;
    MismatchedBracket "SB0103" "mismatched-bracket" Error;
    UnclosedString "SB0104" "unclosed-string" Error;
    BadEscape "SB0105" "bad-escape" Error;
    StrayText "SB0106" "stray-text" Error;
    MissingItem "SB0107" "missing-item" Error;
    HeadlessBlock "SB0108" "headless-block" Error;
    EmptyStatement "SB0109" "empty-statement" Error;
    TooDeep "SB0110" "too-deep" Error;
    TextTooLarge "SB0111" "text-too-large" Error;
    MissingOpener "SB0112" "missing-opener" Error;
    MergeConflict "SB0113" "merge-conflict" Error;
    HiddenText "SB0114" "hidden-text" Error;
    OtherLanguage "SB0115" "other-language" Error;
    LineEnds "SB0116" "line-ends" Error;
    AllowWithoutReason "SB0121" "allow-without-reason" Warning;
    AllowWithoutEffect "SB0122" "allow-without-effect" Warning;
    // SB02xx: names.
    DuplicateName "SB0201" "duplicate-name" Error;
    UnknownName "SB0202" "unknown-name" Error;
    BadName "SB0203" "bad-name" Error;
    MissingName "SB0204" "missing-name" Error;
    ExtendsCycle "SB0205" "extends-cycle" Error;
    ExtendsNotFirst "SB0206" "extends-not-first" Error;
    MissingEdition "SB0207" "missing-edition" Error;
    UnknownEdition "SB0208" "unknown-edition" Error;
    WrongFile "SB0209" "wrong-file" Error;
    NotYetInEffect "SB0210" "not-yet-in-effect" Error;
    UnknownBlock "SB0211" "unknown-block" Error;
    UnknownSetting "SB0212" "unknown-setting" Error;
    WrongBlock "SB0213" "wrong-block" Error;
    DuplicateSetting "SB0214" "duplicate-setting" Error;
    MissingSetting "SB0215" "missing-setting" Error;
    NestedBlock "SB0216" "nested-block" Error;
    UnexpectedBlock "SB0217" "unexpected-block" Error;
    MissingBlock "SB0218" "missing-block" Error;
    TooMany "SB0219" "too-many" Error;
    UnusedBlock "SB0221" "unused-block" Warning;
    // SB03xx: values and units.
    MissingUnit "SB0301" "missing-unit" Error;
    WrongUnit "SB0302" "wrong-unit" Error;
    WrongValue "SB0303" "wrong-value" Error;
    OutOfRange "SB0304" "out-of-range" Error;
    UnknownWord "SB0305" "unknown-word" Error;
    NotYesOrNo "SB0306" "not-yes-or-no" Error;
    MissingValue "SB0307" "missing-value" Error;
    LeftOver "SB0308" "left-over" Error;
    UnitWord "SB0309" "unit-word" Error;
    BrokenGuard "SB0310" "broken-guard" Error;
    UnknownFact "SB0311" "unknown-fact" Error;
    FactDoesNotFit "SB0312" "fact-does-not-fit" Error;
    FactNeedsFailure "SB0313" "fact-needs-failure" Error;
    CachedAboveInput "SB0314" "cached-above-input" Warning;
    OutputAboveContext "SB0315" "output-above-context" Warning;
    SettledGuard "SB0316" "settled-guard" Warning;
    // SB04xx: contracts.
    ContractDirection "SB0401" "contract-direction" Error;
    ContractChanged "SB0402" "contract-changed" Advice;
    RegionNowhere "SB0403" "region-nowhere" Warning;
    // SB05xx: matrices.
    MatrixNotTotal "SB0501" "matrix-not-total" Error;
    UnknownClass "SB0502" "unknown-class" Error;
    UnknownAction "SB0503" "unknown-action" Error;
    ActionRuledOut "SB0504" "action-ruled-out" Error;
    RowShadowed "SB0505" "row-shadowed" Error;
    ActionNeverTaken "SB0506" "action-never-taken" Error;
    OtherwiseNotLast "SB0507" "otherwise-not-last" Error;
    RetryOnRateLimit "SB0508" "retry-on-rate-limit" Warning;
    FallbackOnPolicy "SB0509" "fallback-on-policy" Warning;
    ActionNeverPossible "SB0510" "action-never-possible" Warning;
    WaitAboveDeadline "SB0511" "wait-above-deadline" Warning;
    // SB06xx: tiers and routes.
    EmptyChain "SB0601" "empty-chain" Error;
    TargetTwice "SB0602" "target-twice" Error;
    NoGeneralChain "SB0603" "no-general-chain" Error;
    OverlappingRoutes "SB0604" "overlapping-routes" Error;
    IdleBefore "SB0605" "idle-before" Error;
    BeforeCycle "SB0606" "before-cycle" Error;
    SplitNotWhole "SB0607" "split-not-whole" Error;
    ExerciseElsewhere "SB0608" "exercise-elsewhere" Error;
    ScoreNotWhole "SB0609" "score-not-whole" Error;
    ContractUnmet "SB0611" "contract-unmet" Error;
    EmulatedProvider "SB0612" "emulated-provider" Warning;
    EmulatedAndReal "SB0613" "emulated-and-real" Warning;
    OneOutageAway "SB0614" "one-outage-away" Warning;
    AttemptsBelowChain "SB0615" "attempts-below-chain" Warning;
    UnprovenFallback "SB0616" "unproven-fallback" Warning;
    UnreachableTarget "SB0617" "unreachable-target" Warning;
    ChainShadowed "SB0618" "chain-shadowed" Warning;
    ChainSwitchedOff "SB0621" "chain-switched-off" Warning;
    FallbackToItself "SB0622" "fallback-to-itself" Warning;
    TwoAccountsOneCredential "SB0623" "two-accounts-one-credential" Warning;
    DearerStandby "SB0624" "dearer-standby" Advice;
    MixedQuantization "SB0625" "mixed-quantization" Advice;
    SlowAboveUnseen "SB0626" "slow-above-unseen" Warning;
    WithoutEffect "SB0627" "without-effect" Advice;
    ExerciseShare "SB0628" "exercise-share" Warning;
    OutputUnknown "SB0629" "output-unknown" Warning;
    // SB07xx: budgets.
    ReserveAboveDeadline "SB0701" "reserve-above-deadline" Error;
    LimitAboveDeadline "SB0702" "limit-above-deadline" Warning;
    BackoffUpsideDown "SB0703" "backoff-upside-down" Error;
    UnknownPrice "SB0704" "unknown-price" Error;
    NoCallFits "SB0705" "no-call-fits" Error;
    AnswerAboveSpend "SB0706" "answer-above-spend" Warning;
    AttemptsAboveChain "SB0711" "attempts-above-chain" Advice;
    PerTargetAboveAttempts "SB0712" "per-target-above-attempts" Advice;
    BackoffAboveDeadline "SB0713" "backoff-above-deadline" Warning;
    IdleAboveTotal "SB0715" "idle-above-total" Warning;
    AttemptsBelowPool "SB0716" "attempts-below-pool" Warning;
    RetriesAboveTarget "SB0717" "retries-above-target" Warning;
    HedgeNever "SB0718" "hedge-never" Warning;
    HangTakesAll "SB0719" "hang-takes-all" Warning;
    SpendToItself "SB0721" "spend-to-itself" Error;
    // SB08xx: breakers, probes and ramps.
    TwoBreakers "SB0801" "two-breakers" Error;
    ScopeMissing "SB0802" "scope-missing" Error;
    TwoWindows "SB0803" "two-windows" Error;
    WindowNotInTenths "SB0804" "window-not-in-tenths" Error;
    NeverCollected "SB0805" "never-collected" Error;
    OpenUpsideDown "SB0806" "open-upside-down" Error;
    OneFailureTrips "SB0807" "one-failure-trips" Warning;
    ProbeOutlastsInterval "SB0811" "probe-outlasts-interval" Warning;
    ProbeRefused "SB0812" "probe-refused" Warning;
    NothingToJudge "SB0813" "nothing-to-judge" Error;
    RampNotRising "SB0821" "ramp-not-rising" Error;
    RampNotFull "SB0822" "ramp-not-full" Error;
    StageTooShort "SB0823" "stage-too-short" Warning;
    // SB09xx: tests.
    TestWithoutExpect "SB0901" "test-without-expect" Error;
    UnknownTestLine "SB0902" "unknown-test-line" Error;
    ExpectBeforeSend "SB0903" "expect-before-send" Error;
    UnknownExpectation "SB0904" "unknown-expectation" Error;
    AmbiguousName "SB0905" "ambiguous-name" Error;
    ScriptWithoutEmulator "SB0906" "script-without-emulator" Error;
    // SB11xx: security.
    KeyLiteral "SB1101" "key-literal" Error;
    CredentialHeader "SB1102" "credential-header" Error;
    CleartextHttp "SB1103" "cleartext-http" Warning;
    KeyMissing "SB1104" "key-missing" Warning;
}
