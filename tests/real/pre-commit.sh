#!/usr/bin/env bash
# The hooks of `.pre-commit-hooks.yaml`, run by the real pre-commit in a scratch repository.
#
# Needs git, python3 with venv, network to PyPI (or `pre-commit` on the path), and a built switchback.
# Prints one line for each thing that was shown, and exits 1 at the first that was not, 77 where it could not be installed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/tests/real/parts.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX
export HOME=$scratch/home GIT_CONFIG_NOSYSTEM=1 PRE_COMMIT_HOME=$scratch/cache
mkdir -p "$HOME"
git config --global user.name Nobody
git config --global user.email nobody@example.com
git config --global init.defaultBranch main

PATH=${CARGO_TARGET_DIR:-$root/target}/debug:$PATH
command -v switchback >/dev/null || { echo "no switchback: cargo build"; exit 2; }
if ! command -v pre-commit >/dev/null; then
  in_time python3 -m venv "$scratch/venv" && in_time "$scratch/venv/bin/pip" -q install pre-commit==4.7.0 ||
    { skipped pre-commit "$why"; exit "$SKIPPED"; }
  PATH=$scratch/venv/bin:$PATH
fi
pre-commit --version

# The hooks as another repository would take them: from a commit of this one.
hooks=$scratch/hooks
mkdir "$hooks"
cp "$root/.pre-commit-hooks.yaml" "$hooks"
git -C "$hooks" init -q && git -C "$hooks" add -A && git -C "$hooks" commit -q -m hooks

repository=$scratch/repository
mkdir "$repository" && cd "$repository"
git init -q
switchback init . >/dev/null
cat >.pre-commit-config.yaml <<EOF
repos:
  - repo: $hooks
    rev: $(git -C "$hooks" rev-parse HEAD)
    hooks:
      - id: switchback-fmt
      - id: switchback-check
      - id: switchback-test
EOF
pre-commit install >/dev/null
no() { echo "not as it must be: $*"; exit 1; }
commits() { git rev-list --count HEAD 2>/dev/null || echo 0; }

git add -A
git commit -q -m "a good one" >"$scratch/out" 2>&1 || { cat "$scratch/out"; no "a good commit is refused"; }
[[ $(commits) == 1 ]] || no "the good commit is not there"
echo "ok: a good commit passes, in a repository without a commit before it"

sed -i 's/deadline 20s/deadline 20/' policies/chat.sbk
git add -A
! git commit -q -m "a bad one" >"$scratch/out" 2>&1 || no "a bad commit passes"
grep -q SB0301 "$scratch/out" || { cat "$scratch/out"; no "nobody says why"; }
[[ $(commits) == 1 ]] || no "the bad commit is there"
echo "ok: a bad commit is refused, with its code"

# The index is bad and the work tree is good: what would be committed counts.
sed -i 's/deadline 20;/deadline 20s;/' policies/chat.sbk
! git commit -q -m "bad index" >"$scratch/out" 2>&1 || no "a bad index passes"
git add -A
git diff --cached --quiet || no "the work tree is not what it was"
# The other way round: an unstaged mistake is nobody's business yet.
echo '# kept' >>policies/chat.sbk
git add -A
sed -i 's/deadline 20s/deadline 20/' policies/chat.sbk
git commit -q -m "good index" >"$scratch/out" 2>&1 || { cat "$scratch/out"; no "a good index is refused"; }
[[ $(commits) == 2 ]] || no "the good index is not committed"
grep -q 'deadline 20;' policies/chat.sbk || no "the unstaged change is gone"
git checkout -q policies/chat.sbk
echo "ok: the index is judged and not the work tree"

sed -i 's/budget chat { /budget   chat {/' policies/chat.sbk
git add -A
! git commit -q -m "ugly" >"$scratch/out" 2>&1 || no "an unformatted commit passes"
grep -q 'files were modified by this hook' "$scratch/out" || { cat "$scratch/out"; no "fmt did not write"; }
grep -q '^budget chat { ' policies/chat.sbk || no "the file is not formatted"
git add -u
git diff --cached --quiet || no "the formatted text is not the one before"
echo '# and this' >>policies/chat.sbk
sed -i 's/budget chat { /budget   chat {/' policies/chat.sbk
git add -A
! git commit -q -m "ugly" >"$scratch/out" 2>&1 || no "an unformatted commit passes"
git add -u
git commit -q -m "restaged" >"$scratch/out" 2>&1 || { cat "$scratch/out"; no "the formatted text is refused"; }
[[ $(commits) == 3 ]] || no "the restaged commit is not there"
echo "ok: fmt mends, and what it wrote passes once it is staged"

sed -i 's/served by standby-1/served by primary-1/' policies/chat.test.sbk
git add -A
! git commit -q -m "failing test" >"$scratch/out" 2>&1 || no "a failing test passes"
grep -q 'an outage of the primary' "$scratch/out" || { cat "$scratch/out"; no "nobody says which test"; }
git checkout -q HEAD -- .
echo "ok: a failing test is refused"

git rm -q policies/chat.sbk
! git commit -q -m "a deleted policy" >"$scratch/out" 2>&1 || no "a commit that only deletes what others need passes"
grep -q SB0202 "$scratch/out" || { cat "$scratch/out"; no "nobody says what the tests lack"; }
git checkout -q HEAD -- .
echo "# nothing to do with policies" >notes && git add notes
git commit -q -m "something else" >"$scratch/out" 2>&1 || { cat "$scratch/out"; no "a commit without policies is refused"; }
echo "ok: a deleted policy is judged, and a commit without any passes"

pre-commit try-repo "$hooks" switchback-check --all-files >"$scratch/out" 2>&1 || { cat "$scratch/out"; no "try-repo"; }
echo "ok: try-repo"
