import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import tls from "node:tls";

/** What keeps a process off the network. */
export interface OfflineGuard {
  /** What was touched since it was armed: `net.connect`, `dns.lookup`. A program may swallow the error; this stays. */
  readonly touched: string[];
}

/** The `code` of the error that a touch throws. */
export const OFFLINE_CODE = "ERR_OFFLINE";

const key = Symbol.for("wiretape.demo.offline");

/** The guard of this process, or `undefined` where none was armed. */
export function offlineGuard(): OfflineGuard | undefined {
  return (globalThis as { [key]?: OfflineGuard })[key];
}

/**
 * Makes everything in `net`, `tls`, `dgram` and `dns` that reaches another program throw from now on, for every module
 * of this process, those included that are loaded already and the platform's own `fetch`.
 */
export function armOfflineGuard(): OfflineGuard {
  const guard: OfflineGuard = { touched: [] };
  const refuse = (owner: object, name: string, as: string): void => {
    if (typeof (owner as Record<string, unknown>)[name] !== "function") return;
    const refused = (): never => {
      guard.touched.push(as);
      throw Object.assign(new Error(`${as} was touched in a process that is offline`), { code: OFFLINE_CODE });
    };
    Object.defineProperty(owner, name, { value: refused, configurable: true, writable: true, enumerable: true });
  };
  for (const name of ["connect", "createConnection"]) refuse(net, name, `net.${name}`);
  refuse(net.Socket.prototype, "connect", "net.Socket.connect");
  refuse(net.Server.prototype, "listen", "net.Server.listen");
  refuse(tls, "connect", "tls.connect");
  refuse(dgram, "createSocket", "dgram.createSocket");
  for (const name of ["bind", "connect", "send"]) refuse(dgram.Socket.prototype, name, `dgram.Socket.${name}`);
  const lookups = Object.keys(dns).filter((name) => /^(lookup|resolve|reverse)/.test(name));
  for (const name of lookups) {
    refuse(dns, name, `dns.${name}`);
    refuse(dns.promises, name, `dns.promises.${name}`);
    refuse(dns.Resolver.prototype, name, `dns.Resolver.${name}`);
    refuse(dns.promises.Resolver.prototype, name, `dns.promises.Resolver.${name}`);
  }
  // Named imports of these modules are copies of their properties.
  syncBuiltinESMExports();
  (globalThis as { [key]?: OfflineGuard })[key] = guard;
  return guard;
}

/**
 * Touches the network on purpose, in five ways, and gives the names of those that the guard refused. Nothing leaves the
 * process where it is armed.
 */
export async function proveOffline(guard: OfflineGuard): Promise<string[]> {
  const attempts: Record<string, () => unknown> = {
    net: () => net.connect(9, "127.0.0.1").destroy(),
    tls: () => tls.connect(9, "127.0.0.1").destroy(),
    dgram: () => dgram.createSocket("udp4").close(),
    dns: () => dns.promises.lookup("localhost"),
    // fetch refuses low ports by itself, and never touches a socket then
    fetch: () => fetch("http://127.0.0.1:50009/"),
  };
  const refused: string[] = [];
  const before = guard.touched.length;
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
    } catch (error) {
      const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
      if (code === OFFLINE_CODE || cause?.code === OFFLINE_CODE) refused.push(name);
    }
  }
  guard.touched.splice(before);
  return refused;
}
