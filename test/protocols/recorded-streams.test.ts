import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { waysToCut } from '../core/sse/cuts.ts';
import { recordedStreams, WIRES } from '../fixtures/wire/recorded.ts';
import type { Recorded } from '../fixtures/wire/recorded.ts';
import { verifies } from '../requirements.ts';
import { replayChunks } from './replaying.ts';
import { inTurn } from '../runs.ts';

const PROTOCOLS = Object.keys(WIRES) as Recorded[];
const CALLS = PROTOCOLS.flatMap((provider) =>
  inTurn(`clients of cut streams of ${provider}`, PROTOCOLS).map((client) => ({
    client,
    provider,
    keepUsage: true,
  })),
);

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
        for (const [way, chunks] of waysToCut(bytes).entries())
          expect(replayChunks(call, chunks), `${name}, way ${way}`).toEqual(whole);
      }
    },
  );
});
