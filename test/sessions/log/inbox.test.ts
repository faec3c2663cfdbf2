import { expect, it } from 'vitest';
import { WakeTurns } from '../../../src/core/turns/wake-turns.ts';
import { Inbox } from '../../../src/sessions/log/inbox.ts';

it('holds parts back until what was appended before them is read', () => {
  const inbox = new Inbox(['agent.message'], new AbortController().signal, new WakeTurns());
  expect(inbox.answer()).toBe(true);
  inbox.ring();
  inbox.show({ type: 'event_start', event: { type: 'agent.message', id: 'sevt_1' } });
  expect(inbox.take()).toEqual([]);
  expect(inbox.answer()).toBe(true);
  expect(inbox.take()).toHaveLength(1);
});
