import type { RequestRow } from '../api/views.ts';
import { conversationOf } from './request-filter.ts';

/** A conversation or hosted Session by its loaded requests, or as a whole. */
export interface Conversation {
  readonly id: string;
  /** Organization that it is of; empty where rows do not say it. */
  readonly organization: string;
  readonly first: string;
  readonly last: string;
  readonly requests: number;
  readonly errors: number;
  readonly unpriced: number;
  /** Dollars of the requests whose price is known; null where no price is. */
  readonly cost: number | null;
  readonly models: readonly string[];
  readonly key: string;
  /** False: the numbers are only those of the loaded requests. */
  readonly isWhole: boolean;
}

/** Sums of a conversation from its first request on, as in reports of use. */
export interface ConversationSums {
  readonly conversation: string | null;
  /** Absent where all are of one organization. */
  readonly organization?: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly unpriced?: number;
  readonly cost: string | null;
}

/** Conversations of rows, the one with the newest request first; requests of none are left out. */
export function groupConversations(rows: readonly RequestRow[]): Conversation[] {
  const groups = new Map<string, RequestRow[]>();
  for (const row of rows) {
    const id = conversationOf(row);
    if (id === null) continue;
    const place = placeOf(id, row.organization);
    groups.set(place, [...(groups.get(place) ?? []), row]);
  }
  return Array.from(groups.values(), toConversation);
}

function toConversation(members: readonly RequestRow[]): Conversation {
  const newest = members[0] as RequestRow;
  const ended = members.filter(({ result }) => result !== 'pending');
  const unpriced = ended.filter(({ cost }) => cost === null).length;
  const cost = ended.reduce((sum, one) => sum + Number(one.cost ?? 0), 0);
  return {
    id: conversationOf(newest) ?? '',
    organization: newest.organization ?? '',
    first: (members.at(-1) as RequestRow).created_at,
    last: newest.created_at,
    requests: members.length,
    errors: members.filter(({ result }) => result === 'error').length,
    unpriced,
    cost: cost === 0 && unpriced > 0 ? null : cost,
    models: [...new Set(members.map(({ model }) => model))],
    key: newest.key.name,
    isWhole: false,
  };
}

/** Conversations with the numbers of the whole in place of those of the loaded requests, where they are known. */
export function joinWholes(
  groups: readonly Conversation[],
  wholes: readonly ConversationSums[],
): Conversation[] {
  const sumsOf = new Map(
    wholes.map((sums) => [placeOf(sums.conversation ?? '', sums.organization), sums]),
  );
  return groups.map((group) => {
    const sums = sumsOf.get(placeOf(group.id, group.organization));
    if (!sums) return group;
    const { requests, errors, unpriced = 0, cost } = sums;
    const dollars = cost === null ? null : Number(cost);
    return { ...group, requests, errors, unpriced, cost: dollars, isWhole: true };
  });
}

const placeOf = (id: string, organization: string | null | undefined): string =>
  `${organization ?? ''} ${id}`;
