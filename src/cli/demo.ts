import { type DemoResult, type DemoStep, runDemo } from "../demo/demo.ts";
import { columns, shorten } from "./columns.ts";
import { printable } from "./printable.ts";
import { count, formatBytes, formatDuration } from "./quantities.ts";
import type { Terminal } from "./terminal.ts";

export interface DemoOptions {
  readonly dir: string;
  readonly json?: true | undefined;
}

/** `wiretape demo`: the whole of it in one run. 1 where anything differs. */
export async function demo({ dir, json }: DemoOptions, terminal: Terminal): Promise<number> {
  const result = await runDemo(dir, json ? () => undefined : printer(terminal));
  if (json) terminal.json(summary(result));
  else printEnd(result, terminal);
  return result.faults.length > 0 ? 1 : 0;
}

const NAMES = 25;

/** Prints each step when it is done. */
function printer(terminal: Terminal): (step: DemoStep) => void {
  const { color, line } = terminal;
  let number = 0;
  const done = (what: string, detail: string, milliseconds?: number): void => {
    const time = milliseconds === undefined ? "" : formatDuration(milliseconds);
    const room = Math.max(20, Math.min(terminal.width, 100) - NAMES - 5 - 8);
    const shown = shorten(printable(detail), time === "" ? room + 8 : room);
    const aligned = time === "" ? "" : " ".repeat(room - columns(shown)) + color.dim(time.padStart(8));
    line(`  ${color.cyan(String(++number))}  ${color.bold(what.padEnd(NAMES))}${shown}${aligned}`);
  };
  const more = (what: string, detail: string): void =>
    line(
      `     ${color.dim(what.padEnd(NAMES))}${color.dim(shorten(printable(detail), Math.max(20, terminal.width - NAMES - 5)))}`,
    );

  line();
  return (step) => {
    switch (step.step) {
      case "served":
        done("start a staging server", step.url, step.milliseconds);
        return done("record a session", "a real program, a real socket");
      case "asked":
        return more(`  ${step.name}`, step.detail);
      case "recorded":
        more("", `${count(step.requests, "request")} on tape in ${formatDuration(step.milliseconds)}`);
        return more("", `secrets replaced in ${count(step.replacements, "place")}, before any disk`);
      case "stopped":
        return done("stop the server", "from here on there is nobody to ask", step.milliseconds);
      case "replayed": {
        const { refused, touched, played, milliseconds } = step.replay;
        const last = refused.at(-1);
        const what =
          last === undefined ? "which is NOT offline" : `where ${refused.slice(0, -1).join(", ")} and ${last} throw`;
        done("replay in a new process", what, step.milliseconds);
        more("", `${count(played, "track")} played in ${formatDuration(milliseconds)}`);
        return more("", touched.length === 0 ? "the network was not touched" : `touched: ${touched.join(", ")}`);
      }
      case "agent": {
        const { tracks, events, differences, onceMore, edited } = step.agent;
        const same = differences.length === 0 ? "each event the same text" : count(differences.length, "difference");
        done("an agent, the same way", "a watch, two questions, a retry", step.milliseconds);
        more("", `${count(tracks, "track")}, ${count(events, "event")}: ${same}`);
        // "ScriptExhausted: send … is past the end of the recording: all of it was played."
        more("", `a third question: ${onceMore.replace(/: .*: /, ", ")}`);
        return more("", `edited by hand: "${edited.word}" is ${edited.seen ? "seen" : "not seen"}`);
      }
      case "compared": {
        const { answers, bytes, chunks, redacted, differences } = step.comparison;
        const same = differences.length === 0;
        done(
          "compare",
          same ? "every byte and every chunk boundary is the same" : count(differences.length, "difference"),
        );
        more("", `${count(answers, "answer")}, ${formatBytes(bytes)}, ${count(chunks, "chunk")}`);
        if (redacted.places > 0)
          more(
            "",
            `but for ${count(redacted.values, "secret")}, seen as pseudonyms in ${count(redacted.places, "place")}`,
          );
      }
    }
  };
}

function printEnd({ cassette, kept, faults, replayed, agent }: DemoResult, terminal: Terminal): void {
  const { color, line, width } = terminal;
  const { thrown, finish, request } = replayed.onceMore;
  line(
    `  ${color.cyan("7")}  ${color.bold("ask once too often".padEnd(NAMES))}${printable(request)}, once more than was recorded`,
  );
  line();
  if (thrown !== undefined)
    for (const [i, text] of `${thrown.name}: ${thrown.message}`.split("\n").entries())
      for (const part of wrap(printable(text), width - 7))
        line(`       ${i === 0 ? color.red(part) : color.dim(part)}`);
  line();
  if (finish !== undefined)
    line(
      `     The program swallowed it. ${color.bold("deck.finish()")} threw it all the same: a test would have failed.`,
    );
  line();
  const shown = printable(cassette);
  if (faults.length > 0) {
    line(color.red(`  ${count(faults.length, "thing")} went wrong:`));
    for (const fault of faults) line(`  ${printable(fault)}`);
    return;
  }
  for (const path of kept) line(`  ${printable(path)} was edited, and was left alone.`);
  line(`  The cassettes are text files, yours to open and to edit:`);
  line();
  line(`    ${color.green(shown)}`);
  line(`    ${color.green(printable(agent.cassette))}`);
  line();
  line(`  npx wiretape show ${shown}`);
  line(`  npx wiretape show ${shown} --track t3     ${color.dim("a watch stream, chunk by chunk")}`);
  line(`  npx wiretape lint ${shown}                ${color.dim("after an edit")}`);
  line();
}

/** Breaks a line at spaces; what follows is indented as the text in its second column is. */
function wrap(text: string, width: number): string[] {
  const hang = /^\s+(?:\S+\s{2,})?/.exec(text)?.[0].length ?? 0;
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/(?<=\S)\s(?=\S)/)) {
    if (line !== "" && columns(line) + 1 + columns(word) > width) {
      lines.push(line);
      line = " ".repeat(hang) + word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
}

function summary({ cassette, kept, faults, recorded, replayed, comparison, agent }: DemoResult): object {
  const { armed, refused, touched, played, milliseconds, onceMore } = replayed;
  return {
    ok: faults.length === 0,
    cassette,
    kept,
    recorded,
    replayed: { armed, refused, touched, played, milliseconds },
    compared: comparison,
    onceMore,
    agent,
    faults,
  };
}
