//! `check --staged` and `check --since` in repositories of every shape, and `init`.

use crate::shell::{GOOD, Shell};

const BAD: &str = "switchback 1\nmodel m { streaming maybe }\n";

fn repository() -> Shell {
    let shell = Shell::new();
    shell.git("init -q -b main");
    shell
}

fn committed() -> Shell {
    let shell = repository();
    shell.write("policies/a.sbk", GOOD);
    shell.git("add -A");
    shell.git("commit -q -m first");
    shell
}

#[test]
fn the_index_is_judged_and_not_the_work_tree() {
    let shell = committed();
    shell.write("policies/a.sbk", BAD);
    let said = shell.run("check --staged");
    assert_eq!((said.exit, said.out.as_str()), (0, ""), "nothing is staged: {}", said.err);
    shell.git("add -A");
    shell.write("policies/a.sbk", GOOD);
    let said = shell.run("check --staged --format concise");
    assert_eq!(said.exit, 1);
    assert!(said.out.contains("policies/a.sbk:2:21: error[SB0306]"), "{}", said.out);
    assert_eq!(shell.run("check policies").exit, 0);
    // Only sets that changed are looked at.
    shell.write("other/b.sbk", GOOD);
    shell.git("reset -q");
    shell.git("add other");
    let said = shell.run("check --staged");
    assert!(said.exit == 0 && said.out.starts_with("other: nothing to report"), "{}{}", said.out, said.err);
}

#[test]
fn a_repository_without_a_commit_has_an_index() {
    let shell = repository();
    assert_eq!(shell.run("check --staged").exit, 0);
    shell.write("policies/a.sbk", BAD);
    shell.git("add -A");
    assert_eq!(shell.run("check --staged").exit, 1);
    let said = shell.run("check --since HEAD");
    assert_eq!(said.exit, 2);
    assert!(said.err.contains("there is no revision `HEAD`"), "{}", said.err);
}

#[test]
fn renamed_and_deleted_files_are_seen() {
    let shell = committed();
    let (models, rest) = GOOD.split_at(GOOD.find("target").unwrap());
    shell.write("policies/a.sbk", models);
    shell.write("policies/b.sbk", &format!("switchback 1\n{rest}"));
    shell.git("add -A");
    shell.git("commit -q -m split");
    shell.git("mv policies/b.sbk policies/c.sbk");
    assert_eq!(shell.run("check --staged").exit, 0);
    // A renamed file is no change of the policy.
    let said = shell.run("check --since HEAD --format json");
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.exit, document["sets"].as_array().unwrap().len()), (0, 1));
    shell.git("rm -q --cached policies/a.sbk");
    let said = shell.run("check --staged --format concise");
    assert_eq!(said.exit, 1);
    assert!(said.out.contains("policies/c.sbk:2:18: error[SB0202] there is no model `m`"), "{}", said.out);
    let said = shell.run("check --staged polcies");
    assert_eq!(said.exit, 2, "a mistyped path would pass for ever");
    assert!(said.err.contains("there is no polcies"), "{}", said.err);
    shell.git("rm -q --cached policies/c.sbk");
    let said = shell.run("check --staged");
    assert_eq!((said.exit, said.out.as_str()), (0, ""), "a set without files is none: {}", said.err);
    // Deleted in the work tree alone: what the rest of the set misses is found, by either way of naming it.
    shell.git("reset -q --hard");
    std::fs::remove_file(shell.path().join("policies/a.sbk")).unwrap();
    for line in ["check --since HEAD", "check --since HEAD policies", "check --since HEAD policies/a.sbk policies"] {
        let said = shell.run(&format!("{line} --format concise"));
        assert_eq!(said.exit, 1, "{line}: {}", said.err);
        assert!(said.out.contains("error[SB0202] there is no model `m`"), "{line}: {}", said.out);
    }
}

#[test]
fn a_merge_with_conflicts_is_refused_and_a_resolved_one_is_judged() {
    let shell = committed();
    shell.git("checkout -q -b side");
    shell.write("policies/a.sbk", &GOOD.replace("attempts 1", "attempts 2"));
    shell.git("commit -q -a -m side");
    shell.git("checkout -q main");
    shell.write("policies/a.sbk", &GOOD.replace("attempts 1", "attempts 3"));
    shell.git("commit -q -a -m main");
    let merge = shell.command("git", "merge -q side").output().unwrap();
    assert_eq!(merge.status.code(), Some(1));
    // What else is staged is judged all the same.
    shell.write("other/b.sbk", BAD);
    shell.git("add other");
    let said = shell.run("check --staged --format concise");
    assert_eq!(said.exit, 2);
    assert_eq!(said.err.matches("policies/a.sbk has conflicts").count(), 1, "{}", said.err);
    assert!(said.out.starts_with("other/b.sbk:2:21: error[SB0306]"), "{}", said.out);
    // The text of the work tree has the markers, and one finding for them.
    for line in ["check --since HEAD", "check policies"] {
        let said = shell.run(&format!("{line} --format concise"));
        assert_eq!(said.exit, 1);
        assert_eq!(said.out.matches("policies/a.sbk").count(), 1, "{}", said.out);
        assert!(said.out.contains("policies/a.sbk:8:1: error[SB0113]"), "{}", said.out);
    }
    shell.git("rm -q -f other/b.sbk");
    shell.write("policies/a.sbk", BAD);
    shell.git("add -A");
    assert_eq!(shell.run("check --staged").exit, 1);
    shell.write("policies/a.sbk", &GOOD.replace("attempts 1", "attempts 4"));
    shell.git("add -A");
    assert_eq!(shell.run("check --staged").exit, 0);
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let inner = committed();
    let shell = committed();
    let add = format!("-c protocol.file.allow=always submodule --quiet add {} policies/inner", inner.path().display());
    shell.git(&add);
    shell.write("policies/inner/a.sbk", BAD);
    shell.write("policies/inner/policies/a.sbk", BAD);
    shell.git("add policies/inner");
    assert_eq!(shell.run("check --staged").exit, 0, "its files are not of this index");
    let said = shell.run("check --since HEAD");
    assert_eq!(said.exit, 0, "{}{}", said.out, said.err);
    let said = shell.run("check --since HEAD policies/inner/policies --format concise");
    assert!(said.exit == 1 && said.out.contains("SB0306"), "{}{}", said.out, said.err);
}

