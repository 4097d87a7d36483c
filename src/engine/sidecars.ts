import type { CassetteIndex } from "../cassette/cassette-index.ts";
import type { Frame, Sidecar } from "../cassette/schema.ts";
import type { CassetteStore } from "../cassette/store.ts";
import { SidecarBroken } from "../errors.ts";
import { sha256Hex } from "../wire/digest.ts";

/** Where a cassette's sidecar files are. */
export interface SidecarPlace {
  readonly store: CassetteStore | undefined;
  readonly name: string;
  readonly display: string;
}

/** Reads sidecar files, each with its size and digest proved. `SidecarBroken` for the first that is not as recorded. */
export async function loadSidecars(
  { store, name, display }: SidecarPlace,
  files: readonly Sidecar[],
): Promise<(file: Sidecar) => Uint8Array> {
  const folder = name.slice(0, name.lastIndexOf("/") + 1);
  const loaded = new Map<string, Uint8Array>();
  for (const { path, size, sha256 } of files) {
    const bytes = await store?.read(folder + path);
    const fault =
      bytes === undefined
        ? "is not there"
        : bytes.length !== size
          ? `has ${bytes.length} bytes, ${size} were recorded`
          : sha256Hex(bytes) !== sha256
            ? "does not have the recorded digest"
            : undefined;
    if (bytes === undefined || fault !== undefined) {
      throw new SidecarBroken(
        `The file ${path}, which belongs to ${display}, ${fault}.\n  next      restore it from version control, or record again`,
        { cassette: display, path },
      );
    }
    loaded.set(path, bytes);
  }
  return (file) => loaded.get(file.path) as Uint8Array;
}

/** The sidecar files that recorded requests are made of: what comparing needs, before anything is asked. */
export function requestSidecars(index: CassetteIndex, isValue: boolean): Sidecar[] {
  // The text tells at a glance that there are none, so that no track is parsed for it.
  if (!isValue && index.canonical && !index.text.includes('"file": {')) return [];
  const files: Sidecar[] = [];
  for (let i = 0; i < index.size; i++) {
    if (index.kind(i) !== "http") continue;
    const track = index.peek(i);
    if (track.kind !== "http" || track.request.body === undefined) continue;
    for (const { file } of [track.request.body].flat() as Frame[]) if (file !== undefined) files.push(file);
  }
  return files;
}
