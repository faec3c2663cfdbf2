import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../src/protocols/registry.ts';
import { ANSWER, atOnce, encodeOptions, fakePeek } from '../support/protocols.ts';
import { sse } from '../fixtures/wire/wire.ts';
import { replayChunks } from './replaying.ts';
import { CLIENT_PROTOCOLS, wireTo } from './spoken.ts';

const piece = (parts: readonly object[], rest: object = {}): object => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }],
  responseId: 'r-1',
});
const THOUGHTS = [{ text: 'hm', thought: true }];
const CALL = [{ functionCall: { name: 'f', args: {} } }];
const WHOLE = piece([...THOUGHTS, ...CALL], { finishReason: 'STOP' });
const STREAM =
  sse(piece([{ text: 'h', thought: true }])) +
  sse(piece([{ text: 'm', thought: true }])) +
  sse(piece(CALL, { finishReason: 'STOP' }));

type Json = Record<string, any>;

interface Client {
  id: Protocol;
  /** What official clients make of a stream. */
  gather(events: readonly Json[]): Json;
  /** The request that goes on after the answer. */
  goOn(answer: Json): Json;
  /** Name of what is lost. */
  field: string;
}

const ASK = { role: 'user', content: 'hi' };

const CLIENTS: readonly Client[] = [
  {
    id: 'messages',
    gather: (events) => ({
      content: events
        .filter(({ type }) => type === 'content_block_start')
        .map(({ index, content_block: block }) => {
          const deltas = events.filter((one) => one['delta'] && one['index'] === index);
          const joined = (name: string): string =>
            deltas.map(({ delta }) => (delta[name] as string | undefined) ?? '').join('');
          return block.type === 'thinking'
            ? { ...block, thinking: joined('thinking'), signature: joined('signature') }
            : block;
        }),
    }),
    goOn: ({ content }) => ({
      model: 'm',
      max_tokens: 9,
      messages: [ASK, { role: 'assistant', content }, ASK],
    }),
    field: 'messages.content.thinking.signature',
  },
  {
    id: 'responses',
    gather: (events) => events.at(-1)?.['response'] as Json,
    goOn: ({ output }) => ({ model: 'm', input: [ASK, ...output, ASK] }),
    field: 'reasoning.encrypted_content',
  },
  {
    id: 'chat',
    gather: (events) => {
      const deltas = events.map(({ choices }) => (choices?.[0]?.delta ?? {}) as Json);
      const text = deltas.map((delta) => (delta['reasoning_content'] as string) ?? '').join('');
      const details = deltas.flatMap((delta) => (delta['reasoning_details'] as Json[]) ?? []);
      const detail = details.reduce((sum, one) => ({ ...sum, ...one }), {});
      const message = { role: 'assistant', content: 'x', reasoning_content: text };
      return { choices: [{ message: { ...message, reasoning_details: [{ ...detail, text }] } }] };
    },
    goOn: ({ choices }) => ({ model: 'm', messages: [ASK, choices[0].message, ASK] }),
    field: 'reasoning_details',
  },
];

describe.each(CLIENTS)('thoughts that nobody signed, in a conversation of $id', (client) => {
  const { id, gather, goOn, field } = client;
  const protocol = CLIENT_PROTOCOLS.find((one) => one.id === id)!;
  const eventsOf = (): Json[] =>
    replayChunks({ client: id, provider: 'generate-content' }, [Buffer.from(STREAM)])
      .output.split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)) as Json);
  const wholeOf = (): Json => {
    const wire = wireTo(protocol, 'generate-content');
    const read = wire.readAnswer(Buffer.from(JSON.stringify(WHOLE)), fakePeek(), ANSWER);
    return JSON.parse(String(atOnce(read)?.body)) as Json;
  };
  const sendTo = (provider: Protocol, answer: Json) => {
    const losses: string[] = [];
    const peek = protocol.peek(Buffer.from(JSON.stringify(goOn(answer))));
    const body = wireTo(protocol, provider).encode(peek, encodeOptions({ losses }));
    return { body: body.toString('utf8'), losses };
  };

  it.each([
    ['whole', wholeOf],
    ['stream', () => gather(eventsOf())],
  ])('are left out and named towards a provider that would refuse them: %s', (_form, answerOf) => {
    const { body, losses } = sendTo(id, answerOf());
    expect(body).not.toContain('hm');
    expect(losses).toEqual([field]);
  });

  it.each([
    ['whole', wholeOf],
    ['stream', () => gather(eventsOf())],
  ])('come back unsigned to where they are from: %s', (_form, answerOf) => {
    const { body } = sendTo('generate-content', answerOf());
    const { contents } = JSON.parse(body) as { contents: { parts: object[] }[] };
    expect(contents[1]?.parts[0]).toEqual({ text: 'hm', thought: true });
  });
});
