import leven from 'leven';
import { GatewayError } from '../core/errors.ts';
import { parseJsonPath } from '../core/json/path.ts';
import { PROTOCOL_IDS } from '../protocols/registry.ts';
import type { Protocol } from '../protocols/registry.ts';
import type { Quirks } from '../core/json/quirks.ts';
import type { AccountAuth, ProviderAccount } from './account.ts';
import type { AssetEndpoints, ProtocolEndpoint, ProviderDefinition } from './define-provider.ts';
import { checkLent, withoutAuth, withoutWork } from './lend-credential.ts';
import { prepareEndpoint } from './prepare-endpoint.ts';
import { parseProxy } from '../upstream/proxy/proxy.ts';
import type { Proxy } from '../upstream/proxy/proxy.ts';
import { readTls } from './read-tls.ts';
import type { DeclaredTls } from './read-tls.ts';
import { PROVIDERS } from './registry.ts';
import { ENDPOINT_RULES } from './endpoint-rules.ts';

/** The fields of a provider resource that say how to reach it. */
export interface ProviderSettings {
  id: string;
  name: string;
  provider_type: string;
  base_url?: string | null | undefined;
  headers?: Readonly<Record<string, string>> | null | undefined;
  auth?: AccountAuth | null | undefined;
  /** Protocols of the provider, instead of those of its type; `true` for the usual path. */
  protocols?: Partial<Record<Protocol, true | { path: string }>> | null | undefined;
  /** Added to the quirks of its type. */
  quirks?: Partial<Record<Protocol, Quirks>> | null | undefined;
  header_spelling?: 'vendor' | 'native' | null | undefined;
  /** Added to those of its type. */
  drop_betas?: readonly string[] | null | undefined;
  refuse_betas?: readonly string[] | null | undefined;
  /** False: `stream_options.include_usage` must not be sent. */
  stream_usage?: boolean | null | undefined;
  /** Endpoints at which it registers media, instead of those of its type. */
  assets?: AssetEndpoints | null | undefined;
  /** Form in which it takes media that a request names, instead of that of its type. */
  media?: 'bytes' | 'links' | null | undefined;
  /** Most connections at once from each process; null for the usual number. */
  connections?: number | null | undefined;
  /** Trust and expectations of TLS to it. */
  tls?: DeclaredTls | null | undefined;
  /** URL of a proxy, or `none`; null for that of the environment. */
  proxy?: string | null | undefined;
  mock?: unknown;
}

/** The transport's own, and those that would let a request be read in two ways. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Makes an account of a provider resource and its unsealed key. Throws `invalid_request` with `param`
 * for an unknown type (with a suggestion), a missing or unusable `base_url`, a missing key, and
 * headers or paths that cannot be sent. No message contains the key.
 */
export function resolveAccount(
  settings: ProviderSettings,
  credential: string | undefined,
): ProviderAccount {
  const definition = findDefinition(settings.provider_type);
  const baseUrl = readBaseUrl(settings, definition);
  const account: ProviderAccount = {
    id: settings.id,
    name: settings.name,
    definition,
    baseUrl,
    auth: settings.auth ?? definition.auth,
    credential: credential === '' ? undefined : credential,
    protocols: readProtocols(settings, definition),
    headers: readHeaders(settings.headers ?? {}),
    quirks: joinQuirks(definition.quirks ?? {}, settings.quirks ?? {}),
    headerSpelling: settings.header_spelling ?? 'vendor',
    dropBetas: [...(definition.dropBetas ?? []), ...(settings.drop_betas ?? [])],
    refuseBetas: [...(definition.refuseBetas ?? []), ...(settings.refuse_betas ?? [])],
    noStreamUsage: definition.noStreamUsage === true || settings.stream_usage === false,
    assets: readAssets(settings, definition),
    fetchesMedia: settings.media ? settings.media === 'links' : definition.fetchesMedia === true,
    connections: settings.connections ?? undefined,
    tls: readTls(settings.tls, baseUrl),
    proxy: readProxy(settings.proxy),
    mock: settings.mock ?? undefined,
  };
  checkCredential(account);
  if (account.auth.type === 'client') {
    checkLent(settings, account);
    return { ...account, protocols: withoutWork(account.protocols), assets: undefined };
  }
  const endpoints = PROTOCOL_IDS.filter((protocol) => account.protocols[protocol]).map(
    (protocol) => [protocol, prepareEndpoint(account, protocol)] as const,
  );
  return { ...account, endpoints: new Map(endpoints) };
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { param, message });
}

/** Credentials of proxies stay in the environment: a provider's settings can be read by its owner. */
function readProxy(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined || text === 'none') return text ?? undefined;
  const found = tryToParse(text);
  if (!found) throw invalid('proxy', 'proxy must be http://host:port, https://host:port, or none');
  if (found.authorization !== undefined) {
    const message =
      'proxy must not contain credentials; give them in HTTPS_PROXY for the same host and port';
    throw invalid('proxy', message);
  }
  return text;
}

