/** A process of its own for the tests of the file store: what it is asked to do, in a loop or once. */
import { fileStore } from "../../src/cassette/file-store.ts";
import { isWiretapeError } from "../../src/errors.ts";

const [folder = "", job = "", argument = ""] = process.argv.slice(2);
const store = fileStore(folder);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const jobs: Record<string, () => Promise<void>> = {
  // Every name is wanted by every process: who wins writes a whole file of its own.
  async create() {
    const bytes = new TextEncoder().encode(argument.repeat(200_000));
    for (let i = 0; i < 20; i++) {
      try {
        await store.createExclusive(`race-${i}.cassette.json`, bytes);
        say(`won ${i}`);
      } catch (error) {
        if (!isWiretapeError(error) || error.code !== "cassette-exists") throw error;
      }
    }
  },
  // The lock guards a file that is read and written in two steps.
  async count() {
    for (let done = 0; done < Number(argument); ) {
      let release: () => Promise<void>;
      try {
        release = await store.lock("counter.cassette.json");
      } catch (error) {
        if (!isWiretapeError(error) || error.code !== "cassette-busy") throw error;
        continue;
      }
      const before = Number(new TextDecoder().decode(await store.read("counter.cassette.json")));
      await new Promise((wake) => setTimeout(wake, 3));
      await store.replace("counter.cassette.json", new TextEncoder().encode(String(before + 1)));
      await release();
      done++;
    }
  },
  async hold() {
    await store.lock("held.cassette.json");
    say("held");
    await new Promise((wake) => setTimeout(wake, 60_000));
  },
  async journal() {
    const journal = await store.journal("killed.cassette.json");
    for (let i = 0; i < 1000; i++) journal.append(`{"track":${i}}`);
    say("appended");
    process.kill(process.pid, "SIGKILL");
  },
};

await jobs[job]?.();
