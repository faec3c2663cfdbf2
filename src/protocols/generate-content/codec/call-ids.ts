import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

/**
 * The ids of a conversation's calls. The protocol may leave them out: then a call gets one by its
 * position, the same every time the conversation is read, and a response belongs to the first call
 * of its name that has none yet.
 */
export class CallIds {
  readonly #taken: ReadonlySet<string>;
  readonly #byId = new Map<string, Waiting>();
  readonly #byName = new Map<string, Waiting>();
  #made = 0;

  /** @param taken ids that the conversation holds already */
  constructor(taken: ReadonlySet<string>) {
    this.#taken = taken;
  }

  ofCall(given: string | undefined, name: string): string {
    const id = given ?? this.#next();
    const call = { id, isAnswered: false };
    addTo(this.#byId, id, call);
    addTo(this.#byName, name, call);
    return id;
  }

  ofResponse(given: string | undefined, name: string): string {
    const waiting = given === undefined ? this.#byName.get(name) : this.#byId.get(given);
    const call = waiting && takeFirst(waiting);
    return given ?? call?.id ?? this.#next();
  }

  #next(): string {
    for (;;) {
      const id = `call_${++this.#made}`;
      if (!this.#taken.has(id)) return id;
    }
  }
}

interface WaitingCall {
  readonly id: string;
  isAnswered: boolean;
}

/** Calls in their order; those before `next` are answered. */
interface Waiting {
  readonly calls: WaitingCall[];
  next: number;
}

function addTo(all: Map<string, Waiting>, key: string, call: WaitingCall): void {
  const waiting = all.get(key);
  if (waiting) waiting.calls.push(call);
  else all.set(key, { calls: [call], next: 0 });
}

function takeFirst(waiting: Waiting): WaitingCall | undefined {
  const { calls } = waiting;
  while (calls[waiting.next]?.isAnswered) waiting.next++;
  const call = calls[waiting.next];
  if (call) call.isAnswered = true;
  return call;
}

/**
 * Ids for the calls of an answer that names none: unlike those of any other answer, and the same
 * when it is read again.
 *
 * @param seed the answer, which is read once however many ids it needs
 */
export function createAnswerIds(seed: string | Buffer): () => string {
  let made = 0;
  let digest: string | undefined;
  return () => {
    digest ??= hashOf(seed);
    return `call_${hashOf(`${++made}\n${digest}`).slice(0, 24)}`;
  };
}

function hashOf(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
