import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerEvent } from '../../src/protocols/canonical/stream.ts';
import { InSequence } from '../../src/protocols/in-sequence.ts';
import { collectAnswer, expectGrammar } from './codec-laws.ts';

const open = (part: number): AnswerEvent => ({
  type: 'open',
  part,
  opening: { type: 'tool_call', id: `call_${part}`, name: 'look' },
});
const delta = (part: number, text: string): AnswerEvent => ({ type: 'delta', part, text });
const close = (part: number): AnswerEvent => ({ type: 'close', part });
const FINISH: AnswerEvent = { type: 'finish', stop: { kind: 'tool_calls' } };

function run(events: readonly AnswerEvent[]): AnswerEvent[] {
  const sequence = new InSequence();
  return events.flatMap((event) => sequence.push(event));
}

describe('InSequence', () => {
  it('lets the first part go on at once and the others follow whole', () => {
    const sequence = new InSequence();
    const pushed = [open(0), open(1), delta(1, 'b'), delta(0, 'a'), close(0), delta(1, 'c')];
    expect(pushed.map((event) => sequence.push(event))).toEqual([
      [open(0)],
      [],
      [],
      [delta(0, 'a')],
      [close(0), open(1), delta(1, 'b')],
      [delta(1, 'c')],
    ]);
  });

  it('closes what is open in front of the finish', () => {
    expect(run([open(0), open(1), delta(1, 'b'), FINISH])).toEqual([
      open(0),
      close(0),
      open(1),
      delta(1, 'b'),
      close(1),
      FINISH,
    ]);
  });

  it('loses nothing and mixes nothing, however parts are interleaved', () => {
    const interleaved = fc
      .array(fc.tuple(fc.nat(4), fc.string({ maxLength: 3 })), { maxLength: 40 })
      .map((deltas) => {
        const parts = [...new Set(deltas.map(([part]) => part))];
        return [...parts.map(open), ...deltas.map(([part, text]) => delta(part, text)), FINISH];
      });
    fc.assert(
      fc.property(interleaved, (events) => {
        const out = run(events);
        expectGrammar(out);
        let current: number | undefined;
        for (const event of out) {
          if (!('part' in event)) continue;
          if (event.type === 'open') expect(current).toBeUndefined();
          else expect(event.part).toBe(current);
          current = event.type === 'close' ? undefined : event.part;
        }
        expect(collectAnswer(out)).toEqual(collectAnswer(events));
      }),
    );
  });

  it('holds no more than a bounded amount, and frees what went out', () => {
    const sequence = new InSequence();
    const piece = 'x'.repeat(1024 * 1024);
    for (let round = 0; round < 20; round++) {
      for (const event of [open(2 * round), open(2 * round + 1), delta(2 * round + 1, piece)])
        sequence.push(event);
      for (const event of [close(2 * round), close(2 * round + 1)]) sequence.push(event);
    }
    expect(sequence.overflowed).toBe(false);
    sequence.push(open(100));
    sequence.push(open(101));
    for (let count = 0; count < 8; count++) sequence.push(delta(101, piece));
    expect(sequence.overflowed).toBe(true);
  });

  it('counts events without text too', () => {
    const sequence = new InSequence();
    sequence.push(open(0));
    sequence.push(open(1));
    let held = 0;
    while (!sequence.overflowed && held < 1_000_000) {
      sequence.push(delta(1, ''));
      held++;
    }
    expect(sequence.overflowed).toBe(true);
  });
});
