//! Processes that a bench starts and ends: the gateway, the mock, nginx.

use super::line;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program under measurement, built in the bench's own profile.
pub const SWITCHBACK: &str = env!("CARGO_BIN_EXE_switchback");

/// A folder that goes with the bench.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("switchback-bench-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running process, ended with its value.
pub struct Running {
    child: Child,
    /// What it said in its first line.
    pub said: String,
}

impl Running {
    /// Starts a program on a core and waits for the first line on stderr that begins with `mark`.
    // `Drop` waits for the process.
    #[allow(clippy::zombie_processes)]
    pub fn start(core: Option<u32>, program: &Path, args: &[&str], mark: &str) -> Running {
        let mut child = on(core, program, args).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut all = String::new();
        loop {
            let mut line = String::new();
            if stderr.read_line(&mut line).unwrap() == 0 {
                let _ = child.wait();
                panic!("{} does not start: {all}", program.display());
            }
            if let Some(said) = line.trim_end().strip_prefix(mark) {
                let said = said.to_owned();
                // Nobody is slowed by a log that is not read.
                std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
                return Running { child, said };
            }
            all.push_str(&line);
        }
    }

    /// Starts a program that says nothing, and waits until somebody listens at an address.
    pub fn listening(core: Option<u32>, program: &Path, args: &[&str], at: &str) -> Running {
        let child = on(core, program, args).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(at).is_err() {
            assert!(Instant::now() < until, "{} does not listen at {at}", program.display());
            std::thread::sleep(Duration::from_millis(5));
        }
        Running { child, said: at.to_owned() }
    }

    /// The gateway over a policy.
    pub fn gateway(core: Option<u32>, policy: &Path, args: &[&str]) -> Running {
        let args = [&["serve", policy.to_str().unwrap(), "--listen", "127.0.0.1:0"], args].concat();
        let mut running = Running::start(core, Path::new(SWITCHBACK), &args, "listening on http://");
        running.said = running.said.split(' ').next().unwrap().to_owned();
        running
    }

    /// The mock; the addresses of the part that answers and of the part that is always overloaded.
    pub fn mock(core: Option<u32>) -> (Running, [String; 2]) {
        let running = Running::start(core, &std::env::current_exe().unwrap(), &["mock"], "mock ");
        let (good, bad) = running.said.split_once(' ').unwrap();
        let addresses = [good.to_owned(), bad.to_owned()];
        (running, addresses)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Processor time of the process and its children so far, in microseconds.
    pub fn cpu_us(&self) -> f64 {
        family(self.pid()).iter().map(|pid| ticks(*pid)).sum::<f64>() * 10_000.0
    }

    /// Resident memory in MiB.
    pub fn resident(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1_024.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // In order, so that a master ends its workers too.
        let _ = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status();
        let until = Instant::now() + Duration::from_secs(3);
        while Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command kept on a core. `taskset` becomes the program, so its id is the program's.
pub fn on(core: Option<u32>, program: &Path, args: &[&str]) -> Command {
    let mut command = match core {
        Some(core) => {
            let mut command = Command::new("taskset");
            command.args(["-c", &core.to_string()]).arg(program);
            command
        }
        None => Command::new(program),
    };
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

fn family(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let children = std::fs::read_to_string(path).unwrap_or_default();
    let below = children.split_whitespace().filter_map(|p| p.parse().ok()).flat_map(family);
    std::iter::once(pid).chain(below).collect()
}

/// Ticks of 10 ms that a process has run.
fn ticks(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    after.split(' ').skip(11).take(2).filter_map(|t| t.parse::<f64>().ok()).sum()
}

/// One plain request on a connection of its own: the head of the answer.
pub fn ask(address: &str, model: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    let body = super::load::body(model, false);
    let length = body.len();
    write!(
        socket,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text.split("\r\n\r\n").next().unwrap().to_owned()
}

/// How many rounds, and how long each load of them.
pub fn rounds() -> (u64, f64) {
    (line::setting("SWITCHBACK_BENCH_ROUNDS", 3), line::setting("SWITCHBACK_BENCH_SECS", 2) as f64)
}
