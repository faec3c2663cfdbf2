import { Buffer } from 'node:buffer';
import type { RequestPeek } from '../../src/protocols/protocol.ts';
import { formatSse } from '../../src/core/sse/frame.ts';
import { atOnce, encodeOptions } from '../support/protocols.ts';
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

export const OPTIONS = {
  account: 'prov_test',
  vendor: 'acme',
  id: 'req-1',
  created: 1_700_000_000,
  logicalModel: undefined,
};

/** A provider's answer as its client reads it; undefined for none. */
export function answer(
  client: Spoken,
  request: object,
  { target, body }: { target: Spoken; body: object },
) {
  const wire = wireTo(rowOf(client).protocol, target);
  const read = wire.readAnswer(Buffer.from(JSON.stringify(body)), peekOf(client, request), OPTIONS);
  const told = atOnce(read)?.body;
  return told && JSON.parse(String(told));
}

/**
 * A provider's stream as its client reads it.
 *
 * @throws Error for one that fails
 */
export function stream(
  client: Spoken,
  request: object,
  { target, events }: { target: Spoken; events: readonly object[] },
): string {
  const reader = wireTo(rowOf(client).protocol, target).createStream?.({
    ...OPTIONS,
    peek: peekOf(client, request),
  });
  const chunks = events.map((data) =>
    reader?.push(
      formatSse({ event: (data as { type?: string }).type, data: JSON.stringify(data) }),
    ),
  );
  const told = [...chunks, reader?.end()].map((one) => one?.toString() ?? '').join('');
  if (reader?.failure) throw new Error(reader.failure.message);
  return told;
}
