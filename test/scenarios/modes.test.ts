import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  CassetteBusy,
  CassetteExists,
  CassetteInvalid,
  CassetteMissing,
  createDeck,
  type DeckMode,
  type DeckOptions,
  memoryStore,
  OptionInvalid,
  openDeck,
  parseCassette,
  ScriptExhausted,
  tapeFetch,
  trackStates,
  UnplayedTracks,
  withDeck,
} from "wiretape";
import { type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";
import { filesBelow, useScratch } from "../support/scratch.ts";
import "../support/settled.ts";

const scratch = useScratch();
let staging: StagingServer;
beforeAll(async () => {
  staging = await startStagingServer();
});
afterAll(() => staging.close());
afterEach(() => vi.unstubAllEnvs());

function environment(ci: string | undefined, mode: string | undefined): void {
  vi.stubEnv("CI", ci);
  vi.stubEnv("WIRETAPE_MODE", mode);
}

/** Asks for paths in turn, in a deck of its own. */
async function ask(path: string, options: DeckOptions, ...paths: string[]): Promise<number> {
  return withDeck(path, options, async (deck) => {
    let size = 0;
    for (const one of paths) size += (await (await tapeFetch(deck)(staging.url + one)).text()).length;
    return size;
  });
}

const names = async (path: string): Promise<string[]> => [...(await filesBelow(dirname(path))).keys()].sort();

describe("which mode a deck takes", () => {
  const table: [DeckMode | undefined, string | undefined, string | undefined, boolean, string][] = [
    // option, WIRETAPE_MODE, CI, the file exists, the deck's mode or the error's code
    [undefined, undefined, undefined, false, "record"],
    [undefined, undefined, undefined, true, "replay"],
    [undefined, undefined, "true", false, "cassette-missing"],
    [undefined, undefined, "1", true, "replay"],
    [undefined, undefined, "false", false, "record"],
    [undefined, undefined, "", false, "record"],
    [undefined, "record", "true", false, "record"],
    [undefined, "auto", "true", false, "record"],
    [undefined, "record", undefined, true, "cassette-exists"],
    [undefined, "replay", undefined, false, "cassette-missing"],
    [undefined, "rerecord", undefined, true, "record"],
    [undefined, "rerecord", undefined, false, "record"],
    [undefined, "extend", undefined, true, "extend"],
    [undefined, "extend", undefined, false, "record"],
    [undefined, "live", undefined, true, "live"],
    ["replay", "rerecord", undefined, true, "replay"],
    ["auto", "rerecord", "true", true, "replay"],
    ["record", "replay", "true", false, "record"],
    ["live", "replay", "true", false, "live"],
    [undefined, "rewind", undefined, true, "option-invalid"],
    ["rewind" as DeckMode, undefined, undefined, true, "option-invalid"],
  ];
  let existing = "";
  beforeAll(async () => {
    existing = scratch.cassette();
    await ask(existing, { mode: "record" }, "/v1/items");
  });

  test.each(table)(
    "option %s, WIRETAPE_MODE %s, CI %s, file there: %s → %s",
    async (mode, variable, ci, there, expected) => {
      environment(ci, variable);
      const path = there ? existing : scratch.cassette();
      const options = { ...(mode === undefined ? {} : { mode }), unplayed: "ignore" } as const;
      const got = await openDeck(path, options).then(
        async (deck) => {
          await deck.finish("failed");
          return deck.mode as string;
        },
        (error: { code: string }) => error.code,
      );
      expect(got).toBe(expected);
      if (!there) expect((await names(path).catch(() => [])).filter((name) => name.includes("lock"))).toEqual([]);
    },
  );

  test("the message says which mode it is and why", async () => {
    environment("true", undefined);
    await expect(openDeck("no/such.cassette.json")).rejects.toThrow(
      /no cassette at no\/such.*mode is replay \(CI is set\)/,
    );
    environment(undefined, "replay");
    await expect(openDeck("no/such.cassette.json")).rejects.toThrow(/\(WIRETAPE_MODE\)/);
  });

  test("a cassette that is given as a value is replayed, whatever the environment wants recorded", async () => {
    const cassette = parseCassette(await readFile(existing, "utf8"));
    for (const variable of ["record", "rerecord", undefined]) {
      environment(undefined, variable);
      const deck = await createDeck({ cassette, unplayed: "ignore" });
      expect(deck.mode).toBe("replay");
      await deck.finish();
    }
    await expect(createDeck({ cassette, mode: "record" })).rejects.toBeInstanceOf(OptionInvalid);
    await expect(createDeck({ cassette, store: memoryStore() })).rejects.toBeInstanceOf(OptionInvalid);
  });

  test("unknown options are refused, all at once, with the nearest name", async () => {
    const options = { mod: "replay", match: { ignores: [] }, timing: -1, stallAfterMs: Number.NaN } as never;
    const error = await openDeck(existing, options).catch((reason: OptionInvalid) => reason);
    expect(error).toBeInstanceOf(OptionInvalid);
    const { message } = error as OptionInvalid;
    for (const part of ["no option mod; the nearest is mode", "match.ignores", "timing is -1", "stallAfterMs"]) {
      expect(message).toContain(part);
    }
    await expect(openDeck("notes.json")).rejects.toThrow('Call it "notes.cassette.json"');
  });
});

describe("what is on the disk after each outcome", () => {
  test("record: written when the body passed, and never over another", async () => {
    const path = scratch.cassette();
    expect(await ask(path, { mode: "record" }, "/v1/items")).toBeGreaterThan(10);
    const before = await readFile(path);
    expect(await names(path)).toEqual(["tape.cassette.json"]); // the journal and the lock are gone
    await expect(ask(path, { mode: "record" }, "/v1/numbers")).rejects.toBeInstanceOf(CassetteExists);
    expect(await readFile(path)).toEqual(before);
    expect(await names(path)).toEqual(["tape.cassette.json"]);
  });

  test("a failed body writes nothing, throws its own error, and its recording is parked; each one under its own name", async () => {
    const path = scratch.cassette();
    const boom = new Error("boom");
    for (let i = 0; i < 2; i++) {
      const failing = withDeck(path, { mode: "record" }, async (deck) => {
        await (await tapeFetch(deck)(`${staging.url}/v1/items`)).text();
        throw boom;
      });
      await expect(failing).rejects.toBe(boom);
    }
    expect(await names(path)).toEqual(["tape.failed-2.cassette.json", "tape.failed.cassette.json"]);
    const parked = path.replace(".cassette.json", ".failed.cassette.json");
    expect(await ask(parked, { mode: "replay" }, "/v1/items")).toBeGreaterThan(10);
  });

  test("a body that failed before anything was recorded parks nothing", async () => {
    const path = scratch.cassette();
    await expect(withDeck(path, { mode: "record" }, () => Promise.reject(new Error("early")))).rejects.toThrow("early");
    expect(await names(path)).toEqual([]);
  });

  test("a parked recording has its sidecar files", async () => {
    const path = scratch.cassette();
    const failing = withDeck(path, { mode: "record" }, async (deck) => {
      await (await tapeFetch(deck)(`${staging.url}/v1/large?bytes=300000`)).arrayBuffer();
      throw new Error("later");
    });
    await expect(failing).rejects.toThrow("later");
    const parked = path.replace(".cassette.json", ".failed.cassette.json");
    expect(await ask(parked, { mode: "replay" }, "/v1/large?bytes=300000")).toBeGreaterThan(100_000);
  });

  test("rerecord replaces the file, and only when it is complete", async () => {
    const path = scratch.cassette();
    await ask(path, { mode: "record" }, "/v1/items");
    const before = await readFile(path, "utf8");
    const failing = withDeck(path, { mode: "rerecord" }, async (deck) => {
      await (await tapeFetch(deck)(`${staging.url}/v1/numbers`)).text();
      expect(await readFile(path, "utf8")).toBe(before); // while it records, and after it failed
      throw new Error("not yet");
    });
    await expect(failing).rejects.toThrow("not yet");
    expect(await readFile(path, "utf8")).toBe(before);
    await ask(path, { mode: "rerecord" }, "/v1/numbers");
    const after = parseCassette(await readFile(path, "utf8"));
    expect(after.tracks).toMatchObject([{ id: "t1", request: { url: `${staging.url}/v1/numbers` } }]);
  });

  test("auto: the first run records, every other replays, and nothing is written any more", async () => {
    environment(undefined, undefined);
    const path = scratch.cassette();
    const first = await ask(path, {}, "/v1/items", "/v1/numbers");
    const text = await readFile(path, "utf8");
    const asked = staging.requests.length;
    expect(await ask(path, {}, "/v1/items", "/v1/numbers")).toBe(first);
    await expect(ask(path, {}, "/v1/items", "/v1/numbers", "/v1/items")).rejects.toBeInstanceOf(ScriptExhausted);
    expect(staging.requests).toHaveLength(asked);
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await names(path)).toEqual(["tape.cassette.json"]);
  });

  test("a file that cannot be read is an error in every mode that reads it, and is never written over", async () => {
    const path = scratch.cassette();
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '{ "wiretape": 1, "tracks": [');
    for (const mode of ["auto", "replay", "extend"] as const) {
      await expect(openDeck(path, { mode })).rejects.toBeInstanceOf(CassetteInvalid);
    }
    await expect(openDeck(path, { mode: "record" })).rejects.toBeInstanceOf(CassetteExists);
    expect(await readFile(path, "utf8")).toBe('{ "wiretape": 1, "tracks": [');
    expect(await names(path)).toEqual(["tape.cassette.json"]);
  });

  test("live goes straight through and writes nothing", async () => {
    const path = scratch.cassette();
    expect(await ask(path, { mode: "live" }, "/v1/items", "/v1/items")).toBeGreaterThan(10);
    expect(await names(path).catch(() => [])).toEqual([]);
  });

  test("a second recorder in the same process is told that the file is busy", async () => {
    const path = scratch.cassette();
    const deck = await openDeck(path, { mode: "record" });
    await expect(openDeck(path, { mode: "record" })).rejects.toBeInstanceOf(CassetteBusy);
    await deck.finish("failed");
    const next = await openDeck(path, { mode: "record" });
    await next.finish("failed");
  });
});

