/** A server-sent event as a program gets it: without comments, its data in one. */
export interface ReadEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data: string;
}

/**
 * Reads a stream of server-sent events as the standard says (https://html.spec.whatwg.org/#event-stream-interpretation),
 * however it is torn: any line end, fields in any order, an event that is not ended is none.
 */
export function createEventReader(): { push(bytes: Uint8Array): ReadEvent[] } {
  const decoder = new TextDecoder();
  let rest = "";
  let event: string | undefined;
  let id: string | undefined;
  let data: string[] = [];

  function line(text: string): ReadEvent | undefined {
    if (text === "") {
      const whole =
        data.length === 0
          ? undefined
          : { ...(event !== undefined && { event }), ...(id !== undefined && { id }), data: data.join("\n") };
      [event, id, data] = [undefined, undefined, []];
      return whole;
    }
    const colon = text.indexOf(":");
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id") id = value;
    return undefined;
  }

  return {
    push(bytes) {
      rest += decoder.decode(bytes, { stream: true });
      // A carriage return at the end may be the first half of a line end.
      const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
      const lines = whole.split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? "") + rest.slice(whole.length);
      return lines.flatMap((text) => line(text) ?? []);
    },
  };
}
