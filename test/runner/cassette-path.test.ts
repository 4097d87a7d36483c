import { expect, test } from "vitest";
import { cassettePath, testName } from "../../src/runner/cassette-path.ts";

const named = (...names: string[]) => ({
  file: "/repo/src/checkout.test.ts",
  title: ["checkout.test.ts", ...names].join(" > "),
});
const short = (...names: string[]): string => cassettePath(named(...names), {}).replace("/repo/src/", "");

test("the name of a test: file, suites, test", () => {
  const file = { name: "src/checkout.test.ts", filepath: "/repo/src/checkout.test.ts" };
  const outer = { name: "payment", suite: file };
  const task = { name: "pays by card", suite: { name: "by card", suite: outer }, file };
  expect(testName(task as never)).toEqual({
    file: "/repo/src/checkout.test.ts",
    title: "checkout.test.ts > payment > by card > pays by card",
  });
  expect(testName({ name: "alone", file } as never).title).toBe("checkout.test.ts > alone");
});

test("a file system that decomposes names gives the same name", () => {
  const of = (name: string): string => testName({ name, file: { filepath: `/x/${name}.test.ts` } } as never).title;
  expect(of("Zürich".normalize("NFD"))).toBe(of("Zürich".normalize("NFC")));
});

// Frozen: these are names of files in other people's repositories.
test("paths do not change from version to version", () => {
  expect(short("pays by card")).toBe("__cassettes__/checkout/pays-by-card-b2134be8ac.cassette.json");
  expect(short("payment", "pays: 12,50 € / «by card»")).toBe(
    "__cassettes__/checkout/payment-pays-12-50-by-card-6db62b620c.cassette.json",
  );
  expect(short("支払う")).toBe("__cassettes__/checkout/test-581a77ff47.cassette.json");
});

test("what the short form loses is in the hash", () => {
  const alike = [
    "pays",
    "Pays",
    "pays!",
    "pays ",
    "päys",
    "支",
    "払",
    "",
    ".",
    "..",
    "a/b",
    "a\\b",
    "x".repeat(300),
    "x".repeat(301),
  ];
  const paths = alike.map((name) => short(name).toLowerCase());
  expect(new Set(paths).size).toBe(alike.length);
});

test("every path is short, lower-case ASCII and allowed everywhere", () => {
  const names = [
    "con",
    "nul.txt",
    "a ".repeat(200),
    "a".repeat(500),
    "trailing. ",
    "../../etc/passwd",
    "x\u0000y\n",
    "🙂",
    "ﬁn",
    "İ",
    "-",
  ];
  for (const name of names) {
    const file = {
      file: `/repo/${name.replaceAll("/", "")}.test.ts`,
      title: `${name.replaceAll("/", "")}.test.ts > ${name}`,
    };
    const parts = cassettePath(file, {}).slice("/repo/".length).split("/");
    expect(parts.length).toBe(3);
    expect(parts[0]).toBe("__cassettes__");
    expect(parts[1]).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(parts[1]).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)$/);
    expect(parts[2]).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{10}\.cassette\.json$/);
    expect(parts.join("/").length).toBeLessThanOrEqual(135);
  }
});

test("files of one stem in one folder do not share", () => {
  const of = (name: string): string => cassettePath({ file: `/repo/${name}`, title: `${name} > pays` }, {});
  const paths = ["a.test.ts", "a.spec.ts", "a.test.tsx", "a.ts", "A.test.ts"].map(of);
  expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(5);
});

test("options: folder, path, name", () => {
  expect(cassettePath(named("pays"), { folder: "../tapes" })).toMatch(
    /^\/repo\/tapes\/checkout\/pays-[0-9a-f]{10}\.cassette\.json$/,
  );
  expect(cassettePath(named("pays"), { path: "../tapes/one.cassette.json" })).toBe("/repo/tapes/one.cassette.json");
  expect(cassettePath(named("pays"), {}, "billing")).toMatch(/\/pays-[0-9a-f]{10}\.billing\.cassette\.json$/);
  for (const bad of ["", "a/b", "..", ".hidden", "a.b", "ü", "x".repeat(41)]) {
    expect(() => cassettePath(named("pays"), {}, bad)).toThrow(/no name for a deck/);
  }
});
