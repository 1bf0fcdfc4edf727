//! From sources to something that can be served, in one function: `check`, `serve`, reload and `test` all use it.
