//! The state machine against policies written for the purpose: what leads to which call, and what the client is told.

mod hedge_money;
mod hedges;
mod money;
mod order;
mod pieces;
mod runs;
mod time;
mod world;
