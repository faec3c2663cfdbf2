import { isJsonObject } from '../../../core/json/value.ts';
import type { Citation } from '../../canonical/canonical.ts';
import type { Members } from './members.ts';

const OFFSETS = /^offsets:(\d{0,15})-(\d{0,15})$/;

/** Sources on the web; those in documents of the request mean nothing elsewhere. */
export function fromCitations(list: unknown): Citation[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).flatMap((one) => fromCitation(one) ?? []);
}

export function fromCitation(one: Members): Citation | undefined {
  const { type, title, cited_text: quote } = one;
  const url = type === 'search_result_location' ? one['source'] : one['url'];
  if (typeof url !== 'string' || !/^https?:/.test(url)) return undefined;
  return {
    url,
    ...(typeof title === 'string' && { title }),
    ...readOffsets(one['encrypted_index']),
    ...(typeof quote === 'string' && quote !== '' && { quote }),
  };
}

/** Clients hand `encrypted_index` back as it is, so it holds what the protocol has no member for. */
export function toCitation({ url, title, start, end, quote }: Citation): Members {
  const isPlaced = start !== undefined || end !== undefined;
  return {
    type: 'web_search_result_location',
    url,
    // Some clients want a text, which others than Anthropic do not always have.
    title: title ?? url,
    cited_text: quote ?? '',
    encrypted_index: isPlaced ? `offsets:${start ?? ''}-${end ?? ''}` : '',
  };
}

/** True where a source refers to content that only its provider can read. */
export function isReferred(list: unknown): boolean {
  return (
    Array.isArray(list) &&
    list.filter(isJsonObject).some(({ encrypted_index: index }) => {
      return typeof index === 'string' && index !== '' && !OFFSETS.test(index);
    })
  );
}

function readOffsets(index: unknown): Pick<Citation, 'start' | 'end'> {
  const [, start, end] = (typeof index === 'string' && OFFSETS.exec(index)) || [];
  return { ...(start && { start: Number(start) }), ...(end && { end: Number(end) }) };
}
