import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringifyWithRaw } from '../../../src/core/json/raw.ts';
import { interactions } from '../../../src/protocols/interactions/interactions.ts';
import { createInteractionsStream } from '../../../src/protocols/interactions/interactions-stream.ts';
import type { StreamReader } from '../../../src/protocols/protocol.ts';
import { verifies } from '../../requirements.ts';
import { ANSWER, fakePeek } from '../../support/protocols.ts';
import { waysToCut } from '../../core/sse/cuts.ts';
import { COMPLETED, EVENTS, OLD_EVENTS, RUNNING, frame, frames } from './interactions-fixtures.ts';
import type { Framing } from './interactions-fixtures.ts';

interface Run {
  output: string;
  reader: StreamReader;
}

function run(chunks: readonly (Uint8Array | string)[], logicalModel?: string): Run {
  const reader = createInteractionsStream({ ...ANSWER, logicalModel, peek: fakePeek() });
  const parts = chunks.map((part) => reader.push(Buffer.from(part)));
  parts.push(reader.end());
  return { output: Buffer.concat(parts.filter((part) => part !== undefined)).toString(), reader };
}

function outcome({ output, reader }: Run): unknown {
  const { contentSeen, ended, failure, usage, outputChars, events, work } = reader;
  return { output, contentSeen, ended, failure, usage, outputChars, events, work };
}

const ERROR = { event_type: 'error', error: { code: 'RESOURCE_EXHAUSTED', message: 'slow down' } };

const FIXTURES: Record<string, (framing: Framing) => string> = {
  steps: (framing) => frames(EVENTS, framing),
  'steps with an end marker': (framing) => frames([...EVENTS, '[DONE]'], framing),
  'events of older clients': (framing) => frames(OLD_EVENTS, framing),
  failing: (framing) => frames([...EVENTS.slice(0, 8), ERROR], framing),
  'cut off': (framing) => frames(EVENTS, framing).slice(0, 700),
  malformed: (framing) => frames([...EVENTS.slice(0, 8), '{"oops":', '[DONE]'], framing),
};

