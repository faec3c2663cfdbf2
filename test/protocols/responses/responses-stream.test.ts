import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Question, StreamReader } from '../../../src/protocols/protocol.ts';
import { EVENTS } from '../../../src/protocols/responses/public/event-shapes.ts';
import { createResponsesStream } from '../../../src/protocols/responses/responses-stream.ts';
import { verifies } from '../../requirements.ts';
import { ANSWER, fakePeek } from '../../support/protocols.ts';
import { placesToCut, waysToCut } from '../../core/sse/cuts.ts';
import { framesOf } from '../codec-laws.ts';
import { mutatedFrames } from '../mutations.ts';
import {
  USAGE,
  call,
  created,
  eventsIn,
  frame,
  frames,
  itemEvents,
  message,
  numbered,
  reasoning,
  response,
  streamOf,
} from './responses-fixtures.ts';
import type { Event } from './responses-fixtures.ts';

interface Run {
  output: string;
  reader: StreamReader;
}

function run(...chunks: readonly (Buffer | string)[]): Run {
  const reader = createResponsesStream({ ...ANSWER, peek: fakePeek({ model: 'acme/größe' }) });
  const parts = chunks.map((chunk) => reader.push(Buffer.from(chunk)));
  parts.push(reader.end());
  return { output: Buffer.concat(parts.filter((part) => part !== undefined)).toString(), reader };
}

const outcome = ({ output, reader }: Run): object => {
  const { contentSeen, ended, failure, usage, outputChars, events, pins } = reader;
  return { output, contentSeen, ended, failure, usage, outputChars, events, pins };
};

/** As the client gets them. */
const renamed = (events: readonly Event[]): Event[] =>
  events.map((event) =>
    'response' in event
      ? { ...event, response: { ...(event['response'] as object), model: 'acme/größe' } }
      : event,
  );

const STREAM = streamOf([reasoning('gAAA'), message('Grüße, 世界 🌍'), call('look')]);
const SECRET = { account: 'acct_secret', cost: 0.001 };
/** What the client reads last of a stream that failed. */
const farewell = (reader: StreamReader): string => String(reader.errorFrame?.(TOLD));

const TOLD = { message: 'it broke', type: 'api_error', code: 'upstream_interrupted', status: 502 };

