//! Regions, probes and live slowness: who is left, who is not, and what is shown of it.

use super::world::{Ask, P0, Reply, Scripts, World, classes, error, ok, words};
use serde_json::{Value, json};
use switchback::decide::{Breaker, Health};

/// Two regions of one provider with two targets in the first, and another provider behind them.
fn regions() -> P0 {
    let targets = "provider v { api emulated }\n\
        target eu-1 { model m; provider v; region eu; upstream \"m-1\" }\n\
        target eu-2 { model m; provider v; region eu; upstream \"m-2\" }\n\
        target us-1 { model m; provider v; region us; upstream \"m-1\" }\n\
        provider w { api emulated }\ntarget other { model m; provider w; region eu }\n";
    P0::with(targets, "eu-1; eu-2; us-1; other").but("retry once, failover", "failover")
}

fn skips(record: &Value) -> Vec<(&str, &str, bool)> {
    let steps = record["steps"].as_array().unwrap().iter();
    let all = steps.flat_map(|s| s["skipped"].as_array().unwrap());
    all.map(|s| (s["target"].as_str().unwrap(), s["reason"].as_str().unwrap(), s["regional"].as_bool().unwrap()))
        .collect()
}

fn failing(world: &World, region: &str) -> Option<u64> {
    world.metric(&format!("switchback_region_failing{{provider=\"v\",region=\"{region}\"}}"))
}

/// Both targets of one region reset their connections until some time.
fn outage(until: u64) -> Scripts {
    let reset = || Reply::Reset { after: 10 };
    Scripts::new()
        .during("eu-1", (0, until), reset())
        .during("eu-2", (0, until), reset())
        .always("eu-1", ok(50))
        .always("eu-2", ok(50))
        .always("us-1", ok(50))
}

#[test]
fn a_region_that_fails_is_called_so_and_it_alone_is_left() {
    let world = regions().world(outage(20_000));
    let served = world.run(async {
        let mut served = Vec::new();
        for _ in 0..4 {
            served.push(world.send(Ask::chat()).await);
        }
        served
    });
    assert!(served.iter().all(|a| a.target() == "us-1"), "another region of the same provider serves");
    // Two calls of each request meet it, until five have failed; then nobody goes there.
    assert_eq!(world.order(), ["eu-1", "eu-2", "us-1", "eu-1", "eu-2", "us-1", "eu-1", "us-1", "us-1"]);
    assert!(matches!(world.standing("eu-2").breaker, Breaker::Open { hard: false, .. }));
    assert_eq!((world.standing("us-1").breaker, world.standing("other").breaker), (Breaker::Closed, Breaker::Closed));
    assert_eq!((failing(&world, "eu"), failing(&world, "us")), (Some(1), Some(0)));
    assert_eq!(world.metric("switchback_regional_failures_total{provider=\"v\",region=\"eu\"}"), Some(1));
    assert!(!world.metrics().contains("provider=\"w\",region"), "one region is none beside another");
    let back = world.run(async {
        world.until(31_000).await;
        world.send(Ask::chat()).await
    });
    assert_eq!(back.target(), "eu-1");
    assert_eq!(failing(&world, "eu"), Some(0));
    let records = world.records();
    let regional =
        |record: &Value| record["steps"].as_array().unwrap().iter().map(|s| s["regional"] == true).collect::<Vec<_>>();
    assert_eq!(
        records[..4].iter().map(regional).collect::<Vec<_>>(),
        [vec![false, false, false], vec![false, false, false], vec![true, false], vec![false],]
    );
    assert_eq!(skips(&records[2]), [("eu-2", "breaker-open", true)]);
    assert_eq!(skips(&records[3]), [("eu-1", "breaker-open", true), ("eu-2", "breaker-open", true)]);
}

#[test]
fn an_outage_of_the_whole_provider_is_not_regional() {
    let scripts = Scripts::new().always("eu-1", Reply::Reset { after: 10 }).always("eu-2", Reply::Reset { after: 10 });
    let world = regions().world(scripts.always("us-1", Reply::Reset { after: 10 }).always("other", ok(50)));
    world.run(async {
        for _ in 0..8 {
            world.send(Ask::chat()).await;
        }
    });
    assert_eq!((failing(&world, "eu"), failing(&world, "us")), (Some(0), Some(0)));
    assert_eq!(world.metric("switchback_regional_failures_total"), None);
    assert!(world.records().iter().all(|r| skips(r).iter().all(|(.., regional)| !regional)));
}

