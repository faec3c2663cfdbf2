import { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { readGuardedField, formContentType, writeForm } from '../../core/form.ts';
import type { Form } from '../../core/form.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { readModelName } from '../model-member.ts';
import type { EncodeOptions, RequestAddress, RequestPeek } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';

/** Members that the gateway reads; others are the provider's business. */
const GUARDED = ['model', 'stream', 'async', 'n'];
/** Modes of which there is none for images (contract: Images). */
const MODES = ['stream', 'async'];
/** Spellings of false in a form. */
const OFF: ReadonlySet<string> = new Set(['', '0', 'false', 'no', 'off', 'null', 'none']);
/** More than any provider counts for one picture, given or made; a small file may be a large one. */
const TOKENS_PER_IMAGE = 16_384;

/** Generations are JSON, edits are forms. Throws `invalid_json` or `invalid_request` (contract: Images). */
export function peekImages(source: RequestSource, { form }: RequestAddress = {}): RequestPeek {
  return form ? peekForm(form) : peekJson(source);
}

/** The same for edits: every part but the model as it came. */
export function encodeImagesForm(form: Form, { model, quirks }: EncodeOptions): SpooledBody {
  return writeForm(form, { values: { model }, quirks });
}

function peekJson(source: RequestSource): RequestPeek {
  const json = scanRequest(source, GUARDED);
  const { body, members } = json;
  const model = readModelName(json.get('model'));
  for (const mode of MODES) {
    const value = json.get(mode) ?? false;
    if (value !== false) throw noSuchMode(mode);
  }
  return {
    ...COMMON,
    ...outputOf(json.get('n')),
    model,
    body,
    members,
    json,
    inputBound: body.length,
  };
}

function peekForm(form: Form): RequestPeek {
  const fields = Object.fromEntries(GUARDED.map((name) => [name, readGuardedField(form, name)]));
  const model = readModelName(fields['model']);
  for (const mode of MODES) {
    if (!OFF.has(fields[mode]?.toLowerCase() ?? '')) throw noSuchMode(mode);
  }
  const texts = form.parts.filter(({ value }) => value !== undefined);
  const body = Buffer.from(JSON.stringify(texts.map(({ name, value }) => ({ [name]: value }))));
  return {
    ...COMMON,
    ...outputOf(fields['n']),
    model,
    body,
    form,
    members: [],
    json: scanRequest(Buffer.from(JSON.stringify(fields))),
    operation: 'edits',
    contentType: formContentType(form),
    inputBound: body.length + (form.parts.length - texts.length) * TOKENS_PER_IMAGE,
  };
}

const COMMON = { stream: false, keepUsage: false, choices: 1 } as const;

/**
 * Returns the most that `n` images take; an `n` that is no number is left to the provider to
 * refuse.
 */
function outputOf(n: unknown): { imagesBound: number; outputBound: number } {
  const count = Math.ceil(Number(n ?? 1));
  const imagesBound = Number.isSafeInteger(count) && count > 0 ? count : 1;
  return { imagesBound, outputBound: imagesBound * TOKENS_PER_IMAGE };
}

function noSuchMode(mode: string): GatewayError {
  const message = `images are answered whole: \`${mode}\` must be false or left out`;
  return new GatewayError('invalid_request', { message, param: mode });
}
