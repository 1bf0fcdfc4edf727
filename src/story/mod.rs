//! Drivers of the state machine in virtual time.
