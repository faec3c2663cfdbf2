import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CITED, CITED_AT, PAGE } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { ProviderId, Stage } from './stage.ts';

type Place = { start: number; end: number } | undefined;

/** A page as each client is told of it; without a place it stands for the whole text. */
const EXPECTED: Readonly<Record<ProviderId, (place: Place) => object>> = {
  chat: (place) => ({
    type: 'url_citation',
    url_citation: {
      ...PAGE,
      start_index: place?.start ?? 0,
      end_index: place?.end ?? CITED.length,
    },
  }),
  responses: (place) => ({
    type: 'url_citation',
    ...PAGE,
    start_index: place?.start ?? 0,
    end_index: place?.end ?? CITED.length,
  }),
  messages: () => ({ type: 'web_search_result_location', ...PAGE }),
  'generate-content': (place) => ({
    groundingChunks: [{ web: { uri: PAGE.url, title: PAGE.title } }],
    ...(place && {
      groundingSupports: [
        {
          // In bytes: one character in front of it has two.
          segment: { startIndex: place.start + 1, endIndex: place.end + 1 },
          groundingChunkIndices: [0],
        },
      ],
    }),
  }),
};

describe('pages that an answer cites', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  beforeEach(() => stage.clear());
  afterAll(() => stage.close());

  it.each(pairsOf(CLIENTS))(
    verifies(
      'routing.translation.pairs',
      `are told, at their place where the provider tells it: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream }) => {
      stage.play(PROVIDERS[provider].cited);
      const said = await client.open(stage.target(provider), { text: 'where?' }).ask(stream);
      expect(said.text).toBe(CITED);
      const place = provider === 'messages' ? undefined : CITED_AT;
      expect(said.citations).toMatchObject([EXPECTED[client.id as ProviderId](place)]);
    },
  );
});
