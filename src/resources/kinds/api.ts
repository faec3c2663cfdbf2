import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { API_USAGE, resolveApi } from '../../routing/api.ts';
import type { ApiSettings } from '../../routing/api.ts';
import { addressOf, keepKey } from '../fields/kept-key.ts';
import { defineResource } from '../store/define-resource.ts';
import { connections, labels, name, pricing, timeouts } from '../fields/fields.ts';

const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/, 'not a header name');

const auth = once(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('bearer') }),
    z.object({
      type: z.literal('header'),
      name: headerName,
      prefix: z.string().max(64).optional(),
    }),
    z.object({ type: z.literal('query'), name: z.string().min(1).max(64) }),
    z.object({
      type: z
        .literal('signature')
        .describe('HTTP Message Signatures with HMAC-SHA-256 (RFC 9421).'),
      key_id: z
        .string()
        .regex(/^[\x20-\x7e]{1,256}$/, 'visible ASCII characters')
        .describe('Tells the API which secret is meant.'),
    }),
    z.object({ type: z.literal('none') }),
  ]),
);

const counted = once(() =>
  z.object({
    field: z.string().min(1).max(512).describe('Where the number is: $.usage.total_tokens.'),
    most: z
      .number()
      .positive()
      .max(1_000_000_000)
      .default(100_000)
      .describe('The most that one call reports; reserved where spending is limited.'),
  }),
);

/** An upstream API that clients call by path, with the gateway's key and billing. */
export const api = defineResource('apis', {
  idPrefix: 'api',
  description: 'Upstream APIs that clients call by path under /v1/api.',
  fields: () =>
    z.object({
      name: name
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, ., _ and -')
        .describe('What stands for it in /v1/api/{name}/…'),
      display_name: z.string().max(256).nullable().default(null).describe('Shown to people.'),
      description: z.string().max(4096).nullable().default(null).describe('What it is good for.'),
      enabled: z.boolean().default(true).describe('False makes it unknown to clients.'),
      base_url: z
        .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
        .describe('Address that no call leaves; a query in it is sent with every call.'),
      api_key: z
        .string()
        .min(1)
        .max(8192)
        .nullable()
        .optional()
        .describe('The credential; write-only.'),
      auth: auth().default({ type: 'bearer' }).describe('How the credential is sent.'),
      headers: z
        .record(headerName, z.string().max(4096))
        .default({})
        .describe('Headers sent with every call; not for secrets.'),
      methods: z
        .array(z.enum(['GET', 'POST']))
        .min(1)
        .default(['GET', 'POST'])
        .describe('Methods that clients may use.'),
      paths: z
        .array(z.string().max(512))
        .min(1)
        .max(256)
        .default(['/**'])
        .describe('Paths that clients may call; * is one segment, ** at the end any rest.'),
      response_headers: z
        .array(headerName)
        .max(64)
        .default([])
        .describe('Headers of answers that clients get beside the usual ones.'),
      pricing,
      usage: z
        .partialRecord(z.enum(API_USAGE), counted())
        .default({})
        .describe('Numbers in answers that are priced, by the class of their price.'),
      connections,
      timeouts,
      labels,
    }),
  secrets: ['api_key'],
  deletable: true,
  filters: ['enabled'],
  /** One that requests could not be sent to is refused; its key may come later. */
  check: (spec, { api_key: key }) => {
    resolveApi(spec as unknown as ApiSettings, typeof key === 'string' ? key : 'given later');
  },
  permit: keepKey(({ base_url }) => ({ base_url: addressOf(base_url) })),
  shown: () => z.object({ api_key_configured: z.boolean() }),
  view: ({ sealed }) => ({ api_key_configured: sealed['api_key'] !== undefined }),
});
