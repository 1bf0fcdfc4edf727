//! The language server: what an editor asks about policies, answered from the same check as everywhere else.
//!
//! Two halves. `set` and the functions beside it are pure: from texts and a place to spans, Markdown and changes of
//! text. `workspace` knows which files make one set and reads them; `server` speaks the protocol over stdio and decides
//! nothing. A policy that does not parse is the usual case here: nothing may depend on whole text.

mod capabilities;
pub mod complete;
mod convert;
pub mod facts;
pub mod fixes;
pub mod format;
mod frames;
pub mod hover;
pub mod names;
pub mod position;
pub mod roles;
pub mod scene;
mod server;
pub mod set;
pub mod symbols;
pub mod tokens;
pub mod workspace;

pub use server::serve;

#[cfg(test)]
mod tests;
