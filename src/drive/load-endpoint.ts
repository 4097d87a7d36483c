import { closest } from "fastest-levenshtein";
import { platform } from "../engine/platform.ts";
import { OptionInvalid, PeerMissing } from "../errors.ts";
import { type EndpointMock, type EndpointMockOptions, startEndpoint } from "./endpoint-mock.ts";
import { readRequests } from "./endpoint-request.ts";

type Table = Readonly<Record<string, unknown>>;

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * The endpoint mock of a TOML text: its table `[endpoint]` with `kind = "mock"`, `poll_ms` and `requests`, keys in snake
 * case. Other tables are for others. Needs the package `smol-toml` (`PeerMissing`); `OptionInvalid` tells everything that
 * is wrong, a fault of the TOML with line and column.
 */
export function loadEndpointMock(
  toml: string,
  options: Omit<EndpointMockOptions, "requests" | "pollMs"> = {},
): EndpointMock {
  const endpoint = parse(toml)["endpoint"] as Table | undefined;
  if (typeof endpoint !== "object" || endpoint === null) throw new OptionInvalid("The script has no table [endpoint].");
  const known = ["kind", "poll_ms", "requests"];
  const faults = Object.keys(endpoint)
    .filter((key) => !known.includes(key))
    .map((key) => `there is no ${key}; the nearest is ${closest(key, known)}`);
  const { kind, poll_ms: pollMs = 10, requests } = endpoint;
  if (kind !== "mock") faults.push(`kind is ${JSON.stringify(kind)}; it is "mock"`);
  if (!(typeof pollMs === "number" && pollMs > 0))
    faults.push(`poll_ms is ${JSON.stringify(pollMs)}; it is milliseconds above 0`);
  if (faults.length > 0) throw new OptionInvalid(`The table [endpoint] is wrong: ${faults.join("; ")}.`, { faults });
  const script = Array.isArray(requests) ? requests.map(camelKeys) : requests;
  return startEndpoint({ ...options, pollMs: pollMs as number }, readRequests(script, snake), platform);
}

// The keys of a request are ours; what is inside them belongs to the script.
function camelKeys(request: unknown): unknown {
  if (typeof request !== "object" || request === null || Array.isArray(request)) return request;
  return Object.fromEntries(Object.entries(request).map(([key, value]) => [camel(key), value]));
}

function parse(toml: string): Table {
  const { parse: read } = parser();
  try {
    return read(toml);
  } catch (error) {
    // The message of the package shows the line.
    throw new OptionInvalid(`The script is no TOML: ${(error as Error).message}`, {}, { cause: error });
  }
}

// Loaded when it is asked for, and at once: an optional package, and a function that gives the mock and no promise.
function parser(): { parse(toml: string): Table } {
  const builtin = (globalThis as { process?: NodeJS.Process }).process?.getBuiltinModule;
  try {
    const require = builtin?.("node:module").createRequire(import.meta.url);
    if (require === undefined) throw new Error("this platform cannot load packages by name");
    return require("smol-toml") as { parse(toml: string): Table };
  } catch (error) {
    throw new PeerMissing(
      "A TOML script is read by the package smol-toml, which could not be loaded.\n  next      npm install --save-dev smol-toml, or give the requests to createEndpointMock()",
      { package: "smol-toml" },
      { cause: error },
    );
  }
}
