//! Flags with units, written as in policies: `10s`, `250ms`, `10MiB`.

use std::time::Duration;

/// A duration.
///
/// # Errors
/// A sentence that shows the form.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let ms = with_unit(text, &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]);
    ms.map(Duration::from_millis).ok_or_else(|| "write a whole number and ms, s, m or h, such as 10s".to_owned())
}

/// A number of bytes.
///
/// # Errors
/// A sentence that shows the form.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    let bytes = with_unit(text, &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)]);
    let bytes = bytes.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
    bytes.ok_or_else(|| "write a whole number above 0 and B, KiB, MiB or GiB, such as 10MiB".to_owned())
}

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, size) = units.iter().find_map(|(unit, size)| {
        let number = text.strip_suffix(unit)?;
        number.bytes().all(|b| b.is_ascii_digit()).then_some((number, size))
    })?;
    number.parse::<u64>().ok()?.checked_mul(*size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_part_of_the_value() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(bytes("10MiB"), Ok(10 * 1024 * 1024));
        assert_eq!(bytes("7B"), Ok(7));
        for bad in ["10", "s", "-1s", "1.5s", "99999999999999999999s", ""] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        for bad in ["10", "0MiB", "10MB", "MiB"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
