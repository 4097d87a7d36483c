import { misuse } from "./mock-refusal.ts";

/** One part of a streamed response, as its controller sees it. */
export interface StreamPart {
  /** Throws where the part is over, or another one has the floor. */
  check(): void;
  /** The part is over. */
  settle(): void;
}

/** Keeps a streamed response to the order in which a model streams: what is begun is ended, a scoped part is alone. */
export interface StreamParts {
  /** A part whose lifecycle the test keeps itself. */
  imperative<C>(label: string, ends: string, control: (part: StreamPart) => C): C;
  /** A part that lives as long as its callback. Rejects where the callback leaves it unsettled. */
  scoped(label: string, ends: string, body: (part: StreamPart) => Promise<void>): Promise<void>;
  /** Throws where a part is open. */
  close(what: string): void;
}

interface Open {
  readonly label: string;
  readonly ends: string;
}

/** The parts of a response of which nothing was written. */
export function createStreamParts(): StreamParts {
  const open = new Set<Open>();
  let scope: Open | undefined;

  const begin = (label: string, ends: string): { own: Open; part: StreamPart } => {
    if (scope !== undefined) {
      throw misuse(
        `A ${label} part cannot start inside the callback of the ${scope.label} part: a model streams one after the other. Settle that one by ${scope.ends}, and start this one after its callback.`,
      );
    }
    const own = { label, ends };
    open.add(own);
    const part: StreamPart = {
      check() {
        if (!open.has(own)) throw misuse(`The ${label} part is over: nothing can be written to it any more.`);
        if (scope !== undefined && scope !== own) {
          throw misuse(`The ${label} part cannot go on inside the callback of the ${scope.label} part.`);
        }
      },
      settle: () => void open.delete(own),
    };
    return { own, part };
  };

  return {
    imperative(label, ends, control) {
      return control(begin(label, ends).part);
    },
    async scoped(label, ends, body) {
      const { own, part } = begin(label, ends);
      scope = own;
      try {
        await body(part);
      } catch (error) {
        open.delete(own);
        throw error;
      } finally {
        scope = undefined;
      }
      if (!open.delete(own)) return;
      throw misuse(`The callback of the ${label} part returned and left it open: call ${ends} in it.`);
    },
    close(what) {
      if (scope !== undefined)
        throw misuse(`${what} inside the callback of the ${scope.label} part: call it afterwards.`);
      const [left] = open;
      if (left === undefined) return;
      throw misuse(
        `${what} while the ${left.label} part is open: call ${left.ends} first, or end the response by fail(error) or abort(reason).`,
      );
    },
  };
}
