import { Buffer } from 'node:buffer';
import { stringifyWithRaw } from '../../core/json/raw.ts';
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
  const text = stringifyWithRaw(stripped);
  return {
    body: Buffer.byteLength(text) <= MAX_KEPT_BYTES ? text : stringifyWithRaw(outlineOf(value)),
    whole: false,
  };
}

/** The value itself when nothing is to be left out of it; copies keep the digits of their numbers. */
function strip(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return null;
  const copy = (Array.isArray(value) ? Object.assign([], value) : { ...value }) as Members;
  let isSame = true;
  for (const [name, member] of Object.entries(value)) {
    const kept: unknown = strip(member, depth + 1);
    if (isMedia(name, member, value)) delete copy[name];
    else if (kept === member) continue;
    else copy[name] = kept;
    isSame = false;
  }
  return isSame ? value : copy;
}

/** Media are base64 in a `data` member next to a `type` or `mime_type`, or a `data:` address. */
function isMedia(name: string, member: unknown, holder: object): boolean {
  const { type, mime_type: mime } = holder as Members;
  if (typeof member !== 'string') return false;
  if (name === 'data') return typeof mime === 'string' || typeof type === 'string';
  return name === 'uri' && member.startsWith('data:');
}

type Members = Record<string, unknown>;

function outlineOf(value: Readonly<Members>): object {
  const outline = { ...value };
  for (const [name, member] of Object.entries(value)) {
    const isShort = typeof member === 'string' ? member.length <= 1024 : !isNested(member);
    if (name !== 'usage' && !isShort) delete outline[name];
  }
  const { steps } = value;
  return Array.isArray(steps)
    ? { ...outline, steps: steps.slice(0, MAX_STEPS).map((step) => ({ type: kindOf(step) })) }
    : outline;
}

function isNested(member: unknown): boolean {
  return typeof member === 'object' && member !== null;
}

function kindOf(step: unknown): string {
  const type = isJsonObject(step) ? step['type'] : undefined;
  return typeof type === 'string' ? type.slice(0, 64) : 'unknown';
}
