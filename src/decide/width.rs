//! How wide a hold is: which targets an answer spoke for when it asked to be left alone.

use crate::policy::{Class, Scope};

/// Where a target is, for what it shares with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site<'a> {
    pub target: &'a str,
    pub provider: &'a str,
    pub account: &'a str,
    pub upstream: &'a str,
    pub region: Option<&'a str>,
}

/// What a hold covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Target,
    AccountModelRegion,
    Region,
    Account,
    Provider,
}

impl Width {
    /// What the answer showed, or else what the class table says.
    pub(super) fn of(scope: Option<Scope>, class: Option<Class>) -> Width {
        match (scope, class) {
            (Some(Scope::Request | Scope::Deployment), _) => Width::Target,
            (Some(Scope::Model), _) => Width::AccountModelRegion,
            (Some(Scope::Region), _) => Width::Region,
            (Some(Scope::Account), _) | (None, Some(Class::QuotaExhausted)) => Width::Account,
            (Some(Scope::Provider), _) => Width::Provider,
            (None, Some(Class::RateLimit)) => Width::AccountModelRegion,
            (None, _) => Width::Target,
        }
    }

    /// Whether what one target was told holds for another.
    pub(super) fn covers(self, origin: &Site<'_>, other: &Site<'_>) -> bool {
        match self {
            Width::Target => origin.target == other.target,
            Width::AccountModelRegion => {
                origin.account == other.account && origin.upstream == other.upstream && origin.region == other.region
            }
            Width::Region => origin.provider == other.provider && origin.region == other.region,
            Width::Account => origin.account == other.account,
            Width::Provider => origin.provider == other.provider,
        }
    }
}
