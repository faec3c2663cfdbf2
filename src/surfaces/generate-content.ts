import { GatewayError } from '../core/errors.ts';
import { countTokens } from '../protocols/generate-content/count-tokens.ts';
import { generateContent } from '../protocols/generate-content/generate-content.ts';
import type { RequestAddress, WireProtocol } from '../protocols/protocol.ts';
import type { Catalog } from '../routing/catalog.ts';
import { FAMILIES } from './family.ts';
import { decodeModelPath, resolveModel, splitMethod } from './generate-content-path.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { InferenceSurface } from './inference-surface.ts';

const METHODS: ReadonlySet<string> = new Set([
  'generateContent',
  'streamGenerateContent',
  'countTokens',
]);

const SHARED = {
  paths: ['/v1beta/models/**', '/v1/models/**'],
  family: FAMILIES['generate-content'],
  repeatable: true,
  address: toAddress,
} as const satisfies Partial<InferenceSurface>;

const generateContentCount: InferenceSurface = {
  ...SHARED,
  name: 'generate-content.count_tokens',
  protocol: countTokens,
  free: true,
};

/** `POST /v1beta/models/{model}:{method}` and the same under `/v1` (contract: Generate-content protocol). */
export const generateContentSurface: InferenceSurface = {
  ...SHARED,
  name: 'generate-content',
  protocol: generateContent,
  variant: ({ path }) => (/(?::|%3[aA])countTokens$/.test(path) ? generateContentCount : undefined),
};

/** True for a protocol whose clients may leave the vendor out of a name. */
export function readsBareNames({ id }: Pick<WireProtocol, 'id'>): boolean {
  return id === generateContent.id;
}

function toAddress({ path, search }: HttpExchange, catalog: Catalog): RequestAddress {
  const { model, method } = splitMethod(decodeModelPath(path));
  if (!METHODS.has(method)) {
    const message = `no such method; there are ${[...METHODS].join(', ')}`;
    throw new GatewayError('not_found', { message });
  }
  if (model === '') throw new GatewayError('model_not_found');
  const found = resolveModel(model, catalog);
  return { model: found?.name ?? model, operation: method, query: search.slice(1) };
}