function tryToParse(text: string): Proxy | undefined {
  try {
    return parseProxy(text);
  } catch {
    return undefined;
  }
}

function findDefinition(type: string): ProviderDefinition {
  const definition = PROVIDERS.get(type);
  if (definition) return definition;
  const known = [...PROVIDERS.keys()];
  const near = known.find((id) => leven(id, type.toLowerCase(), { maxDistance: 3 }) < 3);
  const hint = near ? `did you mean ${near}?` : `known types: ${known.join(', ')}`;
  throw invalid('type', `unknown provider type ${JSON.stringify(type.slice(0, 64))}; ${hint}`);
}

function readBaseUrl(settings: ProviderSettings, definition: ProviderDefinition): string {
  const text = settings.base_url ?? definition.baseUrl;
  if (text === undefined) {
    throw invalid('base_url', `a provider of type ${definition.id} needs base_url`);
  }
  // The definition's own may have a scheme of its own (`mock://`).
  if (text === definition.baseUrl) return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalid('base_url', 'base_url must be an absolute http or https URL');
  }
  if (url.username || url.password || url.hash) {
    throw invalid('base_url', 'base_url must not contain a user name, a password or a fragment');
  }
  return url.href.replace(/\/(?=$|\?)/, '');
}

function readProtocols(
  settings: ProviderSettings,
  definition: ProviderDefinition,
): ProviderAccount['protocols'] {
  // A credential of a client goes where the endpoint has those of its type.
  const isOwn = settings.auth && settings.auth.type !== 'client';
  // An operator who says how to authenticate means it for every protocol.
  if (!settings.protocols) return isOwn ? withoutAuth(definition) : definition.protocols;
  const protocols: Partial<Record<Protocol, ProtocolEndpoint>> = {};
  for (const protocol of PROTOCOL_IDS) {
    const wanted = settings.protocols[protocol];
    if (wanted === undefined) continue;
    const usual = definition.protocols[protocol];
    const { path } = wanted === true ? (usual ?? ENDPOINT_RULES[protocol]) : wanted;
    if (!/^\/[^?#\s]*$/.test(path)) {
      throw invalid(`protocols.${protocol}.path`, 'a path begins with / and has no query');
    }
    const auth = isOwn ? undefined : usual?.auth;
    protocols[protocol] = auth ? { path, auth } : { path };
  }
  return protocols;
}

function readAssets(
  settings: ProviderSettings,
  definition: ProviderDefinition,
): AssetEndpoints | undefined {
  const assets = settings.assets ?? definition.assets;
  for (const path of Object.values(assets?.response ?? {})) {
    if (parseJsonPath(path)) continue;
    throw invalid('assets.response', `${path} is no path such as $.data.id`);
  }
  return assets;
}

function readHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => {
    const lower = name.toLowerCase();
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || RESERVED_HEADERS.has(lower)) {
      throw invalid('headers', `the header ${JSON.stringify(name.slice(0, 64))} cannot be set`);
    }
    if (!isHeaderValue(value)) {
      throw invalid('headers', `the value of ${lower} contains characters that cannot be sent`);
    }
    return [lower, value] as const;
  });
  return Object.fromEntries(entries);
}

function checkCredential({ auth, credential, definition }: ProviderAccount): void {
  if (credential === undefined) {
    if (auth.type === 'none' || auth.type === 'client' || definition.keyOptional) return;
    const usual = definition.envKeys?.[0];
    const where = usual ? `, for example \${secret:env:${usual}}` : '';
    throw invalid('api_key', `a provider of type ${definition.id} needs api_key${where}`);
  }
  if (!isHeaderValue(credential)) {
    throw invalid('api_key', 'api_key contains characters that cannot be sent');
  }
}

/** Visible characters, spaces between them and Latin-1 (RFC 9110, 5.5). */
function isHeaderValue(value: string): boolean {
  return /^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(value);
}

function joinQuirks(
  usual: Partial<Record<Protocol, Quirks>>,
  own: Partial<Record<Protocol, Quirks>>,
): Partial<Record<Protocol, Quirks>> {
  const joined: Partial<Record<Protocol, Quirks>> = { ...usual };
  for (const protocol of PROTOCOL_IDS) {
    const [ours, theirs] = [own[protocol], usual[protocol]];
    if (!ours) continue;
    joined[protocol] = {
      drop: [...new Set([...(theirs?.drop ?? []), ...(ours.drop ?? [])])],
      rename: { ...theirs?.rename, ...ours.rename },
      default: { ...theirs?.default, ...ours.default },
      refuse: [...new Set([...(theirs?.refuse ?? []), ...(ours.refuse ?? [])])],
    };
  }
  return joined;
}
