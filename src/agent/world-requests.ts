import type { AgentClientTransport } from "./transport.ts";

/** The operations of a transport, by name. */
export type OperationName = Exclude<keyof AgentClientTransport, "supports">;

/** What was asked of a backend, each operation on its own, in order. */
export interface RequestLog {
  add(operation: OperationName, input: unknown): void;
  /** Copies of what the operation was called with. */
  of(operation: OperationName): readonly unknown[];
  clear(): void;
}

/** A log with nothing in it. An input is kept as it was when it came. */
export function createRequestLog(): RequestLog {
  const calls = new Map<OperationName, unknown[]>();
  return {
    add(operation, input) {
      const list = calls.get(operation) ?? [];
      calls.set(operation, list);
      list.push(copy(input));
    },
    of: (operation) => (calls.get(operation) ?? []).map(copy),
    clear: () => calls.clear(),
  };
}

// A blob is immutable, and not every platform clones one.
function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Blob) return value;
  if (Array.isArray(value)) return value.map(copy);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]));
}
