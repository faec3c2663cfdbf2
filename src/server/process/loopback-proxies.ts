import type { DesiredObject, DesiredState } from '../../config/objects/desired.ts';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { toTarget } from '../../upstream/proxy/proxy-rules.ts';
import type { ProxyRules } from '../../upstream/proxy/proxy-rules.ts';

/**
 * One warning about all providers on this machine that a proxy of the environment would be asked for,
 * which hardly ever leads back here; none where they, or `NO_PROXY`, say otherwise.
 */
export function warnOfLoopbackProxies(
  { objects }: Pick<DesiredState, 'objects'>,
  proxies: ProxyRules,
): Diagnostic[] {
  if (proxies.isEmpty) return [];
  const proxied = objects.flatMap((object) => {
    const target = object.kind === 'provider' ? localTarget(object) : undefined;
    const proxy = target && proxies.proxyFor(target);
    return proxy ? [{ ...object, target, proxy }] : [];
  });
  const [first] = proxied;
  if (!first) return [];
  const { proxy, place } = first;
  const hosts = [...new Set(proxied.map(({ target }) => target.hostname))];
  const names = proxied.map(({ identity }) => identity).join(', ');
  const [whose, is] = proxied.length > 1 ? ['providers', 'are'] : ['provider', 'is'];
  return [
    {
      ...place,
      path: '',
      severity: 'warning',
      message: `${whose} ${names} on this machine ${is} asked through the proxy ${proxy.name} of the environment`,
      hint: `add ${hosts.join(',')} to NO_PROXY, or set proxy: none`,
    },
  ];
}

function localTarget({ body }: DesiredObject): ReturnType<typeof toTarget> {
  if (typeof body['proxy'] === 'string' || body['enabled'] === false) return undefined;
  const type = String(body['type'] ?? body['provider_type']);
  const url = body['base_url'] ?? PROVIDERS.get(type)?.baseUrl;
  if (type === 'mock' || typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const target = toTarget(new URL(url));
  return target && isLoopback(target.hostname) ? target : undefined;
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|::1)$/.test(hostname);
}
