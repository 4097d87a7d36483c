// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { Component, createElement as h, type ReactNode, StrictMode } from "react";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { createPaiReact, createReactTestUtils } from "wiretape/react";
import type { SupportContract } from "./support-contract.ts";

afterEach(cleanup);

/** What a generator would have written about the agent. */
const contract = {
  agents: {
    support: {
      name: "support",
      tools: {
        compareProposals: { executor: "server", toolId: "compareProposals" },
        approveAward: { executor: "server", toolId: "approveAward", suspends: ["approval"] },
        browserUpload: { executor: "client", toolId: "browserUpload" },
      },
      commands: ["refreshJobBrief"],
    },
  },
} as const;

const Pai = createPaiReact<SupportContract>(contract);
const SupportAI = Pai.agent("support");
const t = createReactTestUtils({ Pai, AI: SupportAI });
const initialMetadata = { rating: null };

function Chat({ threadId = "thread-1" }: { threadId?: string }) {
  const { state, pending, send, retry, regenerate } = SupportAI.useThread(threadId);
  return h(
    "section",
    null,
    h("output", null, state.thread.status),
    state.messages.map((message) =>
      h(
        "p",
        { key: message.id, "data-testid": message.role },
        message.parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
      ),
    ),
    pending.map((action) =>
      h(
        "button",
        {
          key: action.toolName,
          type: "button",
          onClick: () => void (action.toolName === "approveAward" && action.submit({ approved: true })),
        },
        "Approve",
      ),
    ),
    state.error && h("p", { role: "alert" }, state.error.message),
    state.error && h("button", { type: "button", onClick: () => void retry() }, "Retry"),
    h("button", { type: "button", onClick: () => void regenerate() }, "Again"),
    h("button", { type: "button", onClick: () => void send("Compare the proposals.") }, "Send"),
  );
}

function Desk() {
  const threads = SupportAI.useThreads();
  const refresh = SupportAI.useCommand("refreshJobBrief");
  const files = SupportAI.useFiles();
  const act = async (): Promise<void> => {
    const { status: state } = await refresh("thread-1", { jobBriefId: "job-1" });
    const file = await files.upload({ filename: "n.txt", mediaType: "text/plain", body: new Blob(["notes"]) });
    await client.thread("thread-1").rename(`${state} ${file.filename}`);
  };
  const client = SupportAI.useClient();
  return h("div", null, h("button", { type: "button", onClick: () => void act() }, "Act"), [
    ...threads.map((head) => h("p", { key: head.id, "data-testid": "head" }, head.title)),
  ]);
}

class Boundary extends Component<{ children: ReactNode }, { message?: string }> {
  override state: { message?: string } = {};
  static getDerivedStateFromError = (error: Error) => ({ message: error.message });
  override render() {
    return this.state.message === undefined ? this.props.children : h("p", { role: "alert" }, this.state.message);
  }
}

const texts = (role: string) => screen.queryAllByTestId(role).map((element) => element.textContent);
const click = (name: string) => fireEvent.click(screen.getByText(name));
const status = () => document.querySelector("output")?.textContent;

describe("a component over a mocked backend", () => {
  test("what is sent appears, and the answer as it streams", async () => {
    await using harness = t.createClientHarness({ initialMetadata });
    render(h(Chat), { wrapper: harness.Provider });
    const response = harness.responses.stream();
    click("Send");
    await waitFor(() => expect(texts("user")).toEqual(["Compare the proposals."]));
    await response.waitUntilStarted();
    const text = response.text();
    await text.delta("Northstar");
    await waitFor(() => expect(texts("assistant")).toEqual(["Northstar"]));
    expect(status()).toBe("running");
    await text.delta(" is ranked first.");
    await text.end();
    await response.complete();
    await waitFor(() => expect([texts("assistant"), status()]).toEqual([["Northstar is ranked first."], "idle"]));
  });

  test("a tool that waits is approved by a click", async () => {
    await using harness = t.createClientHarness({ initialMetadata });
    render(h(StrictMode, null, h(Chat)), { wrapper: harness.Provider });
    harness.responses.queue((r) =>
      r.assistant([
        r.text("May I?"),
        r.tool("approveAward").waiting({
          input: { jobBriefId: "job-1" },
          action: { name: "approval", input: { message: "Approve Northstar?" } },
        }),
      ]),
    );
    click("Send");
    const approve = await screen.findByText("Approve");
    expect(status()).toBe("waiting");
    harness.responses.queue((r) => r.assistant([r.text("Recorded.")]));
    fireEvent.click(approve);
    await waitFor(() => expect(status()).toBe("idle"));
    expect(texts("assistant").join("")).toBe("May I?Recorded.");
    expect(screen.queryByText("Approve")).toBeNull();
    expect(harness.inspect.requests.submitAction()).toHaveLength(1);
  });

  test("an error shows, and a retry answers", async () => {
    await using harness = t.createClientHarness({ initialMetadata });
    render(h(Chat), { wrapper: harness.Provider });
    harness.responses.queue((r) => r.error(new Error("Provider failed")));
    click("Send");
    await waitFor(() => expect(screen.getByRole("alert").textContent).toBe("Provider failed"));
    harness.responses.queue((r) => r.assistant([r.text("Northstar.")]));
    click("Retry");
    await waitFor(() => expect(texts("assistant")).toEqual(["Northstar."]));
    expect(screen.queryByRole("alert")).toBeNull();
    expect(texts("user")).toEqual(["Compare the proposals."]);
    harness.responses.queue((r) => r.assistant([r.text("Orbit.")]));
    click("Again");
    await waitFor(() => expect(texts("assistant")).toEqual(["Orbit."]));
  });

  test("two components of one thread share its watch, and another thread is its own", async () => {
    await using harness = t.createClientHarness({ initialMetadata });
    let watches = 0;
    const { watchThread } = harness.transport;
    harness.transport.watchThread = (...input) => {
      watches += 1;
      return watchThread(...input);
    };
    const both = render(h("div", null, h(Chat), h(Chat)), { wrapper: harness.Provider });
    harness.responses.queue((r) => r.assistant([r.text("To both.")]));
    fireEvent.click(screen.getAllByText("Send")[0] as HTMLElement);
    await waitFor(() => expect(texts("assistant")).toEqual(["To both.", "To both."]));
    expect(watches).toBe(1);
    both.rerender(h(Chat, { threadId: "thread-2" }));
    await waitFor(() => expect(texts("assistant")).toEqual([]));
    both.rerender(h(Chat, { threadId: "thread-1" }));
    await waitFor(() => expect(texts("assistant")).toEqual(["To both."]));
  });
});

