import { BlockList, isIP } from 'node:net';

/**
 * Decides which hosts are reached without a proxy, by a list as curl reads `NO_PROXY`: names and their
 * subdomains, with or without a leading dot, addresses, CIDR blocks, each perhaps with a port, and a single `*`
 * for everything. Names are not resolved. Entries that mean nothing match nothing.
 */
export function createNoProxy(list: string): (hostname: string, port: number) => boolean {
  const entries = list
    .split(/[\s,]+/)
    .filter((text) => text !== '')
    .map(toEntry);
  return (hostname, port) => {
    const host = hostname.toLowerCase().replace(/\.$/, '');
    return entries.some((entry) => (entry.port ?? port) === port && entry.matches(host));
  };
}

interface Entry {
  readonly port: number | undefined;
  matches(host: string): boolean;
}

const BLOCK = /^\[?([\da-f.:]+)\]?\/(\d{1,3})$/i;
const BRACKETS = /^\[([\da-f.:]+)\](?::(\d{1,5}))?$/i;
const NAME = /^([^:]*?)(?::(\d{1,5}))?$/;

function toEntry(text: string): Entry {
  if (text === '*') return { port: undefined, matches: () => true };
  const [, address = '', bits] = BLOCK.exec(text) ?? [];
  if (bits !== undefined) return { port: undefined, matches: inBlock(address, Number(bits)) };
  if (isIP(text) !== 0) return { port: undefined, matches: isAddress(text) };
  const [, name, port] = BRACKETS.exec(text) ?? NAME.exec(text) ?? [];
  if (name === undefined) return { port: undefined, matches: () => false };
  const known = port === undefined ? undefined : Number(port);
  return { port: known, matches: isIP(name) === 0 ? endsIn(name) : isAddress(name) };
}

function endsIn(text: string): Entry['matches'] {
  const name = text.toLowerCase().replace(/^\.|\.$/g, '');
  if (name === '') return () => false;
  return (host) => host === name || host.endsWith(`.${name}`);
}

function isAddress(address: string): Entry['matches'] {
  return inBlock(address, isIP(address) === 6 ? 128 : 32);
}

function inBlock(address: string, bits: number): Entry['matches'] {
  const version = isIP(address);
  if (version === 0 || bits > (version === 6 ? 128 : 32)) return () => false;
  const list = new BlockList();
  list.addSubnet(address, bits, familyOf(version));
  return (host) => isIP(host) === version && list.check(host, familyOf(version));
}

const familyOf = (version: number): 'ipv4' | 'ipv6' => (version === 6 ? 'ipv6' : 'ipv4');
