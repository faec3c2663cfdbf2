import { isJsonObject } from '../../core/json/value.ts';
import type { ListedModel } from './listed-model.ts';
import type { ModelListing } from './model-listing.ts';

const NAME = /^[^\s\p{Cc}?#%]{1,256}$/u;

export interface ModelPage {
  readonly models: readonly ListedModel[];
  /** Begin of the next page; undefined on the last. */
  readonly next: string | undefined;
}

/** Reads one page of a list; undefined for an answer that is none. Entries that cannot be called are left out. */
export function readModelPage(answer: unknown, listing: ModelListing): ModelPage | undefined {
  const page: Readonly<Record<string, unknown>> = isJsonObject(answer) ? answer : {};
  const entries = Array.isArray(answer) ? answer : page[listing.entries ?? 'data'];
  if (!Array.isArray(entries)) return undefined;
  return {
    models: entries.flatMap((entry) => readEntry(entry, listing)),
    next: nextOf(page, listing),
  };
}

function readEntry(entry: unknown, { name = 'id', prefix = '' }: ModelListing): ListedModel[] {
  if (!isJsonObject(entry)) return [];
  const text = entry[name];
  if (typeof text !== 'string') return [];
  const own = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  return NAME.test(own)
    ? [{ name: own, created: toSeconds(entry['created'] ?? entry['created_at']) }]
    : [];
}

function toSeconds(created: unknown): number | undefined {
  const seconds = typeof created === 'string' ? Date.parse(created) / 1000 : Number(created);
  return seconds > 0 && seconds < 1e11 ? Math.floor(seconds) : undefined;
}

function nextOf(
  page: Readonly<Record<string, unknown>>,
  { next }: ModelListing,
): string | undefined {
  if (!next || (next.more !== undefined && page[next.more] !== true)) return undefined;
  const begin = page[next.member];
  return typeof begin === 'string' && begin !== '' ? begin : undefined;
}
