use super::*;
use std::collections::BTreeMap;

/// A folder that is gone with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("switchback-store-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Scratch(folder)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn open(&self) -> Store {
        Store::open(&self.0, 77).unwrap()
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::create_dir_all(&self.0).unwrap();
        std::fs::write(self.0.join(file), text).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

type Counts = BTreeMap<String, u64>;

/// A ledger as an owner would keep one.
fn followed(store: &Store, start: Option<Counts>) -> (Arc<Mutex<Counts>>, Document) {
    let counts = Arc::new(Mutex::new(start.unwrap_or_default()));
    let seen = Arc::clone(&counts);
    let document = store.follow("counts", move || seen.lock().unwrap().clone());
    (counts, document)
}

#[test]
fn what_is_kept_is_there_after_a_restart() {
    let scratch = Scratch::new("restart");
    let store = Arc::new(scratch.open());
    assert_eq!(store.read::<Counts>("counts").unwrap(), None);
    let (counts, document) = followed(&store, None);
    let keeper = Store::keeper(&store).unwrap().unwrap();
    counts.lock().unwrap().insert("a".into(), 3);
    document.changed();
    keeper.finish();
    drop((store, document));
    let text = std::fs::read_to_string(scratch.0.join("counts.json")).unwrap();
    assert_eq!(text, "{\"version\":1,\"document\":\"counts\",\"content\":{\"a\":3}}\n");
    let again = scratch.open();
    assert_eq!(again.read::<Counts>("counts").unwrap(), Some(Counts::from([("a".into(), 3)])));
    assert_eq!(peek::<Counts>(&scratch.0, "counts").unwrap().unwrap().get("a"), Some(&3));
    assert_eq!(scratch.names(), ["counts.json", "lock"]);
}

#[test]
fn what_did_not_change_is_not_written() {
    let scratch = Scratch::new("same");
    let store = scratch.open();
    let (_, document) = followed(&store, None);
    store.write(false);
    assert_eq!(scratch.names(), ["lock"]);
    document.changed();
    store.write(false);
    assert_eq!(scratch.names(), ["counts.json", "lock"]);
    std::fs::remove_file(scratch.0.join("counts.json")).unwrap();
    store.write(false);
    assert_eq!(scratch.names(), ["lock"]);
}

#[test]
fn a_large_document_is_written_less_often_and_at_the_end() {
    let scratch = Scratch::new("large");
    let store = scratch.open();
    let document = store.follow_every(3, "large", || 1);
    let written = |looks: u32| {
        let path = scratch.0.join("large.json");
        let _ = std::fs::remove_file(&path);
        document.changed();
        (0..looks).for_each(|_| store.write(false));
        path.exists()
    };
    assert_eq!([written(1), written(2), written(1), written(2)], [true, false, true, false]);
    store.write(true);
    assert_eq!(scratch.names(), ["large.json", "lock"]);
}

#[test]
fn without_a_folder_nothing_is_read_or_written() {
    let store = Arc::new(Store::memory());
    let (_, document) = followed(&store, None);
    document.changed();
    store.write(false);
    assert!(!store.keeps() && Store::keeper(&store).unwrap().is_none());
    assert_eq!(store.read::<Counts>("counts").unwrap(), None);
}

#[test]
fn a_folder_that_cannot_be_one_is_refused() {
    let scratch = Scratch::new("refused");
    scratch.write("file", "in the way");
    let error = Store::open(&scratch.0.join("file/state"), 0).err().unwrap().to_string();
    assert!(error.contains("file/state cannot be used: "), "{error}");
    // A folder in which no file can be made.
    std::fs::create_dir_all(scratch.0.join("try.json.new")).unwrap();
    assert!(matches!(Store::open(&scratch.0, 0), Err(Unusable::Folder { .. })));
}

#[test]
fn a_second_gateway_is_refused_until_the_first_has_ended() {
    let scratch = Scratch::new("second");
    let first = scratch.open();
    let error = Store::open(&scratch.0, 0).err().unwrap();
    assert!(matches!(error, Unusable::Taken { .. }), "{error}");
    drop(first);
    scratch.open();
}

#[test]
fn what_cannot_be_read_is_moved_aside_and_counted() {
    let damaged = [
        "{\"version\":1,\"docum",
        "",
        "{\"version\":2,\"document\":\"counts\",\"content\":{}}",
        "{\"version\":1,\"document\":\"others\",\"content\":{}}",
        "{\"version\":1,\"document\":\"counts\",\"content\":[1]}",
    ];
    for text in damaged {
        let scratch = Scratch::new("corrupt");
        scratch.write("counts.json", text);
        assert!(peek::<Counts>(&scratch.0, "counts").is_err(), "{text}");
        let store = scratch.open();
        assert_eq!(store.read::<Counts>("counts").unwrap(), None, "{text}");
        assert_eq!(store.corrupt().values(), [(["counts".to_owned()], 1)]);
        assert_eq!(scratch.names(), ["counts.corrupt-77.json", "lock"]);
        assert_eq!(std::fs::read_to_string(scratch.0.join("counts.corrupt-77.json")).unwrap(), text);
    }
}

#[test]
fn a_failed_write_is_counted_and_tried_again() {
    let scratch = Scratch::new("full");
    let store = scratch.open();
    let (counts, document) = followed(&store, None);
    // What cannot be written to, whoever asks.
    let wall = scratch.0.join("counts.json.new");
    std::fs::create_dir(&wall).unwrap();
    document.changed();
    store.write(false);
    store.write(false);
    assert_eq!((store.failures(), store.is_well()), (2, false));
    counts.lock().unwrap().insert("late".into(), 1);
    std::fs::remove_dir(&wall).unwrap();
    store.write(false);
    assert_eq!((store.failures(), store.is_well()), (2, true));
    assert_eq!(peek::<Counts>(&scratch.0, "counts").unwrap(), Some(Counts::from([("late".into(), 1)])));
}

#[test]
fn a_write_that_was_interrupted_leaves_the_old_document() {
    let scratch = Scratch::new("torn");
    scratch.write("counts.json", "{\"version\":1,\"document\":\"counts\",\"content\":{\"a\":1}}");
    scratch.write("counts.json.new", "{\"version\":1,\"docu");
    let store = scratch.open();
    assert_eq!(store.read::<Counts>("counts").unwrap(), Some(Counts::from([("a".into(), 1)])));
}
