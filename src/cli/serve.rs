//! `switchback serve`: a policy set as a gateway.
//!
//! Reads the set, builds what it needs, takes requests, follows the set on disk, and ends in order.

use super::{Exit, HERE, Io, files, listen, quantity, set};
use crate::diag::render;
use crate::emulate::Emulator;
use crate::gateway::server::Patience;
use crate::gateway::{self, App};
use crate::graph::Graph;
use crate::policy::Api;
use crate::ready::Ready;
use crate::runtime::clock::Clock;
use crate::runtime::engine::Engine;
use crate::runtime::prober;
use crate::runtime::reload::{Apply, Reloader};
use crate::runtime::serving::Serving;
use crate::runtime::sink::{Destination, Sink, Writer};
use crate::runtime::store::{self, Store};
use crate::runtime::upstream::Upstream;
use crate::runtime::upstream::emulated::Emulated;
use crate::runtime::upstream::endpoint::Process;
use crate::runtime::watch::Watch;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

const EXAMPLES: &str = "\
Examples:
  switchback serve policies/quickstart.sbk
  switchback serve policies --listen 127.0.0.1:0 --records records.jsonl --state state
  curl http://127.0.0.1:4000/v1/chat/completions -d '{\"model\":\"chat\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'";

/// How often the set is looked at where nothing reports changes.
const POLL: Duration = Duration::from_secs(10);
/// Longest time for a request body to come.
const BODY_WITHIN: Duration = Duration::from_secs(60);
/// How long requests that were cut off have to write their records.
const LAST_RECORDS: Duration = Duration::from_secs(1);

/// Arguments of `serve`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Policy file, or directory with all its .sbk files
    #[arg(default_value = HERE)]
    path: PathBuf,
    /// Address to listen on; loopback only, port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4000")]
    listen: String,
    /// Where decision records go, one JSON line per request; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    records: Option<String>,
    /// Folder for what outlives a restart; without one it is forgotten
    #[arg(long, value_name = "DIR", env = "SWITCHBACK_STATE", hide_env_values = true)]
    state: Option<PathBuf>,
    /// The region of this gateway, for requests that name none
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    /// How long running requests may go on after SIGTERM
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = quantity::duration)]
    drain: Duration,
    /// Largest request body that is taken
    #[arg(long, value_name = "SIZE", default_value = "10MiB", value_parser = quantity::bytes)]
    max_body: usize,
    /// What is logged on stderr: a level, or a filter such as `switchback=debug`
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log: String,
}

/// Runs the command.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    match start(args, io) {
        Ok(exit) => exit,
        Err(stop) => {
            if let Some(message) = stop.message {
                io.say(&format!("error: {message}"));
            }
            stop.exit
        }
    }
}

/// Why there is no gateway.
struct Stop {
    exit: Exit,
    message: Option<String>,
}

impl From<String> for Stop {
    fn from(message: String) -> Stop {
        Stop { exit: Exit::Failed, message: Some(message) }
    }
}

fn start(args: &Args, io: &mut Io) -> Result<Exit, Stop> {
    let address = listen::loopback(&args.listen)?;
    log(&args.log, io.color_err)?;
    files::as_many_as_allowed();
    let ready = prepare(&args.path, io)?;
    let sources = Arc::clone(&ready.sources);
    let emulator = Arc::new(Emulator::of_policy(ready.graph.policy()));
    let emulated: Arc<dyn Upstream> = Arc::new(Emulated::new(Arc::clone(&emulator)));
    let clock = Clock::start();
    let at_ms = clock.wall_ms();
    let serving = Serving::build(ready.graph, &Process, &emulated, None, at_ms).map_err(|e| e.to_string())?;
    let store = Arc::new(open(args.state.as_deref(), at_ms)?);
    forgotten(&store, serving.graph());
    made_up(serving.graph());
    let (sink, writer) = records(args.records.as_deref())?;
    let engine = Engine::kept(clock, serving, sink, Arc::clone(&store), args.region.as_deref());
    let engine = Arc::new(engine.map_err(|error| error.to_string())?);
    let keeper = Store::keeper(&store).map_err(|error| format!("cannot start: {error}"))?;
    let reloader = Reloader::new(&args.path, sources, at_ms, apply(Arc::clone(&engine), emulator, emulated));
    let app = App {
        engine: Arc::clone(&engine),
        reload: reloader.status(),
        max_body: args.max_body,
        body_within: BODY_WITHIN,
        region: args.region.clone(),
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|e| format!("cannot start: {e}"))?;
    let served = runtime.block_on(serve(args, address, Arc::new(app), reloader, io));
    runtime.shutdown_background();
    if let Some(writer) = writer {
        writer.finish();
    }
    if let Some(keeper) = keeper {
        keeper.finish();
    }
    served?;
    Ok(Exit::Clean)
}

