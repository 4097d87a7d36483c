import fc from "fast-check";
import { WebSocket as UndiciSocket } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket as WsSocket } from "ws";
import { tapeWebSocket } from "../../../src/boundary/websocket/tape-websocket.ts";
import type { Cassette, WebSocketTrack } from "../../../src/cassette/schema.ts";
import { createDeck } from "../../../src/engine/create-deck.ts";
import type { Lane } from "../../../src/engine/session.ts";
import { FrameMismatch, OptionInvalid, ScriptExhausted, UnrecordedRequest } from "../../../src/errors.ts";
import { roomServer } from "./room-server.ts";

let server: Awaited<ReturnType<typeof roomServer>>;
beforeAll(async () => {
  server = await roomServer();
});
afterAll(() => server.close());

type Socket = InstanceType<typeof UndiciSocket>;
type Dialogue = (socket: Socket, next: () => Promise<string>) => Promise<void>;

const clients = { ws: WsSocket as unknown as typeof UndiciSocket, undici: UndiciSocket };

const told = (event: Event): string => {
  const { type, data, code, reason, wasClean } = event as Event & Record<string, unknown>;
  if (type === "message")
    return typeof data === "string" ? data : `bytes ${Buffer.from(data as ArrayBuffer).toString("hex")}`;
  return type === "close" ? `close ${code} ${reason} ${wasClean}` : type;
};

/** Talks in a room, and tells all that was heard until the end. */
async function talk(
  lane: Lane,
  path: string,
  dialogue: Dialogue,
  Real?: typeof UndiciSocket,
  protocols?: string[],
): Promise<string[]> {
  const Socket = tapeWebSocket(lane, Real);
  const socket = new Socket(`${server.url}${path}`, protocols);
  socket.binaryType = "arraybuffer";
  const heard: string[] = [];
  const waiting: ((heard: string) => void)[] = [];
  let read = 0;
  const closed = new Promise<void>((resolve) => {
    for (const type of ["open", "message", "error", "close"]) {
      socket.addEventListener(type, (event: Event) => {
        heard.push(told(event));
        waiting.shift()?.(heard[read++] as string);
        if (type === "close") resolve();
      });
    }
  });
  const next = async (): Promise<string> =>
    read < heard.length ? (heard[read++] as string) : new Promise((resolve) => waiting.push(resolve));
  await dialogue(socket, next);
  await closed;
  return [...heard, `protocol ${socket.protocol}`, `state ${socket.readyState}`];
}

async function both(
  path: string,
  dialogue: Dialogue,
  Real?: typeof UndiciSocket,
  protocols?: string[],
): Promise<{ heard: string[]; cassette: Cassette }> {
  const recording = await createDeck({ mode: "record" });
  const heard = await talk(recording, path, dialogue, Real ?? clients.ws, protocols);
  await recording.finish();
  const cassette = recording.cassette as Cassette;
  const before = server.connections();
  const replay = await createDeck({ cassette });
  expect(await talk(replay, path, dialogue, undefined, protocols)).toEqual(heard);
  await replay.finish();
  expect(server.connections()).toBe(before);
  return { heard, cassette };
}

