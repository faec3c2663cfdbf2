import { z } from 'zod';
import { PROTOCOL_IDS } from '../../protocols/registry.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { parseCassette } from '../../providers/mock/tape/cassette.ts';
import { checkClientCertificate, CLIENT_KEY } from '../../providers/read-tls.ts';
import type { DeclaredTls } from '../../providers/read-tls.ts';
import { resolveAccount } from '../../providers/resolve-account.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import type { ProviderSettings } from '../../providers/resolve-account.ts';
import { defineResource } from '../store/define-resource.ts';
import { connections, labels, name, timeouts } from '../fields/fields.ts';
import type { Body } from '../store/stored.ts';
import { addressOf, keepKey } from '../fields/kept-key.ts';
import { signalOf } from '../fields/secret-path.ts';

const protocol = z.enum(PROTOCOL_IDS);
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/, 'not a header name');

const auth = z.discriminatedUnion('type', [
  z.object({ type: z.literal('bearer') }),
  z.object({ type: z.literal('header'), name: headerName, prefix: z.string().max(64).optional() }),
  z.object({ type: z.literal('query'), name: z.string().min(1).max(64) }),
  z.object({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('client') }),
]);

const quirks = z.object({
  drop: z.array(z.string().min(1)).optional().describe('Members of the body to remove.'),
  rename: z
    .record(z.string().min(1), z.string().min(1))
    .optional()
    .describe('Members to rename, old to new.'),
  default: z
    .record(z.string().min(1), z.unknown())
    .optional()
    .describe('Members to add when absent.'),
  refuse: z
    .array(z.string().min(1))
    .optional()
    .describe('Members that it cannot serve; requests with one go to the next route.'),
});

