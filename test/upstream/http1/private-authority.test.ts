import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import type { Http1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import { exchange } from '../exchange-log.ts';
import type { ExchangeLog } from '../exchange-log.ts';
import { createAuthority } from '../../support/certificates.ts';

const ours = createAuthority('Ours');
const theirs = createAuthority('Theirs');
const issued = ours.issue('models.example');
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

afterAll(() => {
  ours.dispose();
  theirs.dispose();
});

interface Served {
  url: string;
  names: unknown[];
  /** Number of handshakes that were completed. */
  connections(): number;
}

async function serve(): Promise<Served> {
  const names: unknown[] = [];
  let connections = 0;
  const server = createServer(issued, (request, response) => {
    names.push((request.socket as TLSSocket & { servername?: string }).servername);
    response.end('ok');
  });
  server.on('secureConnection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('not listening');
  return { url: `https://127.0.0.1:${address.port}/`, names, connections: () => connections };
}

function create(): Http1Transport {
  const transport = createHttp1Transport();
  closers.push(() => transport.close());
  return transport;
}

async function done(log: ExchangeLog): Promise<ExchangeLog> {
  await log.finished;
  return log;
}

describe('settings of TLS of a destination', () => {
  it('trust a private authority and send the name that they give', async () => {
    const { url, names } = await serve();
    const reaching = create().reaching({ ca: ours.ca, serverName: 'models.example' });
    expect((await done(exchange(reaching, url))).text()).toBe('ok');
    expect(names).toEqual(['models.example']);
  });

  it.each([
    ['another name', { ca: ours.ca, serverName: 'other.example' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['the address', { ca: ours.ca }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['another authority', { ca: theirs.ca, serverName: 'models.example' }, 'UNABLE_TO_'],
    ['no authority', { serverName: 'models.example' }, 'UNABLE_TO_'],
  ])('refuse a certificate that is not of %s, with that cause', async (_of, tls, code) => {
    const { url, names } = await serve();
    const { error } = await done(exchange(create().reaching(tls), url));
    expect(error?.kind).toBe('connect');
    expect(error?.detail).toContain(code);
    expect(error?.detail).toContain('certificate of models.example by Ours');
    expect(names).toEqual([]);
  });

  it('never lend a connection to calls with other settings, and share it with equal ones', async () => {
    const { url, connections } = await serve();
    const transport = create();
    const tls = { ca: ours.ca, serverName: 'models.example' };
    expect((await done(exchange(transport.reaching(tls), url))).text()).toBe('ok');
    expect((await done(exchange(transport, url))).error?.kind).toBe('connect');
    const strangers = transport.reaching({ ...tls, ca: theirs.ca });
    expect((await done(exchange(strangers, url))).error?.kind).toBe('connect');
    const before = connections();
    expect((await done(exchange(transport.reaching({ ...tls }), url))).text()).toBe('ok');
    expect(connections()).toBe(before);
  });
});
