import { describe, expect, test } from "vitest";
import * as report from "../../src/engine/report.ts";
import * as errors from "../../src/errors.ts";

const t1 = { id: "t1", line: 12, summary: "POST https://api.example.com/chat" };
const t2 = { id: "t2", line: 40, summary: "POST https://api.example.com/chat" };
const bare = { id: "t9", line: 0, summary: undefined };
const scene = { cassette: "chat.cassette.json", lane: undefined, tracks: 3, left: 1 };
const request = "POST https://api.example.com/chat";
const nothing = { last: undefined, nearest: undefined, givenUp: 0 };

/** Each situation, and the whole text that people read. */
const situations: [string, string, string][] = [
  [
    "asked once more than recorded",
    report.exhaustedText({ ...nothing, request, scene, recorded: 1, asked: 2, playedBy: [{ track: t1, request: 4 }] }),
    `POST https://api.example.com/chat was recorded once and is asked for a 2nd time.
  cassette  chat.cassette.json (3 tracks, 1 not yet played)
  played    track t1 (line 12) POST https://api.example.com/chat answered request 4
  next      if the program should ask once less, look for the loop or retry that asks again; if it may ask so often, give the track "repeat": N; else record again with WIRETAPE_MODE=rerecord`,
  ],
  [
    "asked for the twenty-second time, given up before, nothing left, in a lane of one track",
    report.exhaustedText({
      ...nothing,
      request,
      scene: { ...scene, lane: "planner", tracks: 1, left: 0 },
      recorded: 2,
      asked: 22,
      playedBy: [
        { track: t1, request: 1 },
        { track: bare, request: 2 },
      ],
      last: t2,
      givenUp: 2,
    }),
    `POST https://api.example.com/chat was recorded twice and is asked for a 22nd time.
  cassette  chat.cassette.json, lane planner (1 track, 0 not yet played)
  played    track t1 (line 12) POST https://api.example.com/chat answered request 1, track t9 answered request 2
  given up  2 requests before any part of the answer came
  last      track t2 (line 40) POST https://api.example.com/chat was the last one played
  next      if the program should ask once less, look for the loop or retry that asks again; if it may ask so often, give the track "repeat": N; else record again with WIRETAPE_MODE=rerecord`,
  ],
  [
    "past the end of several tracks",
    report.exhaustedText({
      ...nothing,
      request,
      scene: { ...scene, left: 0 },
      recorded: 0,
      asked: 1,
      playedBy: [],
      last: t2,
      nearest: { track: t1, differences: [{ path: "/body/input", recorded: "one", asked: "two" }] },
      givenUp: 1,
    }),
    `POST https://api.example.com/chat is past the end of the recording: all 3 tracks of the main lane were played.
  cassette  chat.cassette.json (3 tracks, 0 not yet played)
  given up  1 request before any part of the answer came
  last      track t2 (line 40) POST https://api.example.com/chat was the last one played
  nearest   track t1 (line 12) POST https://api.example.com/chat, which differs in one place:
              /body/input: recorded "one", now "two"
  next      look for what asks more than was recorded, add a track by hand, or record more with WIRETAPE_MODE=extend`,
  ],
  [
    "past the end of a lane of one track",
    report.exhaustedText({
      ...nothing,
      request,
      scene: { ...scene, lane: "planner", tracks: 1, left: 0 },
      recorded: 0,
      asked: 1,
      playedBy: [],
    }),
    `POST https://api.example.com/chat is past the end of the recording: the one track of lane planner was played.
  cassette  chat.cassette.json, lane planner (1 track, 0 not yet played)
  next      look for what asks more than was recorded, add a track by hand, or record more with WIRETAPE_MODE=extend`,
  ],
  [
    "past the end of a part of a lane that is told as one thing",
    report.exhaustedText({
      ...nothing,
      request: "send to thread a",
      scene,
      recorded: 0,
      asked: 1,
      playedBy: [],
      last: { id: "t2", line: 40, summary: "send" },
      script: { name: "thread a", unit: "action", tracks: 2 },
    }),
    `send to thread a is past the end of the recording: all 2 actions of thread a were played.
  cassette  chat.cassette.json (3 tracks, 1 not yet played)
  last      track t2 (line 40) send was the last one played
  next      look for what asks more than was recorded, add a track by hand, or record more with WIRETAPE_MODE=extend`,
  ],
  [
    "never recorded, with many differences",
    report.unrecordedText({
      request,
      scene,
      nearest: {
        track: t2,
        differences: [
          { path: "/body/a", recorded: 1, asked: undefined },
          { path: "/body/b", recorded: undefined, asked: null },
          { path: "/body/c", recorded: "x".repeat(200), asked: [] },
          { path: "/body/d", recorded: 1, asked: 2 },
          { path: "/body/e", recorded: 1, asked: 2 },
          { path: "/body/f", recorded: 1, asked: 2 },
          { path: "/body/g", recorded: 1, asked: 2 },
        ],
      },
    }),
    `POST https://api.example.com/chat was never recorded.
  cassette  chat.cassette.json (3 tracks, 1 not yet played)
  nearest   track t2 (line 40) POST https://api.example.com/chat, which differs in 7 places:
              /body/a: recorded 1, absent now
              /body/b: not recorded, now null
              /body/c: recorded "${"x".repeat(59)}… (202 characters), now []
              /body/d: recorded 1, now 2
              /body/e: recorded 1, now 2
              and 2 more
  next      make the request as it was recorded, put what may differ into match.ignore (for example "/body/requestId"), or record it with WIRETAPE_MODE=extend`,
  ],
  [
    "not its turn",
    report.outOfOrderText({ request, scene, found: t2, expected: t1 }),
    `POST https://api.example.com/chat is recorded as track t2 (line 40) POST https://api.example.com/chat, but it is not its turn.
  cassette  chat.cassette.json (3 tracks, 1 not yet played)
  expected  track t1 (line 12) POST https://api.example.com/chat comes next in the main lane
  next      make the requests in the recorded order, give concurrent parts lanes of their own (deck.lane("name")), or use match.order "identity"`,
  ],
  [
    "stalled for a second",
    report.stalledText({
      cassette: "chat.cassette.json",
      held: [{ track: t1, what: "chunk 2", waitsFor: "the request of track t2" }],
      seconds: 1,
    }),
    `The replay stands still: chunk 2 of track t1 (line 12) POST https://api.example.com/chat is held by a gate that nothing has opened for 1 second.
  cassette  chat.cassette.json
  waits     chunk 2 of track t1 (line 12) POST https://api.example.com/chat waits for the request of track t2
  next      make the request that is waited for, or take the "after" out of the cassette; a program that is only slow needs a larger stallAfterMs`,
  ],
  [
    "stalled in many places",
    report.stalledText({
      cassette: "c",
      held: Array.from({ length: 12 }, () => ({
        track: bare,
        what: "the head",
        waitsFor: "the requests of tracks t1, t2",
      })),
      seconds: 0.05,
    }),
    `The replay stands still: the head of track t9 is held by a gate that nothing has opened for 0.05 seconds.
  cassette  c
${"  waits     the head of track t9 waits for the requests of tracks t1, t2\n".repeat(10)}            and 2 more
  next      make the request that is waited for, or take the "after" out of the cassette; a program that is only slow needs a larger stallAfterMs`,
  ],
  [
    "one track unplayed",
    report.unplayedText({ scene, unplayed: [t2] }),
    `A recorded track was never asked for.
  cassette  chat.cassette.json (2 of 3 tracks played)
  unplayed  track t2 (line 40) POST https://api.example.com/chat
  next      if the program should not ask for it any more, record again with WIRETAPE_MODE=rerecord or delete it; if it may leave it out, mark it "optional": true; or open the deck with unplayed: "ignore"`,
  ],
  [
    "many tracks unplayed",
    report.unplayedText({
      scene: { ...scene, tracks: 11, left: 11 },
      unplayed: Array.from({ length: 11 }, () => bare),
    }),
    `11 recorded tracks were never asked for.
  cassette  chat.cassette.json (0 of 11 tracks played)
${"  unplayed  track t9\n".repeat(10)}            and 1 more
  next      if the program should not ask for them any more, record again with WIRETAPE_MODE=rerecord or delete them; if it may leave them out, mark them "optional": true; or open the deck with unplayed: "ignore"`,
  ],
  [
    "several violations",
    report.violationsText(["a\nmore of a", "b\nmore of b", "c", "d", "e", "f", "g"]),
    `The deck saw 7 violations. The first:
a
more of a
also: b
also: c
also: d
also: e
and 2 more, in error.details.violations`,
  ],
  [
    "no cassette",
    report.missingText({ path: "a/chat.cassette.json", mode: "replay", reason: "CI is set" }),
    `There is no cassette at a/chat.cassette.json, and the mode is replay (CI is set).
  next      record it: run once with WIRETAPE_MODE=record, or outside CI with no mode at all`,
  ],
  [
    "a cassette in the way",
    report.existsText("a/chat.cassette.json"),
    `a/chat.cassette.json exists, and a recording is never written over another.
  next      replay it (mode auto or replay), add to it (extend), or replace it on purpose (WIRETAPE_MODE=rerecord)`,
  ],
];

