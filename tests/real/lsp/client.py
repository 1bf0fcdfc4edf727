"""The language server under pytest-lsp, once as VS Code would drive it and once as Neovim would."""

import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

POLICY = """switchback 1

provider p { api emulated }
model m { modalities [text]; context 32k; max-output 4k }
## The one that is asked first.
target north { model m; provider p }
target south { model m; provider p }
tier t { chain { north; south } }
matrix x { otherwise -> stop }
budget b { deadline 10s; attempts 2 }
route r { tier t; matrix x; budget b }
"""
TESTS = """switchback 1
test "x" {
  send r
  north answers ok
  expect served by north
}
"""


@pytest_lsp.fixture(
    params=["visual-studio-code", "neovim"],
    config=ClientServerConfig(server_command=[os.environ["SWITCHBACK"], "lsp"]),
)
async def client(request, lsp_client: LanguageClient, tmp_path_factory):
    folder = tmp_path_factory.mktemp("set")
    (folder / "a.sbk").write_text(POLICY)
    (folder / "b.test.sbk").write_text(TESTS)
    lsp_client.folder = folder
    answer = await lsp_client.initialize_session(
        lsp.InitializeParams(
            capabilities=client_capabilities(request.param),
            workspace_folders=[lsp.WorkspaceFolder(uri=folder.as_uri(), name="set")],
        )
    )
    lsp_client.counts = answer.capabilities.position_encoding
    yield
    await lsp_client.shutdown_session()


def width(client, text):
    """How many units a text has in the encoding that was agreed on."""
    if client.counts == "utf-8":
        return len(text.encode())
    assert client.counts == "utf-16"
    return len(text.encode("utf-16-le")) // 2


class Document:
    def __init__(self, client, name, text=None):
        self.client = client
        self.path: pathlib.Path = client.folder / name
        self.uri = self.path.as_uri()
        self.text = self.path.read_text() if text is None else text
        self.version = 1
        self.id = lsp.TextDocumentIdentifier(uri=self.uri)
        client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(
                text_document=lsp.TextDocumentItem(uri=self.uri, language_id="switchback", version=1, text=self.text)
            )
        )

    async def diagnostics(self):
        """What is published for this version of the text."""
        while True:
            found = await self.client.wait_for_notification("textDocument/publishDiagnostics")
            if found.uri == self.uri and found.version == self.version:
                return found.diagnostics

    def position(self, context, word):
        """The place of a word in the first line that has a context."""
        for number, line in enumerate(self.text.splitlines()):
            if context in line:
                at = line.index(context) + context.index(word)
                return lsp.Position(line=number, character=width(self.client, line[:at]))
        raise AssertionError(context)

    def offset(self, position):
        line = self.text.splitlines(keepends=True)[: position.line]
        rest = self.text.splitlines(keepends=True)[position.line]
        at = next(n for n in range(len(rest) + 1) if width(self.client, rest[:n]) == position.character)
        return len("".join(line)) + at

    def apply(self, edits):
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
            start, end = self.offset(edit.range.start), self.offset(edit.range.end)
            self.text = self.text[:start] + edit.new_text + self.text[end:]

    def change(self, old, new):
        """Sends one incremental change."""
        at = self.text.index(old)
        before = self.text[:at].splitlines(keepends=True) or [""]
        if before[-1].endswith("\n"):
            before.append("")
        start = lsp.Position(line=len(before) - 1, character=width(self.client, before[-1]))
        end = lsp.Position(line=start.line, character=start.character + width(self.client, old))
        self.text = self.text.replace(old, new, 1)
        self.version += 1
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                text_document=lsp.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version),
                content_changes=[
                    lsp.TextDocumentContentChangePartial(range=lsp.Range(start=start, end=end), text=new)
                ],
            )
        )


@pytest.mark.asyncio
async def test_mistakes_come_and_go_in_the_whole_set(client):
    policy = Document(client, "a.sbk")
    assert [d for d in await policy.diagnostics() if d.severity == lsp.DiagnosticSeverity.Error] == []
    policy.change("target north", "target norht")
    found = [d for d in await policy.diagnostics() if d.code == "SB0202"]
    # The slip itself, and with it each place that means the name, in whatever file.
    assert found[0].range.start == policy.position("target norht", "norht")
    tests = (client.folder / "b.test.sbk").as_uri()
    meant = {place.location.uri for place in found[0].related_information}
    assert meant == {policy.uri, tests}
    policy.change("target norht", "target north")
    assert [d for d in await policy.diagnostics() if d.severity == lsp.DiagnosticSeverity.Error] == []


