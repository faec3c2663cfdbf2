import type { NetworkInterfaceInfo } from 'node:os';

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

const UNENCRYPTED =
  '  keys and answers travel unencrypted; set server.listen.tls, put TLS in front of it, or use --host 127.0.0.1';

/**
 * Describes what a listener opens and to whom, for an address beyond this machine; undefined for
 * one that only this machine reaches.
 */
export function openingNote(
  { host, port, tls }: { host: string; port: number; tls?: object | null },
  interfaces: Interfaces,
): string | undefined {
  if (/^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)) return undefined;
  const isEvery = host === '0.0.0.0' || host === '::';
  const addresses = isEvery ? outsideAddresses(interfaces, host) : [host];
  const where = port === 0 ? 'a free port' : `port ${port}`;
  const shown = addresses.length > 0 ? ` (${addresses.join(', ')})` : '';
  const every = isEvery ? `every address of this machine${shown}` : `the address ${host}`;
  return [
    `opening ${where} on ${every} to everyone who can reach it:`,
    '  the API and /admin/v1 for holders of a key, /healthz and /readyz for anybody',
    ...(tls ? [] : [UNENCRYPTED]),
    '',
  ].join('\n');
}

/** Addresses of this machine that others reach; of IPv6 only for the host `::`. */
export function outsideAddresses(interfaces: Interfaces, host = '0.0.0.0'): string[] {
  const all = Object.values(interfaces).flatMap((one) => one ?? []);
  return all
    .filter(({ internal, family }) => !internal && (host === '::' || family === 'IPv4'))
    .map(({ address }) => address);
}
