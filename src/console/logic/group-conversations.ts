import type { RequestRow } from '../api/views.ts';
import { conversationOf } from './request-filter.ts';

/** A conversation or hosted Session as its requests tell it. */
export interface Conversation {
  readonly id: string;
  readonly first: string;
  readonly last: string;
  readonly requests: number;
  readonly errors: number;
  readonly unpriced: number;
  /** Dollars of the requests whose price is known. */
  readonly cost: number;
  readonly models: readonly string[];
  readonly key: string;
}

/** Conversations of rows, the one with the newest request first; requests of none are left out. */
export function groupConversations(rows: readonly RequestRow[]): Conversation[] {
  const groups = new Map<string, RequestRow[]>();
  for (const row of rows) {
    const id = conversationOf(row);
    if (id !== null) groups.set(id, [...(groups.get(id) ?? []), row]);
  }
  return Array.from(groups, ([id, members]) => ({
    id,
    first: (members.at(-1) as RequestRow).created_at,
    last: (members[0] as RequestRow).created_at,
    requests: members.length,
    errors: members.filter(({ result }) => result === 'error').length,
    unpriced: members.filter(({ cost }) => cost === null).length,
    cost: members.reduce((sum, { cost }) => sum + Number(cost ?? 0), 0),
    models: [...new Set(members.map(({ model }) => model))],
    key: (members[0] as RequestRow).key.name,
  }));
}
