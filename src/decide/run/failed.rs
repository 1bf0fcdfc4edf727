//! A call failed: who is to blame, what shared state learns, which failure the client would be told of.
//!
//! In: the call, and what went wrong with it. Out: the next thing to do. Where another call of the request still runs that
//! is to let it run, unless the row wants nothing more to be tried; the matrix acts when no call is left.

use super::Run;
use super::after::actions;
use super::lapse::Lapse;
use super::money::Short;
use super::race::{Off, Racer};
use super::scene::Scene;
use crate::decide::event::{Failure, Next, Settle};
use crate::decide::replay::Attempted;
use crate::decide::standing::Verdicts;
use crate::decide::trail::StepResult;
use crate::decide::vitals::Latency;
use crate::policy::class::Blame;
use crate::policy::{Action, Class, Stage};

impl Run {
    pub(super) fn failed(
        &mut self,
        scene: &Scene<'_>,
        racer: &Racer,
        mut failure: Failure<'_>,
        blame: Blame,
        verdicts: &mut dyn Verdicts,
    ) -> Next {
        self.short = Short::default();
        let cause = failure.class;
        if self.committed {
            failure.class = Class::PartialStream;
            failure.stage = Stage::Output;
        } else if racer.headers && failure.stage == Stage::Sent {
            failure.stage = Stage::Headers;
        }
        let target = racer.candidate.target;
        // The hold is that of the cause: a limit that shows itself in mid-stream is a limit all the same.
        let hold_until = if failure.ours { None } else { scene.hold_until(target, cause, failure.hint) };
        let latency = racer.output.map(|output| Latency::FirstOutput(output.less(racer.started)));
        verdicts.settle(&Settle {
            target,
            blame,
            class: Some(failure.class),
            scope: failure.scope,
            hint: failure.hint,
            hold_until,
            latency,
        });
        // Asked after it is settled: with this failure the region may be the one that fails.
        let regional = verdicts.standing(target, scene.now).regional;
        self.close(
            scene,
            racer,
            StepResult {
                class: Some(failure.class),
                stage: Some(failure.stage),
                status: failure.status,
                hint: failure.hint,
                ours: failure.ours,
                ended: scene.now,
                regional,
                lost: false,
                bill: None,
            },
            verdicts,
        );
        self.remember(failure.class, racer.attempt, failure.ours);
        let lapse = Lapse {
            class: failure.class,
            stage: failure.stage,
            status: failure.status,
            code: failure.code.map(str::to_owned),
            hint: failure.hint,
            no_retry: failure.no_retry,
            repeated: false,
            candidate: racer.candidate,
            attempted: Attempted { stage: failure.stage, committed: self.committed, key_honoured: racer.key_honoured },
        };
        if self.racers.is_empty() {
            self.after(scene, &lapse, verdicts)
        } else {
            self.one_left(scene, &lapse, failure.ours, verdicts)
        }
    }

    /// One of two calls failed. The other runs on, unless the row wants nothing more to be tried.
    fn one_left(&mut self, scene: &Scene<'_>, lapse: &Lapse, ours: bool, verdicts: &mut dyn Verdicts) -> Next {
        // That our translation was refused says nothing of the request: the other call may have another.
        let row = self.row(scene, lapse).filter(|_| !ours);
        let first = row.and_then(|row| actions(scene, row).next());
        if let Some((node, Action::Stop { status })) = first {
            self.call_off(scene, Off::Lost, verdicts);
            return self.stop(scene, node, status);
        }
        // What follows, should it fail too, is about the one that is left.
        if self.racers.iter().any(|r| r.is_hedge) {
            self.tally.retries_here = 0;
            self.pauses.new_target();
        }
        Next::GoOn
    }
}