describe("extend", () => {
  test("plays what is there and appends what is not; comments survive, old tracks keep their states", async () => {
    const path = scratch.cassette();
    await ask(path, { mode: "record" }, "/v1/items", "/v1/numbers");
    const edited = (await readFile(path, "utf8"))
      .replace('"tracks": [', '// the happy path, do not touch\n  "tracks": [')
      .replace('"id": "t2"', '"id": "t2", /* edited */ "note": "n", "optional": true');
    await writeFile(path, edited);
    const statesBefore = [...trackStates(parseCassette(edited))];
    const asked = staging.requests.length;

    await withDeck(path, { mode: "extend" }, async (deck) => {
      expect(deck.mode).toBe("extend");
      const fetch = tapeFetch(deck);
      for (const one of ["/v1/items", "/v1/unicode", "/v1/numbers", "/v1/items"])
        await (await fetch(staging.url + one)).text();
      await deck.var("run", () => "r7");
    });
    expect(staging.requests.length - asked).toBe(2); // the unicode, and the items once more than recorded
    const text = await readFile(path, "utf8");
    expect(text).toContain("// the happy path, do not touch");
    expect(text).toContain("/* edited */");
    const cassette = parseCassette(text);
    expect(cassette.tracks.map(({ id }) => id)).toEqual(["t1", "t2", "t3", "t4"]);
    expect(cassette.vars).toEqual({ run: "r7" });
    const states = [...trackStates(cassette)];
    expect(states.slice(0, 2)).toEqual(statesBefore);
    expect(states.slice(2)).toEqual([
      ["t3", "recorded"],
      ["t4", "recorded"],
    ]);
    expect(await names(path)).toEqual(["tape.cassette.json"]);
    await ask(path, { mode: "replay" }, "/v1/items", "/v1/unicode", "/v1/numbers", "/v1/items");
  });

  test("a Request, with its signal, its body and its redirect mode, goes out as it is", async () => {
    const path = scratch.cassette();
    await ask(path, { mode: "record" }, "/v1/items");
    await withDeck(path, { mode: "extend", unplayed: "ignore" }, async (deck) => {
      const fetch = tapeFetch(deck);
      const controller = new AbortController();
      const hanging = fetch(new Request(`${staging.url}/v1/hang`, { signal: controller.signal }));
      setTimeout(() => controller.abort(new Error("enough")), 30);
      await expect(hanging).rejects.toThrow("enough");
      const manual = await fetch(new Request(`${staging.url}/v1/redirect?to=/v1/items`, { redirect: "manual" }));
      expect(manual.status).toBe(302);
      const echo = await fetch(new Request(`${staging.url}/v1/echo`, { method: "PUT", body: "tape" }));
      expect(await echo.json()).toMatchObject({ method: "PUT", length: 4 });
    });
    const { tracks } = parseCassette(await readFile(path, "utf8"));
    expect(tracks.slice(1)).toMatchObject([
      { end: { by: "client" } },
      { response: { status: 302 } },
      { request: { method: "PUT" } },
    ]);
  });

  test("a failed body leaves the file as it was, and parks the longer one", async () => {
    const path = scratch.cassette();
    await ask(path, { mode: "record" }, "/v1/items");
    const before = await readFile(path, "utf8");
    const failing = withDeck(path, { mode: "extend" }, async (deck) => {
      await (await tapeFetch(deck)(`${staging.url}/v1/numbers`)).text();
      throw new Error("boom");
    });
    await expect(failing).rejects.toThrow("boom");
    expect(await readFile(path, "utf8")).toBe(before);
    expect(await names(path)).toEqual(["tape.cassette.json", "tape.failed.cassette.json"]);
  });

  test("nothing new leaves the file as it was, to the byte", async () => {
    const path = scratch.cassette();
    await ask(path, { mode: "record" }, "/v1/items");
    const before = await readFile(path, "utf8");
    await ask(path, { mode: "extend" }, "/v1/items");
    expect(await readFile(path, "utf8")).toBe(before);
  });
});

