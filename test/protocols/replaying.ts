import { Buffer } from 'node:buffer';
import type { Protocol } from '../../src/protocols/registry.ts';
import type { StreamReader } from '../../src/protocols/protocol.ts';

import { ANSWER, fakePeek } from '../support/protocols.ts';
import { CLIENT_PROTOCOLS, wireTo } from './spoken.ts';

export interface Replayed {
  client: Protocol;
  provider: Protocol;
  keepUsage?: boolean;
}

const ESTIMATE = {
  input: 21,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 2,
  reasoning: 0,
  images: 0,
  seconds: 0,
};

/** Reader of one stream of a provider, as the pipeline makes one for a client. */
function open({ client, provider, ...asked }: Replayed): StreamReader {
  const protocol = CLIENT_PROTOCOLS.find(({ id }) => id === client);
  const reader =
    protocol &&
    wireTo(protocol, provider).createStream?.({
      ...ANSWER,
      peek: fakePeek(asked),
      estimateUsage: () => ESTIMATE,
    });
  if (!reader) throw new Error(`${client} has no streams`);
  return reader;
}

/** Everything that a client and the record of its call see of a stream that comes in these chunks. */
export function replayChunks(replayed: Replayed, chunks: readonly Buffer[]) {
  const reader = open(replayed);
  const parts = chunks.map((chunk) => reader.push(chunk));
  parts.push(reader.end());
  const { contentSeen, ended, failure, usage, outputChars } = reader;
  const output = Buffer.concat(parts.filter((part) => part !== undefined)).toString();
  return { output, contentSeen, ended, failure, usage, outputChars };
}
