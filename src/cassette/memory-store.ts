import { CassetteBusy, CassetteExists } from "../errors.ts";
import type { CassetteStore, Journal } from "./store.ts";
import { checkLine, checkName, failedName, isCassetteName, journalName, stemOf } from "./store-names.ts";

/** A store in memory, for tests, browsers and cassettes that never become files. Bytes are copied in and out. */
export function memoryStore(): CassetteStore {
  const files = new Map<string, Uint8Array>();
  /** Lines by journal: a list grows where bytes would be written anew with every line. */
  const journals = new Map<string, readonly string[]>();
  const locks = new Map<string, string>();

  function create(name: string, bytes: Uint8Array): void {
    if (files.has(name)) throw new CassetteExists(`${name} exists already; nothing was written`, { name });
    files.set(name, bytes.slice());
  }

  function journalAt(name: string): Journal {
    const lines: string[] = [];
    let open = true;
    const requireOpen = (): void => {
      if (!open) throw new TypeError(`the journal ${name} is closed`);
    };
    journals.set(name, lines);
    return {
      name,
      append(line) {
        requireOpen();
        lines.push(checkLine(line));
      },
      rewrite(all) {
        requireOpen();
        const fresh = all.map(checkLine);
        lines.length = 0;
        for (const line of fresh) lines.push(line);
      },
      async remove() {
        open = false;
        journals.delete(name);
      },
      async close() {
        open = false;
      },
    };
  }

  return {
    async read(name) {
      checkName(name);
      return files.get(name)?.slice();
    },
    async createExclusive(name, bytes) {
      checkName(name);
      create(name, bytes);
    },
    async replace(name, bytes) {
      checkName(name);
      files.set(name, bytes.slice());
    },
    async journal(name) {
      const stem = stemOf(name);
      const left = journals.get(journalName(stem));
      if (left !== undefined) {
        let n = 1;
        while (journals.has(journalName(stem, n))) n++;
        journals.set(journalName(stem, n), left);
      }
      return journalAt(journalName(stem));
    },
    async lock(name) {
      stemOf(name);
      const since = locks.get(name);
      if (since !== undefined)
        throw new CassetteBusy(`${name} is being recorded in this process since ${since}; finish that deck first`, {
          name,
          since,
        });
      locks.set(name, new Date().toISOString());
      return async () => void locks.delete(name);
    },
    async park(name, bytes) {
      const stem = stemOf(name);
      let n = 1;
      while (files.has(failedName(stem, n))) n++;
      files.set(failedName(stem, n), bytes.slice());
      return failedName(stem, n);
    },
    async list() {
      return [...files.keys()].filter(isCassetteName).sort();
    },
  };
}
