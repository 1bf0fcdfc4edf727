//! A policy set that is edited without rest while requests run: no request fails, and each runs on a policy that was
//! the set's when it began.

use super::serve_rig::{Folder, Served, command};
use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use switchback::ready::prepare;
use switchback::source::Sources;

/// Who is called.
fn targets(n: u64) -> String {
    format!(
        "switchback 1\nprovider north {{ api emulated }}\nprovider south {{ api emulated }}\nmodel small {{\n  modalities [text]; \
         streaming yes; tools no; structured-output none\n  context {}; max-output 4k\n}}\ntarget north-1 {{ model small; \
         provider north; script {{ answers overloaded }} }}\ntarget south-1 {{ model small; provider south; script {{ answers \
         ok \"from the south\" }} }}\n",
        32_000 + n
    )
}

/// What a request may take.
fn budget(n: u64) -> String {
    format!("switchback 1\nbudget quick {{ deadline {}ms; attempts 3 }}\n", 5_000 + n)
}

/// What a failure leads to.
fn rows(n: u64) -> String {
    format!(
        "switchback 1\ntier chat {{ chain {{ north-1; south-1 }} }}\nmatrix simple {{\n  rate-limit -> wait up to {}ms, \
         failover\n  context-overflow, payload-too-large, policy, partial-stream -> stop\n  otherwise \
         -> failover\n}}\ndefaults {{ matrix simple; budget quick }}\nroute chat {{ tier chat }}\n",
        1 + n
    )
}

/// The way in which each file of the set is saved.
#[derive(Clone, Copy)]
enum Style {
    InPlace,
    RenamedOver,
    Volume,
}

const STYLES: [Style; 3] = [Style::InPlace, Style::RenamedOver, Style::Volume];

impl Style {
    fn file(self) -> &'static str {
        match self {
            Style::InPlace => "a.sbk",
            Style::RenamedOver => "b.sbk",
            Style::Volume => "c.sbk",
        }
    }

    fn text(self, n: u64) -> String {
        match self {
            Style::InPlace => targets(n),
            Style::RenamedOver => budget(n),
            Style::Volume => rows(n),
        }
    }

    fn save(self, folder: &Path, text: &str, n: u64) {
        let path = folder.join(self.file());
        match self {
            Style::InPlace => {
                // Half of it is there for a moment, as where an editor writes a buffer after the other.
                let (first, second) = text.as_bytes().split_at(text.len() / 2);
                std::fs::write(&path, first).unwrap();
                std::thread::sleep(Duration::from_millis(2));
                let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
                std::io::Write::write_all(&mut file, second).unwrap();
            }
            Style::RenamedOver => {
                let beside = folder.join("b.sbk~");
                std::fs::write(&beside, text).unwrap();
                std::fs::rename(&beside, &path).unwrap();
            }
            Style::Volume => {
                let before = std::fs::read_link(folder.join("..data")).ok();
                let next = format!("..{n}");
                std::fs::create_dir(folder.join(&next)).unwrap();
                std::fs::write(folder.join(&next).join(self.file()), text).unwrap();
                symlink(&next, folder.join("..data_tmp")).unwrap();
                std::fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
                match before {
                    Some(before) => std::fs::remove_dir_all(folder.join(before)).unwrap(),
                    None => symlink("..data/c.sbk", &path).unwrap(),
                }
            }
        }
    }
}

fn hash(texts: &[String; 3]) -> Option<String> {
    let named = STYLES.iter().zip(texts).map(|(style, text)| (style.file(), text.clone()));
    prepare(Sources::from_texts(named)).ready.map(|ready| ready.hash().to_owned())
}

/// An edit without errors: its policy, and when it was whole on disk.
struct Good {
    hash: String,
    begun: Instant,
}

/// One answer: when it was asked for, when it had come, whose it was.
struct Seen {
    asked: Instant,
    come: Instant,
    hash: String,
}

/// A plain or streamed request on a connection of its own.
fn ask(served: &Served, stream: bool) -> Result<Seen, String> {
    let body = format!(r#"{{"model":"chat","stream":{stream},"messages":[{{"role":"user","content":"hi"}}]}}"#);
    let length = body.len();
    let asked = Instant::now();
    let mut socket = served.connect(&format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    ));
    let mut text = String::new();
    socket.read_to_string(&mut text).map_err(|e| e.to_string())?;
    let come = Instant::now();
    let whole = text.starts_with("HTTP/1.1 200") && text.contains("south") && (!stream || text.contains("[DONE]"));
    let hash = text.split_once("x-switchback-policy: ").and_then(|(_, rest)| rest.split("\r\n").next());
    match hash {
        Some(hash) if whole => Ok(Seen { asked, come, hash: hash.to_owned() }),
        Some(_) | None => Err(text),
    }
}

