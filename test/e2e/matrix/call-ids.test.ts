import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TWO_CALLS } from '../../fixtures/wire/wire.ts';
import type { Wire } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { Stage } from './stage.ts';

/** As servers of open models make them. */
const IDS = ['functions.look:0', 'functions.look:1'];

const ODD: Wire = {
  whole: withIds(PROVIDERS.chat.twoCalls.whole),
  frames: PROVIDERS.chat.twoCalls.frames.map(withIds),
};

function withIds(text: string): string {
  return text.replace('"call_a"', `"${IDS[0]}"`).replace('"call_b"', `"${IDS[1]}"`);
}

describe('ids of calls that are no words', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  beforeEach(() => stage.clear());
  afterAll(() => stage.close());

  const pairs = pairsOf(CLIENTS);

  it.each(pairs.filter(({ provider }) => provider === 'chat'))(
    verifies(
      'routing.translation.pairs',
      `come back to their provider as they were: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream }) => {
      stage.play(ODD);
      const dialogue = client.open(stage.target(provider), { text: 'weather?', tools: true });
      await dialogue.ask(stream);
      dialogue.give([{ text: 'rain' }, { text: 'snow' }]);
      stage.play(PROVIDERS[provider].said('Well.'));
      await dialogue.ask(stream);
      const [, called, ...results] = stage.sent().body.messages;
      expect(called.tool_calls.map(({ id }: { id: string }) => id)).toEqual(IDS);
      expect(results).toMatchObject(IDS.map((tool_call_id) => ({ role: 'tool', tool_call_id })));
    },
  );

  // A client of Messages is forwarded as it is.
  it.each(pairs.filter(({ provider, isNative }) => provider === 'messages' && !isNative))(
    verifies('routing.translation.pairs', `are words where the provider wants them: ${PAIR_TITLE}`),
    async ({ client, provider, stream }) => {
      stage.play(ODD);
      const dialogue = client.open(stage.target('chat'), { text: 'weather?', tools: true });
      await dialogue.ask(stream);
      dialogue.give([{ text: 'rain' }, { text: 'snow' }]);
      dialogue.moveTo(`acme/${provider}`);
      stage.play(PROVIDERS[provider].said('Well.'));
      await dialogue.ask(stream);
      const [, called, results] = stage.sent().body.messages;
      const uses: { id: string; type: string }[] = called.content.filter(
        ({ type }: { type: string }) => type === 'tool_use',
      );
      expect(uses).toMatchObject(
        TWO_CALLS.map((call) => ({ name: call.name, input: JSON.parse(call.arguments) })),
      );
      for (const { id } of uses) expect(id).toMatch(/^[\w-]+$/);
      expect(new Set(uses.map(({ id }) => id)).size).toBe(2);
      expect(results.content).toMatchObject(
        uses.map(({ id }) => ({ type: 'tool_result', tool_use_id: id })),
      );
    },
  );
});
