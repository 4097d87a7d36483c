import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseCassette } from "wiretape";
import { type EchoServer, echoServer, type Run, type VitestProject, vitestProject } from "./vitest-project.ts";

/** Real runs of the installed vitest: what they print, and above all their exit codes. */
let project: VitestProject;
let server: EchoServer;
let recorded: Run;
let written: Map<string, string>;

const texts = (): Map<string, string> => new Map(project.files().map((path) => [path, project.read(path)]));
const startsWith = (run: Run, name: string): string[] =>
  (run.tests.get(name)?.errors ?? ["no such test"]).map((error) => error.split("\n")[0] as string);

beforeAll(async () => {
  project = vitestProject();
  server = await echoServer();
  recorded = await project.run(["green", "use-deck"], { STAGING: server.url });
  written = texts();
}, 60_000);

afterAll(async () => {
  await server.close();
  project.remove();
});

describe("the first run, against the server", () => {
  test("is green", () => {
    expect(recorded.output).toMatch(/Test Files {2}2 passed/);
    expect(recorded.code).toBe(0);
  });

  test("writes a cassette for each test, named after file and test", () => {
    const cassettes = [...written.keys()].map((path) => path.replace(/-[0-9a-f]{10}/, "-#"));
    expect(cassettes).toEqual([
      "__cassettes__/green/a-group-says-one-#.cassette.json",
      "__cassettes__/green/a-group-says-two-#.cassette.json",
      "__cassettes__/green/a-group-unicode-names-con-#.cassette.json",
      "__cassettes__/green/a-hook-that-was-there-before-the-deck-still-has-it-#.cassette.json",
      "__cassettes__/green/at-once-case-0-#.cassette.json",
      "__cassettes__/green/at-once-case-1-#.cassette.json",
      "__cassettes__/green/at-once-case-2-#.cassette.json",
      "__cassettes__/green/at-once-case-3-#.cassette.json",
      "__cassettes__/green/fails-as-it-should-and-is-recorded-#.cassette.json",
      "__cassettes__/green/fake-timers-are-still-in-place-when-the-deck-is-#.cassette.json",
      "__cassettes__/green/has-further-decks-#.billing.cassette.json",
      "__cassettes__/green/has-further-decks-#.cassette.json",
      "__cassettes__/green/is-repeated-#.cassette.json",
      "__cassettes__/green/passes-at-its-second-attempt-#.cassette.json",
      "__cassettes__/green/passes-at-its-second-attempt-#.failed.cassette.json",
      "__cassettes__/green/says-hello-#.cassette.json",
      "shared.cassette.json",
      "tapes/green/options-of-a-describe-#.cassette.json",
      "tapes/use-deck/a-folder-of-one-s-own-has-its-deck-#.cassette.json",
      "tapes/use-deck/a-folder-of-one-s-own-tells-left-from-the-other-#.cassette.json",
      "tapes/use-deck/a-folder-of-one-s-own-tells-right-from-the-other-#.cassette.json",
    ]);
  });

  test("keeps the full name inside", () => {
    const names = [...written].map(([path, text]) => parseCassette(text, { path }).recorded?.name);
    expect(names).toContain("green.spec.ts > a group > Ünïcode / «names»: con. ");
    expect(names).toContain("green.spec.ts > at once > case 3");
    expect(new Set(names).size).toBe(written.size - 2); // two decks of one test, and a recording of a failed attempt
  });

  test("keeps concurrent tests apart", () => {
    for (const n of [0, 1, 2, 3]) {
      const text = [...written].find(([path]) => path.includes(`case-${n}-`))?.[1] as string;
      const urls = parseCassette(text).tracks.map((track) =>
        "request" in track ? track.request.url.split("/").at(-1) : "",
      );
      expect(urls).toEqual([`${n}-0`, `${n}-1`, `${n}-2`]);
    }
  });

  test("writes what the attempt that passed has seen, once", () => {
    const text = [...written].find(([path]) => /second-attempt-\w+\.cassette/.test(path))?.[1] as string;
    expect(parseCassette(text).tracks.length).toBe(2);
    expect(server.asked.filter((url) => url === "/echo/first").length).toBe(2);
  });

  test("a shared cassette is recorded by the first of its tests", () => {
    expect(server.asked.filter((url) => url === "/count?shared").length).toBe(1);
  });
});

test("the second run needs no server, and neither -u nor a shared module cache changes a cassette", async () => {
  const asked = server.asked.length;
  const run = await project.run(["green", "use-deck", "-u", "--no-isolate"], { STAGING: server.url, CI: "1" });
  expect(run.output).toMatch(/Test Files {2}2 passed/);
  expect(run.code).toBe(0);
  expect(server.asked.length).toBe(asked);
  expect(texts()).toEqual(written);
}, 60_000);

