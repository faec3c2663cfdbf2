import { isUtf8 } from 'node:buffer';
import type { Buffer } from 'node:buffer';
import { parseObjectKeepingDigits } from '../../core/json/digits.ts';
import { scanJson } from '../../core/json/json-document.ts';
import { spliceJson } from '../../core/json/splice.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { isWorkId } from '../work-id.ts';

type Members = Readonly<Record<string, unknown>>;

/** An Interaction as a provider sends it; in events of a stream parts of it may be missing. */
export interface Interaction {
  /** The provider's. */
  readonly id: string;
  readonly status: string;
  readonly value: Members;
}

/** The provider is at work, so asking again makes sense. */
const RUNNING: ReadonlySet<string> = new Set(['in_progress', 'queued']);

/** Nothing will change any more (contract: States and transitions). */
const TERMINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'incomplete']);

/** Ended without an answer: nothing is due unless the provider reports usage. */
const FRUITLESS: ReadonlySet<string> = new Set(['failed', 'cancelled']);

/**
 * Matches the members that a poll of a running Interaction does not show (requirement
 * interactions.get.non-terminal-lean).
 */
const PARTIAL = /^(?:steps|outputs|usage|output_\w+)$/;

export const isRunning = (status: string): boolean => RUNNING.has(status);
export const isTerminal = (status: string): boolean => TERMINAL.has(status);
export const isFruitless = (status: string): boolean => FRUITLESS.has(status);

/**
 * True when its cost is known: it is terminal, or it is paused until the caller continues it
 * (`requires_action`, and statuses that are not known yet) and reports its usage.
 */
export function isOver({ status, value }: Interaction): boolean {
  return isTerminal(status) || (!isRunning(status) && isJsonObject(value['usage']));
}

/** Undefined when the object has no usable id and status. */
export function toInteraction(value: unknown): Interaction | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, status } = value;
  if (!isWorkId(id)) return undefined;
  return typeof status === 'string' && status !== '' ? { id, status, value } : undefined;
}

/** The Interaction in a provider's bytes; undefined when they hold none. */
export function readInteraction(body: Buffer): Interaction | undefined {
  return isUtf8(body) ? toInteraction(parseObjectKeepingDigits(body.toString('utf8'))) : undefined;
}

/** The same bytes without partial output and usage. Throws `invalid_json` and `invalid_request`. */
export function toLean(body: Buffer): Buffer {
  const { members } = scanJson(body);
  const partial = members.filter(({ key }) => PARTIAL.test(key));
  return spliceJson(
    body,
    members,
    partial.map(({ key }) => ({ op: 'remove', key })),
  );
}