/// Reads and checks the set. What is wrong with it is told, warnings too.
fn prepare(path: &Path, io: &mut Io) -> Result<Ready, Stop> {
    let prepared = set::read(path, io).map_err(|exit| Stop { exit, message: None })?;
    if !prepared.diagnostics.is_empty() {
        let text = render::human(&prepared.diagnostics, &prepared.sources, io.color_err);
        io.say(text.trim_end());
    }
    prepared.ready.ok_or(Stop { exit: Exit::Findings, message: None })
}

fn records(to: Option<&str>) -> Result<(Sink, Option<Writer>), String> {
    let Some(to) = to else { return Ok((Sink::none(), None)) };
    let (sink, writer) =
        Sink::open(&Destination::parse(to)).map_err(|error| format!("cannot write records to {to}: {error}"))?;
    Ok((sink, Some(writer)))
}

fn open(state: Option<&Path>, at_ms: u64) -> Result<Store, String> {
    match state {
        None => Ok(Store::memory()),
        Some(folder) => Store::open(folder, at_ms).map_err(|error| error.to_string()),
    }
}

/// Says what of a policy would have outlived a restart.
fn forgotten(store: &Store, graph: &Graph) {
    if store.keeps() {
        return;
    }
    for what in store::volatile(graph.policy()) {
        tracing::warn!("without `--state`, {what}");
    }
}

/// Says which routes answer with nothing but what emulators make up: nobody should take them for the real thing.
fn made_up(graph: &Graph) {
    let provider = |target| graph.provider(graph.target(target)?.provider);
    let emulated = |target| provider(target).is_some_and(|provider| provider.api == Api::Emulated);
    let policy = graph.policy();
    for route in &policy.routes {
        let tiers = route.tiers(policy.matrices.get(route.matrix.index()), graph.budget_of(route));
        let chains = tiers.into_iter().filter_map(|tier| graph.tier(tier)).flat_map(|tier| &tier.chains);
        let mut targets = chains.flat_map(|chain| &chain.ranks).map(|rank| rank.target);
        if targets.all(emulated) {
            tracing::warn!(route = route.name, "served by emulators alone: its answers are made up");
        }
    }
}

/// Builds what an edited policy needs, and only then exchanges the whole.
fn apply(engine: Arc<Engine>, emulator: Arc<Emulator>, emulated: Arc<dyn Upstream>) -> Apply {
    Box::new(move |ready| {
        let before = engine.serving.load();
        let at_ms = engine.clock.wall_ms();
        let serving = Serving::build(ready.graph, &Process, &emulated, Some(&before), at_ms)
            .map_err(|error| error.to_string())?;
        emulator.follow(serving.graph().policy());
        forgotten(&engine.store, serving.graph());
        made_up(serving.graph());
        engine.exchange(serving);
        Ok(())
    })
}

async fn serve(args: &Args, address: SocketAddr, app: Arc<App>, reloader: Reloader, io: &mut Io) -> Result<(), String> {
    // Caught before anybody is told that the gateway is there, so that a signal sent right away is not lost.
    let stop = listen::stop_signal().map_err(|error| format!("cannot wait for signals: {error}"))?;
    let bound = TcpListener::bind(address).await.and_then(|l| l.local_addr().map(|at| (l, at)));
    let (listener, at) = bound.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let engine = Arc::clone(&app.engine);
    let clock = engine.clock;
    tokio::spawn(reloader.follow(Watch::new(&args.path, POLL), move || clock.wall_ms()));
    tokio::spawn(prober::run(Arc::clone(&engine)));
    io.say(&format!("listening on http://{at} policy {}", engine.serving.load().graph().hash()));
    let patience = Patience { drain: args.drain, ..Patience::default() };
    let cut_off = gateway::server::serve(listener, gateway::router(app), stop, patience).await;
    if cut_off > 0 {
        tracing::warn!(connections = cut_off, drain = ?args.drain, "cut off: they were still running");
    }
    let written = async {
        while engine.meters.running_now() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let _ = tokio::time::timeout(LAST_RECORDS, written).await;
    Ok(())
}

fn log(filter: &str, color: bool) -> Result<(), String> {
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .map_err(|error| format!("`{filter}` is no filter of logs: {error}"))?;
    // A second command in one process keeps the first one's log.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(color)
        .with_target(false)
        .try_init();
    Ok(())
}
