//! The exit table of `docs/cli.md`: each row is a case here, and each case a row there.

use crate::shell::{GOOD, Said, Shell};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// What `classify` is asked about.
const ERRORS: &str = "{\"status\":429}\n";

const TESTED: &str = "test \"t\" { a answers ok; send r; expect served by a }\n";
const UGLY: &str = "switchback 1\nmodel m {context 32k}\n";

/// What a gateway may have kept of `a` and `z`: `z` is far the faster.
fn kept() -> String {
    let day = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 86_400;
    let series = |target: &str, bucket: usize| {
        format!(
            "{{\"region\":\"\",\"target\":\"{target}\",\"kind\":\"whole\",\"latest_ms\":{},\"days\":[{{\"day\":{day},\"counts\":[[{bucket},20]]}}]}}",
            day * 86_400_000
        )
    };
    let content = format!("[{},{}]", series("a", 100), series("z", 20));
    format!("{{\"version\":1,\"document\":\"baselines\",\"content\":{content}}}")
}

/// A row: command, what happened, exit.
type Row = (&'static str, &'static str, i32);

/// A server that is asked to stop once it listens, or that ends by itself.
fn serve(shell: &Shell, line: &str) -> Said {
    let mut command = shell.command(env!("CARGO_BIN_EXE_switchback"), line);
    // The examples' policies name keys; nobody is called with them.
    for key in ["OPENAI_API_KEY", "GROQ_API_KEY", "CEREBRAS_API_KEY", "ANTHROPIC_API_KEY"] {
        command.env(key, "none");
    }
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        said.push_str(&line);
        if line.contains("listening on") {
            let stop = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            assert!(stop.unwrap().success());
        }
    }
    Said { exit: child.wait().unwrap().code().unwrap_or(-1), out: String::new(), err: said }
}

