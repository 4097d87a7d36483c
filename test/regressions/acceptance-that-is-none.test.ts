import { expect, test } from "vitest";
import { createAgentClient, createMockAgentTransport } from "wiretape/agent";

test.each([
  [undefined, "it is missing, not an object"],
  ["run_1", 'it is "run_1", not an object'],
  [{ version: { threadInstanceId: "i", revision: 1 } }, "runId is missing"],
  [{ runId: "run_1" }, "version is no version of a thread"],
])("a send that is answered with %j says so: it was a TypeError once the run was waited for", async (answer, why) => {
  const answered = async () => answer as never;
  const mock = createMockAgentTransport();
  const thread = createAgentClient({ ...mock, send: answered, retry: answered, regenerate: answered }).thread("t");
  for (const operation of ["send", "retry", "regenerate"] as const) {
    const message = `The answer to ${operation} of thread "t" is no accepted run: ${why}`;
    await expect(operation === "send" ? thread.send("Hello") : thread[operation]()).rejects.toThrow(message);
  }
});
