//! `switchback graph`: draws the decision graph.

use super::set::{self, Loaded};
use super::{Exit, HERE, Io};
use crate::graph::draw;
use crate::policy::RouteId;
use std::path::PathBuf;

/// Arguments of `graph`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  switchback graph policies/quickstart.sbk\n  switchback graph policies/quickstart.sbk chat --format mermaid"
)]
pub struct Args {
    /// A policy file, or a directory of them; the present folder if none is named
    #[arg(value_name = "PATH", default_value = HERE, hide_default_value = true)]
    path: PathBuf,
    /// One route; all without it
    #[arg(value_name = "ROUTE")]
    route: Option<String>,
    /// The form of the drawing
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A flow chart that Markdown viewers draw
    Mermaid,
    /// Graphviz
    Dot,
    /// Nodes and edges as data
    Json,
    /// An indented tree with files and lines
    Text,
}

/// Draws.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let told = if args.format == Format::Json { set::Format::Json } else { set::Format::Human };
    let ready = match set::load_clean(&args.path, told, io) {
        Loaded::Ready(ready) => ready,
        Loaded::Ended(exit) => return exit,
    };
    let graph = &ready.graph;
    let route = match &args.route {
        None => None,
        Some(name) => match graph.policy().routes.iter().position(|r| r.name == *name) {
            Some(at) => u16::try_from(at).ok().map(RouteId),
            None => {
                let names = ready.routes();
                let near = crate::diag::closest(name, names.iter().map(String::as_str));
                let hint = near.map_or(format!("it has {}", names.join(", ")), |n| format!("did you mean `{n}`?"));
                set::fail(format!("there is no route `{name}` in {}; {hint}", args.path.display()), told, io);
                return Exit::Failed;
            }
        },
    };
    let drawing = match args.format {
        Format::Mermaid => draw::mermaid(graph, route),
        Format::Dot => draw::dot(graph, route),
        Format::Text => draw::text(graph, route),
        Format::Json => return set::print_json(&draw::json(graph, route), io),
    };
    io.print(&drawing);
    Exit::Clean
}
