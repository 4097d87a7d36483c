import type { AnswerPart, HeldAnswer, SuiteContract, SuiteScript } from "wiretape/conformance";
import type { MockAgentTransport } from "../../src/agent/mock.ts";
import type { TextStream } from "../../src/agent/stream-response.ts";

type Mock = MockAgentTransport<SuiteContract>;

/** The suite's script over the mock: its answers stand in the mock's one line. */
export function scriptOfMock(mock: Mock): SuiteScript {
  return {
    reply(answer) {
      const parts: readonly AnswerPart[] = typeof answer === "string" ? [{ type: "text", text: answer }] : answer;
      mock.responses.queue((r) =>
        r.assistant(
          parts.map((part) => {
            if (part.type === "text") return r.text(part.text);
            if (part.type === "result") return r.tool("lookup").result({ input: part.input, output: part.output });
            if (part.type === "error") return r.tool("lookup").error(new Error(part.errorText), { input: part.input });
            if (part.toolName === "pick") return r.tool("pick").waiting({ input: part.input, action: part.action });
            return r.tool("approve").waiting({ input: part.input, action: part.action });
          }),
        ),
      );
    },
    fail: (message) => mock.responses.queue((r) => r.error(new Error(message))),
    hold: () => heldAnswer(mock),
    command(name, result) {
      mock.commands.set(name as "echo", async ({ input }) => {
        if ("error" in result) throw new Error(result.error);
        return input;
      });
    },
    push: (threadId, event) => mock.events.pushThread(threadId, event),
  };
}

function heldAnswer(mock: Mock): HeldAnswer {
  const response = mock.responses.stream();
  let text: TextStream | undefined;
  return {
    async started() {
      await response.waitUntilStarted();
    },
    async text(delta) {
      text ??= response.text();
      await text.delta(delta);
    },
    async complete() {
      await text?.end();
      await response.complete();
    },
    fail: (message) => response.fail(new Error(message)),
    abort: (reason) => response.abort(reason),
  };
}
