// Colours whole policies with VS Code's TextMate engine: every word of the table that is written there has a scope.
const fs = require("fs");
const path = require("path");
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const wasm = fs.readFileSync(path.join(path.dirname(require.resolve("vscode-oniguruma")), "onig.wasm")).buffer;
const grammarPath = path.join(__dirname, "../../../grammar/policy.tmLanguage.json");
const registry = new textmate.Registry({
  onigLib: oniguruma.loadWASM(wasm).then(() => ({
    createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
    createOnigString: (text) => new oniguruma.OnigString(text),
  })),
  loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(grammarPath, "utf8"), grammarPath),
});

const expected = [
  ["switchback 1", "switchback", "keyword.control"],
  ["budget b { deadline 20s # why", "budget", "keyword.declaration"],
  ["budget b { deadline 20s # why", "b", "entity.name.type"],
  ["budget b { deadline 20s # why", "deadline", "support.type.property-name"],
  ["budget b { deadline 20s # why", "20s", "constant.numeric"],
  ["budget b { deadline 20s # why", "# why", "comment.line.number-sign"],
  ["matrix x { rate-limit -> wait up to 5s, failover }", "rate-limit", "support.constant.class"],
  ["matrix x { rate-limit -> wait up to 5s, failover }", "failover", "support.function.action"],
  ["tier t { chain { a when request.tokens > 8k } }", "request.tokens", "variable.language"],
  ["provider p { api emulated; base-url \"x\" }", "base-url", "support.type.property-name"],
  ["provider p { api emulated; base-url \"x\" }", "emulated", "constant.language"],
  ["test \"a title\" { send r }", "a title", "string.quoted.double"],
];

(async () => {
  const grammar = await registry.loadGrammar("source.switchback");
  const scopes = (line, state) => grammar.tokenizeLine(line, state);
  let failed = 0;
  for (const [line, word, scope] of expected) {
    const { tokens } = scopes(line, textmate.INITIAL);
    const at = word.length === 1 ? line.indexOf(` ${word} `) + 1 : line.indexOf(word);
    const token = tokens.find((token) => token.startIndex <= at && at < token.endIndex);
    if (!token.scopes.some((found) => found.startsWith(scope))) {
      console.error(`${JSON.stringify(line)}: ${word} is ${token.scopes.join(" ")}, not ${scope}`);
      failed += 1;
    }
  }
  for (const file of process.argv.slice(2)) {
    let state = textmate.INITIAL;
    for (const line of fs.readFileSync(file, "utf8").split("\n")) {
      state = scopes(line, state).ruleStack;
    }
    // All blocks are closed again, so the next statement would begin at the top level.
    const { tokens } = scopes("budget b { deadline 1s }", state);
    if (!tokens.some((token) => token.scopes.includes("meta.block.budget.switchback") && token.scopes.length <= 3)) {
      console.error(`${file}: blocks do not end where they should`);
      failed += 1;
    }
  }
  console.log(`${expected.length} words and ${process.argv.length - 2} policies, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
})();
