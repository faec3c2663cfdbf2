import { Skip, type Probe, type Reply } from './probe.ts';

/** One promise, and how to see from outside whether it is kept. */
export interface Check {
  /** Id of the requirement. */
  id: string;
  title: string;
  /** Throws the fault, or {@link Skip}. */
  run(probe: Probe): Promise<void>;
}

/** Fails the check with the observed behaviour in place of the promised one. */
export function expectThat(holds: boolean, seen: string): void {
  if (!holds) throw new Error(seen);
}

export function expectEqual(what: string, seen: unknown, promised: unknown): void {
  const [is, should] = [seen, promised].map((value) => JSON.stringify(value) ?? 'absent');
  expectThat(is === should, `${what} is ${shorten(is ?? '')}, not ${should}`);
}

/**
 * Expects one of several statuses; a refusal for lack of a scope or of a model's protocol skips
 * the check.
 */
export function expectStatus(what: string, reply: Reply, ...promised: readonly number[]): void {
  if (promised.includes(reply.status)) return;
  if (reply.status === 403 && reply.text.includes('insufficient_scope'))
    throw new Skip('the key lacks the scope');
  const told = `${what} answers ${reply.status}, not ${promised.join(' or ')}`;
  throw new Error(`${told}: ${shorten(reply.text)}`);
}

export function expectTexts(what: string, value: unknown, ...members: readonly string[]): void {
  const record = (value ?? {}) as Record<string, unknown>;
  const lacking = members.filter((member) => typeof record[member] !== 'string');
  expectThat(lacking.length === 0, `${what} has no text as ${lacking.join(', ')}`);
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
