import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { runsOf } from '../runs.ts';
import { CLIENTS } from './translating.ts';
import type { Spoken } from './translating.ts';
import { CHAT_BODY } from './whole-requests/chat.ts';
import { GENERATE_CONTENT_BODY } from './whole-requests/generate-content.ts';
import { MESSAGES_BODY } from './whole-requests/messages.ts';
import { RESPONSES_BODY } from './whole-requests/responses.ts';
import { marked } from './whole-requests/shapes.ts';
import { isNamed, leavesOf, send, silentLosses, spell } from './whole-requests/silent-losses.ts';

const BODIES: Readonly<Record<Spoken, fc.Arbitrary<object>>> = {
  chat: CHAT_BODY,
  responses: RESPONSES_BODY,
  messages: MESSAGES_BODY,
  'generate-content': GENERATE_CONTENT_BODY,
};

/** Models of which nothing is known, and such as take less. */
const MODELS: Readonly<Record<Spoken, readonly string[]>> = {
  chat: ['up', 'gpt-4o', 'gpt-5.2'],
  responses: ['up', 'gpt-5.2'],
  messages: ['up', 'claude-opus-4-5', 'claude-opus-4-8'],
  'generate-content': ['up', 'gemini-2.5-pro', 'gemini-3-pro-preview'],
};

/** The same requests in every run; a failure prints the seed and the path of its smallest one. */
const RUNS = { seed: 20_261_122, numRuns: runsOf(6, 30) };

const PAIRS = CLIENTS.flatMap((client) => CLIENTS.map((provider) => ({ client, provider })));

describe('a request', () => {
  it.each(PAIRS)(
    verifies(
      'translate.property.nothing-unnamed',
      'arrives whole, or is named where it does not: $client to $provider',
    ),
    ({ client, provider }) => {
      fc.assert(
        fc.property(
          BODIES[client].map((body) => marked(body) as object),
          fc.constantFrom(...MODELS[provider]),
          (body, model) => {
            const translation = { client, provider, model };
            const sent = send(translation, body);
            // Nothing that these requests hold is refused.
            if (!sent) throw new Error('it is refused');
            if (client === provider) expect(sent.losses).toEqual([]);
            const silent = silentLosses(translation, body, sent);
            expect(silent.map(({ path, value }) => `${spell(path)} = ${String(value)}`)).toEqual(
              [],
            );
          },
        ),
        RUNS,
      );
    },
  );

  it('is not taken as named by the name of another member', () => {
    const body = { tools: [{ type: 'function', function: { name: 'a', x: 'b' } }], seed: 7 };
    const named = (name: string): string[] =>
      leavesOf(body)
        .filter((leaf) => isNamed(leaf, name, body))
        .map(({ path }) => spell(path));
    expect(named('tools[0].function.x')).toEqual(['tools[0].function.x']);
    expect(named('tools[1]')).toEqual([]);
    expect(named('name')).toEqual([]);
    expect(named('seed')).toEqual(['seed']);
    expect(named('tools')).toHaveLength(3);
  });
});
