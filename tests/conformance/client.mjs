// A client of the TypeScript SDK: lists the tools, calls one, prints what it saw as one line of JSON.
//   node client.mjs PACKAGES v1|v2-legacy|v2-modern TARGET TOOL ARGUMENTS
// TARGET is an address, or a command as a JSON list.
import { createRequire } from "node:module";

const [packages, kind, target, tool, given] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const old = kind === "v1";
const main = load(old ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const stdio = load(old ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");
const http = old ? load("@modelcontextprotocol/sdk/client/streamableHttp.js") : main;

function transport() {
  if (target.startsWith("http")) return new http.StreamableHTTPClientTransport(new URL(target));
  const [command, ...args] = JSON.parse(target);
  return new stdio.StdioClientTransport({ command, args, env: process.env, stderr: "ignore" });
}

const mode = kind === "v2-modern" ? { pin: "2026-07-28" } : "legacy";
const client = new main.Client({ name: "conformance", version: "1" }, old ? {} : { versionNegotiation: { mode } });
await client.connect(transport());
const { tools } = await client.listTools();
const result = await client.callTool({ name: tool, arguments: JSON.parse(given) });
console.log(
  JSON.stringify({
    server: client.getServerVersion()?.name,
    tools: tools.map(({ name }) => name),
    text: result.content[0].text,
    failed: result.isError ?? false,
    structured: result.structuredContent ?? null,
  }),
);
await client.close();
