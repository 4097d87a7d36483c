import { afterAll, beforeAll } from "vitest";
import { type StagingOptions, type StagingServer, startStagingServer } from "../../src/demo/staging-server.ts";

/** A server for the tests of one file, and a fetch that knows its address. */
export function useStaging(options?: StagingOptions): {
  readonly server: StagingServer;
  fetch(path: string, init?: RequestInit): Promise<Response>;
} {
  let server: StagingServer | undefined;
  beforeAll(async () => {
    server = await startStagingServer(options);
  });
  afterAll(() => server?.close());
  return {
    get server() {
      return server!;
    },
    fetch: (path, init) => fetch(server!.url + path, init),
  };
}

/** The chunks of a body as they came; `code` is the error's where it broke. */
export async function chunksOf(response: Response): Promise<{ chunks: Uint8Array[]; code?: string }> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of response.body ?? []) chunks.push(Uint8Array.from(chunk));
  } catch (error) {
    return { chunks, code: codeOf(error) };
  }
  return { chunks };
}

export function codeOf(error: unknown): string {
  return ((error as Error).cause as { code?: string } | undefined)?.code ?? (error as Error).name;
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}

export function postJson(value: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

/** Reads a stream until its text contains something. */
export async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, needle: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(needle)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The stream ended before ${needle}: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  return text;
}
