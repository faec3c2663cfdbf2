import { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { formContentType, readGuardedField, writeForm } from '../../core/form.ts';
import type { Form } from '../../core/form.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { readModelName } from '../model-member.ts';
import type { EncodeOptions, RequestAddress, RequestPeek } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';
import { toSeconds } from './video.ts';

/**
 * Members that the gateway reads; others, and the model's own limits, are the provider's business.
 */
const GUARDED = ['model', 'prompt', 'seconds'];
/** Seconds assumed for a request that names no length: the longest clip of the official client. */
const SECONDS_BOUND = 12;

type Members = Readonly<Record<string, unknown>>;

/** JSON or a form. Throws `invalid_json` or `invalid_request` with `param`. */
export function peekVideos(source: RequestSource, address: RequestAddress = {}): RequestPeek {
  if (address.form) return peekForm(address.form);
  const json = scanRequest(source, GUARDED);
  const { body, members } = json;
  const value = Object.fromEntries(GUARDED.map((name) => [name, json.get(name)]));
  return { ...toPeek(value), body, members, json };
}

/** The same for a form: every part but the model as it came, reference files included. */
export function encodeVideosForm(form: Form, { model, quirks }: EncodeOptions): SpooledBody {
  return writeForm(form, { values: { model }, quirks });
}

/** Returns the facts in a request's members. Throws `invalid_request` with `param`. */
export function toPeek(value: Members): Omit<RequestPeek, 'body' | 'members' | 'json'> {
  const model = readModelName(value['model']);
  const { prompt, seconds } = value;
  if (typeof prompt !== 'string' || prompt === '') {
    const message = `\`prompt\` ${prompt === undefined ? 'is required' : 'must be a text that is not empty'}`;
    throw new GatewayError('invalid_request', { message, param: 'prompt' });
  }
  const isOpen = seconds === undefined || seconds === null;
  const secondsBound = isOpen ? SECONDS_BOUND : toSeconds(seconds);
  if (secondsBound === undefined) {
    const message = '`seconds` must be a number of seconds';
    throw new GatewayError('invalid_request', { message, param: 'seconds' });
  }
  return {
    model,
    stream: false,
    keepUsage: false,
    choices: 1,
    // No tokenizer makes more tokens than there are bytes.
    inputBound: Buffer.byteLength(prompt),
    outputBound: undefined,
    secondsBound,
  };
}

function peekForm(form: Form): RequestPeek {
  const fields = form.parts.filter(({ value }) => value !== undefined);
  const guarded = GUARDED.map((name) => [name, readGuardedField(form, name)] as const);
  const value: Members = Object.fromEntries([
    ...fields.map((part) => [part.name, part.value] as const),
    ...guarded.filter(([, text]) => text !== undefined),
  ]);
  const body = Buffer.from(JSON.stringify(value));
  return {
    ...toPeek(value),
    body,
    json: scanRequest(body),
    members: [],
    form,
    contentType: formContentType(form),
  };
}
