import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    // Tests import the package by its public names, as users do, and get the sources.
    alias: [
      { find: /^wiretape$/, replacement: new URL("./src/index.ts", import.meta.url).pathname },
      { find: /^wiretape\/(.*)$/, replacement: `${new URL("./src/", import.meta.url).pathname}$1.ts` },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
