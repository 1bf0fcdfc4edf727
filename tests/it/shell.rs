//! A folder of its own and the binary in it, for tests that look at commands as a shell does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A policy without a finding.
pub const GOOD: &str = r#"switchback 1

provider p { api openai-chat; base-url "http://127.0.0.1:9/v1" }
model m { modalities [text]; streaming yes; context 32k; max-output 4k }
target a { model m; provider p }
tier t { chain { a } }
matrix x { otherwise -> stop }
budget b { deadline 10s; attempts 1 }
route r { tier t; matrix x; budget b }
"#;

/// What a command said.
pub struct Said {
    pub exit: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        Said {
            exit: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A folder that goes with the value.
pub struct Shell(PathBuf);

impl Shell {
    pub fn new() -> Shell {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("switchback-shell-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Shell(folder.canonicalize().unwrap())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// Runs switchback; words are split at spaces.
    pub fn run(&self, line: &str) -> Said {
        self.command(env!("CARGO_BIN_EXE_switchback"), line).output().unwrap().into()
    }

    /// Runs git, which must do what it is told.
    pub fn git(&self, line: &str) -> String {
        let said: Said = self.command("git", line).output().unwrap().into();
        assert_eq!(said.exit, 0, "git {line}: {}{}", said.out, said.err);
        said.out
    }

    pub fn command(&self, program: &str, line: &str) -> Command {
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).current_dir(&self.0);
        // Neither a hook's repository nor anybody's settings.
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"] {
            command.env_remove(name);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_CEILING_DIRECTORIES", self.0.parent().unwrap());
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Nobody").env(format!("GIT_{role}_EMAIL"), "nobody@example.com");
        }
        command
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
