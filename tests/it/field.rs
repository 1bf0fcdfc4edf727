//! Field cases: what went wrong elsewhere, told small, and what has to come of it here. Each is looked at from four
//! sides: the client's answer, the calls, how targets stand after it, and the record.

mod dialects;
mod mapping;
mod policies;
mod refusals;
mod regions;
mod sequences;
mod streams;
mod world;
