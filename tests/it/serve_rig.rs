//! The command `serve` as a process, and what it is asked.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// A folder with a policy in it, gone with the value.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str, policy: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("switchback-serve-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let folder = Folder(folder);
        folder.write(policy);
        folder
    }

    pub fn policy(&self) -> PathBuf {
        self.0.join("policy.sbk")
    }

    pub fn write(&self, policy: &str) {
        std::fs::write(self.policy(), policy).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// `serve` with arguments and a set.
pub fn command(args: &[&str], path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_switchback"));
    command.arg("serve").args(args).arg(path).env("NO_COLOR", "1").stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A gateway that has said that it listens.
pub struct Served {
    pub child: Child,
    stderr: BufReader<ChildStderr>,
    pub address: String,
    pub hash: String,
}

impl Served {
    pub fn new(args: &[&str], path: &Path) -> Served {
        Served::of(command(args, path))
    }

    /// The same of a command made ready.
    // `Drop` waits for the process.
    #[allow(clippy::zombie_processes)]
    pub fn of(mut command: Command) -> Served {
        let mut child = command.args(["--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        loop {
            let mut line = String::new();
            if stderr.read_line(&mut line).unwrap() == 0 {
                let _ = child.wait();
                panic!("it does not serve: {said}");
            }
            if let Some(rest) = line.trim_end().strip_prefix("listening on http://") {
                let (address, hash) = rest.split_once(" policy ").unwrap();
                let (address, hash) = (address.to_owned(), hash.to_owned());
                return Served { child, stderr, address, hash };
            }
            said.push_str(&line);
        }
    }

    pub fn connect(&self, request: &str) -> TcpStream {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        socket
    }

    pub fn get(&self, path: &str) -> String {
        answer(self.connect(&format!("GET {path} HTTP/1.1\r\nhost: g\r\nconnection: close\r\n\r\n"))).1
    }

    pub fn ready(&self) -> Value {
        serde_json::from_str(&self.get("/readyz")).unwrap()
    }

    /// Waits until `/readyz` is such.
    pub fn ready_when(&self, such: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let ready = self.ready();
            if such(&ready) {
                return ready;
            }
            assert!(Instant::now() < until, "{ready}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn chat(&self) -> TcpStream {
        let body = r#"{"model":"chat","messages":[{"role":"user","content":"hi"}]}"#;
        let length = body.len();
        self.connect(&format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
    }

    /// Asks it to end, as an operating system does, and gives its exit code and what it said since.
    pub fn stop(mut self) -> (i32, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code().unwrap(), said)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Head and body of an answer.
pub fn answer(mut socket: TcpStream) -> (String, String) {
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Waits until a running gateway has come so far.
pub fn until(what: &str, such: impl Fn() -> bool) {
    let late = Instant::now() + Duration::from_secs(10);
    while !such() {
        assert!(Instant::now() < late, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
