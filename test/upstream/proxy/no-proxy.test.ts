import { expect, it } from 'vitest';
import { createNoProxy } from '../../../src/upstream/proxy/no-proxy.ts';
import { verifies } from '../../requirements.ts';

it.each([
  // Names, with and without a leading dot.
  ['example.com', 'example.com', 443, true],
  ['example.com', 'api.example.com', 443, true],
  ['.example.com', 'api.example.com', 443, true],
  ['.example.com', 'example.com', 443, true],
  ['example.com', 'notexample.com', 443, false],
  ['api.example.com', 'example.com', 443, false],
  ['EXAMPLE.com.', 'example.COM', 443, true],
  // Ports.
  ['example.com:8443', 'example.com', 8443, true],
  ['example.com:8443', 'example.com', 443, false],
  ['10.0.0.1:80', '10.0.0.1', 80, true],
  ['10.0.0.1:80', '10.0.0.1', 81, false],
  ['[fd00::1]:80', 'fd00::1', 80, true],
  ['[fd00::1]:80', 'fd00::1', 81, false],
  // Addresses and blocks; names are never resolved.
  ['10.0.0.1', '10.0.0.1', 80, true],
  ['10.0.0.1', '10.0.0.10', 80, false],
  ['10.0.0.0/8', '10.200.3.4', 443, true],
  ['10.0.0.0/8', '11.0.0.1', 443, false],
  ['192.168.1.0/25', '192.168.1.128', 443, false],
  ['fd00::/8', 'fd12::1', 443, true],
  ['fd00::/8', 'fe80::1', 443, false],
  ['127.0.0.0/8', 'localhost', 80, false],
  ['localhost', 'localhost', 80, true],
  // Lists, everything, and what means nothing.
  ['a.example, b.example', 'b.example', 443, true],
  ['a.example b.example', 'b.example', 443, true],
  ['*', 'anything.example', 443, true],
  ['*', '10.0.0.1', 443, true],
  ['a.example,*', 'b.example', 443, true],
  ['', 'example.com', 443, false],
  [',., ,', 'example.com', 443, false],
  ['10.0.0.0/64', '10.0.0.1', 443, false],
] as const)(
  verifies('net.proxy.no-proxy', '%s for %s:%d is %s'),
  (...[list, host, port, expected]) => {
    expect(createNoProxy(list)(host, port)).toBe(expected);
  },
);
