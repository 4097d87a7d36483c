import type { PaiThreadHead, PaiThreadHeadEvent, ThreadId } from "./protocol.ts";
import { requireSupport } from "./require-support.ts";
import type { AgentClientTransport } from "./transport.ts";

type Heads = readonly PaiThreadHead[];

/** The list of threads: each yield is complete. Events that came while the reader was busy are in the next one. Ends with the transport's watch. */
export async function* watchHeads(transport: AgentClientTransport, signal?: AbortSignal): AsyncGenerator<Heads, void> {
  requireSupport(transport, "heads", "client.heads");
  const closing = new AbortController();
  const close = (): void => closing.abort();
  signal?.addEventListener("abort", close);
  if (signal?.aborted) close();
  let heads = new Map<ThreadId, PaiThreadHead>();
  try {
    for await (const event of transport.watchThreadHeads({ signal: closing.signal })) {
      if (closing.signal.aborted) return;
      const next = await reduceHeads(heads, event, () => transport.listThreads());
      if (next === heads) continue;
      heads = next;
      yield [...heads.values()];
    }
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
}

async function reduceHeads(
  heads: Map<ThreadId, PaiThreadHead>,
  event: PaiThreadHeadEvent,
  list: () => Promise<Heads>,
): Promise<Map<ThreadId, PaiThreadHead>> {
  switch (event.type) {
    case "snapshot":
      return byId(event.heads);
    case "state.changed":
      return byId(await list());
    case "thread.head.changed": {
      const { head, reason } = event;
      const known = heads.get(head.id);
      const same = known?.version.threadInstanceId === head.version.threadInstanceId;
      if (known !== undefined && same && head.version.revision < known.version.revision) return heads;
      // Which of two incarnations is the later one, only the backend knows.
      if (known !== undefined && !same) return byId(await list());
      const next = new Map(heads);
      if (reason === "deleted") next.delete(head.id);
      else next.set(head.id, head);
      return next;
    }
    default:
      return heads;
  }
}

function byId(heads: Heads): Map<ThreadId, PaiThreadHead> {
  return new Map(heads.map((head) => [head.id, head]));
}
