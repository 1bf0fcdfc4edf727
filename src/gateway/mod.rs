//! The HTTP face: inbound APIs, errors, metrics, readiness.
