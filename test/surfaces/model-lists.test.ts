import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createSharedModels } from '../../src/surfaces/model-lists.ts';
import { fakeModel } from '../support/catalog.ts';
import { bodyOf, KEY, modelsDeps } from './model-requests.ts';

const BEARER = { authorization: `Bearer ${KEY}` };
const GOOGLE_KEY = { 'x-goog-api-key': KEY };
const ANTHROPIC = { 'anthropic-version': '2023-06-01' };
const CLIENT = { 'x-goog-api-client': 'gl-node/22' };

/** Members that only one of the shapes has. */
const SHAPES = {
  others: { list: 'object', get: 'object' },
  messages: { list: 'first_id', get: 'created_at' },
  google: { list: 'models', get: 'version' },
};

describe('the shape of /v1/models', () => {
  it.each<[boolean, IncomingHttpHeaders, keyof typeof SHAPES]>([
    [false, BEARER, 'others'],
    [false, { ...BEARER, ...ANTHROPIC }, 'others'],
    [false, { ...BEARER, ...CLIENT }, 'google'],
    [false, { ...BEARER, ...GOOGLE_KEY }, 'others'],
    [true, BEARER, 'others'],
    [true, { ...BEARER, ...ANTHROPIC }, 'messages'],
    [true, { ...GOOGLE_KEY, ...ANTHROPIC }, 'messages'],
    [true, { ...BEARER, ...ANTHROPIC, ...CLIENT }, 'google'],
    [true, GOOGLE_KEY, 'google'],
    [true, { ...BEARER, ...GOOGLE_KEY }, 'others'],
    [true, { 'x-api-key': KEY }, 'others'],
  ])(
    'with every carrier read: %s, and %j, is that of %s',
    async (readsEveryCarrier, headers, of) => {
      const { deps } = modelsDeps({ models: [fakeModel('a', [])], readsEveryCarrier });
      const { list, get, envelopeOf } = createSharedModels(deps);
      expect(envelopeOf(headers)).toBe(of === 'others' ? 'flat' : of);
      expect(await bodyOf(list, { headers })).toHaveProperty(SHAPES[of].list);
      const one = await bodyOf(get, { path: '/v1/models/a', headers });
      expect(one).toHaveProperty(SHAPES[of].get);
    },
  );
});
