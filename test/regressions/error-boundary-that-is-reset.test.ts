// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { Component, createElement as h, type ReactNode, StrictMode } from "react";
import { afterEach, expect, test } from "vitest";
import { type AgentClientTransport, createAgentClient, createMockAgentTransport } from "wiretape/agent";
import { createPaiReact } from "wiretape/react";

afterEach(cleanup);

const Pai = createPaiReact();
const AI = Pai.agent("support");

function Chat() {
  const { state, send } = AI.useThread("thread-1");
  const texts = state.messages.flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")));
  return h("p", null, texts.join(" "), h("button", { type: "button", onClick: () => void send("Hello") }, "Send"));
}

class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  static getDerivedStateFromError = () => ({ failed: true });
  override render() {
    const reset = () => this.setState({ failed: false });
    return this.state.failed ? h("button", { type: "button", onClick: reset }, "Try again") : this.props.children;
  }
}

test.each(["once", "strictly"])(
  "a boundary that is reset after the backend came back renders its thread (%s): it met the old failure again, for ever",
  async (how) => {
    const mock = createMockAgentTransport();
    let gone = true;
    const transport: AgentClientTransport = {
      ...mock,
      watchThread(...asked) {
        if (gone) throw new Error("the backend is gone");
        return mock.watchThread(...asked);
      },
    };
    const client = createAgentClient(transport, { clock: { now: () => 0, sleep: async () => undefined } });
    const app = h(Pai.Provider, { client }, h(Boundary, null, h(Chat)));
    render(how === "once" ? app : h(StrictMode, null, app));
    const again = await screen.findByText("Try again");
    gone = false;
    fireEvent.click(again);
    mock.responses.queue((r) => r.assistant([r.text("Welcome back.")]));
    fireEvent.click(await screen.findByText("Send"));
    await waitFor(() => expect(screen.getByText(/Welcome back/)).toBeTruthy());
  },
);