test.each(situations)("the text for: %s", (_, text, expected) => {
  expect(text).toBe(expected);
});

test("every text of the page is pinned above", () => {
  const pinned = situations.map(([, text]) => text).join("\n");
  const beginnings: Record<string, string> = {
    exhaustedText: "was recorded once",
    unrecordedText: "was never recorded",
    outOfOrderText: "not its turn",
    stalledText: "stands still",
    unplayedText: "never asked for",
    violationsText: "The deck saw",
    missingText: "There is no cassette",
    existsText: "is never written over",
    place: "track t9",
    differenceLines: "recorded",
  };
  expect(Object.keys(report).sort()).toEqual(Object.keys(beginnings).sort());
  for (const part of Object.values(beginnings)) expect(pinned).toContain(part);
});

describe("nothing of ours looks like a time limit or an abort to an SDK", () => {
  test.each(situations)("the text for: %s", (_, text) => {
    expect(text).not.toMatch(/timed? ?out/i);
    expect(text).not.toMatch(/abort/i);
  });

  test("the names of the errors", () => {
    const classes = Object.values(errors).filter((value) => typeof value === "function" && "label" in value);
    expect(classes.length).toBeGreaterThan(18);
    for (const { label } of classes as { label: string }[]) expect(label).not.toMatch(/abort|time/i);
  });
});

test("ordinals and counts are those of English", () => {
  const nth = (asked: number): string =>
    /is asked for (an? \S+) time/.exec(
      report.exhaustedText({ ...nothing, request, scene, recorded: 1, asked, playedBy: [] }),
    )![1]!;
  expect([2, 3, 4, 8, 11, 12, 13, 18, 21, 22, 23, 80, 101, 111, 112, 118, 800].map(nth).join(", ")).toBe(
    "a 2nd, a 3rd, a 4th, an 8th, an 11th, a 12th, a 13th, an 18th, a 21st, a 22nd, a 23rd, an 80th, a 101st, a 111th, a 112th, a 118th, an 800th",
  );
});
