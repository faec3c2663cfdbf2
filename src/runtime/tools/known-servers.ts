import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { Clock } from '../../core/time/clock.ts';
import type { ServerTool } from './tool-server.ts';

/** Facts about a server from earlier connections with the same credentials. */
export interface KnownServer {
  /** Revision that it speaks; a connection that has it asks for none. */
  readonly revision: Fact<PriorDiscovery>;
  /** Tools that it lists, for as long as it allows them to be kept. */
  readonly tools: Fact<readonly ServerTool[]>;
}

/** A value with an end. */
export interface Fact<T> {
  get(): T | undefined;
  /** @param ms for which it holds, at most an hour; 0 and less: not at all */
  set(value: T, ms: number): void;
  forget(): void;
}

/** An hour, after which a server is asked again: it may have been updated. */
export const MAX_KNOWN_MS = 3_600_000;
const MAX_SERVERS = 500;

/** Facts by server and credentials, of this process. */
export function createKnownServers(clock: Clock): (key: string) => KnownServer {
  const servers = new Map<string, KnownServer>();
  return (key) => {
    const known = servers.get(key) ?? { revision: createFact(clock), tools: createFact(clock) };
    // The one that was used last is the last to leave.
    servers.delete(key);
    servers.set(key, known);
    const [oldest] = servers.keys();
    if (servers.size > MAX_SERVERS && oldest !== undefined) servers.delete(oldest);
    return known;
  };
}

function createFact<T>(clock: Clock): Fact<T> {
  let kept: { readonly value: T; readonly until: number } | undefined;
  return {
    get: () => (kept && clock.monotonic() < kept.until ? kept.value : undefined),
    set(value, ms) {
      kept = { value, until: clock.monotonic() + Math.min(ms, MAX_KNOWN_MS) };
    },
    forget: () => void (kept = undefined),
  };
}
