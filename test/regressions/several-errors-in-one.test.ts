import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { tapeFetch, withDeck } from "wiretape";
import { errorToStored, storedToError } from "../../src/cassette/stored-error.ts";
import { useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

/**
 * Where a host has several addresses and none answers, Node throws an `AggregateError` with a code and an empty message.
 * On tape only that was left, so nothing said what had failed, and `errors` was empty in a replay.
 */
const scratch = useScratch();

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** What a request to a host of two addresses fails with when nobody listens: the platform's own error, as fetch has it. */
async function refused(): Promise<never> {
  const socket = connect({
    host: "two.test",
    port: await closedPort(),
    autoSelectFamily: true,
    lookup: (_host, _options, done) =>
      void (done as (error: null, found: object[]) => void)(null, [
        { address: "127.0.0.1", family: 4 },
        { address: "127.0.0.2", family: 4 },
      ]),
  });
  const [cause] = await once(socket, "error").catch((error: unknown) => [error]);
  throw new TypeError("fetch failed", { cause });
}

interface Seen {
  readonly name: string;
  readonly message: string;
  readonly cause: AggregateError & { code?: string; errors: (Error & { code?: string })[] };
}

test("the error of a host with two addresses that refuse is replayed with its code, its class and what failed", async () => {
  const path = scratch.cassette();
  const ask = async (mode: "record" | "replay"): Promise<Seen> =>
    withDeck(path, { mode }, async (deck) =>
      tapeFetch(
        deck,
        refused,
      )("http://two.test/").then(
        () => Promise.reject(new Error("it answered")),
        (error: Seen) => error,
      ),
    );
  const live = await ask("record");
  expect(live.cause).toBeInstanceOf(AggregateError);
  expect(live.cause.message).toBe("");
  expect(live.cause.errors).toHaveLength(2);

  const replayed = await ask("replay");
  expect(replayed).toBeInstanceOf(TypeError);
  expect(replayed.cause).toBeInstanceOf(AggregateError);
  for (const read of [
    (error: Seen) => error.message,
    (error: Seen) => error.cause.code,
    (error: Seen) => error.cause.message,
    (error: Seen) => error.cause.errors[0]?.code,
    (error: Seen) => error.cause.errors[0]?.message,
  ])
    expect(read(replayed)).toBe(read(live));
  expect(replayed.cause.code).toBe("ECONNREFUSED");
  expect((replayed.cause.cause as Error).message).toMatch(/^connect ECONNREFUSED 127\.0\.0\.1:\d+$/);
});

test("a cause of its own comes before the errors; what is no error is told; one that holds itself ends", () => {
  const own = new AggregateError([new Error("inner")], "several", { cause: new Error("why") });
  expect(errorToStored(own)).toEqual({
    name: "AggregateError",
    message: "several",
    cause: { name: "Error", message: "why" },
  });
  expect(errorToStored(new AggregateError(["text"], "m")).cause).toEqual({ name: "Error", message: "text" });
  expect(errorToStored(new AggregateError([], "m"))).toEqual({ name: "AggregateError", message: "m" });
  const round = new AggregateError([], "m");
  round.errors.push(round);
  expect(errorToStored(round)).toEqual({ name: "AggregateError", message: "m" });
  expect((storedToError({ name: "AggregateError", message: "" }) as AggregateError).errors).toEqual([]);
});
