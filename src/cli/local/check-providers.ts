import type { DesiredState } from '../../config/objects/desired.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import type { CommandContext } from '../context.ts';
import type { Finding } from './health-checks.ts';

const TIMEOUT_MS = 5000;

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
  { io, signal }: CommandContext,
): Promise<Finding> {
  const name = `provider ${identity}`;
  const type = String(body['type'] ?? body['provider_type']);
  const declared = body['base_url'];
  const url = typeof declared === 'string' ? declared : (PROVIDERS.get(type)?.baseUrl ?? '');
  if (type === 'mock') return { name, state: 'ok', message: 'needs no network' };
  if (!URL.canParse(url)) return { name, state: 'warn', message: 'has no address to check' };
  const { origin } = new URL(url);
  try {
    const fetch = io.fetch ?? globalThis.fetch;
    await fetch(origin, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { name, state: 'ok', message: `${origin} answers` };
  } catch {
    const hint = 'check the network, a proxy, and base_url';
    return { name, state: 'bad', message: `${origin} cannot be reached`, hint };
  }
}
