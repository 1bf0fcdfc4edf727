//! Nodes and edges of the decision graph.

use crate::policy::tier::ChainRef;
use crate::policy::{Action, MatrixId, RouteId, TargetId, TierId};
use std::sync::Arc;

/// A place in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// Where a request comes in.
    Route(RouteId),
    /// The tier of a route.
    Tier(TierId),
    /// One chain of a tier.
    Chain(ChainRef),
    /// One rank of a chain: calling a target.
    Rank {
        /// Its chain.
        chain: ChainRef,
        /// Its place in the chain, from 0.
        rank: u16,
        /// Whom it calls.
        target: TargetId,
    },
    /// The matrix of a route.
    Matrix(MatrixId),
    /// One row of a matrix.
    Row {
        /// Its matrix.
        matrix: MatrixId,
        /// Its place, from 0.
        row: u16,
    },
    /// One action of a row.
    Action {
        /// Its matrix.
        matrix: MatrixId,
        /// Its row's place, from 0.
        row: u16,
        /// What it does.
        action: Action,
    },
}

/// A way from one node to another. Ways out of a node are asked in the order in which they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Route to tier.
    Serves,
    /// Tier to chain, for the chain's regions.
    Region,
    /// Chain to rank, under the rank's guard.
    Next,
    /// Route to matrix.
    Fails,
    /// Matrix to row, for the row's classes and guard.
    On,
    /// Row to action.
    Then,
    /// A `fallback to TIER` to that tier.
    To,
}

/// Where a node was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The node's name in records: `tier chat / north-1`, `matrix simple / overloaded / retry`.
    pub name: Arc<str>,
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}
