import { expect, test } from "vitest";
import { ScriptExhausted, WiretapeError } from "wiretape";
import { hiddenBy, isShown, outcomeOf, withLead } from "../../src/runner/verdict.ts";

const state = (value: string, fails = false, messages: string[] = []) => ({
  fails,
  result: { state: value, errors: messages.map((message) => ({ message })) },
});

test("the outcome is that of the attempt; errors of earlier attempts do not count", () => {
  expect(outcomeOf(state("pass", false, ["of the first attempt"]))).toBe("passed");
  expect(outcomeOf(state("run"))).toBe("passed");
  expect(outcomeOf(state("fail"))).toBe("failed");
  expect(outcomeOf(state("skip"))).toBe("failed");
  expect(outcomeOf({})).toBe("failed");
});

test("a test that is marked as failing goes as it should when it failed", () => {
  expect(outcomeOf(state("fail", true))).toBe("passed");
  expect(outcomeOf(state("pass", true))).toBe("failed");
});

test("which tests hide an error that a hook throws", () => {
  expect(hiddenBy(state("pass"))).toBeUndefined();
  expect(hiddenBy(state("fail"))).toBeUndefined();
  expect(hiddenBy(state("skip"))).toMatch(/skipped itself/);
  expect(hiddenBy(state("fail", true))).toMatch(/marked as failing/);
  expect(hiddenBy(state("pass", true))).toMatch(/marked as failing/);
});

test("an error is shown twice only where nobody would see it once", () => {
  const error = new Error("asked once too often");
  expect(isShown(state("fail", false, ["asked once too often"]), error)).toBe(true);
  expect(isShown(state("fail", false, ["Connection error."]), error)).toBe(false);
  expect(isShown(state("pass", false, ["asked once too often"]), error)).toBe(false);
});

test("a lead changes the message and nothing else", () => {
  const error = new ScriptExhausted("asked once too often", { asked: 2 });
  const told = withLead("In the test:", error) as WiretapeError;
  expect(told).toBeInstanceOf(WiretapeError);
  expect(told).toMatchObject({ name: "ScriptExhausted", code: "script-exhausted", details: { asked: 2 } });
  expect(told.message).toBe("In the test:\nasked once too often");
  expect(told.stack).toBe(error.stack?.replace("asked once", "In the test:\nasked once"));
  expect(error.message).toBe("asked once too often");
  expect(withLead("In the test:", "no error")).toBe("no error");
});