fn cases() -> Vec<(Row, Said)> {
    let shell = Shell::new();
    shell.write("good.sbk", GOOD);
    shell.write("warned.sbk", &GOOD.replace("127.0.0.1", "10.0.0.7"));
    shell.write("wrong.sbk", &GOOD.replace("10s", "10"));
    shell.write("odd.sbk", &GOOD.replace("api openai-chat;", "api openai-chat;;"));
    shell.write("ugly.sbk", UGLY);
    shell.write("errors.jsonl", ERRORS);
    shell.write("broken.sbk", "switchback 1\nmodel m { modalities [text }\n");
    shell.write("tested.sbk", &format!("{GOOD}{TESTED}"));
    shell.write("failing.sbk", &format!("{GOOD}{}", TESTED.replace("answers ok", "answers overloaded")));
    shell.write("half/good.sbk", GOOD);
    shell.write("half/latin.sbk", "");
    std::fs::write(shell.path().join("half/latin.sbk"), [0x73, 0xe9]).unwrap();
    shell.write("large.sbk", &"# and on\n".repeat(1 << 20));
    shell.write("conflict.sbk", &GOOD.replace("budget b", "<<<<<<< a\n=======\n>>>>>>> b\nbudget b"));
    shell.write("file/policies", "in the way\n");
    shell.write("state/baselines.json", &kept());
    shell.write("damaged/baselines.json", "{");
    shell.write(
        "pair.sbk",
        &GOOD.replace("{ a }", "{ a; z }").replace("tier", "target z { model m; provider p }\ntier"),
    );
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = socket.local_addr().unwrap();
    let row = |row: Row, line: &str| (row, shell.run(line));
    let mut cases = vec![
        row(("check", "nothing was found", 0), "check good.sbk"),
        row(("check", "warnings or advice alone", 0), "check warned.sbk"),
        row(("check", "an error in a policy", 1), "check good.sbk wrong.sbk"),
        row(("check --fail-on warning", "a warning", 1), "check --fail-on warning warned.sbk"),
        row(("check", "a path that cannot be read", 2), "check nowhere wrong.sbk"),
        row(("check", "a file of a set that cannot be read, whatever the others hold", 2), "check half"),
        row(("check", "a file that is too large", 1), "check large.sbk"),
        row(("check", "conflicts of a merge", 1), "check conflict.sbk"),
        row(("check --select", "a code that is none", 2), "check --select SB77 good.sbk"),
        row(("check --diff", "something would change", 1), "check --diff odd.sbk"),
        row(("check --diff", "nothing would change", 0), "check --diff good.sbk"),
        row(("check --fix", "everything was fixed", 0), "check --fix odd.sbk"),
        row(("check --staged", "no repository", 2), "check --staged"),
        row(("fmt --check", "a file that is not formatted", 1), "fmt --check ugly.sbk"),
        row(("fmt --diff", "a file that is not formatted", 1), "fmt --diff ugly.sbk"),
        row(("fmt", "files were formatted, or were already", 0), "fmt ugly.sbk good.sbk"),
        row(("fmt", "a file with mistakes of form", 1), "fmt broken.sbk"),
        row(("fmt", "a path that cannot be read", 2), "fmt nowhere"),
        row(("test", "all tests passed", 0), "test tested.sbk"),
        row(("test", "a test failed", 1), "test failing.sbk"),
        row(("test", "there is no test", 1), "test good.sbk"),
        row(("test", "an error in the policy", 1), "test wrong.sbk"),
        row(("test", "a path that cannot be read", 2), "test nowhere"),
        row(("graph", "the graph was drawn", 0), "graph good.sbk"),
        row(("graph", "an error in the policy", 1), "graph wrong.sbk"),
        row(("graph", "no such route", 2), "graph good.sbk nobody"),
        row(("graph", "a path that cannot be read", 2), "graph nowhere"),
        row(("explain", "the word was explained", 0), "explain SB0101"),
        row(("explain", "an unknown word", 2), "explain nonsense-word"),
        row(("list", "the set was listed", 0), "list good.sbk"),
        row(("list", "an error in the policy", 1), "list wrong.sbk"),
        row(("list", "a path that cannot be read", 2), "list nowhere"),
        row(
            ("baselines", "the policy's order is the one suggested, or too little is known", 0),
            "baselines good.sbk --state state",
        ),
        row(("baselines", "the policy's order disagrees", 1), "baselines pair.sbk --state state"),
        row(("baselines", "an error in the policy", 1), "baselines wrong.sbk --state state"),
        row(("baselines", "no state folder, or one that cannot be read", 2), "baselines good.sbk --state nowhere"),
        row(("baselines", "no state folder, or one that cannot be read", 2), "baselines good.sbk --state damaged"),
        row(("baselines", "no state folder, or one that cannot be read", 2), "baselines good.sbk"),
        row(("classify", "every line was answered", 0), "classify errors.jsonl"),
        row(("classify", "a line, or a file, that cannot be read", 2), "classify good.sbk"),
        row(("classify", "a line, or a file, that cannot be read", 2), "classify nowhere"),
        row(("serve", "an error in the policy", 1), "serve wrong.sbk --listen 127.0.0.1:0"),
        row(("serve", "an address in use", 2), &format!("serve good.sbk --listen {taken}")),
        row(("serve --state", "a folder that cannot be used", 2), "serve good.sbk --state good.sbk/in-the-way"),
        row(("emulate", "an address in use", 2), &format!("emulate --listen {taken}")),
        row(("init", "files were written, or were there", 0), "init new"),
        row(("init", "a file that cannot be written", 2), "init file"),
        row(("completions", "the script was printed", 0), "completions bash"),
        row(("man", "the page was printed", 0), "man"),
        row(("man", "no such command", 2), "man nonsense"),
        row(("any", "`--help` or `--version`", 0), "graph --help"),
        row(("any", "`--help` or `--version`", 0), "--version"),
        row(("any", "a bad flag", 2), "list --nonsense"),
        row(("any", "a bad flag", 2), "check --nonsense good.sbk"),
    ];
    cases.push((("serve", "it was asked to stop", 0), serve(&shell, "serve good.sbk --listen 127.0.0.1:0")));
    cases.push((("emulate", "it was asked to stop", 0), serve(&shell, "emulate --listen 127.0.0.1:0")));
    shell.git("init -q");
    cases.push((("check --since", "no such revision", 2), shell.run("check --since nonsense")));
    cases
}

