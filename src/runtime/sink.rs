//! Where records go: a file or stdout, one line each, off the request path.
//!
//! In: lines. Out: lines on disk in the order they came. The queue is bounded and nobody waits for it: a line that finds
//! it full, or that cannot be written, is dropped, counted and spoken of. Never makes a request slower or fail.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Lines that may wait to be written.
const QUEUE: usize = 4_096;

/// Where records go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file, appended to.
    File(PathBuf),
}

impl Destination {
    /// `-` is stdout, all else a path.
    pub fn parse(text: &str) -> Destination {
        if text == "-" { Destination::Stdout } else { Destination::File(PathBuf::from(text)) }
    }

    fn open(&self) -> io::Result<Box<dyn Write + Send>> {
        match self {
            Destination::Stdout => Ok(Box::new(io::stdout())),
            Destination::File(path) => Ok(Box::new(open(path)?)),
        }
    }
}

fn open(path: &Path) -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new().create(true).append(true).open(path)
}

/// What waits to be written.
enum Entry {
    Line(String),
    Stop,
}

/// The near end of the queue.
#[derive(Clone, Default)]
pub struct Sink {
    lines: Option<SyncSender<Entry>>,
    dropped: Arc<AtomicU64>,
}

/// The far end: the thread that writes.
pub struct Writer {
    lines: SyncSender<Entry>,
    thread: JoinHandle<()>,
}

impl Sink {
    /// A sink that keeps nothing.
    pub fn none() -> Sink {
        Sink::default()
    }

    /// Opens the destination and starts the writer.
    ///
    /// # Errors
    /// When the destination cannot be opened, or no thread can be started.
    pub fn open(destination: &Destination) -> io::Result<(Sink, Writer)> {
        Sink::onto(destination.open()?)
    }

    /// Starts the writer of a sink that is already open.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn onto(out: Box<dyn Write + Send>) -> io::Result<(Sink, Writer)> {
        let (sender, receiver) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&dropped);
        let thread =
            std::thread::Builder::new().name("records".into()).spawn(move || write_all(&receiver, out, &counter))?;
        Ok((Sink { lines: Some(sender.clone()), dropped }, Writer { lines: sender, thread }))
    }

    /// Whether lines go anywhere.
    pub fn keeps(&self) -> bool {
        self.lines.is_some()
    }

    /// Hands a line over; drops it where the queue is full.
    pub fn send(&self, line: String) {
        let Some(lines) = &self.lines else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = lines.try_send(Entry::Line(line)) {
            lost(&self.dropped, 1, "the writer does not keep up");
        }
    }

    /// How many records were lost.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Writer {
    /// Waits until everything that was sent before is written. What is sent after is lost.
    pub fn finish(self) {
        let _ = self.lines.send(Entry::Stop);
        let _ = self.thread.join();
    }
}

/// Text that is written at once, in bytes: bounds what a burst may hold in memory.
const BURST: usize = 1024 * 1024;

fn write_all(lines: &Receiver<Entry>, mut out: Box<dyn Write + Send>, dropped: &AtomicU64) {
    let (mut torn, mut stop) = (false, false);
    while let Ok(Entry::Line(first)) = lines.recv() {
        // A failed write may have left half a line behind; what follows must not be glued to it.
        let mut burst = String::from(if torn { "\n" } else { "" });
        let (mut count, mut line) = (0, first);
        loop {
            burst.push_str(&line);
            burst.push('\n');
            count += 1;
            if burst.len() >= BURST {
                break;
            }
            match lines.try_recv() {
                Ok(Entry::Line(next)) => line = next,
                Ok(Entry::Stop) => {
                    stop = true;
                    break;
                }
                Err(_) => break,
            }
        }
        match out.write_all(burst.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => torn = false,
            Err(error) => {
                torn = true;
                lost(dropped, count, &error.to_string());
            }
        }
        if stop {
            return;
        }
    }
}

fn lost(dropped: &AtomicU64, count: u64, why: &str) {
    let before = dropped.fetch_add(count, Ordering::Relaxed);
    let after = before + count;
    // The first loss is news, and then each doubling: a full disk must not fill the log as well.
    if before == 0 || before.ilog2() != after.ilog2() {
        tracing::error!(dropped = after, why, "decision records are lost; requests go on");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>, bool);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_written_in_order() {
        let paper = Paper::default();
        let (sink, writer) = Sink::onto(Box::new(paper.clone())).unwrap();
        for n in 0..100 {
            sink.send(format!("{n}"));
        }
        writer.finish();
        let want: String = (0..100).map(|n| format!("{n}\n")).collect();
        assert_eq!(String::from_utf8(paper.0.lock().unwrap().clone()).unwrap(), want);
    }

    #[test]
    fn a_full_disk_loses_records_and_says_how_many() {
        let (sink, writer) = Sink::onto(Box::new(Paper(Arc::default(), true))).unwrap();
        let counter = Arc::clone(&sink.dropped);
        sink.send("x".repeat(20_000));
        sink.send("y".repeat(20_000));
        writer.finish();
        assert_eq!(counter.load(Ordering::Relaxed), 2);
    }
}
