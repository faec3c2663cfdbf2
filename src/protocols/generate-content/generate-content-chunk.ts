import { isJsonObject } from '../../core/json/value.ts';
import { isFilled } from '../json-fields.ts';
import type { StreamFailure } from '../protocol.ts';
import { listOf, membersOf } from './fields.ts';
import type { Members } from './fields.ts';

/** Matches the word that proto JSON has for a value that is not set. */
const UNSET = /_UNSPECIFIED$/;

/** The candidates of an answer or chunk. */
export function candidatesOf(answer: Members): Members[] {
  return listOf(answer, 'candidates');
}

export function partsOf(candidate: Members): Members[] {
  return listOf(membersOf(candidate, 'content'), 'parts');
}

/** The candidate's own word, or undefined while it continues. */
export function finishReasonOf(candidate: Members): string | undefined {
  return wordOf(candidate['finishReason']);
}

/** Cause for refusing the prompt; there are no candidates then. */
export function blockReasonOf(answer: Members): string | undefined {
  return wordOf(membersOf(answer, 'promptFeedback')['blockReason']);
}

/** True for a candidate of a whole answer that has content, or a finish reason. */
export function isUsableCandidate(candidate: Members): boolean {
  return isJsonObject(candidate['content']) || finishReasonOf(candidate) !== undefined;
}

/** True when a chunk commits: a part with content, a finish reason, or a refused prompt. */
export function hasContent(chunk: Members): boolean {
  if (blockReasonOf(chunk) !== undefined) return true;
  return candidatesOf(chunk).some(
    (candidate) =>
      finishReasonOf(candidate) !== undefined || partsOf(candidate).some(saysSomething),
  );
}

/** True for a chunk with a thought, or the signature of one, whose text some models never show. */
export function hasThought(chunk: Members): boolean {
  return candidatesOf(chunk).some((candidate) =>
    partsOf(candidate).some(
      ({ thought, thoughtSignature }) => thought === true || isFilled(thoughtSignature),
    ),
  );
}

/** Members that are not known yet count, so new kinds of parts do. */
function saysSomething(part: Members): boolean {
  return Object.entries(part).some(
    ([name, value]) => isFilled(value) && name !== 'thought' && name !== 'thoughtSignature',
  );
}

/** Measures the text and arguments of an answer, in characters of the view it was parsed from. */
export function measureAnswer(answer: Members): number {
  let size = 0;
  for (const candidate of candidatesOf(answer))
    for (const part of partsOf(candidate)) {
      const { text, functionCall } = part;
      if (typeof text === 'string') size += text.length;
      if (isJsonObject(functionCall)) {
        const { args, partialArgs } = functionCall;
        size += lengthOf(args) + (partialArgs === undefined ? 0 : lengthOf(partialArgs));
      }
    }
  return size;
}

/** Nothing for arguments that are nested too deeply to be written. */
function lengthOf(args: unknown): number {
  try {
    return JSON.stringify(args ?? {}).length;
  } catch {
    return 0;
  }
}

/** The provider's own error in a chunk. */
export function toChunkFailure({ error }: Members): StreamFailure | undefined {
  if (error === undefined || error === null) return undefined;
  const { message, code, status } = isJsonObject(error) ? error : { message: error };
  return {
    kind: 'error',
    message: typeof message === 'string' ? message : '',
    ...(typeof status === 'string' ? { code: status, type: status } : {}),
    ...(isHttpError(code) ? { status: code } : {}),
  };
}

function isHttpError(code: unknown): code is number {
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599;
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && !UNSET.test(value) ? value : undefined;
}
