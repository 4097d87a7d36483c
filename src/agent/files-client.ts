import type { AgentContract, FileId, FileRecord } from "./protocol.ts";
import { requireSupport } from "./require-support.ts";
import type { AgentClientTransport, UploadInput } from "./transport.ts";

/** The files of an agent. */
export interface FilesClient {
  upload(input: UploadInput): Promise<FileRecord>;
  read(fileId: FileId): Promise<{ file: FileRecord; body: Blob }>;
  /** A URL from which a browser may fetch the file, or `null` where there is none. */
  createUrl(fileId: FileId): Promise<string | null>;
}

/** Rejects where the transport has no files. */
export function createFilesClient<T extends AgentContract>(transport: AgentClientTransport<T>): FilesClient {
  return {
    async upload(input) {
      requireSupport(transport, "files", "files.upload");
      return transport.uploadFile(input);
    },
    async read(fileId) {
      requireSupport(transport, "files", "files.read");
      return transport.readFile(fileId);
    },
    async createUrl(fileId) {
      requireSupport(transport, "files", "files.createUrl");
      return transport.createFileUrl(fileId);
    },
  };
}
