import type { NetworkInterfaceInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { openingNote, outsideAddresses } from '../../../src/server/http/opening-note.ts';

const at = (address: string, family: 'IPv4' | 'IPv6', internal = false): NetworkInterfaceInfo =>
  ({ address, family, internal }) as NetworkInterfaceInfo;

const INTERFACES = {
  lo: [at('127.0.0.1', 'IPv4', true), at('::1', 'IPv6', true)],
  eth0: [at('10.0.0.5', 'IPv4'), at('fd00::5', 'IPv6')],
  gone: undefined,
};

describe('the note on what a listener opens', () => {
  it.each(['localhost', '127.0.0.1', '127.1.2.3', '::1'])('says nothing of %s', (host) => {
    expect(openingNote({ host, port: 1 }, INTERFACES)).toBeUndefined();
  });

  it.each(['127.0.0.1.evil.test', 'a.localhost', '::12'])('speaks of %s', (host) => {
    expect(openingNote({ host, port: 1 }, {})).toContain(`on the address ${host} to`);
  });

  it('names port, address and what is not encrypted', () => {
    expect(openingNote({ host: '10.0.0.5', port: 8787 }, INTERFACES)?.split('\n')).toEqual([
      'opening port 8787 on the address 10.0.0.5 to everyone who can reach it:',
      expect.stringContaining('/healthz'),
      expect.stringContaining('unencrypted'),
      '',
    ]);
  });

  it('warns of no missing encryption where there is TLS', () => {
    const note = openingNote({ host: '10.0.0.5', port: 8787, tls: {} }, INTERFACES);
    expect(note?.split('\n').length).toBe(3);
    expect(note).not.toContain('unencrypted');
  });

  it.each([
    ['0.0.0.0', ' (10.0.0.5)'],
    ['::', ' (10.0.0.5, fd00::5)'],
  ])('lists the addresses that %s opens, and a free port as such', (host, addresses) => {
    expect(openingNote({ host, port: 0 }, INTERFACES)).toContain(
      `opening a free port on every address of this machine${addresses} to everyone`,
    );
  });

  it('lists no address where the machine has none', () => {
    expect(openingNote({ host: '::', port: 1 }, {})).toContain('of this machine to everyone');
  });

  it('knows the addresses that others reach, of IPv4 unless it is told otherwise', () => {
    expect(outsideAddresses(INTERFACES)).toEqual(['10.0.0.5']);
    expect(outsideAddresses(INTERFACES, '::')).toEqual(['10.0.0.5', 'fd00::5']);
  });
});
