import { copyFileSync } from "node:fs";
import { defineConfig } from "tsup";

const root = new URL("..", import.meta.url).pathname;

export default defineConfig({
  entry: {
    index: "src/index.ts",
    browser: "src/browser.ts",
    vitest: "src/vitest.ts",
    agent: "src/agent.ts",
    conformance: "src/conformance.ts",
    react: "src/react.ts",
    process: "src/process.ts",
    mcp: "src/mcp.ts",
    model: "src/model.ts",
    websocket: "src/websocket.ts",
    doubles: "src/doubles.ts",
    endpoint: "src/endpoint.ts",
    cli: "src/cli/main.ts",
    // A shim is a process of its own, and this its program.
    "cli-shim-program": "src/boundary/process/cli-shim-program.ts",
    // The demo starts a process of its own with these two.
    "replay-offline": "src/demo/replay-offline.ts",
    "offline-preload": "src/demo/offline-preload.ts",
  },
  format: "esm",
  target: "node20",
  platform: "neutral",
  external: [/^node:/, "vitest"],
  outDir: "dist",
  clean: true,
  // Types are for what is imported; nobody imports a command.
  dts: process.env["WIRETAPE_BUILD_DTS"] !== "0" && {
    entry: {
      index: "src/index.ts",
      browser: "src/browser.ts",
      vitest: "src/vitest.ts",
      agent: "src/agent.ts",
      conformance: "src/conformance.ts",
      react: "src/react.ts",
      process: "src/process.ts",
      mcp: "src/mcp.ts",
      model: "src/model.ts",
      websocket: "src/websocket.ts",
      doubles: "src/doubles.ts",
      endpoint: "src/endpoint.ts",
    },
  },
  splitting: true,
  removeNodeProtocol: false,
  sourcemap: true,
  // The schema is published at the root of the package, where `$schema` of a cassette points.
  onSuccess: async () => copyFileSync(`${root}src/cassette/cassette.schema.json`, `${root}cassette.schema.json`),
});
