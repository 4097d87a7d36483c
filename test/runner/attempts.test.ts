import { expect, onTestFinished, test, vi } from "vitest";
import { decksOf, endOfFile, type TestHandle } from "../../src/runner/attempts.ts";
import { TestDecks } from "../../src/runner/test-decks.ts";

function handle(name: string): TestHandle & { end(): unknown } {
  const hooks: (() => unknown)[] = [];
  const task = { name, file: { filepath: "/repo/a.test.ts" }, result: { state: "pass" } };
  return {
    task: task as never,
    onTestFinished: (hook) => void hooks.push(hook as () => unknown),
    end: () => hooks.shift()?.(),
  };
}

test("an attempt has its decks, and the next one has others", async () => {
  const attempt = handle("retried");
  const first = decksOf(attempt);
  expect(decksOf(attempt)).toBe(first);
  await attempt.end();
  expect(first.ended).toBe(true);
  expect(decksOf(attempt)).not.toBe(first);
  await attempt.end();
  await endOfFile();
});

test("decks whose end does not come are reported at the end of the file, and only then", async () => {
  let settle = (): void => undefined;
  const finish = vi
    .spyOn(TestDecks.prototype, "finish")
    .mockReturnValue(new Promise<void>((resolve) => (settle = resolve)));
  onTestFinished(() => finish.mockRestore());
  const slow = handle("slow");
  decksOf(slow);
  const end = slow.end();
  await expect(endOfFile(20)).rejects.toThrow('The decks of the test "a.test.ts > slow" were never finished');
  settle();
  await end;
  await endOfFile(20);
});

test("the end of a file waits for what is being finished", async () => {
  const slow = handle("late");
  const finish = vi
    .spyOn(TestDecks.prototype, "finish")
    .mockReturnValue(new Promise((resolve) => setTimeout(resolve, 30)));
  onTestFinished(() => finish.mockRestore());
  decksOf(slow);
  void slow.end();
  await endOfFile();
});