/// `SWITCHBACK_EDITS=1000` asks for more edits.
#[test]
fn no_request_fails_while_the_policy_is_edited() {
    let edits: u64 = std::env::var("SWITCHBACK_EDITS").map_or(30, |n| n.parse().unwrap());
    let folder = Folder::new("edits", "");
    std::fs::remove_file(folder.policy()).unwrap();
    let mut texts = STYLES.map(|style| style.text(0));
    for (style, text) in STYLES.iter().zip(&texts) {
        style.save(&folder.0, text, 0);
    }
    // A reader that never comes must not matter: nobody reads this log.
    let served = Served::of(command(&["--log", "off"], &folder.0));
    assert_eq!(hash(&texts).as_ref(), Some(&served.hash));
    let mut good = vec![Good { hash: served.hash.clone(), begun: Instant::now() }];
    let (over, seen, failed) = (AtomicBool::new(false), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..5 {
            let (served, over, seen, failed) = (&served, &over, &seen, &failed);
            scope.spawn(move || {
                let mut next = Instant::now() + Duration::from_millis(10 * worker);
                while !over.load(Ordering::Relaxed) {
                    std::thread::sleep(next.saturating_duration_since(Instant::now()));
                    next += Duration::from_millis(50);
                    match ask(served, worker == 0) {
                        Ok(answer) => seen.lock().unwrap().push(answer),
                        Err(text) => failed.lock().unwrap().push(text),
                    }
                }
            });
        }
        let mut broken = None;
        for n in 1..=edits {
            // What was broken is mended before anything else, or all edits after it would be in vain.
            let at = broken.take().unwrap_or(usize::try_from(n % 3).unwrap());
            let style = STYLES[at];
            texts[at] = style.text(n);
            if n % 10 == 9 && n < edits {
                texts[at] = texts[at].replace("switchback 1\n", "switchback 1\nteir x { }\n");
                broken = Some(at);
            }
            let begun = Instant::now();
            style.save(&folder.0, &texts[at], n);
            match hash(&texts) {
                Some(hash) => good.push(Good { hash, begun }),
                None => assert!(broken.is_some(), "an edit that should be good is not"),
            }
            std::thread::sleep(Duration::from_millis(40 + (n * 37) % 160));
        }
        let Good { hash: last, begun: written } = good.last().unwrap();
        while served.ready()["policy"] != last.as_str() {
            assert!(written.elapsed() < Duration::from_secs(2), "the last edit does not serve");
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = written.elapsed();
        while seen.lock().unwrap().last().is_none_or(|s: &Seen| &s.hash != last) {
            assert!(written.elapsed() < SOON, "no request runs on the last edit");
            std::thread::sleep(Duration::from_millis(5));
        }
        over.store(true, Ordering::Relaxed);
        println!("{edits} edits; the last one served {took:?} after it was begun");
    });
    let (mut seen, failed) = (seen.into_inner().unwrap(), failed.into_inner().unwrap());
    assert!(failed.is_empty(), "{} of {} failed: {}", failed.len(), failed.len() + seen.len(), failed[0]);
    let policies: BTreeSet<&str> = seen.iter().map(|s| s.hash.as_str()).collect();
    println!("{} requests on {} policies of {}", seen.len(), policies.len(), good.len());
    assert!(policies.len() as u64 > edits / 4, "too few of {} edits were served: {}", edits, policies.len());
    valid_when_begun(&mut seen, &good);
    assert_eq!(served.ready()["reload"]["ok"], true);
    assert_eq!(served.stop().0, 0);
}

const SOON: Duration = Duration::from_secs(10);

/// Each answer's policy was on disk before it came, and none is older than one that somebody had seen before it was
/// asked for.
fn valid_when_begun(seen: &mut [Seen], good: &[Good]) {
    let edits: HashMap<&str, usize> = good.iter().enumerate().map(|(i, g)| (g.hash.as_str(), i)).collect();
    seen.sort_by_key(|s| s.come);
    // The latest edit that anybody had seen, after each answer.
    let mut known: Vec<usize> = Vec::new();
    for answer in seen.iter() {
        let at = *edits.get(answer.hash.as_str()).expect("a policy that nobody wrote");
        assert!(good[at].begun <= answer.come, "a policy served before it was written");
        let before = seen[..known.len()].partition_point(|s| s.come < answer.asked);
        let latest = before.checked_sub(1).map(|i| known[i]);
        assert!(latest.is_none_or(|latest| latest <= at), "edit {at} served after edit {latest:?}");
        known.push(at.max(known.last().copied().unwrap_or(0)));
    }
}
