import { isUtf8 } from 'node:buffer';
import type { Buffer } from 'node:buffer';
import { isJsonObject, parseJsonObject } from '../../core/json/value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { isWorkId } from '../work-id.ts';

/** State of a task; `completed` and `failed` are final. */
export type VideoState = 'queued' | 'in_progress' | 'completed' | 'failed';

/** Every spelling that providers of this shape use. */
const STATES: Readonly<Record<string, VideoState>> = {
  queued: 'queued',
  pending: 'queued',
  submitted: 'queued',
  in_progress: 'in_progress',
  processing: 'in_progress',
  running: 'in_progress',
  completed: 'completed',
  succeeded: 'completed',
  failed: 'failed',
  error: 'failed',
  cancelled: 'failed',
  canceled: 'failed',
  expired: 'failed',
  rejected: 'failed',
};

/** Provider's report of a task, as far as it is shown to clients. */
export interface Video {
  readonly state: VideoState;
  /** Percent. */
  readonly progress: number;
  /** Seconds since epoch. */
  readonly completedAt: number | null;
  readonly expiresAt: number | null;
  readonly prompt: string | null;
  readonly size: string | null;
  /** Length of the clip, as the provider says it; null when it does not. */
  readonly seconds: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Tokens, of providers that count them. */
  readonly tokens: number;
}

/** Most characters that are kept of any text. */
const MAX_TEXT_CHARS = 32_768;
/** No clip is longer; what says so is nonsense. */
const MAX_SECONDS = 3_600;

export interface ReadVideo {
  /** The provider's. */
  readonly id: string;
  readonly video: Video;
  /** All that the provider said. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** A task in a provider's bytes; undefined when they hold none. */
export function readVideo(body: Buffer): ReadVideo | undefined {
  const value = isUtf8(body) ? parseJsonObject(body.toString('utf8')) : undefined;
  if (!value) return undefined;
  const { id } = value;
  if (!isWorkId(id)) return undefined;
  const video = toVideo(value);
  return video && { id, video, value };
}

/** Undefined when the status is none that is known. */
export function toVideo(value: Readonly<Record<string, unknown>>): Video | undefined {
  const { status } = value;
  const state =
    typeof status === 'string' && Object.hasOwn(STATES, status) ? STATES[status] : undefined;
  if (state === undefined) return undefined;
  return {
    state,
    progress: state === 'completed' ? 100 : Math.min(count(value['progress']) ?? 0, 100),
    completedAt: count(value['completed_at']),
    expiresAt: count(value['expires_at']),
    prompt: toShownText(value['prompt']),
    size: toShownText(value['size']),
    seconds: toSeconds(value['seconds']) ?? null,
    error: state === 'failed' ? toError(value['error']) : null,
    tokens: tokensOf(value['usage']),
  };
}

/**
 * Usage that is billed for a finished clip, given the length that was asked for; unknown
 * seconds are 0.
 */
export function videoUsage({ seconds, tokens }: Video, askedSeconds: number | null): Usage {
  return { ...NO_USAGE, seconds: seconds ?? askedSeconds ?? 0, output: tokens };
}

/** Seconds as numbers or as the strings of the official client; undefined for anything else. */
export function toSeconds(value: unknown): number | undefined {
  const seconds =
    typeof value === 'string' && /^\d{1,4}(\.\d{1,3})?$/.test(value) ? Number(value) : value;
  const isSound = typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS;
  return isSound ? seconds : undefined;
}

function toError(error: unknown): NonNullable<Video['error']> {
  const { code, message } = isJsonObject(error) ? error : { code: undefined, message: error };
  return {
    code: toShownText(code) ?? 'video_generation_failed',
    message: toShownText(message) ?? 'the video could not be made',
  };
}

function tokensOf(usage: unknown): number {
  if (!isJsonObject(usage)) return 0;
  return count(usage['completion_tokens']) ?? count(usage['output_tokens']) ?? 0;
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** A text as far as it is kept; null for anything else. */
export function toShownText(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : null;
}
