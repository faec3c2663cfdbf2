import { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { forwardBody } from '../forward-body.ts';
import type { EncodeOptions, RequestPeek } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';
import { toSeconds } from './video.ts';
import type { VideoState } from './video.ts';
import { toPeek } from './videos-request.ts';

/**
 * The content-generation form of video tasks and how it maps to the other one: the only module that
 * knows both. A provider that speaks this form needs the same two tables the other way round.
 */
type Members = Readonly<Record<string, unknown>>;

const GUARDED = ['model', 'content', 'duration', 'callback_url'];

/** Names of states in the content-generation form. */
const STATUSES: Readonly<Record<VideoState, string>> = {
  queued: 'queued',
  in_progress: 'running',
  completed: 'succeeded',
  failed: 'failed',
};

export const toContentStatus = (state: VideoState): string => STATUSES[state];

/** The state that a status of this form names; undefined for any other text. */
export function fromContentStatus(status: string): VideoState | undefined {
  const states = Object.keys(STATUSES) as VideoState[];
  return states.find((state) => STATUSES[state] === status);
}

/** Throws `invalid_json` or `invalid_request` with `param`. */
export function peekContentTask(source: RequestSource): RequestPeek {
  const json = scanRequest(source, GUARDED);
  const { body, members } = json;
  const { request } = toVideoRequest(json.value);
  return { ...toPeek(request), body, members, json };
}

/** The same request in the provider's form; what that form cannot say is a loss. */
export function encodeContentTask(
  { json }: RequestPeek,
  options: EncodeOptions,
): Buffer | SpooledBody {
  const { request, unmapped } = toVideoRequest(json.value);
  options.losses.push(...unmapped);
  const body = Buffer.from(JSON.stringify(request));
  const { members } = scanRequest(body);
  return forwardBody({ ...toPeek(request), body, members }, options);
}

interface VideoRequest {
  /** Members in a fixed order. */
  readonly request: Members;
  /** The client's names of members without a counterpart in it. */
  readonly unmapped: string[];
}

/** Members that are mapped; `resolution` and `ratio` only together. */
const READ: ReadonlySet<string> = new Set(['model', 'content', 'duration', 'size']);
const SHAPE: ReadonlySet<string> = new Set(['resolution', 'ratio']);
/** Duration that is left to the provider. */
const ANY_DURATION = -1;

function toVideoRequest(value: Members): VideoRequest {
  if (value['callback_url'] !== undefined && value['callback_url'] !== null) {
    const message = '`callback_url` is not supported: ask for the task instead';
    throw new GatewayError('invalid_request', { message, param: 'callback_url' });
  }
  const { texts, images } = readContent(value['content']);
  const seconds = readDuration(value['duration']);
  const shape = toSize(value['resolution'], value['ratio']);
  const size = value['size'] ?? shape;
  const given = Object.keys(value).filter((name) => value[name] !== null && !READ.has(name));
  const request = {
    model: value['model'],
    prompt: texts.join('\n'),
    ...(seconds === undefined ? {} : { seconds }),
    ...(size === undefined ? {} : { size }),
    ...(images.length === 0 ? {} : { input_reference: { image_url: images[0] } }),
  };
  const isShaped = shape !== undefined && size === shape;
  const unmapped = given.filter((name) => !isShaped || !SHAPE.has(name));
  return { request, unmapped };
}

/** Reads seconds as the official client writes them. */
function readDuration(duration: unknown): string | undefined {
  if (duration === undefined || duration === null || duration === ANY_DURATION) return undefined;
  const seconds = toSeconds(duration);
  if (seconds !== undefined) return String(seconds);
  const message = '`duration` must be a number of seconds';
  throw new GatewayError('invalid_request', { message, param: 'duration' });
}

/** Pixels of the shorter side, and the sides' proportion. */
function toSize(resolution: unknown, ratio: unknown): string | undefined {
  const lines = typeof resolution === 'string' ? /^(\d{3,4})p$/.exec(resolution)?.[1] : undefined;
  const sides = typeof ratio === 'string' ? /^(\d{1,2}):(\d{1,2})$/.exec(ratio) : undefined;
  if (lines === undefined || !sides) return undefined;
  const [wide, high] = [Number(sides[1]), Number(sides[2])];
  if (wide === 0 || high === 0) return undefined;
  const short = Number(lines);
  const long = Math.round((short * Math.max(wide, high)) / Math.min(wide, high) / 2) * 2;
  return wide >= high ? `${long}x${short}` : `${short}x${long}`;
}

function readContent(content: unknown): { texts: string[]; images: string[] } {
  if (!Array.isArray(content) || content.length === 0) {
    const message = '`content` must be a list that is not empty';
    throw new GatewayError('invalid_request', { message, param: 'content' });
  }
  const texts: string[] = [];
  const images: string[] = [];
  for (const [index, part] of content.entries()) {
    const param = `content[${index}]`;
    const { type, text, image_url: image } = isJsonObject(part) ? part : ({} as Members);
    const url = isJsonObject(image) ? image['url'] : undefined;
    if (type === 'text' && typeof text === 'string') texts.push(text);
    else if (type === 'image_url' && typeof url === 'string' && url !== '') images.push(url);
    else throw invalidPart(param, 'must be a text or an image_url with a url');
    if (images.length > 1) throw invalidPart(param, 'is a second image; one is supported');
  }
  if (texts.join('').trim() === '') throw invalidPart('content', 'needs a text that is not empty');
  return { texts, images };
}

function invalidPart(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `\`${param}\` ${what}`, param });
}