describe("the rest of an agent", () => {
  test("threads, commands and files", async () => {
    await using harness = t.createClientHarness({
      initialMetadata,
      seed: (s) => ({ threads: [s.thread("thread-1", { title: "Telemetry", messages: [], runs: [] })] }),
    });
    harness.commands.set("refreshJobBrief", async ({ input }) => ({ ...input, status: "evaluating" }) as const);

    render(h(Desk), { wrapper: harness.Provider });
    await waitFor(() => expect(texts("head")).toEqual(["Telemetry"]));
    click("Act");
    await waitFor(() => expect(texts("head")).toEqual(["evaluating n.txt"]));
    expect(harness.inspect.files()).toContainEqual(expect.objectContaining({ filename: "n.txt" }));
  });

  test("the provenance of tools comes from the contract", async () => {
    await using harness = t.createClientHarness({ initialMetadata });
    harness.responses.queue((r) =>
      r.assistant([r.tool("compareProposals").result({ input: { jobBriefId: "job-1" }, output: { rankings: [] } })]),
    );
    const run = await harness.client.thread("thread-1").send("Compare.");
    const state = await run.waitUntilIdle();
    const part = state.messages.at(-1)?.parts.find(({ type }) => type === "tool-compareProposals");
    expect(part).toMatchObject({ toolMetadata: { pai: { executor: "server", toolId: "compareProposals" } } });
    expect((await harness.client.getManifest()).name).toBe("support");
  });

  test("a harness that was disposed of has ended its watches", async () => {
    const harness = t.createClientHarness({ initialMetadata });
    const watch = harness.transport.watchThread("thread-1")[Symbol.asyncIterator]();
    await watch.next();
    await harness[Symbol.asyncDispose]();
    expect((await watch.next()).done).toBe(true);
  });
});

describe("mistakes", () => {
  const quietly = { onCaughtError: () => undefined };

  test("a hook without a provider says what is missing", () => {
    render(h(Boundary, null, h(Chat)), quietly);
    expect(screen.getByRole("alert").textContent).toMatch(/"support" found no client.*<Pai\.Provider/);
  });

  test("a watch that cannot be kept reaches the error boundary", async () => {
    await using harness = t.createClientHarness({ initialMetadata });
    harness.transport.watchThread = () => {
      throw Object.assign(new Error("no line"), { code: "dead" });
    };
    harness.transport.getThreadState = async () => Promise.reject(new Error("no line"));
    render(h(Boundary, null, h(Chat)), { wrapper: harness.Provider, ...quietly });
    await waitFor(() => expect(screen.getByRole("alert").textContent).toMatch(/no line/), { timeout: 8000 });
  });

  test("an agent that the contract does not have", () => {
    expect(() => Pai.agent("sales")).toThrow(/no agent "sales".*support/);
    expect(createPaiReact<SupportContract>().agent("sales").manifest).toBeUndefined();
  });
});

test("a view is typed by the contract", () => {
  type View = ReturnType<typeof SupportAI.useThread>;
  expectTypeOf<View["pending"][number]["name"]>().toEqualTypeOf<"approval" | "output">();
  type Refresh = ReturnType<typeof SupportAI.useCommand<"refreshJobBrief">>;
  expectTypeOf<Parameters<Refresh>>().toEqualTypeOf<[threadId: string, input: { jobBriefId: string }]>();
});
