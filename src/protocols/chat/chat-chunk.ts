import { skipBlank } from '../../core/json/scan.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { isFilled } from '../json-fields.ts';
import type { StreamFailure } from '../protocol.ts';

type Members = Readonly<Record<string, unknown>>;

const REASONING = /^(?:reasoning|thinking)/;

/**
 * True when a member of this name is in the JSON text with a value that begins with one of
 * `starts`. Quotes inside JSON strings are escaped, so the name with its quotes can only be a name
 * or a whole string; a few native searches replace a parse of every chunk. `tail` is the name with
 * its closing quote: without the frequent opening quote the search is several times faster.
 */
export function hasMember(text: string, tail: `${string}"`, starts: string): boolean {
  let at = text.indexOf(tail);
  while (at >= 0) {
    const colon = skipBlank(text, at + tail.length);
    if (text[at - 1] === '"' && text[colon] === ':') {
      if (starts.includes(text.charAt(skipBlank(text, colon + 1)) || '\0')) return true;
    }
    at = text.indexOf(tail, colon);
  }
  return false;
}

/**
 * True when a chunk commits: a delta that holds anything but its role, or a finish reason. Members
 * that are not known yet count, so new kinds of content do.
 */
export function hasContent(chunk: Members): boolean {
  return choicesOf(chunk).some(
    (choice) => isFilled(choice['finish_reason']) || deltaOf(choice).some(isContent),
  );
}

/**
 * True for a chunk with a member for reasoning, whichever of its names the provider uses: an empty text
 * opens what some models never show. Lists of content have it as a part.
 */
export function hasReasoning(chunk: Members): boolean {
  return choicesOf(chunk).some((choice) =>
    deltaOf(choice).some(([name, value]) =>
      name === 'content'
        ? Array.isArray(value) && value.some((part) => isJsonObject(part) && 'thinking' in part)
        : REASONING.test(name) && (value === '' || isFilled(value)),
    ),
  );
}

/** The indexes of the choices that the chunk finishes. */
export function finishedChoices(chunk: Members): number[] {
  return choicesOf(chunk)
    .filter((choice) => isFilled(choice['finish_reason']))
    .map((choice) => (typeof choice['index'] === 'number' ? choice['index'] : 0));
}

/** The error in a chunk: an `error` member, a choice's too, an error object, or a finish reason. */
export function toChunkFailure(chunk: Members): StreamFailure | undefined {
  const error = chunk['error'];
  if (isFilled(error)) return toFailure(error);
  if (chunk['object'] === 'error' || chunk['type'] === 'error') return toFailure(chunk);
  const failed = choicesOf(chunk).find(hasFailed);
  return failed && toFailure(failed['error'] ?? undefined);
}

/** True for a choice of a whole answer that has a message, even an empty one. */
export function isUsableChoice(choice: Members): boolean {
  return isJsonObject(choice['message']) && !hasFailed(choice);
}

/** The choice failed; another one of the same answer may be whole. */
function hasFailed({ finish_reason: reason, error }: Members): boolean {
  return reason === 'error' || isJsonObject(error);
}

/** Reads the provider's report of its failure, in whichever of the usual shapes. */
export function toFailure(error: unknown): StreamFailure {
  const fields = isJsonObject(error) ? error : { message: error };
  const { message, code, type, param, status = code } = fields;
  return {
    kind: 'error',
    message: typeof message === 'string' ? message : '',
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof param === 'string' ? { param } : {}),
    ...(isHttpError(status) ? { status } : {}),
  };
}

function isHttpError(status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599;
}

function choicesOf(value: Members): Members[] {
  return Array.isArray(value['choices']) ? value['choices'].filter(isJsonObject) : [];
}

function deltaOf(choice: Members): [string, unknown][] {
  const delta = choice['delta'] ?? choice['message'];
  return isJsonObject(delta) ? Object.entries(delta) : [];
}

function isContent([name, value]: [string, unknown]): boolean {
  return name !== 'role' && isFilled(value);
}
