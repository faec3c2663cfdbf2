import { GatewayError } from '../../core/errors.ts';
import { GOOGLE } from '../family.ts';
import type { RequestAddress, WireProtocol } from '../protocol.ts';
import type { InferenceSurface } from '../surface.ts';
import { countTokens } from './count-tokens.ts';
import { decodeModelPath, splitMethod } from './model-path.ts';

const METHODS: ReadonlySet<string> = new Set([
  'generateContent',
  'streamGenerateContent',
  'countTokens',
]);

/** Vercel's client leaves `models/` out before a name with a slash. */
const WITHOUT_MODELS = `/v1beta/:vendor/:call(.+:(?:${[...METHODS].join('|')}))`;

/** `POST /v1beta/models/{model}:{method}`, or under `/v1` (contract: Generate-content protocol). */
export function surfacesOf(protocol: WireProtocol): readonly InferenceSurface[] {
  const shared = {
    paths: ['/v1beta/models/**', '/v1/models/**', WITHOUT_MODELS],
    family: GOOGLE,
    repeatable: true,
    address: toAddress,
  };
  const count: InferenceSurface = {
    ...shared,
    name: 'generate-content.count_tokens',
    protocol: countTokens,
    free: true,
  };
  return [
    {
      ...shared,
      name: 'generate-content',
      protocol,
      variant: (path) => (/(?::|%3[aA])countTokens\/?$/.test(path) ? count : undefined),
      addressOf: (model) => ({ model, operation: 'generateContent' }),
    },
  ];
}

function toAddress(path: string, search: string): RequestAddress {
  const { model, method } = splitMethod(decodeModelPath(path));
  if (!METHODS.has(method)) {
    const message = `no such method; there are ${[...METHODS].join(', ')}`;
    throw new GatewayError('not_found', { message });
  }
  if (model === '') throw new GatewayError('model_not_found');
  return { model, operation: method, query: search.slice(1) };
}