describe('a Responses stream', () => {
  it(verifies('responses.stream.public-events', 'passes public events on in their order'), () => {
    const { output, reader } = run(frames(STREAM));
    expect(eventsIn(output)).toEqual(renamed(STREAM));
    expect(reader).toMatchObject({ ended: true, failure: undefined, contentSeen: true });
    expect(reader.usage).toMatchObject({ input: 12, cacheRead: 5, output: 9, reasoning: 4 });
    expect(reader.outputChars).toBeGreaterThanOrEqual('Grüße, 世界 🌍{"n":1.0}'.length);
    expect(reader.pins).toEqual([
      'response:resp_1',
      'item:rs_1',
      expect.stringMatching(/^encrypted:/),
      'item:msg_1',
      'item:fc_1',
    ]);
  });

  it('leaves no items at a provider that does not store them', () => {
    const events = streamOf([reasoning('gAAA'), message('hi')]).map((event) =>
      'response' in event
        ? { ...event, response: { ...(event['response'] as object), store: false } }
        : event,
    );
    const { reader } = run(frames(events));
    expect(reader.pins).toEqual(['response:resp_1', expect.stringMatching(/^encrypted:/)]);
  });

  it('is pinned by no more than 256 names, its own first', () => {
    const items = Array.from({ length: 400 }, (_, index) => message('x', `msg_${index}`));
    const { reader } = run(frames(streamOf(items)));
    expect(reader.pins).toHaveLength(256);
    expect(reader.pins?.[0]).toBe('response:resp_1');
  });

  it('passes unchanged events on as the bytes that came', () => {
    const delta = `event: response.output_text.delta\ndata: { "type":"response.output_text.delta","sequence_number":1.0,"output_index":0,"content_index":0,"item_id":"msg_1","delta":"\\u00fc" }\n\n`;
    const [first, added] = numbered([created, itemEvents(message('ü'), 0)[0] as Event]);
    const { output } = run(frames([first as Event, added as Event]), delta);
    expect(output.endsWith(delta)).toBe(true);
  });

  it('is the same in pieces of every size and with every kind of line end', () => {
    const whole = frames(STREAM);
    const expected = outcome(run(whole));
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const bytes = Buffer.from(whole.replaceAll('\n', lineEnd));
      for (const chunks of waysToCut(bytes)) expect(outcome(run(...chunks))).toEqual(expected);
    }
  });

  it(
    verifies('responses.stream.public-events', 'drops private events, members and comments'),
    () => {
      const extended = STREAM.map((event) => ({
        billing: SECRET,
        ...event,
        ...('response' in event && {
          response: { route: SECRET, ...(event['response'] as object), x: SECRET },
        }),
        ...('item' in event && { item: { x: SECRET, ...(event['item'] as object), y: SECRET } }),
      }));
      const noise = [
        `: ${JSON.stringify(SECRET)}\n\n`,
        frame({ type: 'response.billing.updated', ...SECRET }),
        frame({ type: 'x.routing', output_index: 0, ...SECRET }),
        `data: ${JSON.stringify(SECRET)}\n\n`,
        'data: [DONE]\n\n',
      ].join('');
      const { output } = run(noise, ...extended.flatMap((event) => [frame(event), noise]));
      expect(output).not.toContain('acct_secret');
      expect(eventsIn(output)).toEqual(renamed(STREAM));
    },
  );

  it('names events by their type, whatever the provider names them', () => {
    const unnamed = STREAM.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    expect(run(unnamed).output).toBe(run(frames(STREAM)).output);
    const misnamed = STREAM.map((event) => `event: x\nid: 7\ndata: ${JSON.stringify(event)}\n\n`);
    expect(run(...misnamed).output).toBe(run(frames(STREAM)).output);
  });

  it(
    verifies('responses.stream.no-dangling-items', 'closes the gaps of private items and parts'),
    () => {
      const secret = { id: 'x_1', type: 'x_router_call', ...SECRET };
      const items = [secret, message('one', 'msg_a'), { ...secret, id: 'x_2' }, call('look')];
      const ofSecret = (output_index: number): Event => ({
        type: 'response.output_text.delta',
        output_index,
        content_index: 0,
        delta: 'secret',
      });
      const all = items.flatMap((item, index) => [
        ...itemEvents(item, index),
        ...(index % 2 === 0 ? [ofSecret(index)] : []),
      ]);
      const end = { type: 'response.completed', response: response({ output: items }) };
      const { output, reader } = run(frames(numbered([created, ...all, end])));
      expect(reader.failure).toBeUndefined();
      expect(output).not.toContain('secret');
      const got = eventsIn(output);
      const places = got
        .filter(({ type }) => type === 'response.output_item.added')
        .map(({ output_index, item }) => [output_index, (item as { id: string }).id]);
      expect(places).toEqual([
        [0, 'msg_a'],
        [1, 'fc_1'],
      ]);
      for (const { type, output_index } of got)
        expect([type, [undefined, 0, 1].includes(output_index as number)]).toEqual([type, true]);
      expect(got.at(-1)).toMatchObject({
        response: { output: [{ id: 'msg_a' }, { id: 'fc_1' }] },
      });
    },
  );

  it(verifies('responses.stream.no-dangling-items', 'leaves private content parts out'), () => {
    const at = { item_id: 'msg_1', output_index: 0 };
    const secret = { type: 'x_trace', text: 'secret' };
    const open = itemEvents(message('hi'), 0);
    const annotation = { type: 'x_source', url: 'secret' };
    const moved = open.slice(1, -1).map((event): Event => ({ ...event, content_index: 1 }));
    const events = numbered([
      created,
      open[0] as Event,
      { type: 'response.content_part.added', ...at, content_index: 0, part: secret },
      { type: 'response.output_text.delta', ...at, content_index: 0, delta: 'secret' },
      { type: 'response.content_part.done', ...at, content_index: 0, part: secret },
      ...moved.slice(0, 2),
      { type: 'response.output_text.annotation.added', ...at, content_index: 1, annotation },
      ...moved.slice(2),
      open.at(-1) as Event,
      { type: 'response.completed', response: response({ status: 'completed' }) },
    ]);
    const { output, reader } = run(frames(events));
    expect(reader).toMatchObject({ ended: true, failure: undefined });
    expect(output).not.toContain('secret');
    expect(new Set(eventsIn(output).map(({ content_index }) => content_index))).toEqual(
      new Set([undefined, 0]),
    );
  });

  it.each<[string, Event | string]>([
    ['an item that was not announced', { type: 'response.output_text.delta', output_index: 7 }],
    ['an item without its place', { type: 'response.output_text.delta', delta: 'x' }],
    ['an item announced twice', itemEvents(message('x'), 0)[0] as Event],
    [
      'a private end of a public item',
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'x_private', id: 'msg_1' },
      },
    ],
    ['an end without a response', { type: 'response.completed' }],
    ['half an object', 'data: {"type":"response.output_text.delta","del\n\n'],
    ['no object', 'data: ["acct_secret"]\n\n'],
    ['a text', 'data: acct_secret\n\n'],
  ])(verifies('responses.stream.malformed-closed', 'ends where there is %s'), (_what, broken) => {
    const good = frames(STREAM.slice(0, 8));
    const bad = typeof broken === 'string' ? broken : frame(broken);
    const { output, reader } = run(good, bad, frames(STREAM.slice(8)));
    expect(reader.failure).toMatchObject({ kind: 'malformed' });
    expect(reader.ended).toBe(false);
    expect(output).toBe(run(good).output);
    expect(eventsIn(farewell(reader))).toEqual([
      {
        type: 'error',
        code: 'upstream_interrupted',
        message: 'it broke',
        param: null,
        sequence_number: 8,
      },
    ]);
  });

  it(
    verifies('responses.stream.malformed-closed', 'that is cut anywhere has no proper end'),
    () => {
      const bytes = Buffer.from(frames(STREAM));
      const endOfLast = bytes.length - 2;
      for (const at of placesToCut(bytes)) {
        if (at >= endOfLast) continue;
        const { output, reader } = run(bytes.subarray(0, at));
        expect(reader.ended).toBe(false);
        expect(reader.failure).toMatchObject({ kind: 'truncated' });
        expect(output).not.toContain('response.completed');
      }
    },
  );

  it('ends with an answer that ran out of tokens', () => {
    const details = { incomplete_details: { reason: 'max_output_tokens' } };
    const events = streamOf([message('hi')], { status: 'incomplete', ...details });
    const { output, reader } = run(frames(events));
    expect(reader).toMatchObject({ ended: true, failure: undefined });
    expect(eventsIn(output).at(-1)).toMatchObject({ type: 'response.incomplete' });
  });

  it.each<[string, Event, object]>([
    [
      'a failed response',
      {
        type: 'response.failed',
        response: response({ status: 'failed', error: { code: 'server_error', message: 'sorry' } }),
      },
      { status: 500, code: 'server_error', message: 'sorry' },
    ],
    [
      'a limit',
      {
        type: 'response.failed',
        response: response({ error: { code: 'rate_limit_exceeded', message: 'slow' } }),
      },
      { status: 429 },
    ],
    [
      "the client's own fault",
      { type: 'error', code: 'invalid_prompt', message: 'bad prompt', param: null },
      { status: 400, message: 'bad prompt' },
    ],
    [
      'an error in an object',
      { type: 'error', error: { code: 503, message: 'full' } },
      { status: 503 },
    ],
  ])('that begins with %s fails before any content', (_what, event, failure) => {
    const { reader } = run(frames([created, event]));
    expect(reader.contentSeen).toBe(false);
    expect(reader.failure).toMatchObject({ kind: 'error', ...failure });
  });

  it(
    verifies(
      'responses.stream.public-events',
      "tells of a late failure in the provider's own event",
    ),
    () => {
      const error = {
        code: 'server_error',
        message: 'key sk-proj-abc123def456 at 10.0.0.7 failed',
      };
      const failed = {
        type: 'response.failed',
        response: response({ status: 'failed', error, route: SECRET, usage: USAGE }),
        sequence_number: 9,
      };
      const { output, reader } = run(frames(STREAM.slice(0, 8)), frame(failed), frames(STREAM));
      expect(output).not.toContain('response.failed');
      const last = farewell(reader);
      expect(last).not.toMatch(/sk-proj|10\.0\.0\.7|acct_secret/);
      expect(eventsIn(last)[0]).toMatchObject({
        type: 'response.failed',
        sequence_number: 9,
        response: { status: 'failed', model: 'acme/größe', error: { code: 'server_error' } },
      });
      expect(reader.usage).toMatchObject({ output: 9 });
    },
  );

  it.each<[string, object, object]>([
    [
      'that has a code',
      {
        type: 'error',
        sequence_number: 8,
        billing: SECRET,
        error: {
          type: 'x',
          code: 'rate_limit_exceeded',
          message: 'slow, ü',
          param: 'input',
          SECRET,
        },
      },
      { code: 'rate_limit_exceeded', message: 'slow, ü', param: 'input' },
    ],
    [
      'that has no code',
      { type: 'error', sequence_number: 8, error: { type: 'server_error', message: 'oh' } },
      { code: 'server_error', message: 'oh', param: null },
    ],
    [
      'of no type',
      { error: { code: 503, message: 'key sk-proj-abc123def456 is full', param: 7 } },
      { code: '503', message: 'key [redacted] is full', param: null },
    ],
    [
      'that says nothing',
      { type: 'error', sequence_number: 8, error: {} },
      { code: 'upstream_interrupted', message: 'it broke', param: null },
    ],
    [
      'of null beside a public one',
      { type: 'error', sequence_number: 8, code: 'x', message: 'oh', param: null, error: null },
      { code: 'x', message: 'oh', param: null },
    ],
  ])('tells of a late nested error %s in the public form', (_what, event, told) => {
    const failed = { type: 'response.failed', response: response(), sequence_number: 9 };
    const { output, reader } = run(
      frames(STREAM.slice(0, 8)),
      `event: error\ndata: ${JSON.stringify(event)}\n\n`,
      frame(failed),
    );
    expect(output).toBe(run(frames(STREAM.slice(0, 8))).output);
    expect(reader.failure).toMatchObject({ kind: 'error' });
    const last = eventsIn(farewell(reader));
    expect(last).toEqual([{ type: 'error', ...told, sequence_number: 8 }]);
  });

  it('tells nothing but public events, whatever the provider sends', () => {
    const broken = mutatedFrames(framesOf(Buffer.from(frames(STREAM))));
    fc.assert(
      fc.property(broken, (bytes) => {
        const { output } = run(bytes);
        const announced = new Set<unknown>();
        for (const event of eventsIn(output)) {
          expect(EVENTS.has(event.type)).toBe(true);
          if (event.type === 'response.output_item.added') announced.add(event['output_index']);
          if (event['output_index'] !== undefined)
            expect(announced.has(event['output_index'])).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('remembers no more items than any answer has', () => {
    const many = Array.from({ length: 5000 }, (_, index) =>
      itemEvents(call('f', `f${index}`), index),
    );
    expect(run(frames([created, ...many.flat()])).reader.failure).toMatchObject({
      kind: 'malformed',
    });
  });
});

describe('a Responses stream that is looked up', () => {
  const read = (question: Question, ...events: readonly Event[]): Run => {
    const peek = fakePeek({ model: 'acme/größe', question });
    const reader = createResponsesStream({ ...ANSWER, peek });
    const parts = [reader.push(Buffer.from(frames(events))), reader.end()];
    return { output: Buffer.concat(parts.filter((part) => part !== undefined)).toString(), reader };
  };
  const question: Question = { method: 'GET', below: ['resp_1'], query: 'stream=true' };
  const message = 'key sk-proj-abc123def456';
  const failed = response({ status: 'failed', error: { code: 'server_error', message } });
  const events: Event[] = [
    { ...created, sequence_number: 0 },
    { type: 'response.failed', sequence_number: 1, response: failed },
  ];

  it(verifies('responses.lookup', 'ends with the failure that its provider keeps'), () => {
    const { output, reader } = read(question, ...events);
    expect(eventsIn(output).at(-1)).toMatchObject({
      type: 'response.failed',
      response: { model: 'acme/größe', error: { code: 'server_error' } },
    });
    expect(output).not.toContain('sk-proj');
    expect([reader.ended, reader.failure, reader.work?.status]).toEqual([
      true,
      undefined,
      'failed',
    ]);
    expect(read({ ...question, after: 1 }, ...events).output).toBe('');
  });

  it(verifies('responses.lookup', 'can be looked up again, though it is not stored'), () => {
    const unstored = { ...events[1], response: { ...failed, store: false } } as Event;
    expect(read(question, unstored).reader.stored).toBe(true);
  });
});
