import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { cutFrom, recordedBodies, WIRES } from '../fixtures/wire/recorded.ts';
import type { Recorded } from '../fixtures/wire/recorded.ts';
import { verifies } from '../requirements.ts';
import { ask } from './asking.ts';

const PROTOCOLS = Object.keys(WIRES) as Recorded[];
const PAIRS = PROTOCOLS.flatMap((provider) => PROTOCOLS.map((client) => ({ client, provider })));

/** Bytes between two cuts of one reading, so that every offset is cut in one of as many readings. */
const APART = 8;

/** The answer to the client, or the error in its place. */
async function answerOf(pair: (typeof PAIRS)[number], chunks: readonly Buffer[]) {
  const { answer, giveChunks, outcomes } = ask({ ...pair, routes: ['a'] });
  await giveChunks(chunks, 'application/json');
  const got = await answer.then(
    (result) => ('body' in result ? String(result.body) : result),
    (thrown: unknown) => String(thrown),
  );
  return { got, usage: outcomes[0]?.usage };
}

describe('a recorded answer', () => {
  it.each(PAIRS)(
    verifies(
      'translate.recorded-answers',
      'is the same to the client wherever it is cut: $provider to $client',
    ),
    async (pair) => {
      for (const [name, body] of Object.entries(recordedBodies(pair.provider))) {
        const bytes = Buffer.from(body);
        const whole = await answerOf(pair, [bytes]);
        expect(whole.got, name).toMatch(name.startsWith('none') ? /Error: / : /^\{/);
        // A translation follows the same reading: a quarter of the cuts is enough to see that.
        const readings = pair.client === pair.provider ? APART : APART / 4;
        for (let first = 1; first <= Math.min(readings, bytes.length); first++)
          expect(await answerOf(pair, cutFrom(bytes, first, APART)), name).toEqual(whole);
      }
    },
  );
});
