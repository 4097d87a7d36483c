import { basename, dirname } from "node:path";
import { fileStore } from "../cassette/file-store.ts";
import type { LintIssue } from "../cassette/lint.ts";
import { openCassette } from "../cassette/open.ts";
import type { Frame, Track } from "../cassette/schema.ts";
import { isWiretapeError } from "../errors.ts";
import { sha256Hex } from "../wire/digest.ts";
import { bodyFrames } from "./frame-content.ts";

/** The faults of the files beside a valid cassette: missing, of another size, or of another digest. */
export async function sidecarIssues(text: string, path: string): Promise<LintIssue[]> {
  if (!text.includes('"sha256":')) return [];
  const index = openCassette(text, { path });
  const store = fileStore(dirname(path));
  const issues: LintIssue[] = [];
  for (let i = 0; i < index.size; i++) {
    const track = index.track(i);
    for (const { file } of allFrames(track)) {
      if (file === undefined) continue;
      const fault = await faultOf(file.path, file.size, file.sha256);
      if (fault === undefined) continue;
      const message = `the file ${file.path} beside ${basename(path)} ${fault}; restore it, or record again`;
      issues.push({ severity: "error", line: index.line(i), column: 5, path: `tracks[${i}]`, message });
    }
  }
  return issues;

  async function faultOf(name: string, size: number, sha256: string): Promise<string | undefined> {
    let bytes: Uint8Array | undefined;
    try {
      bytes = await store.read(name);
    } catch (error) {
      if (!isWiretapeError(error)) throw error;
      return `cannot be read: ${error.message}`;
    }
    if (bytes === undefined) return "is not there";
    if (bytes.length !== size) return `has ${bytes.length} bytes, not ${size}`;
    return sha256Hex(bytes) === sha256 ? undefined : "does not have the recorded digest";
  }
}

function allFrames(track: Track): readonly Frame[] {
  if (track.kind === "http")
    return [track.request.body, track.request.decoded, track.response?.body, track.response?.decoded].flatMap(
      bodyFrames,
    );
  return ("call" in track ? track.events : track.frames) ?? [];
}
