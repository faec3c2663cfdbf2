import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createHostGuard } from '../../../src/server/http/host-guard.ts';
import { verifies } from '../../requirements.ts';

const asking = (headers: Record<string, string>): IncomingMessage =>
  ({ headers }) as unknown as IncomingMessage;

describe('createHostGuard', () => {
  const guard = createHostGuard({
    listenHost: '127.0.0.1',
    allowedHosts: ['gateway.test'],
    origins: ['https://app.example'],
  });

  it.each(['127.0.0.1:8787', 'localhost:8787', '[::1]:8787', 'GATEWAY.test', 'dev.localhost'])(
    'lets %s in',
    (host) => {
      expect(() => guard(asking({ host }))).not.toThrow();
    },
  );

  it.each(['evil.example', '127.0.0.1.evil.example', '169.254.169.254', '[::ffff:10.0.0.1]'])(
    verifies('ops.cors-and-host', 'refuses the host %s on a loopback address'),
    (host) => {
      expect(() => guard(asking({ host }))).toThrow('host not allowed');
    },
  );

  it.each([
    '[::1]evil.example',
    '[::1]:8787evil.example',
    '[::1]:8787:1',
    '[::1',
    '::1]',
    '[::1%25lo]',
    '[::1%lo]:8787',
    '127.0.0.1:8787@evil.example',
    'localhost@evil.example',
    'evil.example@localhost',
    'localhost:8787evil',
    'localhost:',
    'localhost:123456',
    'localhost/evil.example',
    'localhost?evil.example',
    'localhost,evil.example',
    'localhost evil.example',
    'localhost.',
    '127.0.0.1.',
    '127.0.0.999',
    '',
  ])(verifies('ops.host.bracket-garbage', 'refuses %j, in an origin, too'), (host) => {
    expect(() => guard(asking({ host }))).toThrow('host not allowed');
    const foreign = { host: 'localhost', origin: `http://${host}` };
    expect(() => guard(asking(foreign))).toThrow('origin not allowed');
  });

  it(
    verifies(
      'ops.cors-and-host',
      'refuses a foreign origin and takes a configured or loopback one',
    ),
    () => {
      const host = 'localhost';
      expect(() => guard(asking({ host, origin: 'https://evil.example' }))).toThrow(
        'origin not allowed',
      );
      expect(() => guard(asking({ host, origin: 'null' }))).toThrow('origin not allowed');
      expect(() => guard(asking({ host, origin: 'https://app.example' }))).not.toThrow();
      expect(() => guard(asking({ host, origin: 'http://localhost:3000' }))).not.toThrow();
    },
  );

  it('accepts every name of a probe on a public address', () => {
    const listed = { allowedHosts: ['gw.example'], origins: [] };
    const open = createHostGuard({ listenHost: '0.0.0.0', ...listed });
    expect(() => open(asking({ host: '10.1.2.3:8787' }))).toThrow('host not allowed');
    expect(() => open(asking({ host: '10.1.2.3:8787' }), true)).not.toThrow();
    const local = createHostGuard({ listenHost: '127.0.0.1', ...listed });
    expect(() => local(asking({ host: '10.1.2.3:8787' }), true)).toThrow('host not allowed');
  });

  it('accepts every host on a public address unless a list is given', () => {
    const open = createHostGuard({ listenHost: '0.0.0.0', allowedHosts: [], origins: [] });
    expect(() => open(asking({ host: 'anything.example' }))).not.toThrow();
  });
});
