import { expect, test } from "vitest";
import { tapeMcp } from "wiretape/mcp";
import { connect, type Era, stdio, twice } from "../boundary/mcp/mcp-session.ts";
import "../support/settled.ts";

test.each<[Era, "stdio-v1" | "stdio-v2"]>([
  ["v1", "stdio-v1"],
  ["v1", "stdio-v2"],
  ["v2 legacy", "stdio-v1"],
  ["v2 legacy", "stdio-v2"],
  ["v2 modern", "stdio-v2"],
  ["v2 modern", "stdio-v1"], // which answers the probe as one of the older era does
])("%s client and %s server: a session is recorded and replayed without the server", async (era, program) => {
  const { recorded } = await twice(async (deck, mode) => {
    const session = await connect(
      era,
      tapeMcp(deck, () => {
        if (mode === "replay") throw new Error("a replay made a transport");
        return stdio(program, era === "v1" ? "v1" : "v2") as never;
      }),
    );
    const { client, call, log } = session;
    log.push((await client.listTools()).tools.map(({ name }) => name));
    await call("add", { a: 1, b: 2 });
    await call("count", { to: 3 }, { onprogress: ({ progress }) => log.push(["progress", progress]) });
    await call("ask");
    await call("announce");
    await call("fail");
    const abort = new AbortController();
    const waiting = call("wait", {}, { signal: abort.signal });
    await call("add", { a: 3, b: 4 });
    abort.abort("enough");
    await waiting;
    await Promise.all([1, 2, 3].map((a) => call("add", { a, b: 0, ms: 20 - a * 5 })));
    await client.close();
    return log;
  });
  expect(recorded).toContainEqual(["add", "3"]);
  expect(recorded.filter((entry) => Array.isArray(entry) && entry[0] === "progress")).toEqual([
    ["progress", 1],
    ["progress", 2],
    ["progress", 3],
  ]);
  expect(recorded).toContainEqual(["notifications/message", "first"]);
  expect(recorded.at(-1)).toBe("closed");
});
