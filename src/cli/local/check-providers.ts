import type { DesiredState } from '../../config/objects/desired.ts';
import { askProvider } from '../../inference/ask-provider.ts';
import { readTls } from '../../providers/read-tls.ts';
import type { DeclaredTls } from '../../providers/read-tls.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { createHttp1Transport } from '../../upstream/http1/http1-transport.ts';
import { certificateIn } from '../../upstream/http1/refused-certificate.ts';
import { UpstreamError } from '../../upstream/transport.ts';
import type { CommandContext } from '../context.ts';
import type { Finding } from './health-checks.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/**
 * Whether every declared provider can be reached. Any HTTP answer counts: without the key the
 * interesting question is whether name, route and certificate work.
 */
export async function checkProviders(
  desired: DesiredState,
  context: CommandContext,
): Promise<Finding[]> {
  const providers = desired.objects.filter(({ kind }) => kind === 'provider');
  return Promise.all(providers.map(({ identity, body }) => checkProvider(identity, body, context)));
}

async function checkProvider(
  identity: string,
  body: Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<Finding> {
  const name = `provider ${identity}`;
  const type = String(body['type'] ?? body['provider_type']);
  const declared = body['base_url'];
  const url = typeof declared === 'string' ? declared : (PROVIDERS.get(type)?.baseUrl ?? '');
  if (type === 'mock') return { name, state: 'ok', message: 'needs no network' };
  if (!URL.canParse(url)) return { name, state: 'warn', message: 'has no address to check' };
  const { origin } = new URL(url);
  try {
    await reach(url, body['tls'] as DeclaredTls | null | undefined, context);
    return { name, state: 'ok', message: `${origin} answers` };
  } catch (error) {
    const cause = causeOf(error);
    const message = `${origin} cannot be reached${cause === undefined ? '' : `: ${cause}`}`;
    return { name, state: 'bad', message, hint: hintFor(error) };
  }
}

/** Asks as calls do, so that what fails here fails there. */
async function reach(
  url: string,
  tls: DeclaredTls | null | undefined,
  { clock, signal }: CommandContext,
): Promise<void> {
  const http = createHttp1Transport({ clock });
  try {
    await askProvider(
      { url: new URL(new URL(url).origin), method: 'HEAD', headers: [], body: undefined },
      {
        transport: http.reaching(readTls(tls, url) ?? {}),
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

function hintFor(error: unknown): string {
  const refused = error instanceof UpstreamError && certificateIn(error.cause) !== undefined;
  return refused
    ? 'set tls.ca to the authority of its certificate, or tls.server_name to the name in it'
    : 'check the network, a proxy, and base_url';
}
