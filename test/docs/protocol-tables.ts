import { GatewayError } from '../../src/core/errors.ts';
import type { ErrorCode, GatewayErrorOptions } from '../../src/core/errors.ts';
import type { RequestPeek, WireProtocol } from '../../src/protocols/protocol.ts';

import { errorBody } from '../../src/surfaces/envelopes.ts';
import type { Carrier, EnvelopeName, Family } from '../../src/protocols/family.ts';
import { toFamilyError } from '../../src/surfaces/family-error.ts';
import { table } from './table.ts';
import { CLIENT_PROTOCOLS, CODECS, lossesBetween } from '../protocols/spoken.ts';
import { FAMILIES, SURFACES } from '../server/surfaces.ts';

/** What the pages say of the protocols, computed by the code that serves them. */
const NAMES = Object.keys(FAMILIES) as (keyof typeof FAMILIES)[];

const code = (text: string): string => `\`${text}\``;
const codes = (texts: readonly string[]): string => texts.map(code).join(', ');

const CARRIERS: Record<Carrier, string> = {
  bearer: '`authorization: Bearer`',
  'x-api-key': '`x-api-key`',
  'google-header': '`x-native-api-key` or `x-goog-api-key`',
  'query-key': '`?key=`',
};

/** Clients add `/v1` or `/v1beta` themselves where their base address has neither. */
const BASES: Record<keyof typeof FAMILIES, string> = {
  chat: 'ADDRESS/v1',
  responses: 'ADDRESS/v1',
  embeddings: 'ADDRESS/v1',
  images: 'ADDRESS/v1',
  messages: 'ADDRESS',
  'generate-content': 'ADDRESS',
  interactions: 'ADDRESS',
  videos: 'ADDRESS/v1',
};

const nameOf = ({ envelope }: Family): string =>
  typeof envelope === 'object' ? envelope.name : envelope;

/** Each family: where it is, where its key is read and what its errors look like. */
export function familiesTable(): string {
  const rows = NAMES.map((name) => {
    const family = FAMILIES[name];
    const paths = SURFACES.filter((surface) => surface.family === family).flatMap(
      (surface) => surface.paths,
    );
    const keys = family.carriers.map((carrier) => CARRIERS[carrier]).join(', then ');
    const shown = paths.map((path) =>
      path
        .replace('/:vendor/', '/{vendor}/')
        .replace(/\/(?:\*\*|:call\(.*\))$/, '/{model}:{method}'),
    );
    return [name, codes(shown), code(BASES[name]), keys, nameOf(family)];
  });
  return table([['Family', '`POST`', 'Base address of the client', 'Key', 'Errors'], ...rows]);
}

const ENVELOPES: readonly EnvelopeName[] = ['chat', 'messages', 'google', 'flat'];

/** The shapes of error bodies, by example. */
export function errorsTable(): string {
  const error = new GatewayError('model_not_found', { param: 'model' });
  const rows = ENVELOPES.map((envelope) => [
    envelope,
    code(JSON.stringify(errorBody(error, envelope, 'req_…'))),
  ]);
  return table([['Errors', 'An unknown model'], ...rows]);
}

interface Situation {
  readonly what: string;
  readonly code: ErrorCode;
  readonly options?: GatewayErrorOptions;
  readonly statuses?: readonly (number | null)[];
  /** Cannot happen in families that are answered whole. */
  readonly ofStreams?: boolean;
}

const refusal = (status: number): Situation => ({
  what: `the provider refuses the request with ${status}`,
  code: 'upstream_rejected',
  options: { status },
});

const failure = (what: string, statuses: readonly (number | null)[]): Situation => ({
  what,
  code: 'no_route_succeeded',
  statuses,
});

