import { isIP } from 'node:net';
import { createAddressSet } from './address-ranges.ts';
import type { AddressSet } from './address-ranges.ts';

/** Hosts beyond the public network that the operator lets user-supplied URLs reach. */
export interface AllowList {
  /** A host, by name or literal address, whatever it resolves to. */
  hasHost(host: string, port: number): boolean;
  readonly addresses: AddressSet;
  /** True when no address or CIDR block is allowed. */
  readonly hasNoAddress: boolean;
}

/**
 * Reads entries of four forms: `10.0.0.0/8` or `10.1.2.3` (addresses), `files.corp` or `*.corp`
 * (names), `files.corp:8080`, `127.0.0.1:8080` or `[::1]:8080` (one port of a host). Throws
 * `TypeError` naming the entry that is none of these.
 */
export function createAllowList(entries: readonly string[]): AllowList {
  const isAddress = (entry: string): boolean => entry.includes('/') || isIP(entry) !== 0;
  const addresses = entries.filter(isAddress);
  const hosts = new Set(entries.filter((entry) => !isAddress(entry)).map(normaliseEntry));
  return {
    hasHost: (host, port) =>
      hosts.size > 0 &&
      [host, ...parentsOf(host)].some((name) => hosts.has(name) || hosts.has(`${name}:${port}`)),
    addresses: createAddressSet(addresses),
    hasNoAddress: addresses.length === 0,
  };
}

/** `a.b.c` → `*.b.c`, `*.c`. */
function parentsOf(host: string): string[] {
  if (isIP(host) !== 0) return [];
  const labels = host.split('.');
  return labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`);
}

/** The entry as hosts are asked for: lower case, punycode, IPv6 without brackets. */
function normaliseEntry(entry: string): string {
  const match = /^(\*\.)?(.+?)(?::(\d{1,5}))?$/.exec(entry.trim());
  const [, wildcard = '', name = '', port] = match ?? [];
  const host = URL.canParse(`http://${name}/`) ? new URL(`http://${name}/`) : undefined;
  if (!host || host.pathname !== '/' || host.username || host.port || host.search) {
    throw new TypeError(`not a host, host:port, address or CIDR block: ${entry}`);
  }
  return wildcard + bareHost(host.hostname) + (port ? `:${Number(port)}` : '');
}

/** A URL's host name without brackets and without the dot that only marks it as complete. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
