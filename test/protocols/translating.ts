import { Buffer } from 'node:buffer';
import { wireTo } from '../../src/protocols/registry.ts';
import { encodeOptions } from '../support/protocols.ts';
import { ROWS } from './translation-rows.ts';

export const CLIENTS = ['chat', 'responses', 'messages', 'generate-content'] as const;
export const TARGETS = CLIENTS;
export type Spoken = (typeof CLIENTS)[number];

/** A client's request as a provider of another protocol receives it. */
export function translate(client: Spoken, body: object, target: Spoken) {
  const row = ROWS.find(({ id }) => id === client);
  if (!row) throw new Error(`no client of ${client}`);
  const losses: string[] = [];
  const peek = row.peek(Buffer.from(JSON.stringify({ model: 'acme/m', ...body })), false);
  const sent = wireTo(row.protocol, target).encode(peek, encodeOptions({ losses }));
  return { body: JSON.parse(String(sent)), losses };
}
