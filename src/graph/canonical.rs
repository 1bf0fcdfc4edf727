//! The hash of a policy set: SHA-256 over a canonical text of names and values, free of positions, comments, layout,
//! file names and the order of blocks. Tests are not part of it: they change no decision.

use crate::policy::script::Script;
use crate::policy::{Action, Beyond, FallbackTo, Policy, Row, Target};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// First word of the canonical text; changes with its form, so that hashes of two forms never meet.
const FORM: &str = "switchback policy 1";

/// The hash, as 64 hex digits.
pub(super) fn hash(policy: &Policy) -> String {
    let digest = Sha256::digest(text(policy).as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The canonical text, one line a block, row or rank. Writing to a string cannot fail.
fn text(policy: &Policy) -> String {
    let mut out = String::from(FORM);
    blocks(policy, &mut out);
    for tier in &policy.tiers {
        let exercise = tier.exercise.iter().map(|e| (e.share, policy.targets.get(e.target.index()).map(|t| &t.name)));
        let _ = write!(
            out,
            "\ntier {:?} last-resort={} slow-above={:?} order={:?} prefer={} exercise={:?} affinity={:?}",
            tier.name,
            tier.last_resort,
            tier.slow_above,
            tier.order,
            tier.prefer,
            exercise.collect::<Vec<_>>(),
            tier.affinity
        );
        for chain in &tier.chains {
            let _ = write!(out, "\n chain {:?}", chain.regions);
            for rank in &chain.ranks {
                let name = policy.targets.get(rank.target.index()).map(|t| &t.name);
                let _ = write!(out, "\n  rank {} {name:?} share={:?} when={:?}", rank.place, rank.share, rank.guard);
            }
        }
    }
    for matrix in &policy.matrices {
        let _ = write!(out, "\nmatrix {:?}", matrix.name);
        for row in &matrix.rows {
            row_text(policy, row, &mut out);
        }
    }
    for r in &policy.routes {
        let name = |id: Option<usize>, names: &dyn Fn(usize) -> Option<String>| id.and_then(names);
        let _ = write!(
            out,
            "\nroute {:?} version={:?} serves={:?} match={:?} before={:?} contract={:?} tier={:?} matrix={:?} \
             budget={:?} side-effects={} failover={} fallback={} exhausted={:?}",
            r.name,
            r.version,
            r.serves,
            r.matches,
            name(r.before.map(|b| b.index()), &|i| policy.routes.get(i).map(|x| x.name.clone())),
            name(r.contract.map(|c| c.index()), &|i| policy.contracts.get(i).map(|x| x.name.clone())),
            name(Some(r.tier.index()), &|i| policy.tiers.get(i).map(|x| x.name.clone())),
            name(Some(r.matrix.index()), &|i| policy.matrices.get(i).map(|x| x.name.clone())),
            name(Some(r.budget.index()), &|i| policy.budgets.get(i).map(|x| x.name.clone())),
            r.side_effects,
            r.failover,
            r.fallback,
            r.exhausted,
        );
    }
    let d = &policy.defaults;
    let _ = write!(out, "\ndefaults session-header={:?} region-header={:?}\n", d.session_header, d.region_header);
    out
}

fn blocks(policy: &Policy, out: &mut String) {
    for p in &policy.providers {
        let _ = write!(
            out,
            "\nprovider {:?} api={} base-url={:?} key={:?} headers={:?} pass-headers={:?} account={:?} \
             timeout-connect={} breaker={:?} retry={:?}",
            p.name,
            p.api,
            p.base_url,
            p.keys,
            p.headers,
            p.pass_headers,
            p.account,
            p.timeout_connect,
            p.breaker,
            p.retry
        );
    }
    for m in &policy.models {
        let _ = write!(out, "\nmodel {:?} {:?}", m.name, m.capabilities);
    }
    for t in &policy.targets {
        target(policy, t, out);
    }
    for c in &policy.contracts {
        let _ = write!(
            out,
            "\ncontract {:?} {:?} streaming={} tools={} structured-output={} context={:?} max-output={:?} prefill={} \
             reasoning={} regions={:?} retention={:?} prices={:?}",
            c.name,
            c.modalities,
            c.streaming,
            c.tools,
            c.structured_output,
            c.context,
            c.max_output,
            c.prefill,
            c.reasoning,
            c.regions,
            c.retention,
            c.prices
        );
    }
    for b in &policy.budgets {
        let _ = write!(
            out,
            "\nbudget {:?} deadline={} attempts={} per-target={} attempt-timeout={:?} headers={:?} first-token={:?} \
             idle={} total={:?} rounds={} spend={:?} day={:?} min-attempt={} reserve={} backoff={:?} replays={} hedge={:?}",
            b.name,
            b.deadline,
            b.attempts,
            b.per_target,
            b.attempt_timeout,
            b.headers,
            b.first_token,
            b.idle,
            b.total,
            b.rounds,
            b.spend_per_request,
            b.spend_per_day.map(|day| (day.cap, beyond(policy, day.then))),
            b.min_attempt,
            b.reserve,
            b.backoff,
            b.replays,
            b.hedge
        );
    }
}

/// A tier by its name: its id is a position.
fn beyond(policy: &Policy, then: Beyond) -> Option<&str> {
    match then {
        Beyond::Stop => None,
        Beyond::Use(tier) => policy.tiers.get(tier.index()).map(|t| t.name.as_str()),
    }
}

fn target(policy: &Policy, t: &Target, out: &mut String) {
    let _ = write!(
        out,
        "\ntarget {:?} model={:?} provider={:?} upstream={:?} region={:?} prices={:?} retention={:?} enabled={} \
         idempotency-key={:?} max-concurrent={:?} failures={:?} baseline={:?} probe={:?} ramp={:?}",
        t.name,
        policy.models.get(t.model.index()).map(|m| &m.name),
        policy.providers.get(t.provider.index()).map(|p| &p.name),
        t.upstream,
        t.region,
        t.prices,
        t.retention,
        t.enabled,
        t.idempotency_key,
        t.max_concurrent,
        t.corrections,
        t.seed,
        t.probe,
        t.ramp
    );
    if let Some(quantization) = &t.quantization {
        let _ = write!(out, " quantization={quantization:?}");
    }
    if let Some(Script { lines, repeats }) = &t.script {
        let _ = write!(out, " script repeats={repeats:?}");
        for line in lines {
            let _ = write!(
                out,
                "\n line {:?} share={:?} {:?} after={} times={:?}",
                line.window, line.share, line.answer, line.after, line.times
            );
        }
    }
}

fn row_text(policy: &Policy, row: &Row, out: &mut String) {
    let classes = row.classes.iter().map(|c| c.word()).collect::<Vec<_>>().join(",");
    let _ = write!(out, "\n row {classes} when={:?} ->", row.guard);
    for step in &row.actions {
        // A tier by its name: its id is a position.
        let _ = if let Action::Fallback(FallbackTo::Tier(tier)) = step.action {
            write!(out, " fallback to {:?}", policy.tiers.get(tier.index()).map(|t| &t.name))
        } else {
            write!(out, " {:?}", step.action)
        };
    }
}
