//! The dialects: canonical facts of requests, answers and streams, one folder per API.
