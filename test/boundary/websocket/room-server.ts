import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

/** A real WebSocket server with a few rooms, each a way to talk. */
export async function roomServer(): Promise<{ url: string; connections: () => number; close: () => Promise<void> }> {
  let connections = 0;
  const server = new WebSocketServer({
    port: 0,
    host: "127.0.0.1",
    handleProtocols: (asked) => (asked.has("chat.v2") ? "chat.v2" : false),
    verifyClient: ({ req }, done) => (req.url === "/closed" ? done(false, 403, "Forbidden") : done(true)),
  });
  await once(server, "listening");
  server.on("connection", (socket, { url = "" }) => {
    connections++;
    if (url === "/abrupt") {
      socket.send("now");
      socket.once("message", () => socket.terminate());
      return;
    }
    if (url === "/bye") {
      socket.send("leaving");
      socket.close(4001, "too late");
      return;
    }
    socket.send(JSON.stringify({ type: "welcome", protocol: socket.protocol }));
    let count = 0;
    socket.on("message", (data, isBinary) => {
      const bytes = data as Buffer;
      if (isBinary) {
        socket.send(Buffer.from(bytes).reverse());
        return;
      }
      const text = bytes.toString();
      if (text === "close") socket.close(1000, "as you wish");
      else if (text === "burst") for (let i = 0; i < 5; i++) socket.send(`burst ${i}`);
      else socket.send(JSON.stringify({ type: "said", count: ++count, text }));
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    connections: () => connections,
    close: async () => {
      for (const client of server.clients) client.terminate();
      server.close();
      await once(server, "close");
    },
  };
}