#[test]
fn every_command_ends_as_the_table_says() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md")).unwrap();
    let table = page.split("| command | what happened | exit |\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let mut rows = BTreeSet::new();
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        rows.insert((cells[1].trim_matches('`').to_owned(), cells[2].to_owned(), cells[3].parse::<i32>().unwrap()));
    }
    let cases = cases();
    let tried: BTreeSet<_> = cases.iter().map(|((a, b, exit), _)| (a.to_string(), b.to_string(), *exit)).collect();
    assert_eq!(rows, tried);
    for ((command, happened, exit), said) in &cases {
        assert_eq!(said.exit, *exit, "{command}: {happened}\n{}{}", said.out, said.err);
        if *exit == 2 {
            assert!(said.err.contains("error"), "{command}: {happened}: no word of why");
        }
    }
}

/// The examples that a command's help ends with.
/// A tip names what was mistyped, or nothing.
#[test]
fn a_tip_is_near_to_what_was_written() {
    let said = |args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_switchback")).args(args).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(!said(&["check", "--nope"]).contains("similar"));
    assert!(said(&["check", "--ignroe", "x"]).contains("'--ignore'"));
    assert!(said(&["chek"]).contains("'check'"));
}

fn examples(help: &str) -> Vec<String> {
    let after = help.split("Examples:\n").nth(1).unwrap_or_default();
    let lines = after.lines().take_while(|line| line.starts_with("  ")).map(str::trim);
    lines.filter(|line| line.starts_with("switchback ")).map(str::to_owned).collect()
}

#[test]
fn every_help_ends_with_two_examples_that_work() {
    let shell = Shell::new();
    let root = env!("CARGO_MANIFEST_DIR");
    for name in ["quickstart.sbk", "vendors.sbk", "local-first.sbk"] {
        shell.write(&format!("policies/{name}"), &std::fs::read_to_string(format!("{root}/policies/{name}")).unwrap());
    }
    shell.write("errors.jsonl", ERRORS);
    shell.write("state/baselines.json", &kept());
    shell.git("init -q");
    shell.git("add -A");
    shell.git("commit -q -m first");
    let listed = shell.run("help").out;
    let commands: Vec<&str> = listed
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "help")
        .collect();
    assert!(commands.len() >= 11, "{listed}");
    for command in commands {
        let help = shell.run(&format!("{command} --help")).out;
        let examples = examples(&help);
        assert!(examples.len() >= 2, "{command} shows {examples:?}");
        let end = help.split("Examples:\n").last().unwrap().trim_end();
        assert!(end.lines().all(|line| line.starts_with("  ")), "{command} ends otherwise: {end}");
        for example in examples {
            let line = example.split_once(" >").map_or(example.as_str(), |(line, _)| line);
            let line = line.split_once(" |").map_or(line, |(line, _)| line);
            let args = line.strip_prefix("switchback ").unwrap_or_else(|| panic!("{command}: {example}"));
            let said = match command {
                "serve" | "emulate" => {
                    // The example's own address may be taken; the last one that is written holds.
                    let args: Vec<&str> = args.split_whitespace().collect();
                    let at = args.iter().position(|word| *word == "--listen");
                    let kept = args.iter().enumerate().filter(|(i, _)| at.is_none_or(|at| *i != at && *i != at + 1));
                    let kept: Vec<&str> = kept.map(|(_, word)| *word).collect();
                    serve(&shell, &format!("{} --listen 127.0.0.1:0", kept.join(" ")))
                }
                "lsp" => continue, // Its examples are started by editors; tests of it talk to it.
                _ => shell.run(args),
            };
            assert!(said.exit == 0 || command == "fmt" && said.exit == 1, "{example}: {}{}", said.out, said.err);
        }
    }
}

#[test]
fn the_manual_and_the_completions_know_every_command() {
    let shell = Shell::new();
    let (man, bash) = (shell.run("man").out, shell.run("completions bash").out);
    assert!(man.starts_with(".ie") && man.contains(".TH switchback"), "{man}");
    for command in
        ["check", "fmt", "test", "graph", "explain", "list", "baselines", "classify", "serve", "emulate", "init", "man"]
    {
        assert!(man.contains(&format!("switchback\\-{command}(1)")), "{command}");
        assert!(
            bash.contains(&format!("switchback__{command}")) || bash.contains(&format!(" {command} ")),
            "{command}"
        );
    }
    let page = shell.run("man check").out;
    assert!(page.contains("\\-\\-staged") && page.contains("Examples:"), "{page}");
}
