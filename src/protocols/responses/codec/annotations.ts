import { collectSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import type { Citation, TokenLogprob } from '../../canonical/canonical.ts';
import { objectsOf } from './fields.ts';
import type { Members } from '../../json-fields.ts';

/** Sources on the web; files of the provider mean nothing elsewhere. */
export function readCitations(annotations: unknown): Citation[] {
  return objectsOf(annotations).flatMap((one) => readCitation(one) ?? []);
}

export function readCitation(annotation: Members): Citation | undefined {
  const { type, url, title, start_index: start, end_index: end } = annotation;
  if (type !== 'url_citation' || typeof url !== 'string') return undefined;
  return {
    url,
    ...(typeof title === 'string' && title !== '' && { title }),
    ...(isOffset(start) && { start }),
    ...(isOffset(end) && { end }),
  };
}

/** A source without a range of its own covers the whole text of `length` characters. */
export function writeCitation(
  { url, title = '', start = 0, end }: Citation,
  length: number,
): object {
  return { type: 'url_citation', url, title, start_index: start, end_index: end ?? length };
}

export function readLogprobs(logprobs: unknown): Steps<TokenLogprob[]> {
  return collectSteps(objectsOf(logprobs), (one) => {
    const read = readOne(one);
    const top = objectsOf(one['top_logprobs']).flatMap((each) => readOne(each) ?? []);
    return read ? [{ ...read, top }] : [];
  });
}

export function writeLogprobs(logprobs: readonly TokenLogprob[]): object[] {
  const one = ({ token, logprob, bytes }: Omit<TokenLogprob, 'top'>): object => ({
    token,
    logprob,
    bytes: bytes ?? [],
  });
  return logprobs.map(({ top, ...rest }) => ({ ...one(rest), top_logprobs: top.map(one) }));
}

function readOne({ token, logprob, bytes }: Members): Omit<TokenLogprob, 'top'> | undefined {
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined;
  const isBytes = Array.isArray(bytes) && bytes.every((byte) => typeof byte === 'number');
  return { token, logprob, ...(isBytes && bytes.length > 0 && { bytes }) };
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
