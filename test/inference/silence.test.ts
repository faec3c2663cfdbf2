import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { createInteractionsStream } from '../../src/protocols/interactions/interactions-stream.ts';
import { WIRES } from '../fixtures/wire/recorded.ts';
import type { Recorded } from '../fixtures/wire/recorded.ts';
import { CODECS } from '../protocols/spoken.ts';
import { verifies } from '../requirements.ts';
import { ANSWER, fakePeek } from '../support/protocols.ts';
import { ask } from './asking.ts';

const FAMILIES = CODECS.map(({ id }) => id as Recorded);
const SECOND = 1000;

const event = (value: { type?: string }): string =>
  `${value.type === undefined ? '' : `event: ${value.type}\n`}data: ${JSON.stringify(value)}\n\n`;
const delta = (members: object): string =>
  event({ choices: [{ index: 0, delta: { role: 'assistant', ...members } }] } as object);
const parts = (...given: object[]): string =>
  event({ candidates: [{ content: { role: 'model', parts: given }, index: 0 }] } as object);

const CREATED = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] };
const BEGUN = { type: 'response.created', response: CREATED };
const STARTED = {
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: {} },
};
const begins = (content_block: object): string =>
  event(STARTED) + event({ type: 'content_block_start', index: 0, content_block } as object);

/** Streams that only begin, and an event that says nothing. */
const BEGINNINGS: Readonly<Record<Recorded, { begun: string; alive: string }>> = {
  chat: { begun: delta({ content: '' }), alive: ': PROCESSING\n\n' },
  messages: { begun: event(STARTED), alive: event({ type: 'ping' }) },
  responses: { begun: event(BEGUN), alive: event({ type: 'keepalive' }) },
  'generate-content': { begun: parts({ text: '' }), alive: ': alive\n\n' },
};

/** Streams that have opened reasoning and show none. */
const OPENED: readonly (readonly [Recorded, string])[] = [
  ['chat', delta({ content: null, reasoning_content: '' })],
  ['chat', delta({ reasoning: '' })],
  ['messages', begins({ type: 'thinking', thinking: '', signature: '' })],
  [
    'responses',
    event(BEGUN) +
      event({
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'rs_1', type: 'reasoning', summary: [] },
      } as object),
  ],
  ['generate-content', parts({ thought: true, text: '' })],
  ['generate-content', parts({ thought: true })],
  ['generate-content', parts({ text: '', thoughtSignature: 'c2ln' })],
  [
    'generate-content',
    event({
      candidates: [],
      usageMetadata: { promptTokenCount: 3, thoughtsTokenCount: 40 },
    } as object),
  ],
];

/** The answer behind reasoning at the first place. */
function restOf(provider: Recorded): string {
  const { frames } = WIRES[provider].said('hello');
  if (provider === 'chat' || provider === 'generate-content') return frames.join('');
  return frames
    .slice(1)
    .join('')
    .replaceAll(/"((?:output_)?index)":0/g, '"$1":1');
}

function begin(client: Recorded, provider: Recorded, opening: string) {
  const asked = ask({ client, provider, stream: true });
  const { sink } = asked.sent[0] ?? {};
  const say = (text: string): void => sink?.onData(Buffer.from(text));
  sink?.onHead(200, { 'content-type': 'text/event-stream' });
  say(opening);
  /** The provider says that it is alive every 100 seconds. */
  const live = (seconds: number): void => {
    for (let at = 0; at < seconds; at += 100) {
      asked.clock.advance(100 * SECOND);
      say(BEGINNINGS[provider].alive);
    }
  };
  return { ...asked, say, live };
}

describe('a provider that thinks in silence', () => {
  it.each(OPENED)(
    verifies('timeouts.thinking', 'is waited for as long as it sends anything: %s, %#'),
    async (provider, opening) => {
      for (const client of FAMILIES) {
        const { sent, answer, live, say } = begin(client, provider, opening);
        live(500);
        expect(sent.length, client).toBe(1);
        say(restOf(provider));
        expect((await answer).status, client).toBe(200);
      }
    },
  );

  it(verifies('timeouts.thinking', 'is waited for when it begins a list of parts'), () => {
    const thinking = [{ type: 'text', text: '' }];
    const opening = delta({ content: [{ type: 'thinking', thinking }] });
    const { sent, live } = begin('messages', 'chat', opening);
    live(500);
    expect(sent.length).toBe(1);
  });

  it.each(OPENED)(
    verifies('timeouts.thinking', 'is left once it sends nothing for `idle`: %s, %#'),
    async (provider, opening) => {
      for (const client of FAMILIES) {
        const { sent, live, clock, outcomes, give, answer } = begin(client, provider, opening);
        live(100);
        clock.advance(119 * SECOND);
        expect(sent.length).toBe(1);
        clock.advance(SECOND);
        await give('');
        expect(sent.length, client).toBe(2);
        await give('');
        await expect(answer, client).rejects.toBeDefined();
        expect(outcomes[0]?.attempts[0]).toMatchObject({ outcome: 'timeout_idle' });
      }
    },
  );

  it.each(FAMILIES)(
    verifies('timeouts.thinking', 'has all of `total` and no more: %s'),
    async (provider) => {
      const [, opening = ''] = OPENED.find(([one]) => one === provider) ?? [];
      const { sent, answer, live } = begin('messages', provider, opening);
      live(600);
      await expect(answer).rejects.toMatchObject({ status: 504 });
      expect(sent.length).toBe(1);
    },
  );

  it.each(FAMILIES)(
    verifies('timeouts.thinking', 'is left after `first_content` while nothing began: %s'),
    async (provider) => {
      for (const client of FAMILIES) {
        const { begun } = BEGINNINGS[provider];
        const { sent, live, give, clock } = begin(client, provider, begun);
        live(100);
        clock.advance(20 * SECOND);
        await give('');
        expect(sent.length, client).toBe(2);
      }
    },
  );

  it.each(['thought', 'text'])('shows it in a stream of Interactions by a %s', (type) => {
    const reader = createInteractionsStream({ ...ANSWER, peek: fakePeek() });
    reader.push(
      Buffer.from(event({ event_type: 'step.start', index: 0, step: { type } } as object)),
    );
    expect(reader).toMatchObject({ thinking: type === 'thought', contentSeen: false });
  });
});
