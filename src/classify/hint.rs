//! Wait hints: the one ordered parser of `retry-after-ms`, `Retry-After` and their kin.
