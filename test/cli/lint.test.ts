import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { editText } from "../../src/cassette/edit.ts";
import { formatSealed } from "../../src/cassette/seal.ts";
import { useScratch } from "../support/scratch.ts";
import { wiretape } from "./built-cli.ts";
import { sample, sampleText } from "./sample-cassette.ts";

const scratch = useScratch();
const lint = (...args: string[]) => wiretape(["lint", ...args], { cwd: scratch.folder });
const put = (name: string, text: string | Uint8Array) => writeFile(join(scratch.folder, name), text);

test("nothing to say about a recording", async () => {
  await put("fine.cassette.json", sampleText);
  expect(await lint("fine.cassette.json")).toEqual({ status: 0, stdout: "1 file: no faults\n", stderr: "" });
});

test("a warning is no failure", async () => {
  await put("edited.cassette.json", editText(sampleText, [{ path: ["tracks", 0, "response", "status"], value: 500 }]));
  const { status, stdout } = await lint("edited.cassette.json");
  expect(status).toBe(0);
  expect(stdout).toBe(
    'edited.cassette.json:8:5 warning tracks[0]: track "t1" was edited since it was recorded\n\n1 file: 1 warning\n',
  );
});

const mistakes = `{
  "wiretape": 1,
  "tracks": [
    { "id": "t1", "kind": "http", "request": { "method": "GET", "url": "http://a/", "hedaers": [] }, "response": { "status": 200 } },
    { "id": "t1", "kind": "http", "request": { "method": "GET", "url": "http://a/" }, "response": { "status": 200, "after": "t9" } },
    { "id": "t3", "kind": "http", "request": { "method": "GET", "url": "http://a/" }, "response": { "status": 200, "body": { "text": "a", "json": 1 } } },
    { "id": "t4", "kind": "http", "request": { "method": "GET", "url": "http://a/" }, "response": { "status": 200, "body": { "base64": "QQ" } } }
  ]
}
trailing
`;

test("six kinds of mistakes, in one run, each with line, column and what would be right", async () => {
  await put("mistakes.cassette.json", mistakes);
  await put("fine.cassette.json", sampleText);
  const { status, stdout } = await lint("mistakes.cassette.json", "fine.cassette.json");
  expect(status).toBe(1);
  expect(stdout).toMatchInlineSnapshot(`
    "mistakes.cassette.json:4:85 error tracks[0].request.hedaers: unknown key "hedaers"; did you mean "headers"?
    mistakes.cassette.json:5:13 error tracks[1].id: duplicate track id "t1"; the first is on line 4
    mistakes.cassette.json:5:125 error tracks[1].response.after: waits for track "t9", which does not exist; did you mean "t1"?
    mistakes.cassette.json:6:124 error tracks[2].response.body: has "json" and "text"; a frame has exactly one content key
    mistakes.cassette.json:7:136 error tracks[3].response.body.base64: must be base64 of the standard alphabet, padded with =, without white space
    mistakes.cassette.json:10:1 error the cassette ends before this; nothing but comments may follow, not "trailing"

    2 files: 6 errors
    "
  `);
});

test("--json", async () => {
  await put("mistakes.cassette.json", mistakes);
  const { status, stdout } = await lint("mistakes.cassette.json", "--json");
  expect(status).toBe(1);
  const found = JSON.parse(stdout);
  expect(Object.keys(found)).toEqual(["files", "errors", "warnings"]);
  expect(found.errors).toBe(found.files[0].issues.length);
  expect(found.files[0].path).toBe("mistakes.cassette.json");
  expect(found.files[0].issues[0]).toEqual({
    severity: "error",
    line: 4,
    column: 85,
    path: "tracks[0].request.hedaers",
    message: expect.stringContaining('"headers"'),
  });
});

test("bytes that are no text have a place, too", async () => {
  await put("binary.cassette.json", Uint8Array.from([0x7b, 0x0a, 0xff, 0x7d]));
  const { status, stdout } = await lint("binary.cassette.json");
  expect(status).toBe(1);
  expect(stdout).toContain("binary.cassette.json:2:1 error byte 0xff at offset 2 is not UTF-8");
});

test("a file beside the cassette that is gone, or is another, is an error", async () => {
  const sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"; // of "hello"
  const file = { path: `big.files/${sha256}`, sha256, size: 5 };
  const track = sample.tracks[0] as Extract<(typeof sample.tracks)[0], { kind: "http" }>;
  const text = formatSealed({ ...sample, tracks: [{ ...track, response: { status: 200, body: { file } } }] });
  await put("big.cassette.json", text);
  const gone = await lint("big.cassette.json");
  expect(gone.status).toBe(1);
  expect(gone.stdout).toContain(`error tracks[0]: the file big.files/${sha256} beside big.cassette.json is not there`);
  await mkdir(join(scratch.folder, "big.files"));
  await put(file.path, "hallo");
  expect((await lint("big.cassette.json")).stdout).toContain("does not have the recorded digest");
  await put(file.path, "hello");
  expect(await lint("big.cassette.json")).toMatchObject({ status: 0, stdout: "1 file: no faults\n" });
});
