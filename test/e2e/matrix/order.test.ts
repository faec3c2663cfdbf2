import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WIRES } from '../../fixtures/wire/recorded.ts';
import type { WatchedFrame } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { eventually } from '../../support/gateway.ts';
import { beginEvents } from '../../support/stage/upstream.ts';
import type { ClientRow } from './client.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, livePairs } from './stage.ts';
import type { Stage } from './stage.ts';

/** Clients of generate-content see a call when it is complete; all else is seen piece by piece. */
function isAwaited({ id }: ClientRow, { shows, kind }: WatchedFrame): boolean {
  return shows !== undefined && !(id === 'generate-content' && kind === 'arguments');
}

describe('a stream whose provider waits for the client', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  it.each(livePairs(CLIENTS).filter(({ stream }) => stream))(
    verifies(
      'routing.translation.pairs',
      `arrives event by event, nothing held back: ${PAIR_TITLE}`,
    ),
    async ({ client, provider }) => {
      const { watched } = WIRES[provider];
      let seen = '';
      let unseen: string | undefined;
      stage.play(async (response) => {
        beginEvents(response);
        for (const one of watched) {
          response.write(one.frame);
          if (!isAwaited(client, one)) continue;
          const arrived = await eventually(() => seen.includes(one.shows as string)).catch(
            () => false,
          );
          if (arrived) continue;
          unseen = one.shows;
          break;
        }
        response.end();
      });
      const question = { text: 'go', tools: true, thinks: true };
      for await (const event of await client.watch(stage.target(provider), question))
        seen += JSON.stringify(event);
      expect(unseen).toBeUndefined();
      const awaited = watched.filter((one) => isAwaited(client, one)).map(({ shows }) => shows);
      expect(awaited.length).toBeGreaterThan(3);
      const places = awaited.map((word) => seen.indexOf(word as string));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    },
  );
});