const SITUATIONS: readonly Situation[] = [
  { what: 'no key, or none that is valid', code: 'invalid_api_key' },
  { what: 'the key is over its spending limit', code: 'key_spending_limit' },
  { what: 'the organization is over its own', code: 'organization_spending_limit' },
  { what: 'the key may not do this, or its organization is disabled', code: 'insufficient_scope' },
  { what: 'the key is over its rate', code: 'key_rate_limited' },
  { what: 'the body is invalid, or no route can serve it', code: 'unsupported_feature' },
  { what: 'the body is too large', code: 'body_too_large' },
  { what: 'the body has a content coding', code: 'coded_body' },
  { what: 'there is no memory for the body', code: 'no_room_for_body' },
  { what: 'no model of that name', code: 'model_not_found' },
  { what: 'no route of the model serves this family', code: 'model_unavailable' },
  refusal(400),
  refusal(404),
  refusal(413),
  refusal(422),
  failure('every route answered 429', [429, 429]),
  failure('only the last one did', [500, 429]),
  failure('every route answered 500', [500, 500]),
  failure('the last route answered 401', [500, 401]),
  failure('the last route answered 403', [500, 403]),
  failure('every route failed otherwise', [500, 503]),
  { what: 'the answer of the last route cannot be read', code: 'invalid_upstream_response' },
  {
    what: 'it came whole where a stream was asked for',
    code: 'invalid_upstream_response',
    options: { type: 'not_a_stream' },
    ofStreams: true,
  },
  { what: 'the time for the whole call is over', code: 'upstream_timeout' },
  { what: 'the request cannot be recorded', code: 'persistence_failed' },
];

/** How each situation is told in each family. */
export function statusesTable(): string {
  const rows = SITUATIONS.map(({ what, code: name, options, statuses, ofStreams }) => [
    what,
    ...NAMES.map((family) => {
      if (ofStreams && !isStreamed(family)) return '';
      const error = new GatewayError(name, options);
      return String(toFamilyError(FAMILIES[family], error, statuses).status);
    }),
  ]);
  return table([['', ...NAMES], ...rows]);
}

function isStreamed(family: keyof typeof FAMILIES): boolean {
  const surface = SURFACES.find((one) => one.family === FAMILIES[family]);
  return surface?.protocol.createStream !== undefined;
}

/** What comes last in a stream that breaks off, in the words of each protocol. */
export function streamErrorsBlock(): string {
  const error = {
    message: 'the provider failed during the stream',
    type: 'api_error',
    code: 'upstream_interrupted',
    status: 502,
  };
  const peek = { stream: true } as RequestPeek;
  const shown = CLIENT_PROTOCOLS.flatMap((protocol) => {
    const frame = protocol.errorFrame?.(error, peek);
    return frame ? [`# ${protocol.id}\n${frame.toString('utf8').trimEnd()}`] : [];
  });
  return `\`\`\`text\n${shown.join('\n\n')}\n\`\`\``;
}

/** Of each text protocol: into what it may be translated, in which order. */
export function translationTable(): string {
  const rows = CLIENT_PROTOCOLS.filter(isTranslated).map(({ id, translatesTo = [] }) => [
    id,
    [id, ...translatesTo].join(', then '),
  ]);
  return table([['Client', 'Asked of a route in'], ...rows]);
}

/** How many fields each pair of protocols loses. */
export function pairsTable(): string {
  const ids = CODECS.map(({ id }) => id);
  const rows = ids.map((client) => [
    `**${client}**`,
    ...ids.map((provider) =>
      client === provider ? 'as it is' : `loses ${lossesBetween(client, provider).length}`,
    ),
  ]);
  return table([['Client ↓ Provider →', ...ids], ...rows]);
}

/** Which fields each pair of protocols loses. */
export function lossesTable(): string {
  const ids = CODECS.map(({ id }) => id);
  const rows = ids.flatMap((client) =>
    ids
      .filter((provider) => provider !== client)
      .map((provider) => [client, provider, codes([...lossesBetween(client, provider)].sort())]),
  );
  return table([['Client', 'Provider', 'Lost'], ...rows]);
}

function isTranslated({ translatesTo = [] }: WireProtocol): boolean {
  return translatesTo.length > 0;
}
