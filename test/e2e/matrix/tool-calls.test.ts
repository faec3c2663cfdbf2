import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAID, THREE_CALLS, TWO_CALLS } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import type { ClientRow, Result, Said } from './client.ts';
import { CLIENTS } from './clients.ts';
import { EXPECTED_TURNS, turnsOf } from './received.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { Stage } from './stage.ts';

const PNG = 'iVBORw0KGgo=';
const QUESTION = { text: 'weather?', tools: true };

/** What the library shows of arguments: their text as it was, or what they are. */
function shown({ says }: ClientRow, text: string): unknown {
  const whole = text === '' ? '{}' : text;
  return says.rawArguments ? whole : JSON.parse(whole);
}

/** The arguments that the library sends back. */
function sentBack({ says }: ClientRow, text: string): string {
  const whole = text === '' ? '{}' : text;
  return says.rawArguments ? whole : JSON.stringify(JSON.parse(whole));
}

const CALLED: Readonly<Record<string, string>> = {
  chat: 'tool_calls',
  responses: 'completed',
  messages: 'tool_use',
  'generate-content': 'STOP',
};

function told(client: ClientRow, { calls }: Said, texts: readonly string[]) {
  return calls.map(({ id, name }, index) => ({
    id,
    name,
    arguments: sentBack(client, texts[index] ?? ''),
  }));
}

interface Delta {
  index: number;
  id?: string;
  function: { name?: string; arguments?: string };
}
interface Chunk {
  choices: readonly { delta: { tool_calls?: Delta[] } }[];
}

describe('parallel tool calls', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  it.each(pairsOf(CLIENTS))(
    verifies(
      'routing.translation.pairs',
      'routing.response-model-logical',
      'messages.stream.tool-fragments',
      `two, in pieces and mixed, and their results: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream, isNative }) => {
      stage.play(PROVIDERS[provider].twoCalls);
      const dialogue = client.open(stage.target(provider), QUESTION);
      const said = await dialogue.ask(stream);
      expect(said).toMatchObject({
        text: SAID,
        stop: CALLED[client.id],
        ...(!isNative && { model: `acme/${provider}` }),
      });
      expect(said.calls.map((call) => [call.name, call.arguments])).toEqual(
        TWO_CALLS.map((call) => [call.name, shown(client, call.arguments)]),
      );
      if (isNative) return;
      expect(new Set(said.calls.map(({ id }) => id)).size).toBe(2);
      dialogue.give([{ text: 'rain' }, { text: 'snow' }]);
      stage.play(PROVIDERS[provider].said('Rain and snow.'));
      expect((await dialogue.ask(stream)).text).toBe('Rain and snow.');
      expect(turnsOf(stage.sent().body)).toEqual(
        EXPECTED_TURNS[provider]({
          said: SAID,
          calls: told(
            client,
            said,
            TWO_CALLS.map((call) => call.arguments),
          ),
          results: [{ text: 'rain' }, { text: 'snow' }],
        }),
      );
    },
  );

  it.each(pairsOf(CLIENTS))(
    verifies(
      'routing.translation.pairs',
      'messages.stream.tool-fragments',
      'gencontent.translated.supported',
      `three, whole, with an image and an error in their results: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream, isNative }) => {
      stage.play(PROVIDERS[provider].threeCalls);
      const dialogue = client.open(stage.target(provider), QUESTION);
      const said = await dialogue.ask(stream);
      expect(said.stop).toBe(CALLED[client.id]);
      // A provider's own empty arguments are not touched.
      const texts = THREE_CALLS.map((call) => call.arguments);
      if (!isNative)
        expect(said.calls.map((call) => [call.name, call.arguments])).toEqual(
          THREE_CALLS.map((call) => [call.name, shown(client, call.arguments)]),
        );
      const { resultImages, resultErrors } = client.says;
      const results: Result[] = [
        { text: 'rain' },
        { text: 'see', ...(resultImages && { imageData: PNG }) },
        { text: 'no such city', ...(resultErrors && { isError: true }) },
      ];
      dialogue.give(results);
      stage.play(PROVIDERS[provider].said('Some.'));
      expect((await dialogue.ask(stream)).text).toBe('Some.');
      const { text, body } = stage.sent();
      if (isNative) {
        for (const one of ['rain', 'no such city']) expect(text).toContain(one);
        return;
      }
      expect(turnsOf(body)).toEqual(
        EXPECTED_TURNS[provider]({ said: '', calls: told(client, said, texts), results }),
      );
      const [odd] = texts as [string];
      const spelled = provider === 'chat' || provider === 'responses' ? JSON.stringify(odd) : odd;
      if (client.says.rawArguments) expect(text).toContain(spelled);
    },
  );

  const chats = pairsOf(CLIENTS).filter(
    ({ client, stream, isNative }) => client.id === 'chat' && stream && !isNative,
  );
  it.each(chats)(
    verifies(
      'chat.stream.tool-index',
      `are numbered, named once and never empty in the chunks: ${PAIR_TITLE}`,
    ),
    async ({ client, provider }) => {
      stage.play(PROVIDERS[provider].threeCalls);
      const deltas: Delta[] = [];
      for await (const chunk of await client.watch(stage.target(provider), QUESTION))
        deltas.push(...((chunk as Chunk).choices[0]?.delta.tool_calls ?? []));
      const named = deltas.filter((delta) => 'id' in delta || delta.function.name !== undefined);
      expect(named).toMatchObject(
        THREE_CALLS.map(({ name }, index) => ({
          index,
          id: expect.any(String),
          type: 'function',
          function: { name },
        })),
      );
      for (const delta of deltas)
        if (!named.includes(delta)) expect(delta.function.arguments).not.toBe('');
      const joined = THREE_CALLS.map((_call, at) =>
        deltas
          .filter(({ index }) => index === at)
          .map((delta) => delta.function.arguments ?? '')
          .join(''),
      );
      expect(joined).toEqual(THREE_CALLS.map((call) => call.arguments || '{}'));
    },
  );
});
