import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { cutFrom, recordedStreams, WIRES } from '../fixtures/wire/recorded.ts';
import type { Recorded } from '../fixtures/wire/recorded.ts';
import { verifies } from '../requirements.ts';
import { replayChunks } from './replaying.ts';

const PROTOCOLS = Object.keys(WIRES) as Recorded[];
const CALLS = PROTOCOLS.flatMap((provider) =>
  PROTOCOLS.map((client) => ({ client, provider, keepUsage: true })),
);

/** Bytes between two cuts of one reading, so that every offset is cut in one of as many readings. */
const APART = 96;

describe('a recorded stream', () => {
  it.each(CALLS)(
    verifies(
      'translate.recorded-answers',
      'is the same to the client wherever it is cut: $provider to $client',
    ),
    (call) => {
      for (const [name, stream] of Object.entries(recordedStreams(call.provider))) {
        const bytes = Buffer.from(stream);
        const whole = replayChunks(call, [bytes]);
        for (let first = 1; first <= Math.min(APART, bytes.length); first++) {
          const cut = replayChunks(call, cutFrom(bytes, first, APART));
          expect(cut, `${name}, cut from ${first} on`).toEqual(whole);
        }
      }
    },
  );
});