/// The same with a probe.
fn probed(rules: &str) -> P0 {
    regions()
        .but("defaults {", &format!("probe o {{ every 10s, jitter 0%; timeout 3s; {rules} }}\ndefaults {{ probe o;"))
}

#[test]
fn probes_find_a_region_that_fails_and_its_traffic_comes_back_by_its_ramp_alone() {
    let failing_until = |target: &str, scripts: Scripts| {
        scripts
            .probed_during(target, (0, 25_000), error(20, 503, "overloaded", "busy"))
            .probed(target, ok(50))
            .always(target, ok(50))
    };
    let scripts = failing_until("eu-2", failing_until("eu-1", Scripts::new()));
    let scripts = scripts.probed("us-1", ok(50)).probed("other", ok(50)).always("us-1", ok(50));
    let world = probed("").but("defaults {", "ramp g { 0.01% for 60s; 100% }\ndefaults { ramp g;").world(scripts);
    world.probe();
    let served = world.run(async {
        let mut served = Vec::new();
        for at in [12_000, 50_000, 150_000] {
            world.until(at).await;
            served.push(world.send(Ask::chat().session("s")).await.target().to_owned());
        }
        served
    });
    assert_eq!(served, ["us-1", "us-1", "eu-1"]);
    let records = world.records();
    assert_eq!(skips(&records[0]), [("eu-1", "down", true), ("eu-2", "down", true)]);
    assert_eq!(skips(&records[1]), [("eu-1", "ramp", false), ("eu-2", "ramp", false)]);
    assert_eq!(skips(&records[2]), []);
}

#[test]
fn what_runs_in_a_region_that_is_left_goes_on_to_its_end() {
    let scripts = outage(20_000);
    let scripts = Scripts::new().times("eu-1", 1, slow()).and(scripts);
    let world = regions().world(scripts);
    let (running, others) = world.run(async {
        let others = async {
            world.until(1_000).await;
            let mut served = Vec::new();
            for _ in 0..4 {
                served.push(world.send(Ask::chat()).await.target().to_owned());
            }
            served
        };
        tokio::join!(world.send(Ask::stream()), others)
    });
    assert_eq!((running.target(), running.complete, running.heard().0.len()), ("eu-1", true, 3));
    assert_eq!(others, ["us-1"; 4]);
    // Its success is of a generation that has passed: it closes nothing.
    assert!(matches!(world.standing("eu-1").breaker, Breaker::Open { .. }));
}

fn fast_probes() -> Scripts {
    ["eu-1", "eu-2", "us-1", "other"].into_iter().fold(Scripts::new(), |all, target| all.probed(target, ok(50)))
}

#[test]
fn a_down_that_nobody_confirms_is_stale_and_bars_no_more() {
    let failing = (0, 15_000);
    let limited = error(20, 429, "rate_limit_error", "slow down");
    let scripts = Scripts::new()
        .probed_during("eu-1", failing, error(20, 503, "overloaded", "busy"))
        // From here on its probes say nothing.
        .probed("eu-1", limited)
        .probed("eu-2", ok(50))
        .probed("us-1", ok(50))
        .probed("other", ok(50))
        .always("eu-1", ok(50))
        .always("eu-2", ok(50));
    let world = probed("").world(scripts);
    world.probe();
    let stale = |target: &str| world.metric(&format!("switchback_health_stale{{target=\"{target}\"}}"));
    let early = world.run(async {
        world.until(20_000).await;
        world.send(Ask::chat()).await
    });
    assert_eq!((early.target(), stale("eu-1"), world.standing("eu-1").health), ("eu-2", Some(0), Health::Down));
    let late = world.run(async {
        world.until(60_000).await;
        world.send(Ask::chat()).await
    });
    assert_eq!((late.target(), stale("eu-1"), stale("us-1")), ("eu-1", Some(1), Some(0)));
    assert_eq!(world.metric("switchback_health_state{target=\"eu-1\",state=\"down\"}"), Some(0));
    let records = world.records();
    assert_eq!(skips(&records[0]), [("eu-1", "down", false)]);
    let step = &records[1]["steps"][0];
    assert_eq!(
        (&step["target"], &step["health"], &step["health_stale"]),
        (&json!("eu-1"), &json!("healthy"), &json!(true))
    );
    assert_eq!(records[0]["steps"][0]["health_stale"], false);
}

