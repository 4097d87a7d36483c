// npm run bench [-- --rounds N --only replay,load]: every figure is a ratio to a floor measured in the same round, each
// measurement in a process of its own, peers in turn. Targets are told, never enforced: machines differ.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { events, ORIGIN, post, small, writeBoth } from "./bench/workload.mjs";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, only: { type: "string" }, json: { type: "boolean" } },
});
const folder = mkdtempSync(join(tmpdir(), "wiretape-bench-"));
const sizes = [100, 1000, 10_000, 50_000];

writeBoth(
  folder,
  "small-10000",
  Array.from({ length: 10_000 }, (_, i) => small(i)),
);
for (const n of sizes)
  writeBoth(
    folder,
    `post-${n}`,
    Array.from({ length: n }, (_, i) => post(i)),
  );
const chunks = events(100_000);
writeBoth(folder, "events-100000", [
  {
    method: "GET",
    url: `${ORIGIN}/v1/stream`,
    status: 200,
    headers: [["content-type", "text/event-stream"]],
    chunks,
    body: chunks.join(""),
  },
]);

const plan = [
  { scenario: "replay", unit: "us/request", floor: "floor", peers: ["wiretape", "msw"], target: "<= 2" },
  { scenario: "load", unit: "ms", floor: "JSON.parse", peers: ["wiretape", "floor"], target: "<= 3" },
  ...sizes.map((n) => ({
    scenario: `lookup-${n}`,
    unit: "us/request",
    floor: "floor",
    peers: ["wiretape"],
    target: n === 50_000 ? "flat within 1.5 from 100 to 50,000" : "",
  })),
  {
    scenario: "stream",
    unit: "us/event",
    floor: "floor",
    peers: ["wiretape"],
    target: "<= 1.67 (0.6 of the floor's events per second)",
  },
].filter(({ scenario }) => values.only === undefined || values.only.split(",").includes(scenario.split("-")[0]));

const measure = (scenario, peer) =>
  JSON.parse(
    execFileSync(
      process.execPath,
      ["--expose-gc", join(import.meta.dirname, "bench/measure.mjs"), scenario, peer, folder],
      { encoding: "utf8", maxBuffer: 1 << 26 },
    ),
  );
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const rows = [];
const absolute = {};
for (const { scenario, unit, floor, peers, target } of plan) {
  const seen = Object.fromEntries([floor, ...peers].map((peer) => [peer, []]));
  for (let round = 0; round < Number(values.rounds); round++)
    for (const peer of [floor, ...peers]) seen[peer].push(measure(scenario, peer));
  for (const peer of [floor, ...peers]) {
    const figures = seen[peer].map(({ value }) => value);
    const ratio = median(figures.map((value, i) => value / seen[floor][i].value));
    rows.push({
      scenario,
      peer,
      unit,
      median: median(figures),
      min: Math.min(...figures),
      max: Math.max(...figures),
      ratio,
      rssMB: median(seen[peer].map(({ rssMB }) => rssMB)),
      target: peer === "wiretape" ? target : "",
    });
    absolute[`${scenario} ${peer}`] = median(figures);
  }
}
rmSync(folder, { recursive: true });
const growth = absolute["lookup-50000 wiretape"] / absolute["lookup-100 wiretape"];
if (values.json) console.log(JSON.stringify({ node: process.version, rows, growth }, null, 2));
else {
  console.log(
    `node ${process.version}, ${values.rounds} rounds, medians; a ratio is to the first row of its scenario, round by round\n`,
  );
  const cells = rows.map((r) => [
    r.scenario,
    r.peer,
    `${r.median.toFixed(2)} ${r.unit}`,
    `${r.min.toFixed(2)}–${r.max.toFixed(2)}`,
    `x${r.ratio.toFixed(2)}`,
    `${r.rssMB.toFixed(0)} MB`,
    r.target && `target ${r.target}`,
  ]);
  const widths = cells[0].map((_, i) => Math.max(...cells.map((row) => String(row[i]).length)));
  for (const row of cells)
    console.log(
      row
        .map((cell, i) => String(cell).padEnd(widths[i]))
        .join("  ")
        .trimEnd(),
    );
  if (Number.isFinite(growth))
    console.log(`\nlookup growth from 100 to 50,000 tracks: x${growth.toFixed(2)} (target <= 1.5)`);
}
