//! Addresses of providers.
//!
//! In: an address, as written or as the environment has it. Out: what paths are added to, or what is wrong with it, and
//! whether a credential stands in it.

/// What parameters that carry a credential are called, `-` and `_` left out.
const CREDENTIALS: [&str; 9] =
    ["key", "apikey", "token", "accesstoken", "secret", "clientsecret", "password", "signature", "subscriptionkey"];

/// The base without its last slash, or what is wrong with it, as it goes on after "the address".
///
/// # Errors
/// What is no address, names no host, or holds what no base address has.
pub fn checked_base(base: &str) -> Result<&str, &'static str> {
    let base = base.trim().trim_end_matches('/');
    let Some(rest) = behind_scheme(base) else {
        return Err("is no http:// or https:// address");
    };
    let authority = authority(rest);
    if authority.contains('@') {
        return Err("holds a user name or password; a credential belongs in `key`");
    }
    if authority.is_empty() || authority.starts_with(':') {
        return Err("names no host");
    }
    if rest.contains(['?', '#']) || rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("holds a query, a fragment or a blank, none of which a base address has");
    }
    Ok(base)
}

/// Whether a text is an address with a credential in it: before the host, or as a parameter.
pub fn has_credential(text: &str) -> bool {
    let Some(rest) = behind_scheme(text.trim()) else { return false };
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let named = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let plain = name.replace(['-', '_'], "").to_ascii_lowercase();
        !value.is_empty() && CREDENTIALS.contains(&plain.as_str())
    };
    authority(rest).contains('@') || query.split('&').any(named)
}

fn behind_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))
}

fn authority(rest: &str) -> &str {
    rest.split(['/', '?', '#']).next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_address_is_a_host_and_a_path() {
        for good in ["https://a.example/v1", "http://127.0.0.1:8000", "http://[::1]:9/", " https://a.example/v1/ "] {
            assert_eq!(checked_base(good), Ok(good.trim().trim_end_matches('/')));
            assert!(!has_credential(good));
        }
        for (bad, secret) in [
            ("a.example/v1", false),
            ("https://", false),
            ("https://:80/v1", false),
            ("https://user:word@a.example/v1", true),
            ("https://token@a.example", true),
            ("https://a.example/v1?api-key=123", true),
            ("https://a.example/v1?version=2&API_KEY=123", true),
            ("https://a.example/v1?api-version=2", false),
            ("https://a.example/v1?key=", false),
            ("https://a.example/v1#top", false),
            ("https://a.example/v 1", false),
            ("https://a.example/@user", false),
        ] {
            assert_eq!(has_credential(bad), secret, "{bad}");
            assert!(checked_base(bad).is_err() || bad.ends_with("@user"), "{bad}");
        }
    }
}
