import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WOVEN_PARTS } from '../../fixtures/wire/generate-content.ts';
import { WOVEN_CONTENT } from '../../fixtures/wire/messages.ts';
import { WOVEN_REASONING } from '../../fixtures/wire/responses.ts';
import { SAID, TWO_CALLS } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { Pair, Received, Stage } from './stage.ts';

const QUESTION = { text: 'weather?', tools: true, thinks: true };

const call = (index: 0 | 1, call_id: string): object => ({
  type: 'function_call',
  call_id,
  ...TWO_CALLS[index],
});

/** The answer as its provider must get it back; chat has no such order of its own. */
const ORDERS: Readonly<Record<string, readonly [(body: Received) => unknown, unknown]>> = {
  responses: [
    (body) => body.input.slice(1, 6),
    [
      WOVEN_REASONING[0],
      call(0, 'call_a'),
      WOVEN_REASONING[1],
      { role: 'assistant', content: SAID },
      call(1, 'call_b'),
    ],
  ],
  messages: [(body) => body.messages[1].content, WOVEN_CONTENT],
  'generate-content': [
    (body) => body.contents[1].parts.filter((part: Received) => !part.thought),
    WOVEN_PARTS,
  ],
};

/** A stream signs the last piece of a text, and signed pieces are never joined with others. */
const PIECES = [
  WOVEN_PARTS[0],
  { text: 'Let me ' },
  { ...WOVEN_PARTS[1], text: 'look.' },
  WOVEN_PARTS[2],
];

describe('an answer that thinks between its calls', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  beforeEach(() => stage.clear());
  afterAll(() => stage.close());

  const pairs = pairsOf(CLIENTS).filter(({ provider }) => provider !== 'chat');

  /** Asks, gives the results of both calls back, and gives what the provider got. */
  const goOn = async ({ client, provider, stream }: Pair): Promise<Received> => {
    const { woven } = PROVIDERS[provider];
    if (woven) stage.play(woven);
    const dialogue = client.open(stage.target(provider), QUESTION);
    const said = await dialogue.ask(stream);
    expect(said.text).toBe(SAID);
    expect(said.calls).toHaveLength(2);
    dialogue.give([{ text: 'sunny' }, { text: 'rainy' }]);
    stage.play(PROVIDERS[provider].said('Well.'));
    expect((await dialogue.ask(stream)).text).toBe('Well.');
    return stage.sent().body;
  };

  it.each(pairs.filter(({ client, isNative }) => !isNative && client.id !== 'chat'))(
    verifies(
      'routing.translation.pairs',
      'messages.thinking.round-trip',
      'gencontent.thought-signature',
      `comes back in its order: ${PAIR_TITLE}`,
    ),
    async (pair) => {
      const [find, expected] = ORDERS[pair.provider] ?? [];
      const isPieces = pair.provider === 'generate-content' && pair.stream;
      expect(find?.(await goOn(pair))).toEqual(isPieces ? PIECES : expected);
    },
  );

  it.each(pairs.filter(({ client }) => client.id === 'chat'))(
    verifies(
      'routing.translation.pairs',
      `comes back with all its signatures from clients without such an order: ${PAIR_TITLE}`,
    ),
    async (pair) => {
      const text = JSON.stringify(await goOn(pair));
      const proofs = {
        chat: [],
        responses: WOVEN_REASONING.map((item) => item.encrypted_content),
        messages: WOVEN_CONTENT.flatMap(({ signature }) => signature ?? []),
        'generate-content': ['c2ln+MQ==', 'c2ln/Mg=='],
      }[pair.provider];
      const places = proofs.map((proof) => text.indexOf(`"${proof}"`));
      expect(Math.min(...places)).toBeGreaterThan(0);
    },
  );
});
