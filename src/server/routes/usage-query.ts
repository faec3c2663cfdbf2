import type { ServerConfig } from '../../config/schema/server-config.ts';
import { GatewayError } from '../../core/errors.ts';
import { USAGE_GROUPS } from '../../usage/requests/usage-report.ts';
import type { UsageGroup, UsageQuery } from '../../usage/requests/usage-report.ts';
import { PARTS } from '../../usage/sums/parts.ts';
import { queryCount } from '../../core/query-count.ts';
import { instant, owner, words } from './report-queries.ts';

/** Names of labels and tags that use is summed by. */
export type SummedBy = Pick<ServerConfig['usage'], 'labels' | 'tags'>;

export interface UsageQuestion extends UsageQuery {
  /** `2026-11`; absent where no month was asked for. */
  readonly month?: string | undefined;
}

/** Rows of an answer about conversations or end users, unless `limit` says otherwise. */
const MOST_ROWS = 1_000;
const MAX_ID = 256;
const MAX_CONVERSATIONS = 100;
/** Dimensions that may be combined with a conversation or an end user. */
const BESIDE: ReadonlySet<string> = new Set(['day', 'organization']);

/**
 * Reads `group_by` (names with commas), `month` or `from` and `to`, `organization`, `conversation` (up to
 * 100 of them), `limit`.
 * Throws `invalid_request`.
 */
export function toUsageQuestion(search: string, summedBy: SummedBy): UsageQuestion {
  const query = new URLSearchParams(search);
  const groupBy = [...new Set(words(query, 'group_by'))].map((word) => toGroup(word, summedBy));
  const conversations = conversationsOf(query);
  refuseMixed(groupBy, conversations);
  const month = query.get('month') || undefined;
  const range = { from: instant(query, 'from'), to: instant(query, 'to') };
  if (month !== undefined && (range.from !== undefined || range.to !== undefined))
    throw invalid('month', 'cannot be combined with from and to');
  const isLong = PARTS.some((part) => groupBy.includes(part));
  return {
    groupBy,
    month,
    ...(month === undefined ? range : monthRange(month)),
    organization: owner(query),
    conversations,
    limit: queryCount(query, 'limit') ?? (isLong ? MOST_ROWS : undefined),
  };
}

function conversationsOf(query: URLSearchParams): string[] | undefined {
  const ids = [...new Set(query.getAll('conversation'))].filter((id) => id !== '');
  if (ids.length > MAX_CONVERSATIONS)
    throw invalid('conversation', `at most ${MAX_CONVERSATIONS} at once`);
  if (ids.some((id) => id.length > MAX_ID))
    throw invalid('conversation', `is longer than ${MAX_ID} characters`);
  return ids.length === 0 ? undefined : ids;
}

/** Dimensions that `group_by` takes. */
export function dimensionsOf({ labels, tags }: SummedBy): UsageGroup[] {
  return [
    ...USAGE_GROUPS,
    ...labels.map((name): UsageGroup => `label:${name}`),
    ...tags.map((name): UsageGroup => `tag:${name}`),
  ];
}

function toGroup(word: string, { labels, tags }: SummedBy): UsageGroup {
  const known = USAGE_GROUPS.find((group) => group === word);
  if (known) return known;
  const at = word.indexOf(':');
  const [kind, name] = [word.slice(0, Math.max(at, 0)), word.slice(at + 1)];
  if (kind === 'label' && labels.includes(name)) return `label:${name}`;
  if (kind === 'tag' && tags.includes(name)) return `tag:${name}`;
  if (kind === 'label' || kind === 'tag')
    throw invalid('group_by', `use is not summed by ${word}; add it to server.usage.${kind}s`);
  const all = [...USAGE_GROUPS, 'label:NAME', 'tag:NAME'].join(', ');
  throw invalid('group_by', `expected one of ${all}`);
}

function refuseMixed(
  groupBy: readonly UsageGroup[],
  conversations: readonly string[] | undefined,
): void {
  const part = conversations === undefined ? PARTS.find((one) => groupBy.includes(one)) : PARTS[0];
  if (!part) return;
  const other = groupBy.find((group) => group !== part && !BESIDE.has(group));
  if (other === undefined) return;
  throw invalid('group_by', `${part} can be combined with day and organization, not with ${other}`);
}

/** Instants of a UTC month, the end exclusive. */
export function monthRange(month: string): { from: number; to: number } {
  const from = /^\d{4}-\d\d$/.test(month) ? Date.parse(`${month}-01T00:00:00Z`) : NaN;
  if (Number.isNaN(from)) throw invalid('month', 'expected a month such as 2026-11');
  const end = new Date(from);
  end.setUTCMonth(end.getUTCMonth() + 1);
  return { from, to: end.getTime() };
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param}: ${message}`, param });
}
