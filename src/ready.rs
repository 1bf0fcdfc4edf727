//! From sources to something that can be served, in one function: `check`, `serve`, reload, `test` and the drawings all
//! use it, and there is no second path.

use crate::check;
use crate::diag::Diagnostic;
use crate::graph::{Graph, compile};
use crate::source::Sources;
use std::sync::Arc;

/// A set that can be served.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The compiled graph.
    pub graph: Graph,
    /// The texts it came from.
    pub sources: Arc<Sources>,
}

impl Ready {
    /// The graph's hash: 64 hex digits.
    pub fn hash(&self) -> &str {
        self.graph.hash()
    }

    /// The routes' names, sorted.
    pub fn routes(&self) -> Vec<String> {
        self.graph.policy().routes.iter().map(|r| r.name.clone()).collect()
    }
}

/// What preparing came to: everything that was found, and a served form where nothing of it is an error.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The texts.
    pub sources: Arc<Sources>,
    /// All diagnostics, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// The set, if it can be served.
    pub ready: Option<Ready>,
}

/// Parses, checks and compiles a set.
pub fn prepare(sources: Sources) -> Prepared {
    let sources = Arc::new(sources);
    let (policy, diagnostics) = check::check_sources(&sources);
    let ready = policy.map(|policy| Ready { graph: compile(&policy, &sources), sources: Arc::clone(&sources) });
    Prepared { sources, diagnostics, ready }
}
