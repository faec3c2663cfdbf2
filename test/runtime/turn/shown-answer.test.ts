import { beforeEach, describe, expect, it } from 'vitest';
import type { Part } from '../../../src/protocols/canonical/canonical.ts';
import { ShownAnswer } from '../../../src/runtime/turn/shown-answer.ts';
import type { TurnJournal } from '../../../src/runtime/turn/turn-journal.ts';
import type { EventDelta } from '../../../src/sessions/log/session-event.ts';

const TEXT: Part = { type: 'text', text: '' };
const THOUGHT: Part = { type: 'reasoning', text: '' };
const CALL: Part = { type: 'tool_call', id: 'c', name: 'f', arguments: '' };

let shown: EventDelta[];
let answer: ShownAnswer;

beforeEach(() => {
  shown = [];
  let count = 0;
  const journal = {
    log: { nextEventId: () => `event_${++count}` },
    show: (delta: EventDelta) => void shown.push(delta),
  };
  answer = new ShownAnswer(journal as unknown as TurnJournal);
});

const start = (type: string, id: string) => ({ type: 'event_start', event: { type, id } });
const delta = (event_id: string, index: number, text: string) => ({
  type: 'event_delta',
  event_id,
  delta: { type: 'content_delta', index, content: { type: 'text', text } },
});

describe('an answer on its way', () => {
  it('is one message while texts follow each other', () => {
    for (const index of [0, 1, 2]) {
      answer.opened(index, TEXT);
      answer.said(index, `t${index}`);
    }
    expect(shown).toEqual([
      start('agent.message', 'event_1'),
      delta('event_1', 0, 't0'),
      delta('event_1', 1, 't1'),
      delta('event_1', 2, 't2'),
    ]);
    expect(answer.idOf(0)).toBe('event_1');
  });

  it('begins another message behind a thought or the call of a tool', () => {
    const parts = [THOUGHT, TEXT, CALL, TEXT, TEXT];
    for (const [index, part] of parts.entries()) answer.opened(index, part);
    answer.said(1, 'a');
    answer.said(4, 'b');
    expect(shown).toEqual([
      start('agent.thinking', 'event_1'),
      start('agent.message', 'event_2'),
      start('agent.message', 'event_3'),
      delta('event_2', 0, 'a'),
      delta('event_3', 1, 'b'),
    ]);
  });

  it('gives each event an id of its own that stays', () => {
    const [first, second] = [answer.idOf(3), answer.idOf(4)];
    expect(new Set([first, second, answer.newId()]).size).toBe(3);
    expect([answer.idOf(3), answer.idOf(4)]).toEqual([first, second]);
  });
});
