import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProviderAccount } from '../../../src/providers/account.ts';
import type { Api } from '../../../src/routing/catalog.ts';
import { createTransports } from '../../../src/server/compose/transports.ts';
import type { Transports } from '../../../src/server/compose/transports.ts';
import { parseProxy } from '../../../src/upstream/proxy/proxy.ts';
import type { Proxy } from '../../../src/upstream/proxy/proxy.ts';
import type { Transport, UpstreamCall } from '../../../src/upstream/transport.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const IDLE = { used: 0, waiting: 0 };

interface Exchange {
  readonly call: UpstreamCall;
  /** Status and body, or the kind of the error. */
  readonly answer: Promise<string>;
}

describe('the ways to providers and APIs', () => {
  let server: Server;
  let url: string;
  /** Answers that the server holds back, and names of tunnels that it was asked for. */
  let held: ServerResponse[];
  let tunnels: string[];
  let isHolding: boolean;
  let asked: { url: string; declared: unknown }[];
  let proxy: Proxy | undefined;
  let transports: Transports;

  beforeEach(async () => {
    [held, tunnels, asked] = [[], [], []];
    isHolding = false;
    proxy = undefined;
    server = createServer((request, response) => {
      if (isHolding) held.push(response);
      else response.end(`served ${request.url}`);
    });
    server.on('connect', ({ url: target = '' }, socket) => {
      tunnels.push(target);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    transports = open();
  });
  afterEach(async () => {
    await transports.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  function open(connections = 1): Transports {
    return createTransports({
      clock: createFakeClock(),
      log: { warn: () => undefined },
      connections,
      proxies: {
        isEmpty: false,
        proxyFor: () => undefined,
        proxyOf(to, declared) {
          asked.push({ url: to, declared });
          return proxy;
        },
      },
    });
  }
  const account = (more: object = {}): ProviderAccount =>
    ({
      id: 'prov_1',
      name: 'acme',
      definition: { id: 'openai' },
      baseUrl: `${url}/v1`,
      ...more,
    }) as unknown as ProviderAccount;
  const api = (more: object = {}): Api => ({ name: 'acme', origin: url, ...more }) as Api;

  function begin(transport: Transport, path = '/v1/models', body?: object): Exchange {
    let call: UpstreamCall | undefined;
    const answer = new Promise<string>((resolve) => {
      let [status, text] = [0, ''];
      const bytes = body && Buffer.from(JSON.stringify(body));
      const headers = body ? ['content-type', 'application/json'] : [];
      call = transport.send(
        { url: new URL(url + path), method: body ? 'POST' : 'GET', headers, body: bytes },
        {
          onHead: (told) => void (status = told),
          onData: (chunk) => void (text += chunk.toString()),
          onEnd: () => resolve(`${status} ${text}`),
          onError: ({ kind }) => resolve(kind),
        },
      );
    });
    if (!call) throw new Error('nothing was sent');
    return { call, answer };
  }

  it('are the network', async () => {
    expect(await begin(transports.transportFor(account(), 'org_1')).answer).toBe(
      '200 served /v1/models',
    );
    expect(await begin(transports.transportToApi(api(), 'org_1')).answer).toBe(
      '200 served /v1/models',
    );
  });

  it('have places that those who call share, one by one', async () => {
    isHolding = true;
    const provider = account();
    expect(transports.look(provider)).toEqual(IDLE);
    const calls = ['org_1', 'org_2'].map((holder) =>
      begin(transports.transportFor(provider, holder)),
    );
    expect(transports.look(provider)).toEqual({ used: 1, waiting: 1 });
    expect(calls.map(({ call }) => call.isWaiting)).toEqual([false, true]);
    for (const { call } of calls.toReversed()) call.abort();
    expect(await Promise.all(calls.map(({ answer }) => answer))).toEqual(['aborted', 'waiting']);
    expect(transports.look(provider)).toEqual(IDLE);
  });

  it('have as many places as the provider or the API says itself', () => {
    isHolding = true;
    const provider = account({ connections: 2 });
    const service = api({ connections: 2 });
    const calls = [1, 2, 3].flatMap(() => [
      begin(transports.transportFor(provider, 'org_1')),
      begin(transports.transportToApi(service, 'org_1')),
    ]);
    expect(transports.look(provider)).toEqual({ used: 2, waiting: 1 });
    expect(transports.look(service)).toEqual({ used: 2, waiting: 1 });
    for (const { call } of calls) call.abort();
  });

  it('count an API apart from a provider of any id, and by its name', () => {
    isHolding = true;
    const provider = account({ id: 'acme' });
    const call = begin(transports.transportToApi(api(), 'org_1'));
    expect(transports.look(api())).toEqual({ used: 1, waiting: 0 });
    expect(transports.look(api({ name: 'other' }))).toEqual(IDLE);
    expect(transports.look(provider)).toEqual(IDLE);
    call.call.abort();
  });

  it('ask once for the proxy of each definition', () => {
    isHolding = true;
    const provider = account({ proxy: 'none' });
    const service = api();
    const calls = [1, 2].flatMap(() => [
      begin(transports.transportFor(provider, 'org_1')),
      begin(transports.transportToApi(service, 'org_1')),
    ]);
    expect(asked).toEqual([
      { url: `${url}/v1`, declared: 'none' },
      { url, declared: undefined },
    ]);
    transports.transportFor(account(), 'org_1');
    expect(asked[2]).toEqual({ url: `${url}/v1`, declared: undefined });
    for (const { call } of calls) call.abort();
  });

  it('lead through the proxy that there is', async () => {
    proxy = parseProxy(url);
    const calls = [
      begin(transports.transportFor(account(), 'org_1')),
      begin(transports.transportToApi(api(), 'org_1')),
    ];
    for (const { answer } of calls) expect(await answer).not.toMatch(/^200/);
    const { host } = new URL(url);
    expect(tunnels).toEqual([host, host]);
  });

  describe('to a mock', () => {
    const rules = [{ match: { attempt: 1 }, reply: { text: 'first' } }];
    const mock = (more: object = {}): ProviderAccount =>
      account({ definition: { id: 'mock' }, baseUrl: 'mock:', mock: { rules }, ...more });
    const chat = (to: ProviderAccount): Promise<string> => {
      const body = { model: 'echo', messages: [{ role: 'user', content: 'hello' }] };
      return begin(transports.transportFor(to, 'org_1'), '/v1/chat/completions', body).answer;
    };

    it('stay in the process, and count for as long as its definition lasts', async () => {
      const provider = mock();
      expect(await chat(provider)).toMatch(/^200 .*"first"/);
      expect(await chat(provider)).toMatch(/^200 (?!.*"first")/);
      expect(await chat(mock())).toMatch(/^200 .*"first"/);
      expect(asked).toEqual([]);
    });
  });
});
