#!/usr/bin/env node
import { Command, CommanderError, Option } from "commander";
import { VERSION } from "../engine/version.ts";
import { reportFailure } from "./report-failure.ts";
import { openTerminal } from "./terminal.ts";

const terminal = openTerminal(process);
let status = 0;

// What reads our output may stop reading: `wiretape show x | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(status);
});

const program = new Command("wiretape")
  .description("Records what crosses a boundary of a program, and replays it byte for byte.")
  .version(VERSION)
  .exitOverride()
  .showHelpAfterError("(add --help for what is possible)")
  .addHelpText("after", "\nExit status: 0 fine, 1 what was asked about is not so, 2 wrong use.");

// A command is loaded when it is asked for: most of the time of a short command would be spent loading the others.
program
  .command("demo")
  .description("record a session against a bundled server, replay it offline, prove that nothing differs")
  .option("--dir <folder>", "where the cassette goes", "wiretape-demo")
  .addOption(json())
  .addHelpText("after", example("wiretape demo --dir /tmp/tape"))
  .action(run(async (options) => (await import("./demo.ts")).demo(options, terminal)));

program
  .command("ls")
  .description("list the cassettes below a folder")
  .argument("[folder]", "where to look", ".")
  .addOption(json())
  .addHelpText("after", example("wiretape ls test"))
  .action(run(async (folder, options) => (await import("./ls.ts")).ls(folder, options, terminal)));

program
  .command("show")
  .description("show a cassette as a table, or one of its tracks as a timeline")
  .argument("<file>", "a *.cassette.json file")
  .option("--track <id>", "show this track, frame by frame")
  .addOption(json())
  .addHelpText("after", example("wiretape show checkout.cassette.json --track t3"))
  .action(run(async (file, options) => (await import("./show.ts")).show(file, options, terminal)));

program
  .command("lint")
  .description("find every fault of cassettes, with line and column")
  .argument("<file...>", "*.cassette.json files")
  .addOption(json())
  .addHelpText("after", example("wiretape lint test/**/*.cassette.json"))
  .action(run(async (files, options) => (await import("./lint.ts")).lint(files, options, terminal)));

program
  .command("seal")
  .description("declare edited cassettes to be what is meant: every track becomes a recorded one")
  .argument("<file...>", "*.cassette.json files")
  .addOption(json())
  .addHelpText("after", example("wiretape seal checkout.cassette.json"))
  .action(run(async (files, options) => (await import("./seal.ts")).seal(files, options, terminal)));

program
  .command("recover")
  .description("make a cassette from the journal that a killed recording left")
  .argument("<journal>", "a *.recording.jsonl file")
  .option("-o, --output <file>", "the cassette to write; never over one that is there (default: beside the journal)")
  .option("--partial", "leave out lines that cannot be used")
  .option("--remove", "delete the journal afterwards")
  .addOption(json())
  .addHelpText("after", example("wiretape recover checkout.recording.jsonl"))
  .action(run(async (journal, options) => (await import("./recover.ts")).recover(journal, options, terminal)));

program
  .command("sweep")
  .description("derive the edge cases that nobody records: cut, torn, reset, doubled, late, failed once, malformed")
  .argument("<file>", "a *.cassette.json file")
  .requiredOption("-o, --output <folder>", "where the derived cassettes go; never over one that is there")
  .option("--track <id...>", "only these tracks")
  .option("--fault <type...>", "only these: cut, reset, tear, coalesce, duplicate, delay, status, empty, malformed")
  .option("--limit <count>", "at most so many cassettes (default: 500)")
  .option("--seed <number>", "chooses which, where there are more (default: 1)")
  .addOption(json())
  .addHelpText("after", example("wiretape sweep checkout.cassette.json -o sweep --fault cut tear"))
  .action(run(async (file, options) => (await import("./sweep.ts")).sweep(file, options, terminal)));

program
  .command("drift")
  .description("play a cassette into the live service, and tell what has changed since it was recorded")
  .argument("<file>", "a *.cassette.json file")
  .requiredOption("--target <url>", "where the service is; it takes the place of the recorded origin")
  .option("--header <header...>", 'sent with every request, as "name: value": credentials, which no cassette holds')
  .option("--track <id...>", "only these tracks")
  .option("--ignore <pointer...>", "places of answers that may differ: JSON Pointers with *, as /body/created")
  .option("--fail-on <tier...>", "what makes it fail: failed, status, events, removed, type, added, header, value")
  .option("--link <pair...>", "a recorded value and the live one, as order_1=order_7")
  .addOption(json())
  .addHelpText("after", example("wiretape drift checkout.cassette.json --target https://staging.example.com"))
  .action(run(async (file, options) => (await import("./drift.ts")).drift(file, options, terminal)));

function json(): Option {
  return new Option("--json", "print one JSON document, and nothing else");
}

function example(line: string): string {
  return `\nExample:\n  ${line}`;
}

/** An action that ends in an exit status. The command's own arguments come before its options. */
// biome-ignore lint/suspicious/noExplicitAny: commander hands over what the lines above declare
function run(action: (...parts: any[]) => Promise<number>): (...parts: any[]) => Promise<void> {
  return async (...parts) => {
    const options = parts.at(-2) as { json?: true };
    try {
      status = await action(...parts.slice(0, -1));
    } catch (error) {
      status = reportFailure(error, options.json === true, terminal);
    }
  };
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // It has been printed. Help and version are no failures.
  status = error.exitCode === 0 ? 0 : 2;
}
process.exitCode = status;