#[test]
fn no_request_waits_for_a_probe() {
    let hang = ["eu-1", "eu-2", "us-1", "other"]
        .into_iter()
        .fold(Scripts::new(), |all, target| all.probed(target, Reply::Hang));
    let world = probed("")
        .world(hang.always("eu-1", ok(50)).always("eu-2", ok(50)).always("us-1", ok(50)).always("other", ok(50)));
    world.probe();
    // Before the first probe ended, while one hangs, and when all have failed.
    let took = world.run(async {
        let mut took = Vec::new();
        for at in [0, 500, 2_000, 11_000] {
            world.until(at).await;
            took.push(world.send(Ask::chat()).await.took);
        }
        took
    });
    assert_eq!(took[..3], [50, 50, 50]);
    assert!(took[3] < 50, "all are down, which is known without asking: {took:?}");
}

/// Six streams to `eu-1`, one after the other, whose first output takes three seconds, and one that runs meanwhile.
fn slow_then(world: &World) -> (super::world::Answer, super::world::Answer) {
    world.run(async {
        for _ in 0..5 {
            assert_eq!(world.send(Ask::stream()).await.target(), "eu-1");
        }
        let after = async {
            world.until(45_000).await;
            world.send(Ask::stream()).await
        };
        tokio::join!(world.send(Ask::stream()), after)
    })
}

/// Slow to its first output, and then long.
fn slow() -> Reply {
    let mut acts = vec![super::world::role(), super::world::Act::Pause(3_000)];
    acts.extend((0..3).flat_map(|_| [super::world::delta("w "), super::world::Act::Pause(1_000)]));
    acts.extend(super::world::finish());
    super::world::stream(20, acts)
}

#[test]
fn slow_live_traffic_degrades_its_target_and_no_other_region() {
    let world = probed("slow when p95 > 2s over 60s, min 5; degraded after 3 slow; traffic yes").world(
        fast_probes().always("eu-1", slow()).always("eu-2", words(50, &["eu-2"])).always("us-1", words(50, &["us-1"])),
    );
    world.probe();
    let (running, next) = slow_then(&world);
    assert_eq!((running.target(), running.complete), ("eu-1", true), "what runs goes on to its end");
    assert_eq!((next.target(), next.header("x-switchback-attempts")), ("eu-2", "1"));
    assert_eq!(world.standing("eu-1").health, Health::Degraded);
    assert!(["eu-2", "us-1", "other"].iter().all(|t| world.standing(t).health == Health::Healthy));
    let records = world.records();
    assert_eq!(skips(records.last().unwrap()), [("eu-1", "degraded", false)]);
    assert!(records.iter().all(|r| classes(r) == ["ok"]));
}

#[test]
fn slow_calls_open_the_breaker_of_their_target_alone() {
    let policy =
        regions().but("trip when errors >= 100% over 30s, min 5", "trip when slow >= 100% above 2s over 60s, min 6");
    let world = policy.world(
        Scripts::new().always("eu-1", slow()).always("eu-2", words(50, &["eu-2"])).always("us-1", words(50, &["us-1"])),
    );
    let (running, next) = world.run(async {
        let mut running = Vec::new();
        for _ in 0..5 {
            running.push(world.send(Ask::stream()).await);
        }
        // The sixth opens it while the seventh runs.
        let overlapping = async {
            world.until(30_500).await;
            world.send(Ask::stream()).await
        };
        let after = async {
            world.until(37_000).await;
            world.send(Ask::stream()).await
        };
        let (sixth, seventh, after) = tokio::join!(world.send(Ask::stream()), overlapping, after);
        running.extend([sixth, seventh]);
        (running, after)
    });
    assert!(running.iter().all(|a| a.target() == "eu-1" && a.complete), "requests in flight finish");
    assert_eq!(next.target(), "eu-2");
    assert!(matches!(world.standing("eu-1").breaker, Breaker::Open { hard: false, .. }));
    assert_eq!((world.standing("eu-2").breaker, world.standing("us-1").breaker), (Breaker::Closed, Breaker::Closed));
    assert_eq!(skips(world.records().last().unwrap()), [("eu-1", "breaker-open", false)]);
}