#[test]
fn since_a_revision_only_what_changed_and_what_depends_on_it_is_shown() {
    let shell = repository();
    let text = GOOD
        .replace("\nprovider p", "\nprovider q { api openai-chat; base-url \"http://10.0.0.8:9/v1\" }\nprovider p")
        .replace("127.0.0.1", "10.0.0.7")
        .replace("target a", "target z { model m; provider q }\ntarget a")
        .replace("route r {", "route s { tier u; matrix x; budget b }\nroute r {")
        .replace("\ntier t", "\ntier u { chain { z } }\ntier t");
    shell.write("policies/a.sbk", &text);
    shell.git("add -A");
    shell.git("commit -q -m first");
    let shown = |shell: &Shell| {
        let said = shell.run("check --since HEAD --format concise");
        assert_eq!(said.exit, 0, "{}{}", said.out, said.err);
        said.out.lines().map(|line| line.split(':').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = shell.run("check policies --format concise").out;
    assert_eq!(all.lines().count(), 2, "{all}");
    assert!(shown(&shell).is_empty());
    // Layout and comments are no change.
    shell.write("policies/a.sbk", &text.replace("model m {", "# why\nmodel m   {"));
    assert!(shown(&shell).is_empty());
    shell.write("policies/a.sbk", &text.replace("10.0.0.8", "10.0.0.9"));
    assert_eq!(shown(&shell), ["3"]);
    // What is not tracked yet is a change too, and errors are shown wherever they are.
    shell.write("policies/a.sbk", &text);
    shell.write("policies/b.sbk", "switchback 1\nmodel m { context 1k }\n");
    let said = shell.run("check --since HEAD --format concise");
    assert!(said.exit == 1 && said.out.contains("SB0201"), "{}", said.out);
}

#[test]
fn a_changed_contract_wants_a_new_version() {
    let shell = repository();
    let text = GOOD.replace("route r {", "contract c { context >= 8k }\nroute r { version 1; contract c;");
    shell.write("a.sbk", &text);
    shell.git("add -A");
    shell.git("commit -q -m first");
    let shown = |text: &str| {
        shell.write("a.sbk", text);
        shell.run("check --since HEAD --format concise --fail-on advice")
    };
    let said = shown(&text.replace(">= 8k", ">= 16k"));
    assert!(said.exit == 1 && said.out.starts_with("a.sbk:10:11: advice[SB0402]"), "{}{}", said.out, said.err);
    assert_eq!(shown(&text.replace(">= 8k", ">= 16k").replace("version 1", "version 2")).exit, 0);
    assert_eq!(shown(&text.replace("version 1;", "").replace(">= 8k", ">= 16k")).exit, 0);
    assert_eq!(shown(&text.replace("attempts 1", "attempts 2")).exit, 0);
}

#[test]
fn a_first_policy_passes_what_it_sets_up_and_nothing_is_overwritten() {
    let shell = repository();
    let said = shell.run("init");
    assert_eq!(said.exit, 0, "{}", said.err);
    assert_eq!(said.out.lines().filter(|line| line.starts_with("wrote ")).count(), 4, "{}", said.out);
    let hooks = shell.read(".pre-commit-config.yaml");
    let ci = shell.read(".github/workflows/switchback.yml");
    // Nothing is fetched that is nowhere.
    assert!(ci.contains("--git \"$SWITCHBACK_GIT\"") && !ci.contains("cargo install switchback"), "{ci}");
    let runs = |text: &str, mark: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix(mark)?.trim().strip_prefix("switchback "));
        lines.map(str::to_owned).collect()
    };
    shell.git("add -A");
    let (hooks, ci) = (runs(&hooks, "entry:"), runs(&ci, "- run:"));
    assert_eq!((hooks.len(), ci.len()), (3, 3), "{hooks:?} {ci:?}");
    for line in hooks.iter().chain(&ci) {
        let files = if line == "fmt" { " policies/chat.sbk policies/chat.test.sbk" } else { "" };
        let said = shell.run(&format!("{line}{files}"));
        assert_eq!(said.exit, 0, "{line}: {}{}", said.out, said.err);
    }
    assert_eq!(shell.git("diff --name-only"), "", "fmt had nothing to do");
    let said = shell.run("check policies --fail-on warning");
    assert_eq!(said.exit, 0, "{}", said.out);

    shell.write("policies/chat.sbk", "mine\n");
    std::fs::remove_file(shell.path().join("policies/chat.test.sbk")).unwrap();
    let said = shell.run("init");
    assert_eq!(said.exit, 0);
    assert_eq!(said.out.matches("kept ").count(), 3, "{}", said.out);
    assert_eq!(shell.read("policies/chat.sbk"), "mine\n");
    assert!(shell.read("policies/chat.test.sbk").contains("test "));
}
