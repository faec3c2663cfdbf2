import { Buffer } from 'node:buffer';
import { isJsonObject } from '../../core/json/value.ts';
import type { Interaction } from './interaction.ts';

/** Most bytes that are kept of one Interaction for the time when its provider has forgotten it. */
const MAX_KEPT_BYTES = 256 * 1024;
const MAX_DEPTH = 64;
const MAX_STEPS = 1000;

export interface Kept {
  /** JSON. */
  readonly body: string;
  /** True when nothing was left out: `body` is what the provider sent. */
  readonly whole: boolean;
}

/**
 * Returns the part of an Interaction that can be kept: all of it where it holds no media bytes,
 * else everything but those; of one that is larger still than 256 KiB the metadata and the kinds of
 * its steps (requirement interactions.get.lossy-fallback).
 */
export function withoutMedia({ value }: Interaction, body: Buffer): Kept {
  const stripped = strip(value, 0);
  if (stripped === value && body.length <= MAX_KEPT_BYTES)
    return { body: body.toString('utf8'), whole: true };
  const text = JSON.stringify(stripped);
  return {
    body: Buffer.byteLength(text) <= MAX_KEPT_BYTES ? text : JSON.stringify(outlineOf(value)),
    whole: false,
  };
}

/** The value itself when nothing is to be left out of it. */
function strip(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH && typeof value === 'object') return null;
  if (Array.isArray(value)) {
    const items = value.map((item) => strip(item, depth + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  const kept = entries
    .filter(([name, member]) => !isMedia(name, member, value))
    .map(([name, member]) => [name, strip(member, depth + 1)] as const);
  const isSame =
    kept.length === entries.length && kept.every(([name, member]) => member === value[name]);
  return isSame ? value : Object.fromEntries(kept);
}

/** Media are base64 in a `data` member next to a `type` or `mime_type`, or a `data:` address. */
function isMedia(name: string, member: unknown, { type, mime_type: mime }: Members): boolean {
  if (typeof member !== 'string') return false;
  if (name === 'data') return typeof mime === 'string' || typeof type === 'string';
  return name === 'uri' && member.startsWith('data:');
}

type Members = Readonly<Record<string, unknown>>;

function outlineOf(value: Members): object {
  const short = Object.entries(value).filter(
    ([name, member]) =>
      name === 'usage' || (typeof member === 'string' ? member.length <= 1024 : !isNested(member)),
  );
  const { steps } = value;
  if (!Array.isArray(steps)) return Object.fromEntries(short);
  const kinds = steps.slice(0, MAX_STEPS).map((step) => ({ type: kindOf(step) }));
  return { ...Object.fromEntries(short), steps: kinds };
}

function isNested(member: unknown): boolean {
  return typeof member === 'object' && member !== null;
}

function kindOf(step: unknown): string {
  const type = isJsonObject(step) ? step['type'] : undefined;
  return typeof type === 'string' ? type.slice(0, 64) : 'unknown';
}
