import { resolveSecret, SecretRef } from '../../config/objects/references.ts';
import type { ReferenceSources } from '../../config/objects/references.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import { GatewayError } from '../../core/errors.ts';
import { askProvider } from '../../inference/ask-provider.ts';
import { checkClientCertificate, readTls } from '../../providers/read-tls.ts';
import type { DeclaredTls } from '../../providers/read-tls.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { createHttp1Transport } from '../../upstream/http1/http1-transport.ts';
import { certificateIn } from '../../upstream/http1/refused-certificate.ts';
import { UpstreamError } from '../../upstream/transport.ts';
import type { ReachSettings } from '../../upstream/transport.ts';
import { createProxyRules, ProxySettingError } from '../../upstream/proxy/proxy-rules.ts';
import { proxyIn } from '../../upstream/proxy/proxy-error.ts';
import type { Proxy } from '../../upstream/proxy/proxy.ts';
import type { CommandContext } from '../context.ts';
import type { Finding } from './health-checks.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/**
 * Checks that every declared provider can be reached. Any HTTP answer counts: without the key the
 * interesting question is whether name, route and certificate work.
 */
export async function checkProviders(
  { desired, sources }: Pick<GatewayConfig, 'desired' | 'sources'>,
  context: CommandContext,
): Promise<Finding[]> {
  const providers = desired.objects.filter(({ kind }) => kind === 'provider');
  const known = { ...context, sources };
  return Promise.all(providers.map(({ identity, body }) => checkProvider(identity, body, known)));
}

async function checkProvider(
  identity: string,
  body: Readonly<Record<string, unknown>>,
  context: CommandContext & Pick<GatewayConfig, 'sources'>,
): Promise<Finding> {
  const name = `provider ${identity}`;
  const type = String(body['type'] ?? body['provider_type']);
  const declared = body['base_url'];
  const url = typeof declared === 'string' ? declared : (PROVIDERS.get(type)?.baseUrl ?? '');
  if (type === 'mock') return { name, state: 'ok', message: 'needs no network' };
  if (!URL.canParse(url)) return { name, state: 'warn', message: 'has no address to check' };
  const { origin } = new URL(url);
  let proxy: Proxy | undefined;
  try {
    proxy = createProxyRules(context.io.env).proxyOf(
      url,
      body['proxy'] as string | null | undefined,
    );
    const declared = await withKey(body['tls'], context.sources);
    const tls = readTls(declared, url);
    checkClientCertificate(declared ?? {}, new Date(context.clock.now()).toISOString());
    await reach(url, { ...tls, proxy }, context);
    return { name, state: 'ok', message: `${origin} answers${through(proxy)}` };
  } catch (error) {
    const cause = causeOf(error);
    const message = `${origin} cannot be reached${through(proxy)}${cause === undefined ? '' : `: ${cause}`}`;
    return { name, state: 'bad', message, hint: hintFor(error, { proxy, url }) };
  }
}

/** Reads the private key that settings of TLS name. Throws where its file or variable has none. */
async function withKey(
  tls: unknown,
  sources: ReferenceSources,
): Promise<DeclaredTls | null | undefined> {
  const declared = tls as DeclaredTls | null | undefined;
  const key: unknown = declared?.key;
  if (!(key instanceof SecretRef)) return declared;
  return { ...declared, key: await resolveSecret(key, sources) };
}

/** Asks as calls do, so that what fails here fails there. */
async function reach(
  url: string,
  settings: ReachSettings,
  { clock, signal }: CommandContext,
): Promise<void> {
  const http = createHttp1Transport({ clock });
  try {
    await askProvider(
      { url: new URL(new URL(url).origin), method: 'HEAD', headers: [], body: undefined },
      {
        transport: http.reaching(settings),
        clock,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        signal,
      },
    );
  } finally {
    await http.close();
  }
}

function causeOf(error: unknown): string | undefined {
  if (!(error instanceof UpstreamError)) return error instanceof Error ? error.message : undefined;
  return error.kind === 'aborted' ? 'no answer in time' : error.detail;
}

const through = (proxy: Proxy | undefined): string =>
  proxy ? ` through the proxy ${proxy.name}` : '';

function hintFor(
  error: unknown,
  { proxy, url }: { proxy: Proxy | undefined; url: string },
): string {
  if (error instanceof ProxySettingError)
    return 'set the variable to http://host:port, or unset it';
  if (error instanceof UpstreamError && proxyIn(error.cause) !== undefined && proxy) {
    const { hostname } = new URL(url);
    return `check the proxy and its credentials, or reach ${hostname} without it: add it to NO_PROXY, or set proxy: none`;
  }
  if (error instanceof GatewayError) return `mend ${error.param ?? 'tls'} of the provider`;
  if (error instanceof UpstreamError && error.detail?.includes('client certificate'))
    return 'set tls.cert and tls.key to a certificate that the provider accepts';
  const refused = error instanceof UpstreamError && certificateIn(error.cause) !== undefined;
  return refused
    ? 'set tls.ca to the authority of its certificate, or tls.server_name to the name in it'
    : 'check the network, a proxy, and base_url';
}
