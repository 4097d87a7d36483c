import fc from "fast-check";
import { expect, test } from "vitest";
import { answerTo, cityOf, deltasOf } from "../../src/demo/staging-answers.ts";

test("the deltas of an answer are the answer", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (prompt) => {
      const answer = answerTo(prompt);
      const deltas = deltasOf(answer);
      expect(deltas.join("")).toBe(answer);
      expect(deltas.length).toBeGreaterThan(2);
    }),
  );
});

test("the answer follows the prompt", () => {
  expect(answerTo("Hi!")).toContain("Hello!");
  expect(answerTo("Tell me a story")).toContain("“Tell me a story”");
  expect(answerTo("one two three four five six seven eight nine")).toContain("seven eight …”");
  expect(new Set(["Graz", "Linz", "Bern", "Rome"].map((city) => answerTo(`A train to ${city}?`))).size).toBe(4);
});

test("a city is found by its capital letter", () => {
  expect(["weather in New York?", "a train to Košice", "weather"].map(cityOf)).toEqual([
    "New York",
    "Košice",
    "Vienna",
  ]);
});
