import { Buffer } from 'node:buffer';
import type { RequestPeek } from '../../src/protocols/protocol.ts';

import { encodeOptions } from '../support/protocols.ts';
import { ROWS } from './translation-rows.ts';
import type { TranslationRow } from './translation-rows.ts';
import { wireTo } from './spoken.ts';

export const CLIENTS = ['chat', 'responses', 'messages', 'generate-content'] as const;
export type Spoken = (typeof CLIENTS)[number];

export function rowOf(client: Spoken): TranslationRow {
  const row = ROWS.find(({ id }) => id === client);
  if (!row) throw new Error(`no client of ${client}`);
  return row;
}

export function peekOf(client: Spoken, body: object): RequestPeek {
  const stream = 'stream' in body && body.stream === true;
  const text = JSON.stringify({ model: 'acme/m', ...body });
  return rowOf(client).peek(Buffer.from(text), stream);
}

/** A client's request as a provider of another protocol receives it. */
export function translate(client: Spoken, body: object, target: Spoken) {
  const losses: string[] = [];
  const wire = wireTo(rowOf(client).protocol, target);
  const sent = wire.encode(peekOf(client, body), encodeOptions({ losses }));
  return { body: JSON.parse(String(sent)), losses };
}
