/** Whether a path is the place of a JSON Pointer, or lies below it; `*` in the pointer is any key or index. */
export function matchesPointer(pointer: string, path: string): boolean {
  const [wanted, steps] = [pointer.split("/"), path.split("/")];
  return wanted.length <= steps.length && wanted.every((step, i) => step === "*" || step === steps[i]);
}
