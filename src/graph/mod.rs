//! The decision graph: one petgraph `DiGraph` per policy set, with side tables. The only module that names petgraph.

pub use petgraph::graph::NodeIndex;
