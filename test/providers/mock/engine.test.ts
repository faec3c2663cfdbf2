import { describe, expect, it } from 'vitest';
import type { CassetteInput } from '../../../src/providers/mock/tape/cassette.ts';
import { createMockEngine } from '../../../src/providers/mock/engine.ts';
import type { MockEngine } from '../../../src/providers/mock/engine.ts';
import type { MockScript } from '../../../src/providers/mock/tape/mock-script.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from './fake-clock.ts';

const PATHS = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  'generate-content': '/v1beta/models/m:generateContent',
  interactions: '/v1beta/interactions',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
};

function createEngine(cassette?: CassetteInput): MockEngine {
  return createMockEngine({ cassette, clock: createFakeClock() });
}

function send(engine: MockEngine, path: string, body: unknown): MockScript {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer k' };
  return engine.handle({ method: 'POST', path, headers, body: Buffer.from(JSON.stringify(body)) });
}

function chat(engine: MockEngine, text: string, more: object = {}): string {
  const script = send(engine, '/v1/chat/completions', {
    model: 'm',
    messages: [{ role: 'user', content: text }],
    ...more,
  });
  return JSON.parse(bytesOf(script).toString()).choices[0].message.content;
}

function bytesOf({ steps }: MockScript): Buffer {
  return Buffer.concat(steps.map((step) => ('bytes' in step ? step.bytes : Buffer.alloc(0))));
}

