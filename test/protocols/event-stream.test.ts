import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { StreamReader, WireProtocol } from '../../src/protocols/protocol.ts';

import { verifies } from '../requirements.ts';
import { ANSWER, fakePeek } from '../support/protocols.ts';
import { CLIENT_PROTOCOLS, wireTo } from './spoken.ts';

const EMPTY = [': comment', 'event: ping', 'id: 7', 'retry: 10', 'data:', 'data:  ', ':'];

/** Every way in which a stream is read: in the client's protocol and in each that it is translated from. */
function readers(): [string, StreamReader][] {
  const rows: [string, StreamReader][] = [];
  for (const client of CLIENT_PROTOCOLS) {
    for (const id of [client.id, ...(client.translatesTo ?? [])]) {
      const reader = open(client, id);
      if (reader) rows.push([`${client.id} from ${id}`, reader]);
    }
  }
  return rows;
}

function open(client: WireProtocol, id: WireProtocol['id']): StreamReader | undefined {
  return wireTo(client, id).createStream?.({ ...ANSWER, peek: fakePeek() });
}

describe('before the first content', () => {
  it.each(readers())(
    verifies('routing.commit-gate.comments', '%s keeps and counts nothing that is empty'),
    (_name, reader) => {
      for (let round = 0; round < 100; round++) {
        for (const line of EMPTY) {
          expect(reader.push(Buffer.from(`${line}\n\n`))).toBeUndefined();
        }
      }
      expect(reader).toMatchObject({ events: 0, contentSeen: false, ended: false });
      expect(reader.failure).toBeUndefined();
    },
  );
});
