import { expect } from 'vitest';
import type { MockCall } from '../../src/providers/mock/tape/journal.ts';
import type { PlacedEvent } from '../../src/sessions/log/session-event.ts';

const MOVES: Readonly<Record<string, readonly string[]>> = {
  idle: ['running', 'idle'],
  running: ['idle', 'rescheduled'],
  rescheduled: ['running'],
};

/** Holds for the log of every Session that has come to rest. */
export function checkLog(placed: readonly PlacedEvent[]): void {
  let status = 'idle';
  let open: string | undefined;
  const unanswered = new Set<string>();
  for (const { event } of placed) {
    const { type, id } = event;
    const [, next] = /^session\.status_(\w+)$/.exec(type) ?? [];
    if (next !== undefined) {
      expect(MOVES[status]).toContain(next);
      status = next;
    }
    if (type === 'span.model_request_start') {
      expect(open).toBeUndefined();
      expect(status).toBe('running');
      expect([...unanswered]).toEqual([]);
      open = id;
    }
    if (type === 'span.model_request_end') {
      expect(event['model_request_start_id']).toBe(open);
      open = undefined;
    }
    if (type.endsWith('tool_use')) unanswered.add(id);
    if (type.endsWith('tool_result')) {
      const use = ['tool_use_id', 'mcp_tool_use_id', 'custom_tool_use_id'].find(
        (name) => name in event,
      );
      expect(unanswered.delete(String(event[use ?? '']))).toBe(true);
    }
  }
  expect(open).toBeUndefined();
  expect(status).toBe('idle');
  expect(new Set(placed.map(({ event }) => event.id)).size).toBe(placed.length);
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly tool_use_id?: string;
}

/** Providers refuse a conversation in which a call has no result right behind it. */
export function checkRequests(calls: readonly MockCall[]): void {
  for (const { body } of calls) {
    const { messages } = JSON.parse(body.toString()) as {
      messages: { role: string; content: string | Block[] }[];
    };
    for (const [index, { role, content }] of messages.entries()) {
      const called = blocksOf(content).filter(({ type }) => type === 'tool_use');
      if (role !== 'assistant' || called.length === 0) continue;
      const results = blocksOf(messages[index + 1]?.content ?? []);
      expect(results.map(({ tool_use_id: id }) => id)).toEqual(called.map(({ id }) => id));
    }
  }
}

function blocksOf(content: string | Block[]): Block[] {
  return typeof content === 'string' ? [] : content;
}
