import { httpTarget } from "../boundary/http/target.ts";
import { parseCassette } from "../cassette/parse.ts";
import type { Tier } from "../drive/compare.ts";
import { drift as driftCassette } from "../drive/drift.ts";
import { OptionInvalid } from "../errors.ts";
import { printableLines } from "./printable.ts";
import { readCassetteText } from "./read-input.ts";
import type { Terminal } from "./terminal.ts";

export interface DriftCommandOptions {
  readonly target: string;
  readonly header?: readonly string[] | undefined;
  readonly track?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly failOn?: readonly string[] | undefined;
  readonly link?: readonly string[] | undefined;
  readonly json?: true | undefined;
}

/** `wiretape drift`: what changed between a cassette and the live service. 1 where something that matters has. */
export async function drift(path: string, options: DriftCommandOptions, terminal: Terminal): Promise<number> {
  const cassette = parseCassette(await readCassetteText(path), { path });
  const headers = pairs(options.header ?? [], ":", "--header", "authorization: Bearer …");
  const { text, ...report } = await driftCassette(cassette, httpTarget(options.target, { headers }), {
    ...(options.track !== undefined && { tracks: options.track }),
    ...(options.ignore !== undefined && { ignore: options.ignore }),
    ...(options.failOn !== undefined && { failOn: options.failOn as readonly Tier[] }),
    ...(options.link !== undefined && { links: pairs(options.link, "=", "--link", "order_1=order_7") }),
    // What was sent as a header is a secret until somebody says otherwise.
    redact: { values: Object.values(headers).filter((value) => value.length >= 8) },
  });
  if (options.json) terminal.json({ cassette: path, ...report });
  else for (const line of printableLines(text).split("\n")) terminal.line(line);
  return report.ok ? 0 : 1;
}

function pairs(texts: readonly string[], separator: string, option: string, example: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(separator);
      if (at < 1) throw new OptionInvalid(`${option} takes a name and a value, as ${JSON.stringify(example)}.`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );
}