describe.each(Object.entries(clients))("recorded with the WebSocket of %s, replayed without one", (_, Real) => {
  test("a dialogue whose order counts, texts and bytes, a subprotocol, and the close that was asked for", async () => {
    const { heard, cassette } = await both(
      "/talk",
      async (socket, next) => {
        expect(await next()).toBe("open");
        expect(await next()).toBe('{"type":"welcome","protocol":"chat.v2"}');
        socket.send("one");
        expect(await next()).toBe('{"type":"said","count":1,"text":"one"}');
        socket.send(new Uint8Array([1, 2, 255]));
        socket.send("two");
        expect([await next(), await next()]).toEqual(["bytes ff0201", '{"type":"said","count":2,"text":"two"}']);
        socket.send("burst");
        for (let i = 0; i < 5; i++) expect(await next()).toBe(`burst ${i}`);
        socket.close(4000, "done");
      },
      Real,
      ["chat.v1", "chat.v2"],
    );
    expect(heard.slice(-3)).toEqual(["close 4000 done true", "protocol chat.v2", "state 3"]);
    const track = cassette.tracks[0] as WebSocketTrack;
    expect(track.open).toMatchObject({ protocols: ["chat.v1", "chat.v2"], protocol: "chat.v2" });
    expect(track.close).toMatchObject({ code: 4000, reason: "done" });
    expect(track.frames?.filter(({ base64 }) => base64 !== undefined)).toHaveLength(2);
  });

  test("the server closes with a code and a reason", async () => {
    const { heard } = await both("/bye", async () => undefined, Real);
    expect(heard.slice(0, 3)).toEqual(["open", "leaving", "close 4001 too late true"]);
  });

  test("an abnormal close is one", async () => {
    const { heard } = await both(
      "/abrupt",
      async (socket, next) => {
        await next();
        await next();
        socket.send("go");
      },
      Real,
    );
    expect(heard).toContain("close 1006  false");
  });

  test("a refused connection fails as it did", async () => {
    const { heard, cassette } = await both("/closed", async () => undefined, Real);
    expect(heard.slice(0, 2)).toEqual(["error", "close 1006  false"]);
    expect((cassette.tracks[0] as WebSocketTrack).fault).toMatchObject({ name: expect.any(String) });
  });
});

test("the way to listen of the package ws works too", async () => {
  const dialogue = async (lane: Lane, Real?: typeof WsSocket): Promise<string[]> => {
    const Socket = tapeWebSocket(lane, Real);
    const socket = new Socket(`${server.url}/emit`);
    const heard: string[] = [];
    await new Promise<void>((resolve, reject) => {
      socket.on("error", reject);
      socket.once("open", () => socket.send("hello"));
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        heard.push(`${isBinary} ${Buffer.isBuffer(data)} ${data}`);
        if (heard.length === 2) socket.close(1000, "bye");
      });
      socket.on("close", (code: number, reason: Buffer) => {
        heard.push(`${code} ${reason}`);
        resolve();
      });
    });
    return heard;
  };
  const recording = await createDeck({ mode: "record" });
  const heard = await dialogue(recording, WsSocket);
  await recording.finish();
  expect(heard).toHaveLength(3);
  const replay = await createDeck({ cassette: recording.cassette as Cassette });
  expect(await dialogue(replay)).toEqual(heard);
  await replay.finish();
});

describe("in replay", () => {
  const once: Dialogue = async (socket, next) => {
    await next();
    await next();
    socket.send("hi");
    await next();
    socket.close();
  };
  const recorded = async (): Promise<Cassette> => (await both("/replay", once)).cassette;

  test("a message that differs throws from send, breaks the line, and fails the deck though it was swallowed", async () => {
    const deck = await createDeck({ cassette: await recorded() });
    const heard = await talk(deck, "/replay", async (socket, next) => {
      await next();
      await next();
      expect(() => socket.send("ho")).toThrow(FrameMismatch);
    });
    expect(heard.slice(2)).toEqual(["error", "close 1006  false", "protocol ", "state 3"]);
    await expect(deck.finish()).rejects.toThrow(/frame 2: "hi"[\s\S]*recorded "hi", now "ho"/);
  });

  test("a message too many is ScriptExhausted", async () => {
    const deck = await createDeck({ cassette: await recorded() });
    await talk(deck, "/replay", async (socket, next) => {
      await once(socket, next).catch(() => undefined);
    });
    await deck.finish();
    const second = await createDeck({ cassette: await recorded() });
    await talk(second, "/replay", async (socket, next) => {
      await next();
      await next();
      socket.send("hi");
      expect(() => socket.send("hi")).toThrow(ScriptExhausted);
    });
    await expect(second.finish()).rejects.toThrow(ScriptExhausted);
  });

  test("a connection more, and another one, throw from new", async () => {
    const deck = await createDeck({ cassette: await recorded() });
    await talk(deck, "/replay", once);
    const Socket = tapeWebSocket(deck);
    expect(() => new Socket(`${server.url}/replay`)).toThrow(ScriptExhausted);
    expect(() => new Socket(`${server.url}/other`)).toThrow(ScriptExhausted);
    await expect(deck.finish()).rejects.toThrow(ScriptExhausted);
    const fresh = await createDeck({ cassette: await recorded() });
    expect(() => new (tapeWebSocket(fresh))(`${server.url}/other`)).toThrow(UnrecordedRequest);
    await expect(fresh.finish()).rejects.toThrow(UnrecordedRequest);
  });

  test("a program that closes earlier than recorded is told so, and nothing hangs", async () => {
    const deck = await createDeck({ cassette: await recorded() });
    const heard = await talk(deck, "/replay", async (socket, next) => {
      await next();
      socket.close(4321, "early");
    });
    expect(heard.at(-3)).toBe("close 4321 early true");
    await deck.finish();
  });

  test("what the standard refuses is refused", async () => {
    const deck = await createDeck({ cassette: await recorded() });
    const Socket = tapeWebSocket(deck);
    for (const url of ["nowhere", "ftp://a/", "ws://a/#b"]) expect(() => new Socket(url)).toThrow(/new WebSocket/);
    expect(() => new Socket("ws://a/", ["x", "x"])).toThrow(/twice/);
    const socket = new Socket(`${server.url}/replay`);
    expect(() => socket.send("x")).toThrow(/before the connection was open/);
    expect(() => socket.close(1001)).toThrow(/1000/);
    expect(() => socket.close(4000, "x".repeat(124))).toThrow(/123 bytes/);
    expect([Socket.CONNECTING, Socket.OPEN, Socket.CLOSING, Socket.CLOSED]).toEqual([0, 1, 2, 3]);
    await deck.finish();
  });
});

