import type { SpawnOptions } from "node:child_process";

/** One spawn, as its three arguments mean it. */
export interface SpawnFacts {
  /** The program that is started: with `shell`, the shell. */
  readonly command: string;
  /** Its arguments, the program itself not among them. */
  readonly argv: readonly string[];
  readonly spawnOptions: SpawnOptions;
}

function wrongType(name: string, expected: string, value: unknown): TypeError {
  const got = value === null ? "null" : typeof value === "object" ? "an object" : typeof value;
  return Object.assign(new TypeError(`The "${name}" argument must be ${expected}. Received ${got}`), {
    code: "ERR_INVALID_ARG_TYPE",
  });
}

function wrongValue(name: string, message: string): TypeError {
  return Object.assign(new TypeError(`The argument '${name}' ${message}`), { code: "ERR_INVALID_ARG_VALUE" });
}

function text(name: string, value: unknown): string {
  if (typeof value !== "string") throw wrongType(name, "of type string", value);
  if (value.includes("\0")) throw wrongValue(name, "must be a string without null bytes");
  return value;
}

/**
 * What `spawn(command, args?, options?)` asks for: `args` may be left out, `shell` is resolved to the shell and its own
 * arguments. Throws on wrong arguments, synchronously and with the `code` that Node's own spawn has.
 */
export function spawnFacts(command: unknown, args?: unknown, options?: unknown): SpawnFacts {
  const file = text("file", command);
  if (file === "") throw wrongValue("file", "cannot be empty");
  const listed = Array.isArray(args);
  if (!listed && args !== undefined && args !== null && typeof args !== "object") {
    throw wrongType("args", "an instance of Object", args);
  }
  const given = listed ? options : (options ?? args ?? undefined);
  if (given !== undefined && (typeof given !== "object" || given === null || Array.isArray(given))) {
    throw wrongType("options", "of type object", given);
  }
  const list = listed ? args.map((value, index) => text(`args[${index}]`, String(value))) : [];
  const spawnOptions: SpawnOptions = { ...(given as SpawnOptions | undefined) };
  const { signal, timeout, shell } = spawnOptions;
  if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal))) {
    throw wrongType("options.signal", "an instance of AbortSignal", signal);
  }
  if (timeout !== undefined && timeout !== null && !(Number.isInteger(timeout) && timeout >= 0)) {
    throw Object.assign(
      new RangeError(`A limit of time is a whole number of milliseconds from 0. Received ${timeout}`),
      { code: "ERR_OUT_OF_RANGE" },
    );
  }
  if (shell === undefined || shell === null || shell === false || shell === "") {
    return { command: file, argv: list, spawnOptions };
  }
  const line = [file, ...list].join(" ");
  if (process.platform !== "win32") {
    return { command: typeof shell === "string" ? shell : "/bin/sh", argv: ["-c", line], spawnOptions };
  }
  const program = typeof shell === "string" ? shell : (process.env.comspec ?? "cmd.exe");
  const isCmd = /^(?:.*\\)?cmd(?:\.exe)?$/i.test(program);
  return { command: program, argv: isCmd ? ["/d", "/s", "/c", `"${line}"`] : ["-c", line], spawnOptions };
}
