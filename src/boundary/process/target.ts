import { spawn as realSpawn } from "node:child_process";
import type { Json, ProcessTrack } from "../../cassette/schema.ts";
import { createLineCutter } from "../../engine/duplex-lines.ts";
import {
  type ClientStep,
  playScript,
  readScript,
  refusesDuplex,
  type Script,
  scriptAnswer,
} from "../../engine/duplex-target.ts";
import type { Target } from "../../engine/target.ts";
import { decodeUtf8, encodeBase64, encodeUtf8 } from "../../wire/bytes.ts";
import { parseJsonTree } from "../../wire/json.ts";

import { localPaths } from "./process-paths.ts";

/**
 * Programs as the target of a drive: each recorded process is started anew and gets what the recorded one got, piece by
 * piece. Lines of both its outputs are compared, and how it ends. `spawn`: default Node's.
 */
export function processTarget(spawn: typeof realSpawn = realSpawn): Target {
  const scripts = new WeakMap<object, Script>();
  const scriptOf = (track: ProcessTrack): Script => {
    const lines = lineReader();
    const script = scripts.get(track) ?? readScript(track, "stdin", lines.push, lines.rest);
    scripts.set(track, script);
    return script;
  };
  return {
    name: "the program",
    refuses(track) {
      const { command = "", argv = [], cwd = "" } = (track as Partial<ProcessTrack>).open ?? {};
      const temporary = [command, ...argv, cwd].some((text) => text.includes("<tmp>"));
      return (
        refusesDuplex(track, "process") ??
        (temporary ? "it was started with a temporary file, which is gone" : undefined)
      );
    },
    recorded: (track) => scriptAnswer(scriptOf(track as ProcessTrack), closeOf((track as ProcessTrack).close)),
    deliveries: (track) => scriptOf(track as ProcessTrack).units,
    async play(track, drive) {
      const { command, argv = [], cwd, env } = (track as ProcessTrack).open;
      const script = scriptOf(track as ProcessTrack);
      const child = spawn(localPaths(command), drive.live([...argv]).map(localPaths), {
        ...(cwd !== undefined && { cwd: localPaths(cwd) }),
        env: { ...process.env, ...env },
        stdio: "pipe",
      });
      const events: Json[] = [];
      const lines = lineReader();
      const hear = (values: readonly Json[]): void => {
        for (const value of values) {
          events.push(value);
          drive.arrived({ events: { [events.length - 1]: value } });
        }
      };
      for (const from of ["stdout", "stderr"] as const) {
        child[from].on("data", (bytes: Buffer) => hear(lines.push(from, new Uint8Array(bytes))));
      }
      child.stdin.on("error", () => undefined); // a program that reads no more says so by how it ends
      const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
        child.on("error", reject);
        child.on("close", (code, signal) => resolve({ code, signal }));
      });
      ended.catch(() => undefined);
      await playScript(script, drive, (step) => act(child, step, drive.live));
      if (!script.steps.some(({ call }) => call === "end")) child.stdin.end();
      if ((track as ProcessTrack).close === undefined) child.kill();
      const close = await ended;
      hear(lines.rest().map(({ value }) => value));
      return { events, ...((track as ProcessTrack).close !== undefined && { close }) };
    },
  };
}

function act(
  child: ReturnType<typeof realSpawn>,
  { bytes, call }: ClientStep,
  live: <T extends Json>(value: T) => T,
): void {
  if (call === "end") child.stdin?.end();
  else if (call === "kill") child.kill();
  else if (bytes !== undefined) {
    const text = decodeUtf8(bytes);
    child.stdin?.write(text === undefined ? bytes : encodeUtf8(live(text)));
  }
}

function closeOf(close: ProcessTrack["close"]): { code: number | null; signal: string | null } | undefined {
  return close && { code: close.code ?? null, signal: close.signal ?? null };
}

/** Lines as values, each under the name of its output. */
function lineReader(): {
  push(from: string, bytes: Uint8Array): Json[];
  rest(): { from: string; value: Json }[];
} {
  const cutters = new Map<string, ReturnType<typeof createLineCutter>>();
  const lineValue = (from: string, line: Uint8Array): Json => {
    const text = decodeUtf8(line);
    if (text === undefined) return { [from]: { $bytes: encodeBase64(line) } };
    const plain = text.replace(/\r?\n$/, "");
    return { [from]: (/^\s*[[{]/.test(plain) ? parseJsonTree(plain) : undefined) ?? plain };
  };
  return {
    push(from, bytes) {
      const cutter = cutters.get(from) ?? createLineCutter();
      cutters.set(from, cutter);
      return cutter.push(bytes).map((line) => lineValue(from, line));
    },
    rest: () =>
      [...cutters].flatMap(([from, cutter]) => {
        const line = cutter.take();
        return line === undefined ? [] : [{ from, value: lineValue(from, line) }];
      }),
  };
}
