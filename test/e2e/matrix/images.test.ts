import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { dataUrl } from './client.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { ProviderId, Stage } from './stage.ts';

const PNG = 'iVBORw0KGgo=';
const URL = 'https://example.com/cat.png';
const TEXT = 'what is it?';

/** The user's turn with the image in either form, as providers must get it. */
const EXPECTED: Readonly<Record<ProviderId, (form: 'data' | 'url') => object>> = {
  chat: (form) => ({
    role: 'user',
    content: [
      { type: 'text', text: TEXT },
      { type: 'image_url', image_url: { url: form === 'url' ? URL : dataUrl(PNG) } },
    ],
  }),
  responses: (form) => ({
    role: 'user',
    content: [
      { type: 'input_text', text: TEXT },
      { type: 'input_image', detail: 'auto', image_url: form === 'url' ? URL : dataUrl(PNG) },
    ],
  }),
  messages: (form) => ({
    role: 'user',
    content: [
      { type: 'text', text: TEXT },
      {
        type: 'image',
        source:
          form === 'url'
            ? { type: 'url', url: URL }
            : { type: 'base64', media_type: 'image/png', data: PNG },
      },
    ],
  }),
  'generate-content': (form) => ({
    role: 'user',
    parts: [
      { text: TEXT },
      form === 'url'
        ? { fileData: { mimeType: 'image/png', fileUri: URL } }
        : { inlineData: { mimeType: 'image/png', data: PNG } },
    ],
  }),
};

describe('images in requests', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  it.each(pairsOf(CLIENTS))(
    verifies(
      'routing.translation.pairs',
      'gencontent.translated.supported',
      `reach the provider by data and by address: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream }) => {
      for (const form of ['data', 'url'] as const) {
        stage.play(PROVIDERS[provider].said('A cat.'));
        const image = form === 'data' ? { imageData: PNG } : { imageUrl: URL };
        const dialogue = client.open(stage.target(provider), { text: TEXT, ...image });
        expect((await dialogue.ask(stream)).text).toBe('A cat.');
        const { body } = stage.sent();
        expect([form, (body.messages ?? body.input ?? body.contents)[0]]).toEqual([
          form,
          EXPECTED[provider](form),
        ]);
        expect((await stage.record()).losses).toEqual([]);
      }
    },
  );
});