describe('mock engine: determinism', () => {
  const body = {
    model: 'm',
    max_tokens: 5,
    store: false,
    input: 'hello',
    prompt: 'hello',
    messages: [{ role: 'user', content: 'hello' }],
    contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
  };

  it.each(Object.entries(PATHS))(
    verifies('mock.offline', 'answers the same bytes to the same request in %s, on any engine'),
    (_, path) => {
      const first = createEngine();
      const later = createMockEngine({ clock: createFakeClock(1_900_000_000_000) });
      for (const stream of [false, true]) {
        const expected = send(first, path, { ...body, stream });
        expect(expected.status).toBe(200);
        for (const engine of [first, later]) {
          const again = send(engine, path, { ...body, stream });
          expect(bytesOf(again)).toEqual(bytesOf(expected));
          expect(again.headers).toEqual(expected.headers);
        }
      }
    },
  );

  it('gives different requests different ids', () => {
    const engine = createEngine();
    const ids = ['a', 'b', 'a'].map(
      (content) =>
        JSON.parse(
          bytesOf(
            send(engine, PATHS.chat, { model: 'm', messages: [{ role: 'user', content }] }),
          ).toString(),
        ).id,
    );
    expect(ids[0]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('gives everything that can be looked up an id of its own', () => {
    const engine = createEngine();
    const ids = Array.from(
      { length: 3 },
      () =>
        JSON.parse(bytesOf(send(engine, '/v1/videos', { model: 'v', prompt: 'x' })).toString()).id,
    );
    expect(new Set(ids).size).toBe(3);
  });
});

describe('mock engine: rules', () => {
  it(verifies('mock.offline', 'answers by the first rule that matches, else by default'), () => {
    const engine = createEngine({
      rules: [
        { match: { text: 'WEATHER', model: 'acme/*' }, reply: { text: 'rain' } },
        { match: { text: 'weather' }, reply: { text: 'sun' } },
        { match: { protocol: ['messages', 'responses'] }, reply: { text: 'other' } },
        { match: { stream: true }, reply: { text: 'streamed' } },
      ],
    });
    expect(chat(engine, 'The Weather?', { model: 'acme/x' })).toBe('rain');
    expect(chat(engine, 'The Weather?')).toBe('sun');
    expect(chat(engine, 'hi')).toBe('You said: hi');
    expect(
      bytesOf(send(engine, PATHS.responses, { model: 'm', input: 'hi' })).toString(),
    ).toContain('"other"');
  });

  it('matches the turn, counting runs of assistant messages', () => {
    const engine = createEngine({
      rules: [1, 2, 3].map((turn) => ({ match: { turn }, reply: { text: `turn ${turn}` } })),
    });
    const user = { role: 'user', content: 'x' };
    const reply = { role: 'assistant', content: 'y' };
    expect(chat(engine, 'x')).toBe('turn 1');
    expect(chat(engine, 'x', { messages: [user, reply, user] })).toBe('turn 2');
    expect(chat(engine, 'x', { messages: [user, reply, reply, user, reply, user] })).toBe('turn 3');
    expect(chat(engine, 'x', { messages: [user, reply, user, reply, user, reply, user] })).toBe(
      'You said: x',
    );
  });

  it('counts calls per rule for `times` and `attempt`', () => {
    const engine = createEngine({
      rules: [
        { match: { text: 'a', attempt: 2 }, reply: { text: 'second' } },
        { match: { text: 'a', times: 2 }, reply: { text: 'early' } },
      ],
    });
    const answers = ['a', 'b', 'a', 'a', 'a'].map((text) => chat(engine, text));
    expect(answers).toEqual(['early', 'You said: b', 'second', 'early', 'You said: a']);
  });

  it('starts anew with another cassette, and keeps the old one when the new one is invalid', () => {
    const engine = createEngine({ rules: [{ match: { times: 1 }, reply: { text: 'once' } }] });
    expect([chat(engine, 'x'), chat(engine, 'x')]).toEqual(['once', 'You said: x']);
    expect(() => engine.load({ rules: [{ reply: { text: 3 } }] })).toThrow(
      /rules\[0\]\.reply\.text/,
    );
    expect(chat(engine, 'x')).toBe('You said: x');
    engine.load({ rules: [{ reply: { text: 'new' } }] });
    expect(chat(engine, 'x')).toBe('new');
  });

  it('matches wildcards anywhere in a model name', () => {
    const matches = (model: string, name: string): boolean =>
      chat(createEngine({ rules: [{ match: { model }, reply: { text: 'yes' } }] }), 'x', {
        model: name,
      }) === 'yes';
    expect(matches('a*c', 'abc')).toBe(true);
    expect(matches('a*c', 'abcd')).toBe(false);
    expect(matches('*b*', 'abc')).toBe(true);
    expect(matches('ab*ba', 'aba')).toBe(false);
    expect(matches('*', 'abc')).toBe(true);
    expect(matches('a.c', 'abc')).toBe(false);
  });
});

describe('mock engine: scripts', () => {
  it('cuts the body into pieces of n bytes, each after the wait', () => {
    const engine = createEngine({ rules: [{ reply: { split_bytes: 10, chunk_delay_ms: 3 } }] });
    const { steps } = send(engine, PATHS.chat, { model: 'm', messages: [], stream: true });
    const sizes = steps.map((step) => ('bytes' in step ? step.bytes.length : 0));
    expect(new Set(sizes.slice(0, -1))).toEqual(new Set([10]));
    expect(steps.every((step) => 'delayMs' in step && step.delayMs === 3)).toBe(true);
  });

  it('bounds what a long echo costs', () => {
    const engine = createEngine();
    const script = send(engine, PATHS.chat, {
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'word '.repeat(100_000) }],
    });
    expect(script.steps.length).toBeLessThan(110);
    expect(bytesOf(script).length).toBeLessThan(60_000);
  });

  it('survives conversations of any shape', () => {
    const engine = createEngine();
    const deep = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`);
    for (const odd of [
      null,
      3,
      'x',
      deep,
      [null, 3],
      { content: { content: deep } },
      [{ role: 7 }],
    ]) {
      for (const path of Object.values(PATHS)) {
        const body = {
          model: 'm',
          max_tokens: 1,
          messages: odd,
          contents: odd,
          input: odd,
          prompt: odd,
        };
        expect(send(engine, path, body).status).toBe(200);
      }
    }
  });
});

describe('mock engine: journal', () => {
  it('keeps what arrived, newest 1,000 calls at most', () => {
    const engine = createEngine();
    for (let i = 0; i < 1005; i++)
      send(engine, '/v1/chat/completions?x=1', { model: `m${i}`, messages: [] });
    const calls = engine.calls();
    expect(calls).toHaveLength(1000);
    expect(calls[0]).toMatchObject({ index: 6, model: 'm5', at: 1_800_000_000_000 });
    expect(calls.at(-1)).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions?x=1',
      headers: { authorization: 'Bearer k' },
      body: Buffer.from('{"model":"m1004","messages":[]}'),
      outcome: 'open',
    });
    engine.clearCalls();
    expect(engine.calls()).toEqual([]);
  });

  it('bounds the bodies it keeps', () => {
    const engine = createEngine();
    const content = 'x'.repeat(300_000);
    for (let i = 0; i < 70; i++) {
      send(engine, '/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content }] });
    }
    const kept = engine.calls().reduce((sum, { body }) => sum + body.length, 0);
    expect(kept).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(engine.calls().length).toBeGreaterThan(10);
  });
});
