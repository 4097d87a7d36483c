import { createServer, type Socket } from "node:net";

/** A TCP server that answers each request with the pieces given for its path, one write each: any bytes at all. */
export async function rawServer(
  answer: (path: string, socket: Socket) => Iterable<string | Uint8Array | "destroy"> | undefined,
  pauseMs = 5,
): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let received = "";
    socket.on("data", async (data) => {
      received += data.toString("latin1");
      if (!received.includes("\r\n\r\n")) return;
      const path = received.split(" ")[1] as string;
      received = "";
      for (const piece of answer(path, socket) ?? []) {
        if (piece === "destroy") {
          socket.destroy();
          return;
        }
        socket.write(typeof piece === "string" ? Buffer.from(piece, "latin1") : piece);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
