import { type ChildProcess, spawn as nodeSpawn } from "node:child_process";
import type { ProcessTrack } from "../../cassette/schema.ts";
import { type Claim, type Lane, type Session, sessionOf } from "../../engine/session.ts";
import { OptionInvalid } from "../../errors.ts";
import { type SpawnFacts, spawnFacts } from "./child-arguments.ts";
import { createChildDouble } from "./child-double.ts";
import type { ProcessScript } from "./child-script.ts";
import { signalOf } from "./child-signals.ts";
import { stdioPlans } from "./child-stdio.ts";
import { playProcess } from "./played-process.ts";
import { processRequests, spawnRequest } from "./process-requests.ts";
import { recordSpawn } from "./record-spawn.ts";

type Spawn = typeof nodeSpawn;

/**
 * `child_process.spawn` on tape, or any function of its shape.
 *
 * While recording, the program gets the real child; its arguments, folder, what it is written and what it says, signals and
 * how it ends go into a track. In replay nothing is started: the program gets a double, an instance of Node's own
 * `ChildProcess`, that says the same in the same order when the program has done what it did before.
 *
 * Command, arguments and folder count for identity (`/command`, `/argv`, `/cwd` in `match.ignore`), with paths of this
 * machine replaced: `<cwd>`, `<home>`, `<tmp>`, `<node>`, `<node_modules>`. What is written to the child counts line by line
 * (`/frame`); ids of Claude's control protocol and of JSON-RPC may differ. Of the environment a few harmless names are kept.
 *
 * Errors, thrown by `spawn`: `ScriptExhausted`, `UnrecordedRequest`, `OutOfOrder`. On the child's `stdin`, which ends the child:
 * `FrameMismatch`, `ScriptExhausted`. As the child's `error` event: `ReplayStalled`, and what the recorded spawn failed with.
 * An IPC channel is `OptionInvalid`.
 *
 * In replay a child's `exit` comes behind the last of its output and with the end of both streams, an order that Node gives
 * too; a write to a child that no longer reads does not fail; the `pid` is nobody's, so a kill by number reaches nothing.
 */
export function tapeSpawn(deck: Lane, spawn: Spawn = nodeSpawn): Spawn {
  const session = sessionOf(deck);
  if (session.mode === "live") return spawn;
  const taped = (...given: unknown[]): ChildProcess => {
    const facts = spawnFacts(given[0], given[1], given[2]);
    refuseWrongOptions(facts);
    // None of it is kept, but the child may say what it was given, and be told of it.
    session.redactor.environment(facts.spawnOptions.env ?? {});
    const request = spawnRequest(facts);
    const claim = session.admit().claim(processRequests, request);
    if (claim instanceof Promise) return play(facts, (over) => claimedLater(session, claim, facts, over));
    if ("play" in claim) {
      const child = play(facts, (over) => playProcess(claim.play, session, facts.command, over));
      // A program that never started has no number, from the first moment.
      return (claim.play.track as ProcessTrack).fault === undefined ? child : Object.assign(child, { pid: undefined });
    }
    return recordSpawn(session, claim.record, request, facts, () =>
      (spawn as (...args: unknown[]) => ChildProcess)(...given),
    );
  };
  return taped as Spawn;
}

/** Makes the double. When the deck is finished it keeps the process alive no more: nothing can come. */
function play(facts: SpawnFacts, script: (over: () => void) => ProcessScript): ChildProcess {
  const child: ChildProcess = createChildDouble(
    script(() => child.unref()),
    facts,
  );
  return child;
}

// What makes a spawn impossible must not take a track with it.
function refuseWrongOptions({ spawnOptions: { stdio, killSignal } }: SpawnFacts): void {
  stdioPlans(stdio);
  if (killSignal !== undefined) signalOf(killSignal);
}

/** A request that was made before is still being read: which track is played is known later, and its errors are the child's. */
function claimedLater(session: Session, claim: Promise<Claim>, facts: SpawnFacts, over: () => void): ProcessScript {
  let script!: ProcessScript;
  return {
    async opened() {
      const settled = await claim;
      if (!("play" in settled)) {
        settled.record.drop();
        throw session.fail(
          new OptionInvalid(
            `${facts.command} was to be recorded, and a request of the same lane that was made before is still being read.\n  next      spawn it in a lane of its own: tapeSpawn(deck.lane("cli"))`,
            { command: facts.command },
          ),
        );
      }
      script = playProcess(settled.play, session, facts.command, over);
      await script.opened();
    },
    next: () => script.next(),
    stdin: (bytes) => script.stdin(bytes),
    stdinEnded: () => script.stdinEnded(),
    killed: (signal) => script.killed(signal),
  };
}
