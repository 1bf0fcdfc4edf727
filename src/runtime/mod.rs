//! The async half: executes commands, reports events, holds shared state.
