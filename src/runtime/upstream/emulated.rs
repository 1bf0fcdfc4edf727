//! Providers that live in this process.
//!
//! In: the very `Outgoing` that a provider over HTTP would get. Out: what the target's script says. Counts and scripts
//! are the emulator's own; here its answers only take the form that all upstreams have.

use super::{Body, Calling, HeaderList, Incoming, Outgoing, Upstream};
use crate::classify::Fault;
use crate::emulate::{EmulatedFault, Emulator};
use futures_util::StreamExt;
use std::sync::Arc;

/// The built-in emulator as an upstream.
pub struct Emulated(Arc<Emulator>);

impl Emulated {
    /// Calls this emulator.
    pub fn new(emulator: Arc<Emulator>) -> Emulated {
        Emulated(emulator)
    }
}

impl Upstream for Emulated {
    fn call(&self, outgoing: Outgoing) -> Calling {
        let emulator = Arc::clone(&self.0);
        Box::pin(async move {
            outgoing.left.set();
            let names = outgoing.headers.iter().map(|(name, _)| name.clone()).collect();
            let answer = emulator.call(&outgoing.target, names, &outgoing.body).await.map_err(fault)?;
            let body: Body = Box::pin(answer.body.into_stream().map(|piece| piece.map_err(fault)));
            Ok(Incoming { status: answer.status, headers: HeaderList(answer.headers), body })
        })
    }
}

fn fault(fault: EmulatedFault) -> Fault {
    match fault {
        EmulatedFault::Reset => Fault::ResetBeforeHeaders { sent: true },
        EmulatedFault::Cut => Fault::BodyReset { output: false },
    }
}
