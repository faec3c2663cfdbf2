import type { Protocol } from '../../../src/protocols/registry.ts';
import type { CanonicalRequest } from '../../../src/protocols/canonical/canonical.ts';
import { encodeRequest } from '../../support/protocols.ts';
import { toText } from '../codec-laws.ts';
import { CODECS } from '../spoken.ts';

/** A request for a model as its provider gets it, and what was lost on the way. */
export function writeTo(protocol: Protocol, model: string, fields: Partial<CanonicalRequest>) {
  const codec = CODECS.find(({ id }) => id === protocol)!;
  const request: CanonicalRequest = {
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    tools: [],
    stream: false,
    unmapped: [],
    ...fields,
  };
  const target = { model, defaultMaxTokens: 8192, askUsage: false };
  const { value, losses } = encodeRequest(codec, request, target);
  return { body: JSON.parse(toText(value)), losses };
}