describe("finishing", () => {
  test("withDeck gives what the body gives; in replay it tells what was left, but not for a body that failed", async () => {
    const path = scratch.cassette();
    await ask(path, { mode: "record" }, "/v1/items", "/v1/numbers");
    expect(await withDeck(path, { mode: "replay", unplayed: "ignore" }, async () => 42)).toBe(42);
    await expect(ask(path, { mode: "replay" }, "/v1/items")).rejects.toBeInstanceOf(UnplayedTracks);
    const boom = new Error("boom");
    await expect(withDeck(path, { mode: "replay" }, () => Promise.reject(boom))).rejects.toBe(boom);
  });

  test("withDeck: a body that failed by a violation throws that; one that failed otherwise throws both", async () => {
    const path = scratch.cassette();
    await ask(path, { mode: "record" }, "/v1/items");
    await expect(ask(path, { mode: "replay" }, "/v1/items", "/v1/items")).rejects.toBeInstanceOf(ScriptExhausted);
    const boom = new Error("boom");
    const both = await withDeck(path, { mode: "replay" }, async (deck) => {
      const fetch = tapeFetch(deck);
      await fetch(`${staging.url}/v1/items`);
      await fetch(`${staging.url}/v1/items`).catch(() => undefined);
      throw boom;
    }).catch((error: AggregateError) => error);
    expect(both).toBeInstanceOf(AggregateError);
    expect((both as AggregateError).errors).toEqual([boom, expect.any(ScriptExhausted)]);
    expect((both as AggregateError).message).toContain("was recorded once");
    expect((both as AggregateError).cause).toBe(boom);
  });

  test("finish twice gives the first answer, whatever is asked", async () => {
    const deck = await createDeck({ mode: "record", store: memoryStore() });
    await (await tapeFetch(deck)(`${staging.url}/v1/items`)).text();
    const first = await deck.finish();
    expect(first).toMatchObject({ mode: "record", outcome: "passed", recorded: 1, written: "deck.cassette.json" });
    expect(await deck.finish("failed")).toBe(first);
    expect(deck.cassette?.tracks).toHaveLength(1);
    expect(Object.isFrozen(deck.cassette?.tracks[0])).toBe(true);
  });

  test("await using: a recording is parked, a violation is thrown, a finished deck is left alone", async () => {
    const path = scratch.cassette();
    {
      await using deck = await openDeck(path, { mode: "record" });
      await (await tapeFetch(deck)(`${staging.url}/v1/items`)).text();
    }
    expect(await names(path)).toEqual(["tape.failed.cassette.json"]);
    {
      await using deck = await openDeck(path, { mode: "record" });
      await (await tapeFetch(deck)(`${staging.url}/v1/items`)).text();
      await deck.finish();
    }
    const swallowed = async (): Promise<void> => {
      await using deck = await openDeck(path, { mode: "replay" });
      await tapeFetch(deck)(`${staging.url}/nowhere`).catch(() => undefined);
    };
    await expect(swallowed()).rejects.toMatchObject({ code: "unrecorded-request" });
    const left = async (): Promise<void> => {
      await using _deck = await openDeck(path, { mode: "replay" });
    };
    await left();
  });

  test("a stream that is still open ends by the client in the recording, and stays open in the replay", async () => {
    const store = memoryStore();
    const recorder = await createDeck({ mode: "record", store });
    const response = await tapeFetch(recorder)(`${staging.url}/v1/drip?chunks=100&everyMs=5`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await recorder.finish();
    expect((await reader.read()).done).toBe(false); // the program's own stream goes on
    await reader.cancel();
    expect(recorder.cassette?.tracks[0]).toMatchObject({ response: { end: { by: "client" } } });

    const deck = await createDeck({ mode: "replay", store });
    const again = await tapeFetch(deck)(`${staging.url}/v1/drip?chunks=100&everyMs=5`);
    const other = (again.body as ReadableStream<Uint8Array>).getReader();
    await other.read();
    const waiting = other.read();
    await deck.finish();
    expect(await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 50, "open"))])).toBe("open");
    await other.cancel();
  });

  test("a missing cassette opens nothing", async () => {
    await expect(openDeck(scratch.cassette(), { mode: "replay" })).rejects.toBeInstanceOf(CassetteMissing);
  });

  test("the names of a cassette in messages are the path that was given", async () => {
    const path = scratch.cassette();
    await ask(path, { mode: "record" }, "/v1/items");
    const error = await ask(path, { mode: "replay" }, "/v1/items", "/v1/items").catch((reason: Error) => reason);
    expect((error as Error).message).toContain(basename(path));
    expect((error as Error).message).toMatch(/track t1 \(line \d+\) GET/);
  });
});
