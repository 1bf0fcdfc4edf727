// Starts `switchback lsp` and leaves the rest to it.
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

exports.activate = function (context) {
  const settings = vscode.workspace.getConfiguration("switchback");
  const server = { command: settings.get("path"), args: ["lsp"], transport: TransportKind.stdio };
  const watcher = vscode.workspace.createFileSystemWatcher("**/*.sbk");
  client = new LanguageClient("switchback", "Switchback", server, {
    documentSelector: [{ language: "switchback" }],
    initializationOptions: { sets: settings.get("sets") },
    synchronize: { fileEvents: watcher },
  });
  context.subscriptions.push(watcher);
  return client.start();
};

exports.deactivate = () => client && client.stop();
