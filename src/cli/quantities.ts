const UNITS = ["B", "KiB", "MiB", "GiB"] as const;

/** A size for people: `812 B`, `1.4 KiB`. */
export function formatBytes(bytes: number): string {
  let unit = 0;
  let size = bytes;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}

/** A duration for people: `41 ms`, `1.25 s`, `3 min 20 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `1 track`, `3 tracks`, `1,204 tracks`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${formatNumber(n)} ${n === 1 ? one : many}`;
}

/** A whole number with its thousands apart, the same in every locale. */
export function formatNumber(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}