describe("a run in which things go wrong", () => {
  let run: Run;
  beforeAll(async () => {
    run = await project.run(["red"], { STAGING: server.url });
  }, 60_000);

  test("exits with 1", () => expect(run.code).toBe(1));

  test("a violation fails its test, also when the program caught it, and is shown once", () => {
    const exhausted = expect.stringMatching(
      /^ScriptExhausted: GET .*\/echo\/hello was recorded once and is asked for a 2nd time/,
    );
    expect(startsWith(run, "shared swallows a violation")).toEqual([exhausted]);
    expect(startsWith(run, "shared lets a violation through")).toEqual([exhausted]);
    expect(startsWith(run, "shared wraps a violation")).toEqual(["Error: Connection error.", exhausted]);
    expect(startsWith(run, "useDeck swallows a violation")).toEqual([exhausted]);
    expect(startsWith(run, "shared swallows a violation and fails for another reason")).toEqual([
      expect.stringMatching(/^AssertionError/),
      expect.stringMatching(/^UnrecordedRequest: GET .*\/never\/recorded/),
    ]);
  });

  test("tracks that were left fail a test that passed, and are not held against one that failed", () => {
    expect(startsWith(run, "shared leaves a track")).toEqual(["UnplayedTracks: A recorded track was never asked for."]);
    expect(startsWith(run, "shared leaves a track, but failed before")).toEqual([
      expect.stringMatching(/^AssertionError/),
    ]);
    expect(startsWith(run, "shared expects tracks to be left")).toEqual([
      expect.stringMatching(/expected the deck to have played all/),
    ]);
  });

  test("a retry begins anew", () => {
    expect(run.tests.get("shared swallows a violation at its first attempt")?.status).toBe("passed");
    expect(run.output).toMatch(/at its first attempt .*retry x1/);
  });

  test("an acknowledged violation is none, and another one still is", () => {
    expect(run.tests.get("shared is about exhaustion")?.status).toBe("passed");
    expect(run.tests.get("shared announces what it is about")?.status).toBe("passed");
    expect(startsWith(run, "shared is about exhaustion, but more is wrong")).toEqual([
      expect.stringMatching(/\/never\/recorded/),
    ]);
  });

  test("a violation of another owner fails the test that it came in, and no other", () => {
    expect(startsWith(run, "a deck of another owner is violated")).toEqual([
      expect.stringMatching(/\/by\/another\/owner/),
    ]);
    for (const name of [
      "is violated and acknowledged",
      "is not blamed twice",
      "is acknowledged while others run and end",
      "is none of this test's",
    ]) {
      expect(run.tests.get(`a deck of another owner ${name}`)).toEqual({ status: "passed", errors: [] });
    }
  });

  test("two tests of one name do not share a cassette silently; a retried one does with itself", () => {
    expect(startsWith(run, "names twice the same")).toEqual([
      expect.stringMatching(/Two tests are called "red\.spec\.ts > names > twice the same"/),
    ]);
    expect(run.output).toMatch(/✓ twice the same/);
    expect(startsWith(run, "names opens its own deck twice")).toEqual([
      expect.stringMatching(/already has a deck over/),
    ]);
  });

  test("without a cassette a replay is an error that names it", () => {
    expect(startsWith(run, "has no cassette")).toEqual([
      expect.stringMatching(
        /^CassetteMissing: There is no cassette at __cassettes__\/red\/has-no-cassette-\w{10}\.cassette\.json/,
      ),
    ]);
  });

  test("a recording is written only if all went well; else it is kept aside, and said where", () => {
    const files = project.files().filter((path) => /fails-while|beside-a-replay/.test(path));
    expect(files.map((path) => path.replace(/.*?-[0-9a-f]{10}/, "#"))).toEqual([
      "#.failed.cassette.json",
      "#.other.failed.cassette.json",
      "#.recording.failed.cassette.json",
    ]);
    for (const path of files) expect(run.output).toContain(`it is kept as ${path}`);
  });

  test("nothing else is left behind: no lock, no journal", () => {
    expect(project.files().filter((path) => !path.endsWith(".cassette.json"))).toEqual([]);
  });
});

test("what a test would hide fails the run", async () => {
  const run = await project.run(["hidden"], { STAGING: server.url, CI: "1" });
  const statuses = [...run.tests.values()].map(({ status }) => status);
  expect(statuses.filter((status) => status !== "passed")).toEqual(["skipped"]);
  expect(run.code).toBe(1);
  const unhandled = [...run.output.matchAll(/Uncaught Exception.*\n(.*)\n(.*)/g)].map(([, lead = "", what = ""]) => [
    lead,
    what,
  ]);
  const marked = (name: string): string =>
    `The test "hidden.spec.ts > ${name}" is marked as failing, which would hide this:`;
  expect(unhandled).toEqual([
    [
      `UnrecordedRequest: ${marked("violates and fails as marked")}`,
      expect.stringMatching(/\/in\/fails was never recorded/),
    ],
    [
      `UnrecordedRequest: ${marked("takes a violation for its failure")}`,
      expect.stringMatching(/\/as\/failure was never recorded/),
    ],
    [
      `CassetteMissing: ${marked("takes a missing cassette for its failure")}`,
      expect.stringMatching(/There is no cassette at/),
    ],
    [
      'UnrecordedRequest: The test "hidden.spec.ts > violates and skips itself" skipped itself, which would hide this:',
      expect.stringMatching(/\/in\/skip was never recorded/),
    ],
    [
      'DeckFinished: After the test "hidden.spec.ts > goes on after its end" had ended:',
      expect.stringMatching(/A request was made after the deck/),
    ],
    [
      expect.stringMatching(
        /^DeckFinished: A deck was opened after its test, "hidden.spec.ts > goes on after its end"/,
      ),
      expect.anything(),
    ],
    [
      `UnrecordedRequest: ${marked("useDeck > violates and fails as marked")}`,
      expect.stringMatching(/\/in\/use-deck was never recorded/),
    ],
  ]);
}, 60_000);

test("a violation that came while no test ran fails the file", async () => {
  const run = await project.run(["stray"]);
  expect(run.tests.get("is innocent")).toEqual({ status: "passed", errors: [] });
  expect(run.output).toMatch(
    /FAIL {2}stray\.spec\.ts \[ stray\.spec\.ts \]\nUnrecordedRequest: GET http:\/\/localhost\/in\/a\/hook/,
  );
  expect(run.code).toBe(1);
}, 60_000);
