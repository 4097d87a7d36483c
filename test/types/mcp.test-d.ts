import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Deck } from "wiretape";
import { FakeMcpTransport, tapeMcp } from "wiretape/mcp";

/** Transports of both SDKs go on tape, and what comes of it goes into the clients of both, without a cast. */
export async function fits(deck: Deck, v1: ClientV1, v2: Client, url: URL): Promise<void> {
  for (const client of [v1, v2]) {
    await (client as ClientV1).connect(tapeMcp(deck, () => new HttpV1(url)));
    await (client as Client).connect(tapeMcp(deck, () => new StreamableHTTPClientTransport(url)));
  }
  await v1.connect(tapeMcp(deck, () => new StdioV1({ command: "server" })));
  await v2.connect(tapeMcp(deck, () => new StdioClientTransport({ command: "server" })));
  await v1.connect(new FakeMcpTransport());
  await v2.connect(new FakeMcpTransport());
  // @ts-expect-error an answer has an outcome
  new FakeMcpTransport().script("tools/list", { notify: [] });
  // @ts-expect-error a misspelt outcome
  new FakeMcpTransport().script("tools/list", { reslut: {} });
  // @ts-expect-error a transport is made when it is needed
  tapeMcp(deck, new HttpV1(url));
}
