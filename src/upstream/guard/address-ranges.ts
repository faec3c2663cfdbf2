import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * Addresses that no user may make us call (IANA special-purpose registries, RFC 6890). Forms of
 * IPv6 that carry an IPv4 address are refused as a whole: a name for 127.0.0.1 must not become
 * public by another spelling.
 */
const REFUSED: readonly string[] = [
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '168.63.129.16/32', // Azure's host agent, public by number only
  '::/96', // unspecified, loopback, IPv4-compatible
  '::ffff:0:0/96', // IPv4-mapped
  '::ffff:0:0:0/96', // IPv4-translated
  '64:ff9b::/96', // NAT64
  '64:ff9b:1::/48', // local NAT64
  '100::/64', // discard
  '2001::/23', // Teredo, ORCHID, benchmarking and other assignments
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
  '5f00::/16', // segment routing
  'fc00::/7', // unique local, metadata at fd00:ec2::254
  'fe80::/10', // link-local
  'fec0::/10', // site-local
  'ff00::/8', // multicast
];

/** A set of addresses, made of single addresses and CIDR blocks of either family. */
export interface AddressSet {
  /** False unless it is an address. A zone id (`%eth0`) does not matter. */
  has(address: string): boolean;
}

/** Throws `TypeError` naming the entry that is neither an address nor a CIDR block. */
export function createAddressSet(entries: readonly string[]): AddressSet {
  // One BlockList takes an IPv4 address and its mapped form for the same: the families are kept apart.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of entries) {
    const [network = '', bits] = entry.split('/');
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    const width = family === 'ipv6' ? 128 : 32;
    const prefix = bits === undefined ? width : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
    if (isIP(network) === 0 || prefix < 0 || prefix > width) {
      throw new TypeError(`not an address or CIDR block: ${entry}`);
    }
    lists[family].addSubnet(network, prefix, family);
  }
  return {
    has(address) {
      const bare = address.replace(/%.*$/, '');
      if (isIP(bare) === 0) return false;
      return isIPv6(bare) ? lists.ipv6.check(bare, 'ipv6') : lists.ipv4.check(bare, 'ipv4');
    },
  };
}

const refused = createAddressSet(REFUSED);

/** True when the address is in public use: everything that is not refused, and nothing else. */
export function isPublicAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '');
  return isIP(bare) !== 0 && !refused.has(bare);
}
