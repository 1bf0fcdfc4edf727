//! The calls of a request that run now, and what happens to each of them.
//!
//! In: what was heard of a call, by its attempt's number. Out: the next thing to do. A call that is not among those that
//! run was called off: whatever is still heard of it says nothing.

use super::Run;
use super::scene::{Candidate, Scene};
use crate::decide::event::{Failure, Next, Progress, Settle, Timer, Why};
use crate::decide::standing::Verdicts;
use crate::decide::trail::StepResult;
use crate::policy::{Class, Millis, Refusal, Stage, Usage};
use smallvec::SmallVec;

/// A call that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Racer {
    /// Which attempt of the request it is, from 1.
    pub(super) attempt: u32,
    /// The place of its step in the trail.
    pub(super) step: usize,
    pub(super) candidate: Candidate,
    /// What it was granted: its own limit, or less where the deadline or the reserve left less.
    pub(super) granted: Millis,
    pub(super) started: Millis,
    pub(super) headers: bool,
    /// When output began.
    pub(super) output: Option<Millis>,
    pub(super) key_honoured: bool,
    pub(super) is_hedge: bool,
    /// The tokens that its answer counts.
    pub(super) usage: Option<Usage>,
}

/// Why a call is called off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Off {
    /// Its rival had output first, or failed for good.
    Lost,
    /// The client left, or time is up.
    Over(Stage),
}

/// All calls that run. No two of them are at one target.
pub(super) type Racers = SmallVec<[Racer; 1]>;

impl Run {
    /// Something happened to a call.
    pub(super) fn progress(
        &mut self,
        scene: &Scene<'_>,
        attempt: u32,
        progress: Progress<'_>,
        verdicts: &mut dyn Verdicts,
    ) -> Next {
        let Some(at) = self.racers.iter().position(|r| r.attempt == attempt) else { return Next::GoOn };
        match progress {
            Progress::Headers => {
                if let Some(racer) = self.racers.get_mut(at) {
                    racer.headers = true;
                }
                Next::GoOn
            }
            Progress::HedgeDue => match self.racers.get(at).copied() {
                Some(late) => self.hedge(scene, &late, verdicts).map_or(Next::GoOn, Next::Call),
                None => Next::GoOn,
            },
            Progress::Output => {
                let racer = self.racers.swap_remove(at);
                self.committed = true;
                self.answering = Some(racer.step);
                let rival = self.racers.first().map(|r| r.attempt);
                self.call_off(scene, Off::Lost, verdicts);
                self.racers.push(Racer { output: Some(scene.now), ..racer });
                rival.map_or(Next::GoOn, |attempt| Next::CallOff { attempt })
            }
            Progress::Counted(usage) => {
                if let Some(racer) = self.racers.get_mut(at) {
                    racer.usage = Some(usage);
                }
                Next::GoOn
            }
            Progress::Served => {
                let racer = self.racers.swap_remove(at);
                self.call_off(scene, Off::Lost, verdicts);
                self.served(scene, &racer, verdicts)
            }
            Progress::Failed(failure) => {
                let racer = self.racers.swap_remove(at);
                self.failed(scene, &racer, failure, failure.blame(), verdicts)
            }
            Progress::TimedOut(timer) => self.timed_out(scene, at, timer, verdicts),
        }
    }

    fn timed_out(&mut self, scene: &Scene<'_>, at: usize, timer: Timer, verdicts: &mut dyn Verdicts) -> Next {
        let (class, stage) = match timer {
            Timer::Connect => (Class::Connect, Stage::NotSent),
            Timer::Headers => (Class::TimeoutHeaders, Stage::Sent),
            Timer::FirstOutput => (Class::TimeoutFirstToken, Stage::Headers),
            Timer::Idle | Timer::Total => (Class::TimeoutIdle, Stage::Headers),
            Timer::Deadline => {
                // Our own deadline is nobody's fault and reaches no matrix.
                self.call_off(scene, Off::Over(Stage::Sent), verdicts);
                return if self.committed {
                    self.break_off(Why::Refusal(Refusal::Deadline), None)
                } else {
                    self.refuse(scene, Refusal::Deadline, None)
                };
            }
        };
        let racer = self.racers.swap_remove(at);
        let blame = self.evidence(scene, timer, &racer);
        self.failed(scene, &racer, Failure::of(class, stage), blame, verdicts)
    }

    /// Ends all calls that run; it says nothing about their targets.
    pub(super) fn call_off(&mut self, scene: &Scene<'_>, off: Off, verdicts: &mut dyn Verdicts) {
        while let Some(racer) = self.racers.pop() {
            verdicts.settle(&Settle::neutral(racer.candidate.target));
            let stage = match off {
                Off::Lost if racer.headers => Stage::Headers,
                Off::Lost => Stage::Sent,
                Off::Over(stage) => stage,
            };
            let result = StepResult { stage: Some(stage), lost: off == Off::Lost, ..StepResult::plain(scene.now) };
            self.close(scene, &racer, result, verdicts);
        }
    }

    /// Writes a call's end and its bill into its step. `result` has the instant as the clock shows it.
    pub(super) fn close(&mut self, scene: &Scene<'_>, racer: &Racer, result: StepResult, verdicts: &mut dyn Verdicts) {
        let bill = self.bill(scene, racer, result.stage, verdicts);
        if let Some(step) = self.trail.get_mut(racer.step) {
            step.result = Some(StepResult { ended: result.ended.less(self.received), bill, ..result });
        }
    }
}
