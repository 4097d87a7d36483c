import { access } from "node:fs/promises";
import { join } from "node:path";
import { fileStore } from "../cassette/file-store.ts";
import { openCassette } from "../cassette/open.ts";
import { headDigest, trackStates } from "../cassette/seal.ts";
import { CassetteInvalid } from "../errors.ts";

/** The name that the demo's recordings bear inside. */
export const DEMO_TITLE = "wiretape demo: an afternoon at the night-train desk";

const STEM = "night-train";

/** Where the demo records. */
export interface DemoPlace {
  readonly path: string;
  /** Cassettes that are there and were edited, or are not the demo's: they are left alone. */
  readonly kept: readonly string[];
}

/** The first place below a folder that is free, or holds a recording of the demo that nobody has edited. */
export async function demoPlace(folder: string): Promise<DemoPlace> {
  const store = fileStore(folder);
  const kept: string[] = [];
  for (let n = 1; ; n++) {
    const name = `${STEM}${n === 1 ? "" : `-${n}`}.cassette.json`;
    const path = join(folder, name);
    const there = await access(path).then(
      () => true,
      () => false,
    );
    if (!there || isUntouched((await store.read(name)) ?? new Uint8Array(0))) return { path, kept };
    kept.push(path);
  }
}

function isUntouched(bytes: Uint8Array): boolean {
  try {
    const index = openCassette(bytes);
    const cassette = index.cassette();
    return (
      index.canonical &&
      index.head.recorded?.name === DEMO_TITLE &&
      index.seal?.head === headDigest(cassette) &&
      [...trackStates(cassette).values()].every((state) => state === "recorded")
    );
  } catch (error) {
    if (error instanceof CassetteInvalid) return false;
    throw error;
  }
}
