import { expect, test } from "vitest";
import { createHttpAgentTransport, createMockAgentTransport, serveAgentTransport } from "wiretape/agent";

test("a served watch that fails when it is iterated says why: the connection broke off, and its keep-alive went on", async () => {
  const watchThread = () => ({
    [Symbol.asyncIterator](): never {
      throw new Error("no watch for you");
    },
  });
  await using served = await serveAgentTransport({ ...createMockAgentTransport(), watchThread });
  const watch = createHttpAgentTransport({ baseUrl: served.url }).watchThread("t");
  await expect(watch[Symbol.asyncIterator]().next()).rejects.toThrow("no watch for you");
});