describe('a stream of Interactions', () => {
  for (const [name, write] of Object.entries(FIXTURES)) {
    it(
      verifies('stream.sse.chunk-boundaries', `reads "${name}" alike at every split and framing`),
      () => {
        for (const end of ['\n', '\r\n', '\r']) {
          const whole = Buffer.from(write({ end }));
          const expected = outcome(run([whole]));
          for (const chunks of waysToCut(whole)) expect(outcome(run(chunks))).toEqual(expected);
        }
      },
    );
  }

  it(
    verifies('interactions.stream.open-events', 'goes on unchanged and in order, known or not'),
    () => {
      const told = frames([...EVENTS, '[DONE]']);
      const { output, reader } = run([told]);
      expect(output).toBe(told);
      expect(reader).toMatchObject({ ended: true, failure: undefined, contentSeen: true });
      expect(reader.work).toMatchObject({ id: 'v1_abc', status: 'completed', value: COMPLETED });
      expect(reader.usage).toMatchObject({ input: 14, cacheRead: 8, output: 8, reasoning: 3 });
      expect(reader.outputChars).toBe('hmm'.length + 'héllo 世界'.length);
    },
  );

  it(verifies('numbers.kept', 'keeps the digits of its last Interaction'), () => {
    const value = '{"id":"v1_abc","status":"completed","steps":[{"arguments":{"rate":1.0}}]}';
    const end = `data: {"event_type":"interaction.completed","interaction":${value}}\n\n`;
    const { work } = run([frames(EVENTS.slice(0, 8)), end]).reader;
    expect(stringifyWithRaw(work?.value)).toBe(value);
  });

  it('holds lifecycle events back until something was generated', () => {
    const reader = createInteractionsStream({ ...ANSWER, peek: fakePeek() });
    for (const event of EVENTS.slice(0, 3)) reader.push(Buffer.from(frame(event)));
    expect(reader).toMatchObject({ contentSeen: false, work: { id: 'v1_abc' } });
    reader.push(Buffer.from(frame(EVENTS[3]!)));
    expect(reader.contentSeen).toBe(true);
  });

  it.each([
    {
      what: 'a call that begins',
      event: {
        event_type: 'step.start',
        index: 0,
        step: { type: 'function_call', id: 'c', name: 'f' },
      },
    },
    { what: 'an event of a new kind', event: { event_type: 'surprise', x: 1 } },
    {
      what: 'a completion',
      event: { event_type: 'interaction.completed', interaction: COMPLETED },
    },
  ])('counts $what as something generated', ({ event }) => {
    expect(run([frame(event)]).reader.contentSeen).toBe(true);
  });

  it('takes a status that no longer runs for an end', () => {
    const update = { event_type: 'interaction.status_update', interaction_id: 'v1_abc' };
    const needs = frames([...EVENTS.slice(0, 8), { ...update, status: 'requires_action' }]);
    expect(run([needs]).reader).toMatchObject({ ended: true, failure: undefined });
    const running = frames([...EVENTS.slice(0, 8), { ...update, status: 'in_progress' }]);
    expect(run([running]).reader).toMatchObject({ ended: false, failure: { kind: 'truncated' } });
  });

  it.each([
    { code: 'RESOURCE_EXHAUSTED', status: 429 },
    { code: 'internal', status: 500 },
    { code: '503', status: 503 },
    { code: 404, status: 404 },
    { code: 'https://errors.example/odd', status: undefined },
    { code: undefined, status: undefined },
  ])('reads the failure $code of the provider', ({ code, status }) => {
    const event = { event_type: 'error', error: { code, message: 'no' } };
    const { output, reader } = run([frames([...EVENTS.slice(0, 4), event])]);
    expect(reader.failure).toMatchObject({ kind: 'error', message: 'no' });
    expect(reader.failure?.status).toBe(status);
    expect(output).toBe(frames(EVENTS.slice(0, 4)));
  });

  it(
    verifies(
      'interactions.stream.open-events',
      "tells the gateway's own failures as an error event",
    ),
    () => {
      const error = {
        message: 'lost',
        type: 'api_error',
        code: 'upstream_interrupted',
        status: 502,
      };
      const told = interactions.errorFrame(error, fakePeek()).toString();
      expect(told).toMatch(/^event: error\ndata: [^\n]+\n\n$/);
      expect(JSON.parse(told.split('data: ')[1] ?? '')).toEqual({
        event_type: 'error',
        error: { code: 'UNAVAILABLE', message: 'lost' },
      });
    },
  );

  it('shows the logical model where the route asks for it, and changes nothing else', () => {
    const told = frames(EVENTS);
    expect(run([told], 'acme/m').output).toBe(told.replaceAll('"gemini-up"', '"acme/m"'));
  });

  it('never throws, whatever the provider sends', () => {
    const whole = frames([...EVENTS, ...OLD_EVENTS, ERROR, '[DONE]']);
    const mutation = fc.record({
      at: fc.nat(whole.length),
      size: fc.nat(30),
      text: fc.oneof(fc.string(), fc.constantFrom('{', '}', '"', '\n', '\n\n', 'data: ', 'null')),
    });
    fc.assert(
      fc.property(
        fc.array(mutation, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (all, named) => {
          let bytes = whole;
          for (const { at, size, text } of all)
            bytes = bytes.slice(0, at) + text + bytes.slice(at + size);
          const { reader } = run([bytes], named ? 'acme/m' : undefined);
          expect(reader.ended !== (reader.failure !== undefined)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('keeps an id that is still running when the stream breaks off', () => {
    const { reader } = run([frames(EVENTS.slice(0, 5)).slice(0, -20)]);
    expect(reader).toMatchObject({
      failure: { kind: 'truncated' },
      work: { id: 'v1_abc', status: RUNNING.status },
      usage: undefined,
    });
  });
});
