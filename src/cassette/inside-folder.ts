/** Why a name may not be a file below a folder; `undefined` where it may. */
export function whyOutside(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.includes("\0")) return "holds a NUL character";
  if (name.includes("\\")) return "holds a backslash (write /)";
  if (/^[A-Za-z]:/.test(name)) return "begins with a drive letter";
  if (name.startsWith("/")) return "is an absolute path";
  if (name.split("/").some((step) => step === "" || step === "." || step === ".."))
    return 'leaves the folder or walks in it (an empty step, "." or "..")';
  return undefined;
}