test("bytes are Buffers where they are with the class that it stands in for", async () => {
  const deck = await createDeck({ mode: "record" });
  const given = async (lane: Lane, Real: typeof WsSocket | typeof UndiciSocket): Promise<string> => {
    const socket = new (tapeWebSocket(lane, Real as typeof WsSocket))(`${server.url}/bytes`);
    const seen = await new Promise<unknown>((resolve) => {
      socket.addEventListener("open", () => socket.send(new Uint8Array([1])));
      socket.addEventListener("message", ({ data }: { data: unknown }) => typeof data !== "string" && resolve(data));
    });
    socket.close();
    await new Promise((resolve) => socket.addEventListener("close", resolve));
    return (seen as object).constructor.name;
  };
  expect(await given(deck, WsSocket)).toBe("Buffer");
  expect(await given(deck, UndiciSocket)).toBe("Blob");
  await deck.finish();
  const replay = await createDeck({ cassette: deck.cassette as Cassette });
  expect([await given(replay, WsSocket), await given(replay, UndiciSocket)]).toEqual(["Buffer", "Blob"]);
  await replay.finish();
});

test("without a class there is nothing to record with, and the error says what to pass", async () => {
  const deck = await createDeck({ mode: "record" });
  const { WebSocket: native } = globalThis;
  Reflect.deleteProperty(globalThis, "WebSocket");
  try {
    expect(() => new (tapeWebSocket(deck))(server.url)).toThrow(OptionInvalid);
  } finally {
    if (native !== undefined) globalThis.WebSocket = native;
  }
  await deck.finish();
});

test("blobs keep their place among what is sent", async () => {
  const { cassette } = await both("/blobs", async (socket, next) => {
    await next();
    await next();
    socket.send(new Blob([new Uint8Array([9, 8])]) as never);
    socket.send("after");
    expect([await next(), await next()]).toEqual(["bytes 0809", '{"type":"said","count":1,"text":"after"}']);
    socket.close();
  });
  expect((cassette.tracks[0] as WebSocketTrack).frames?.map(({ from }) => from)).toEqual([
    "server",
    "client",
    "client",
    "server",
    "server",
  ]);
});

test("any dialogue plays back as it was", async () => {
  const message = fc.oneof(
    fc.string({ maxLength: 8, unit: "binary" }),
    fc.uint8Array({ maxLength: 8 }),
    fc.constant("burst"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 6 }), async (messages) => {
      await both("/any", async (socket, next) => {
        await next();
        await next();
        for (const one of messages) {
          if (one === "close") continue;
          socket.send(one as string);
          for (let i = one === "burst" ? 5 : 1; i > 0; i--) await next();
        }
        socket.close();
      });
    }),
    { numRuns: 40 },
  );
});
