import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { CanonicalAnswer } from '../../../src/protocols/canonical/canonical.ts';
import type { StreamReader } from '../../../src/protocols/protocol.ts';
import { translateBetween } from '../../../src/protocols/canonical/translate.ts';
import { waysToCut } from '../../core/sse/cuts.ts';
import { peekBody, toEvents } from '../codec-laws.ts';
import { PAIRS } from '../translation-rows.ts';
import { verifies } from '../../requirements.ts';
import { ANSWER } from '../../support/protocols.ts';

const SAID: CanonicalAnswer = {
  id: 'answer-1',
  created: 1_700_000_000,
  parts: [
    { type: 'text', text: 'Grüße\n世界 🌍' },
    { type: 'tool_call', id: 'call_0', name: 'look', arguments: '{"city":"Z\\u00fcrich","n":1.0}' },
  ],
  stop: { kind: 'tool_calls' },
  usage: undefined,
};

describe.each(PAIRS)('a stream of %s', (_name, client, provider) => {
  const peek = peekBody(Buffer.from('{"stream":true}'));
  const wire = translateBetween(client.codec, provider.codec);

  const outcome = (...chunks: readonly Buffer[]): object => {
    const reader = wire.createStream?.({ ...ANSWER, peek }) as StreamReader;
    const out = [...chunks.map((chunk) => reader.push(chunk)), reader.end()];
    const { ended, failure, contentSeen, events, outputChars } = reader;
    const bytes = Buffer.concat(out.flatMap((one) => one ?? [])).toString();
    return { bytes, ended, failure, contentSeen, events, outputChars };
  };

  it(verifies('stream.sse.chunk-boundaries', 'is told alike at every split and framing'), () => {
    const context = { model: 'up', keepUsage: true, ...ANSWER, peek };
    const encoder = provider.codec.createEncoder(context);
    const spelled = toEvents(SAID, [3]).flatMap((event) => encoder.write(event) ?? []);
    const text = Buffer.concat(spelled).toString();
    const expected = outcome(Buffer.from(text));
    expect(expected).toMatchObject({ ended: true, failure: undefined });
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const bytes = Buffer.from(text.replaceAll('\n', lineEnd));
      for (const chunks of waysToCut(bytes)) expect(outcome(...chunks)).toEqual(expected);
    }
  });
});