const path = z
  .string()
  .regex(/^\/[^?#\s]*$/, 'a path begins with / and has no query')
  .max(512);
const jsonPath = z.string().startsWith('$').max(256);
const memberName = z.string().min(1).max(128);

const assets = z.object({
  create: path.default('/assets').describe('Path that takes a POST.'),
  get: path
    .includes('{id}')
    .default('/assets/{id}')
    .describe('Path that a GET asks; {id} is the id that it gave.'),
  request: z
    .object({ url: memberName, type: memberName, name: memberName })
    .partial()
    .default({})
    .describe('What it calls url, asset_type and name.'),
  response: z
    .object({ id: jsonPath, status: jsonPath, download_url: jsonPath })
    .partial()
    .default({})
    .describe('Where its answers tell id, status and download_url, as $.data.id.'),
});

const pattern = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\s?#%]+$/, 'no blanks, ?, # or %');

const tls = z.object({
  ca: z
    .string()
    .min(1)
    .max(262_144)
    .nullable()
    .default(null)
    .describe('Authorities in PEM that are trusted instead of the public ones.'),
  cert: z
    .string()
    .min(1)
    .max(262_144)
    .nullable()
    .default(null)
    .describe('Certificate in PEM, its chain behind it, that is shown to it (mutual TLS).'),
  key: z
    .string()
    .min(1)
    .max(65_536)
    .nullable()
    .optional()
    .describe('The private key of cert in PEM, without a passphrase; write-only.'),
  server_name: z
    .string()
    .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, 'not a host name')
    .nullable()
    .default(null)
    .describe('Name that its certificate must bear; default: that of base_url.'),
});

const betas = z.array(z.string().min(1).max(128)).max(64).default([]);

/** Fields about its protocols, and about changes of requests to it. */
const wireFields = () => ({
  protocols: z
    .partialRecord(
      protocol,
      z.union([z.literal(true), z.object({ path: z.string().startsWith('/').max(512) })]),
    )
    .nullable()
    .default(null)
    .describe('Wire formats that it speaks, with their paths; default: those of the type.'),
  quirks: z
    .partialRecord(protocol, quirks)
    .default({})
    .describe('Changes to request bodies that it needs.'),
  header_spelling: z
    .enum(['vendor', 'native'])
    .default('vendor')
    .describe('Spelling of version and beta headers on Messages.'),
  drop_betas: betas.describe('Beta identifiers of Messages that it must not see; * for all.'),
  refuse_betas: betas.describe('Beta identifiers that it cannot serve; * for all.'),
  stream_usage: z
    .boolean()
    .default(true)
    .describe('Whether it accepts stream_options.include_usage.'),
  assets: assets
    .nullable()
    .default(null)
    .describe('Where it registers media, if it keeps some; default: as the type does it.'),
  media: z
    .enum(['bytes', 'links'])
    .nullable()
    .default(null)
    .describe('How it gets assets of the gateway: bytes, or links where it fetches media.'),
});

/** An account at a provider that routes can send requests to. */
export const provider = defineResource('providers', {
  idPrefix: 'prov',
  description: 'Accounts at model providers.',
  fields: () =>
    z.object({
      name,
      type: z
        .string()
        .trim()
        .min(1)
        .max(64)
        .describe('What it is: openai, anthropic, google, …, custom or mock.'),
      base_url: z
        .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
        .nullable()
        .default(null)
        .describe('Address below which the paths of the protocols lie; required for type custom.'),
      api_key: z
        .string()
        .min(1)
        .max(8192)
        .nullable()
        .optional()
        .describe('The key of this account; write-only.'),
      headers: z
        .record(headerName, z.string().max(4096))
        .default({})
        .describe('Headers sent with every request; not for secrets.'),
      auth: auth
        .nullable()
        .default(null)
        .describe(
          'How the key is sent; default: as the type does it; client: each client has its own.',
        ),
      ...wireFields(),
      models: z
        .union([z.literal('all'), z.array(pattern).min(1).max(256)])
        .nullable()
        .default(null)
        .describe(
          'Models that clients call as provider/model without a declaration: all, or patterns with *.',
        ),
      enabled: z.boolean().default(true).describe('False takes all of its routes out of service.'),
      mock: z
        .record(z.string(), z.unknown())
        .nullable()
        .default(null)
        .describe('What type mock answers (docs/mock.md).'),
      tls: tls.nullable().default(null).describe('What TLS to it trusts and expects.'),
      proxy: z
        .string()
        .min(1)
        .max(512)
        .nullable()
        .default(null)
        .describe('Proxy on the way to it: its URL, or none; default: that of the environment.'),
      connections,
      timeouts,
      labels,
    }),
  aliases: { provider_type: 'type' },
  secrets: ['api_key', CLIENT_KEY],
  deletable: true,
  filters: ['enabled', 'provider_type'],
  flags: {
    kind: {
      path: 'type',
      value: 'TYPE',
      description: 'What it is: openai, anthropic, google, …, custom or mock',
    },
    models: {
      path: 'models',
      value: 'all|PATTERN,…',
      description: 'Models that clients call as provider/model without a declaration',
      read: (text) => (text === 'all' ? 'all' : text.split(',').map((one) => one.trim())),
    },
  },
  /** A provider that requests could not reach is refused; its key may come later. */
  check: ({ type, ...spec }, { api_key: key, [CLIENT_KEY]: sent }, context) => {
    if (type === 'mock' && spec['mock'] !== null) parseCassette(spec['mock']);
    const declared = spec['tls'] as DeclaredTls | null;
    const clientKey = sent === undefined ? context?.reveal?.(CLIENT_KEY) : (sent as string | null);
    const tls = declared && { ...declared, key: clientKey };
    const settings = { ...spec, tls, id: '', provider_type: type } as unknown as ProviderSettings;
    const later = settings.auth?.type === 'client' ? undefined : 'given later';
    resolveAccount(settings, typeof key === 'string' ? key : later);
    const before = context?.before?.spec['tls'] as DeclaredTls | null | undefined;
    const isNew = typeof sent === 'string' || declared?.cert !== before?.cert;
    if (tls && context && isNew) checkClientCertificate(tls, context.now);
  },
  permit: keepKey(({ type, base_url, proxy }) => ({
    base_url: addressOf(base_url ?? PROVIDERS.get(String(type))?.baseUrl),
    // It sees the traffic to an address without TLS, and with `tls.ca` the rest.
    proxy: proxy as string | null,
  })),
  read: (body) => withoutOrphanedKey(withoutUnusedKey(body)),
  shown: () => z.object({ api_key_configured: z.boolean(), [signalOf(CLIENT_KEY)]: z.boolean() }),
  view: ({ sealed }) => ({
    api_key_configured: sealed['api_key'] !== undefined,
    [signalOf(CLIENT_KEY)]: sealed[CLIENT_KEY] !== undefined,
  }),
});

/** A key goes with its certificate, and stays where only other settings of TLS are sent. */
function withoutOrphanedKey(body: Body): Body {
  const { tls: sent } = body;
  if (!isJsonObject(sent) || (sent['cert'] ?? null) !== null || sent['key'] !== undefined)
    return body;
  return { ...body, tls: { ...sent, key: null } };
}

/** No key of the operator is sent where clients send theirs. */
function withoutUnusedKey(body: Body): Body {
  const { auth: sent, api_key: key } = body;
  const isUnused = isJsonObject(sent) && sent['type'] === 'client' && key === undefined;
  return isUnused ? { ...body, api_key: null } : body;
}
