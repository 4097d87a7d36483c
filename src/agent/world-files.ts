import type { FileId, FileRecord } from "./protocol.ts";

/** Files with their contents, in memory. */
export interface FileShelf {
  /** Adds a file, or replaces the one of this id. */
  add(file: FileRecord, body: Blob): FileRecord;
  get(fileId: FileId): { file: FileRecord; body: Blob } | undefined;
  /** In the order in which they came. */
  list(): readonly FileRecord[];
  clear(): void;
}

/** A shelf with nothing on it. What is handed out is a copy; bodies are immutable by nature. */
export function createFileShelf(): FileShelf {
  const files = new Map<FileId, { file: FileRecord; body: Blob }>();
  return {
    add(file, body) {
      files.set(file.fileId, { file: structuredClone(file), body });
      return structuredClone(file);
    },
    get(fileId) {
      const found = files.get(fileId);
      return found && { file: structuredClone(found.file), body: found.body };
    },
    list: () => [...files.values()].map(({ file }) => structuredClone(file)),
    clear: () => files.clear(),
  };
}