@pytest.mark.asyncio
async def test_places_behind_an_emoji_are_exact(client):
    policy = Document(client, "a.sbk")
    await policy.diagnostics()
    policy.change("tier t {", 'target e { model m; provider p; upstream "é😀👍🏽" }; tier t {')
    await policy.diagnostics()
    policy.change("{ north; south }", "{ north; suoth }")
    found = [d for d in await policy.diagnostics() if d.code == "SB0202"]
    assert found[0].range.start == policy.position("; suoth", "suoth")
    at = policy.position("{ north;", "north")
    hover = await client.text_document_hover_async(lsp.HoverParams(text_document=policy.id, position=at))
    assert "The one that is asked first." in hover.contents.value
    assert hover.range.start == at
    assert hover.range.end.character == at.character + 5
    actions = await client.text_document_code_action_async(
        lsp.CodeActionParams(
            text_document=policy.id, range=found[0].range, context=lsp.CodeActionContext(diagnostics=found)
        )
    )
    assert actions[0].edit.changes[policy.uri][0].new_text == "south"
    policy.apply(actions[0].edit.changes[policy.uri])
    assert "chain { north; south }" in policy.text
    # The server still has the text before the fix.
    policy.text = policy.text.replace("south }", "suoth }")
    policy.change("suoth }", "south } # 😀")
    await policy.diagnostics()
    places = await client.text_document_definition_async(
        lsp.DefinitionParams(text_document=policy.id, position=policy.position("x; budget", "x"))
    )
    assert places[0].range.start == policy.position("x { otherwise", "x")


@pytest.mark.asyncio
async def test_a_name_is_renamed_in_all_files(client):
    policy, tests = Document(client, "a.sbk"), Document(client, "b.test.sbk")
    at = policy.position("target north", "north")
    ready = await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(text_document=policy.id, position=at))
    assert ready.start == at
    edit = await client.text_document_rename_async(
        lsp.RenameParams(text_document=policy.id, position=at, new_name="north-1")
    )
    policy.apply(edit.changes[policy.uri])
    tests.apply(edit.changes[tests.uri])
    assert policy.text == POLICY.replace("north", "north-1")
    assert tests.text == TESTS.replace("north", "north-1")
    with pytest.raises(Exception, match="no name"):
        await client.text_document_rename_async(
            lsp.RenameParams(text_document=policy.id, position=at, new_name="North!")
        )
    found = await client.text_document_references_async(
        lsp.ReferenceParams(
            text_document=policy.id, position=at, context=lsp.ReferenceContext(include_declaration=False)
        )
    )
    assert sorted(place.uri for place in found) == [policy.uri, tests.uri, tests.uri]


@pytest.mark.asyncio
async def test_completion_fits_the_place(client):
    policy = Document(client, "a.sbk")

    async def labels(position):
        found = await client.text_document_completion_async(
            lsp.CompletionParams(text_document=policy.id, position=position)
        )
        items = found.items if isinstance(found, lsp.CompletionList) else found or []
        return [item.label for item in items]

    policy.change("attempts 2 }", "attempts 2; re }")
    position = policy.position("; re }", " }")
    assert "reserve" in await labels(position) and "deadline" not in await labels(position)
    policy.change("otherwise -> stop", "rate-limit ->  \n  otherwise -> failover")
    position = policy.position("rate-limit ->  ", "  ")
    position.character += 1
    found = await labels(position)
    assert "wait up to 5s" in found and "repair once" not in found
    policy.change("tier t;", "tier ;")
    position = policy.position("tier ;", ";")
    assert await labels(position) == ["t"]
    policy.change("tier ;", "exhausted stop as ; tier t;")
    assert await labels(policy.position("stop as ;", ";")) == ["503"]
    policy.change("exhausted stop as ; ", "")
    policy.change("switchback 1", "switchback 1\nbreaker k { trip when  }\n# re ")
    assert "consecutive >= 5" in await labels(policy.position("trip when  }", " }"))
    assert await labels(policy.position("# re", "re")) == []


@pytest.mark.asyncio
async def test_formatting_outline_and_colours(client):
    policy = Document(client, "a.sbk", POLICY.replace("api emulated", "api   emulated"))
    edits = await client.text_document_formatting_async(
        lsp.DocumentFormattingParams(
            text_document=policy.id, options=lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        )
    )
    policy.apply(edits)
    assert policy.text == POLICY
    outline = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=policy.id))
    assert [symbol.name for symbol in outline][:3] == ["p", "m", "north"]
    tokens = await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(text_document=policy.id))
    assert len(tokens.data) % 5 == 0 and len(tokens.data) > 100
