import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import type { UpstreamError } from '../../../src/upstream/transport.ts';
import { exchange } from '../exchange-log.ts';
import { createAuthority } from '../../support/certificates.ts';

const ours = createAuthority('Ours');
const theirs = createAuthority('Theirs');
const served = ours.issue('models.example');
const client = ours.issue('gateway.example');
const renewed = ours.issue('renewed.example');
const foreign = theirs.issue('stranger.example');
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

afterAll(() => {
  ours.dispose();
  theirs.dispose();
});

type Version = 'TLSv1.2' | 'TLSv1.3';

/** Demands a client certificate of our authority; `names` are those that were shown. */
async function serve(maxVersion: Version): Promise<{ url: string; names: unknown[] }> {
  const names: unknown[] = [];
  const demands = { ca: ours.ca, requestCert: true, rejectUnauthorized: true, maxVersion };
  const server = createServer({ ...served, ...demands }, (request, response) => {
    names.push((request.socket as TLSSocket).getPeerCertificate().subject.CN);
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('not listening');
  return { url: `https://127.0.0.1:${address.port}/`, names };
}

const trusted = { ca: ours.ca, serverName: 'models.example' };

describe.each<Version>(['TLSv1.2', 'TLSv1.3'])(
  'a provider that demands a certificate, %s',
  (tls) => {
    it('gets that of its settings, and a renewed one on connections of its own', async () => {
      const { url, names } = await serve(tls);
      const transport = createHttp1Transport();
      closers.push(() => transport.close());
      for (const issued of [client, renewed, client]) {
        const log = exchange(transport.reaching({ ...trusted, ...issued }), url);
        await log.finished;
        expect(log.text()).toBe('ok');
      }
      expect(names).toEqual(['gateway.example', 'renewed.example', 'gateway.example']);
    });

    const refusal = async (settings: object): Promise<UpstreamError | undefined> => {
      const { url, names } = await serve(tls);
      const transport = createHttp1Transport();
      closers.push(() => transport.close());
      const log = exchange(transport.reaching({ ...trusted, ...settings }), url);
      await log.finished;
      expect(names).toEqual([]);
      return log.error;
    };

    it('refuses none, with that cause', async () => {
      expect((await refusal({}))?.detail).toContain('the provider asks for a client certificate');
    });

    it('refuses that of another authority, with that cause and without the key', async () => {
      const error = await refusal(foreign);
      expect(error?.detail).toContain('refuses the client certificate');
      expect(error?.detail).toContain('certificate of stranger.example by Theirs');
      expect(JSON.stringify([error?.message, error?.detail])).not.toContain('PRIVATE');
    });
  },
);
