import { collectSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { Citation, TokenLogprob } from '../../canonical/canonical.ts';
import { defined } from '../../json-fields.ts';
import type { Members } from '../../json-fields.ts';

/** The web sources of a message or delta, with offsets in the whole of its content. */
export function readCitations(message: Members): Citation[] {
  const annotations = message['annotations'];
  if (!Array.isArray(annotations)) return [];
  return annotations.filter(isJsonObject).flatMap(({ type, url_citation: source }) => {
    if (type !== 'url_citation' || !isJsonObject(source)) return [];
    const { url, title, start_index: start, end_index: end } = source;
    if (typeof url !== 'string') return [];
    return [
      {
        url,
        ...defined({ title: typeof title === 'string' ? title : undefined }),
        ...defined({ start: offset(start), end: offset(end) }),
      },
    ];
  });
}

function offset(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? Math.max(0, value) : undefined;
}

/** The source with its offsets in a text that begins after so many characters. */
export function withinText({ start, end, ...rest }: Citation, begin: number): Citation {
  const move = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : Math.max(0, value - begin);
  return { ...rest, ...defined({ start: move(start), end: move(end) }) };
}

/** A source without offsets is one of the whole text. */
export function writeCitation(
  { url, title = '', start = 0, end }: Citation,
  { shift, length }: { shift: number; length: number },
): object {
  return {
    type: 'url_citation',
    url_citation: { url, title, start_index: shift + start, end_index: shift + (end ?? length) },
  };
}

/** Reads `choices[].logprobs`. */
export function* readLogprobs(logprobs: unknown): Steps<TokenLogprob[]> {
  const content = isJsonObject(logprobs) ? logprobs['content'] : undefined;
  if (!Array.isArray(content)) return [];
  return yield* collectSteps(content.filter(isJsonObject), (one) => {
    const read = readOne(one);
    const top = Array.isArray(one['top_logprobs']) ? one['top_logprobs'].filter(isJsonObject) : [];
    return read ? [{ ...read, top: top.flatMap((each) => readOne(each) ?? []) }] : [];
  });
}

function readOne({ token, logprob, bytes }: Members): Omit<TokenLogprob, 'top'> | undefined {
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined;
  const isBytes = Array.isArray(bytes) && bytes.every((byte) => typeof byte === 'number');
  return { token, logprob, ...(isBytes && { bytes }) };
}

export function* writeLogprobs(logprobs: readonly TokenLogprob[]): Steps<object> {
  const one = ({ token, logprob, bytes }: Omit<TokenLogprob, 'top'>): object => ({
    token,
    logprob,
    bytes: bytes ?? null,
  });
  const content = yield* collectSteps(logprobs, ({ top, ...rest }) => [
    { ...one(rest), top_logprobs: top.map(one) },
  ]);
  return { content, refusal: null };
}
