import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, test } from "vitest";
import { tapeFetch } from "wiretape";
import { FakeMcpTransport, tapeMcp } from "wiretape/mcp";
import { serveHttpV1, serveHttpV2 } from "../../fixtures/mcp/http-server.ts";
import "../../support/settled.ts";
import { connect, twice } from "./mcp-session.ts";

const info = { name: "test", version: "1.0.0" };

const never = (): never => {
  throw new Error("a replay made a transport");
};

describe("what a transport tells beside messages", () => {
  test("an answer that was cut off is gone on with, and its tokens are told", async () => {
    const server = await serveHttpV1();
    const { recorded: seen } = await twice(
      async (deck, mode) => {
        const { call, client, log } = await connect(
          "v1",
          tapeMcp(deck, mode === "replay" ? never : () => new HttpV1(server.url)),
        );
        await call("cut", {}, { onresumptiontoken: (token) => log.push(["token", token]) });
        await client.close();
        return [...log];
      },
      { gone: server.close },
    );
    expect(seen.map((entry) => (entry as unknown[])[0])).toEqual(
      expect.arrayContaining(["server", "token", "notifications/message", "cut", "c"].slice(0, 4)),
    );
    expect(seen).toContainEqual(["cut", "whole"]);
    expect(server.seen.filter((one) => one === "GET").length).toBeGreaterThan(1);
  });

  test("at the wire too, under the ids of this time", async () => {
    const server = await serveHttpV1();
    const { recorded: seen } = await twice(
      async (deck) => {
        const { call, client, log } = await connect("v1", new HttpV1(server.url, { fetch: tapeFetch(deck) }) as never);
        await call("cut");
        await client.close();
        return [...log];
      },
      { gone: server.close },
    );
    expect(seen).toContainEqual(["cut", "whole"]);
  });

  test("the session's id is there when it was, and a session is joined again by it", async () => {
    const server = await serveHttpV1();
    const { recorded: seen } = await twice(
      async (deck, mode) => {
        const first = tapeMcp(deck, mode === "replay" ? never : () => new HttpV1(server.url));
        const before = first.sessionId;
        const one = await connect("v1", first);
        const { sessionId } = first;
        await one.client.close();
        const again = tapeMcp(
          deck,
          mode === "replay" ? never : () => new HttpV1(server.url, { sessionId: sessionId as string }),
        );
        const joined = again.sessionId;
        const client = new ClientV1(info);
        await client.connect(again);
        const { tools } = await client.listTools();
        await client.close();
        return { before, sessionId: typeof sessionId, same: joined === sessionId, tools: tools.length };
      },
      { gone: server.close },
    );
    expect(seen).toEqual({ before: undefined, sessionId: "string", same: true, tools: 7 });
    expect(server.seen.filter((one) => one === "POST initialize")).toHaveLength(1);
  });

  test.each(["v1", "v2"] as const)("a server that is gone fails alike for a %s client", async (sdk) => {
    let server = await serveHttpV1();
    const { recorded: seen } = await twice(async (deck, mode) => {
      if (mode === "record") server = await serveHttpV1();
      const { url } = server;
      const era = sdk === "v1" ? "v1" : "v2 legacy";
      const make = () => (sdk === "v1" ? new HttpV1(url) : new StreamableHTTPClientTransport(url));
      const { call, client, log } = await connect(era, tapeMcp(deck, mode === "replay" ? never : (make as never)));
      await call("add", { a: 1, b: 1 });
      if (mode === "record") await server.close();
      await call("add", { a: 2, b: 2 });
      await client.notification({ method: "notifications/roots/list_changed" }).catch((error: Error) => {
        log.push(["not sent", error.message]);
      });
      await client.close();
      return log.filter((entry) => !(entry as string[]).includes?.("error"));
    });
    expect(seen).toContainEqual(["add", "failed", "TypeError", undefined, "fetch failed"]);
  });

  test("an older server is found by what it says to the probe", async () => {
    const server = await serveHttpV1();
    const { recorded: seen } = await twice(
      async (deck, mode) => {
        const make = () => new StreamableHTTPClientTransport(server.url);
        const { call, client, log } = await connect(
          "v2 modern",
          tapeMcp(deck, mode === "replay" ? never : (make as never)),
        );
        await call("add", { a: 1, b: 1 });
        await client.close();
        return [...log];
      },
      { gone: server.close },
    );
    expect(seen).toContainEqual(["era", "legacy"]);
    expect(seen).toContainEqual(["add", "2"]);
  });

  test("subscriptions: acknowledged, told of changes, closed by either side", async () => {
    let server = await serveHttpV2();
    const { recorded: seen, text } = await twice(async (deck, mode) => {
      if (mode === "record") server = await serveHttpV2();
      const make = () => new StreamableHTTPClientTransport(server.url);
      const { client, log, call } = await connect(
        "v2 modern",
        tapeMcp(deck, mode === "replay" ? never : (make as never)),
      );
      const told = new Promise<void>((resolve) => {
        (client as Client).setNotificationHandler("notifications/tools/list_changed", () => {
          log.push("changed");
          resolve();
        });
      });
      const first = await (client as Client).listen({ toolsListChanged: true });
      log.push(first.honoredFilter);
      if (mode === "record") server.toolsChanged();
      await told;
      await first.close();
      log.push(await first.closed);
      const second = await (client as Client).listen({ toolsListChanged: true });
      await call("add", { a: 1, b: 1 });
      if (mode === "record") await server.close();
      log.push(await second.closed);
      await client.close();
      return log.filter((entry) => !(entry as string[]).includes?.("error"));
    });
    expect(seen).toContainEqual("changed");
    expect(seen).toContain("local");
    expect(seen.some((entry) => entry === "remote" || entry === "graceful")).toBe(true);
    expect(text).toContain("$/cancel");
  });
});

test("clients take the transport for what it is", async () => {
  const { recorded: seen, text } = await twice(async (deck, mode) => {
    const shapes: unknown[] = [];
    for (const like of ["stdio", "http", undefined] as const) {
      const wire = new FakeMcpTransport(like === undefined ? {} : { like });
      const transport = tapeMcp(deck, mode === "replay" ? never : () => wire);
      shapes.push(["stderr" in transport && "pid" in transport, transport.hasPerRequestStream]);
      await transport.start();
      await transport.close();
    }
    return shapes;
  });
  expect(seen).toEqual([
    [true, undefined],
    [false, true],
    [false, undefined],
  ]);
  expect(text.match(/\$\/transport/g)).toHaveLength(2);
});
