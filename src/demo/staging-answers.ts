/**
 * What the staging server's assistant says. It knows a little about trains, orders and the weather, and depends on
 * the prompt alone: the same question gets the same words.
 */

/** A small stable number for a text (FNV-1a, 32 bits). */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** The city that a text asks about ("… in New York"), else Vienna. */
export function cityOf(prompt: string): string {
  return /\b(?:in|to|for) (\p{Lu}[\p{L}-]+(?: \p{Lu}[\p{L}-]+)*)/u.exec(prompt)?.[1] ?? "Vienna";
}

/** Whether a text asks about the weather. */
export function asksForWeather(prompt: string): boolean {
  return /\bweather\b/i.test(prompt);
}

/** The assistant's answer to a prompt. */
export function answerTo(prompt: string): string {
  const hash = textHash(prompt);
  const city = cityOf(prompt);
  if (asksForWeather(prompt)) return `It is ${8 + (hash % 20)} °C in ${city}, with a light wind and a clear sky. ☀️`;
  if (/\btrains?\b/i.test(prompt)) {
    const time = `${20 + (hash % 3)}:${10 + (hash % 49)}`;
    return `The night train to ${city} leaves at ${time} from platform ${1 + (hash % 9)}. Shall I reserve a bed?`;
  }
  if (/\borders?\b/i.test(prompt)) {
    const order = /\d+/.exec(prompt)?.[0] ?? String(1000 + (hash % 9000));
    return `Order ${order} left the warehouse this morning and should be with you on Thursday.`;
  }
  if (/^(?:hello|hi|hey)\b/i.test(prompt.trim())) {
    return "Hello! I can look up trains, orders and the weather. What do you need?";
  }
  const words = prompt.trim().split(/\s+/);
  const excerpt = words.slice(0, 8).join(" ") + (words.length > 8 ? " …" : "");
  return `You wrote “${excerpt}”. I know about trains, orders and the weather; ask me about one of those.`;
}

/** Cuts an answer into the pieces in which it streams: one to three words each, joined they are the answer. */
export function deltasOf(answer: string): string[] {
  const words = answer.match(/\s*\S+/g) ?? [];
  const deltas: string[] = [];
  for (let start = 0; start < words.length; ) {
    const size = 1 + (textHash(words[start] ?? "") % 3);
    deltas.push(words.slice(start, start + size).join(""));
    start += size;
  }
  return deltas;
}
