import { assert, property, uint8Array } from 'fast-check';
import { fetch } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAddressSet, isPublicAddress } from '../../../src/upstream/guard/address-ranges.ts';
import { guardedFetch } from '../../../src/upstream/guard/guarded-fetch.ts';
import { createUrlGuard } from '../../../src/upstream/guard/url-guard.ts';
import type { UrlGuard, UrlGuardOptions } from '../../../src/upstream/guard/url-guard.ts';
import { verifies } from '../../requirements.ts';
import { Upstreams } from '../exchange-log.ts';

const PUBLIC = '93.184.216.34';

let guards: UrlGuard[];
let upstreams: Upstreams;

beforeEach(() => {
  guards = [];
  upstreams = new Upstreams();
});

afterEach(async () => {
  await Promise.all(guards.map((guard) => guard.close()));
  await upstreams.closeAll();
});

function create(options: UrlGuardOptions = {}): UrlGuard {
  const guard = createUrlGuard({ lookup: () => Promise.resolve([PUBLIC]), ...options });
  guards.push(guard);
  return guard;
}

/** Answers of a resolver in turn, the last one for ever. */
function answers(...turns: string[][]): () => Promise<string[]> {
  return () => Promise.resolve((turns.length > 1 ? turns.shift() : turns[0]) ?? []);
}

describe('the URL guard', () => {
  it.each([
    'https://example.com/a?b=c',
    'http://example.com',
    'https://example.com:8443/',
    'https://EXAMPLE.com./',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://xn--bcher-kva.example/',
  ])('lets %s pass', async (url) => {
    await expect(create().check(url)).resolves.toBeInstanceOf(URL);
  });

  it.each([
    ['', 'syntax'],
    ['//example.com', 'syntax'],
    ['http://', 'syntax'],
    ['http://[fe80::1%25eth0]/', 'syntax'],
    ['http://[fe80::1%eth0]/', 'syntax'],
    ['http://256.256.256.256/', 'syntax'],
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['data:text/plain,x', 'scheme'],
    ['gopher://example.com/', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['http://user@example.com/', 'credentials'],
    ['http://user:secret@example.com/', 'credentials'],
    ['http://:secret@example.com/', 'credentials'],
    ['http://example.com:22/', 'port'],
    ['http://example.com:25/', 'port'],
    ['http://example.com:0/', 'port'],
    ['http://localhost/', 'host'],
    ['http://LOCALHOST./', 'host'],
    ['http://a.localhost/', 'host'],
    ['http://printer.local/', 'host'],
    ['http://metadata.google.internal/computeMetadata/v1/', 'host'],
    ['http://router.home.arpa/', 'host'],
    ['http://127.0.0.1/', 'address'],
    ['http://127.1/', 'address'],
    ['http://127.0.0.1./', 'address'],
    ['http://2130706433/', 'address'],
    ['http://0x7f000001/', 'address'],
    ['http://0177.0.0.1/', 'address'],
    ['http://0x7f.0.0x0.1/', 'address'],
    ['http://①②⑦.0.0.1/', 'address'],
    ['http://%31%32%37.0.0.1/', 'address'],
    ['http://0/', 'address'],
    ['http://0.0.0.0/', 'address'],
    ['http://10.1.2.3/', 'address'],
    ['http://100.64.0.1/', 'address'],
    ['http://169.254.169.254/latest/meta-data/', 'address'],
    ['http://172.31.255.255/', 'address'],
    ['http://192.168.0.1/', 'address'],
    ['http://192.0.2.1/', 'address'],
    ['http://198.18.0.1/', 'address'],
    ['http://198.51.100.1/', 'address'],
    ['http://203.0.113.1/', 'address'],
    ['http://224.0.0.1/', 'address'],
    ['http://240.0.0.1/', 'address'],
    ['http://255.255.255.255/', 'address'],
    ['http://168.63.129.16/', 'address'],
    ['http://[::1]/', 'address'],
    ['http://[::]/', 'address'],
    ['http://[0:0:0:0:0:0:0:1]/', 'address'],
    ['http://[::127.0.0.1]/', 'address'],
    ['http://[::ffff:127.0.0.1]/', 'address'],
    ['http://[::ffff:8.8.8.8]/', 'address'],
    ['http://[::ffff:0:127.0.0.1]/', 'address'],
    ['http://[64:ff9b::7f00:1]/', 'address'],
    ['http://[64:ff9b:1::1]/', 'address'],
    ['http://[2002:7f00:1::]/', 'address'],
    ['http://[2001:0:7f00:1::1]/', 'address'],
    ['http://[2001:db8::1]/', 'address'],
    ['http://[fd00:ec2::254]/', 'address'],
    ['http://[fc00::1]/', 'address'],
    ['http://[fe80::1]/', 'address'],
    ['http://[ff02::1]/', 'address'],
  ])(verifies('upstream.url-guard', 'refuses %s: %s'), async (url, reason) => {
    await expect(create().check(url)).rejects.toMatchObject({ name: 'UrlGuardError', reason });
  });

  it.each([
    [['127.0.0.1']],
    [[PUBLIC, '10.0.0.1']],
    [['::1']],
    [['::ffff:169.254.169.254']],
    [['0:0:0:0:0:ffff:7f00:1']],
    [['fe80::1%eth0']],
    [['not an address']],
  ])('refuses a name that resolves to %j, and does not tell to what', async (addresses) => {
    const check = create({ lookup: () => Promise.resolve(addresses) }).check(
      'http://evil.example/',
    );
    await expect(check).rejects.toMatchObject({
      reason: 'address',
      message: 'the host evil.example is not a public address',
    });
  });

  it('says when a name does not resolve', async () => {
    const none = create({ lookup: () => Promise.resolve([]) });
    await expect(none.check('http://a.example/')).rejects.toMatchObject({ reason: 'unresolved' });
    const fails = create({ lookup: () => Promise.reject(new Error('ENOTFOUND')) });
    await expect(fails.check('http://a.example/')).rejects.toMatchObject({ reason: 'unresolved' });
  });
});

describe("the operator's exceptions", () => {
  it.each([
    ['10.0.0.0/8', 'http://10.9.8.7/', 'http://11.0.0.1:22/'],
    ['127.0.0.1', 'http://127.0.0.1:8080/', 'http://127.0.0.2:8080/'],
    ['127.0.0.1:9000', 'http://127.0.0.1:9000/', 'http://127.0.0.1:9001/'],
    ['[::1]:9000', 'http://[::1]:9000/', 'http://[::1]:9001/'],
    ['fd00::/8', 'http://[fd00::1]/', 'http://[fc00::1]/'],
  ])('%s lets %s pass and not %s', async (entry, passes, refused) => {
    const guard = create({ allow: [entry] });
    await expect(guard.check(passes)).resolves.toBeInstanceOf(URL);
    await expect(guard.check(refused)).rejects.toMatchObject({ name: 'UrlGuardError' });
  });

  it.each([
    ['files.corp', 'http://files.corp:22/', 'http://x.files.corp/'],
    ['FILES.corp:8080', 'http://files.corp.:8080/', 'http://files.corp:8081/'],
    ['*.corp', 'http://a.b.corp/', 'http://corp/'],
    ['localhost', 'http://localhost:3000/', 'http://a.localhost/'],
    ['10.0.0.0/8', 'http://metadata.internal/', 'http://metadata.internal:23/'],
  ])('%s lets the private host %s pass and not %s', async (entry, passes, refused) => {
    const guard = create({ allow: [entry], lookup: () => Promise.resolve(['10.0.0.1']) });
    await expect(guard.check(passes)).resolves.toBeInstanceOf(URL);
    await expect(guard.check(refused)).rejects.toMatchObject({ name: 'UrlGuardError' });
  });

  it('do not let a local name pass as a public one', async () => {
    const guard = create({ allow: ['10.0.0.0/8'] });
    await expect(guard.check('http://metadata.internal/')).rejects.toMatchObject({
      reason: 'host',
    });
  });

  it.each([' ', '10.0.0.0/33', '10.0.0.0/x', 'http://a.b', 'a b', 'user@host', '10.0.0/8'])(
    'that cannot be read are named: %j',
    (entry) => {
      expect(() => createUrlGuard({ allow: [entry] })).toThrow(TypeError);
      expect(() => createUrlGuard({ allow: [entry] })).toThrow(entry);
    },
  );
});

describe('a connection', () => {
  it(
    verifies(
      'upstream.url-guard',
      'is refused when the name resolves to this machine only after the check',
    ),
    async () => {
      let served = 0;
      const upstream = await upstreams.http((_request, response) => {
        served += 1;
        response.end('secret');
      });
      const guard = create({ lookup: answers([PUBLIC], ['127.0.0.1']) });
      const { port } = new URL(upstream.url);
      await expect(guardedFetch(guard, `http://rebind.example:${port}/`)).rejects.toMatchObject({
        name: 'UrlGuardError',
        reason: 'address',
      });
      expect(served).toBe(0);
      expect(upstream.sockets).toHaveLength(0);
    },
  );

  it('goes to the address that was admitted', async () => {
    const upstream = await upstreams.http((request, response) =>
      response.end(request.headers.host),
    );
    const { port } = new URL(upstream.url);
    const guard = create({ allow: ['127.0.0.0/8'], lookup: () => Promise.resolve(['127.0.0.1']) });
    const response = await guardedFetch(guard, `http://inside.example:${port}/`);
    expect(response.body.toString()).toBe(`inside.example:${port}`);
  });

  it('is guarded for every client that uses the dispatcher', async () => {
    const upstream = await upstreams.http((_request, response) => response.end('secret'));
    const dispatcher = await create().dispatcher();
    await expect(fetch(upstream.url, { dispatcher })).rejects.toMatchObject({
      cause: { name: 'UrlGuardError', reason: 'address' },
    });
    expect(upstream.sockets).toHaveLength(0);
  });
});

describe('guardedFetch', () => {
  const allow = ['127.0.0.1'];

  it('sends method, headers and body and returns status, headers and body', async () => {
    const upstream = await upstreams.http((request, response) => {
      request.on('data', (data: Buffer) => {
        response.writeHead(201, { 'x-answer': 'yes' });
        response.end([request.method, request.headers['x-mine'], data].join(' '));
      });
    });
    const response = await guardedFetch(create({ allow }), upstream.url, {
      method: 'POST',
      headers: { 'x-mine': 'a' },
      body: 'hello',
    });
    expect(response).toMatchObject({ status: 201, url: `${upstream.url}/` });
    expect(response.headers['x-answer']).toBe('yes');
    expect(response.body.toString()).toBe('POST a hello');
  });

  it.each(['http://127.0.0.2/', 'http://[::1]/', 'http://localhost/', 'file:///etc/passwd'])(
    verifies('upstream.url-guard', 'refuses a redirect to %s'),
    async (location) => {
      const upstream = await upstreams.http((_request, response) => {
        response.writeHead(302, { location }).end();
      });
      await expect(guardedFetch(create({ allow }), upstream.url)).rejects.toMatchObject({
        name: 'UrlGuardError',
      });
    },
  );

  it('follows a redirect without the headers that were meant for the first host', async () => {
    const target = await upstreams.http((request, response) => {
      response.end(JSON.stringify([request.method, request.url, request.headers]));
    });
    const upstream = await upstreams.http((_request, response) => {
      response.writeHead(303, { location: `${target.url}/there` }).end('moved');
    });
    const response = await guardedFetch(create({ allow }), upstream.url, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', cookie: 'a=b', 'x-key': 'k', accept: 'image/*' },
      body: 'x',
    });
    expect(response.url).toBe(`${target.url}/there`);
    const seen: unknown = JSON.parse(response.body.toString());
    expect(seen).toMatchObject(['GET', '/there', { accept: 'image/*' }]);
    for (const name of ['authorization', 'cookie', 'x-key']) {
      expect(seen).not.toHaveProperty([2, name]);
    }
  });

  it('keeps method, headers and body on a 307 within one origin', async () => {
    const upstream = await upstreams.http((request, response) => {
      if (request.url === '/') response.writeHead(307, { location: '/next' }).end();
      else
        request.on('data', (data: Buffer) =>
          response.end([request.method, request.headers['x-key'], data].join(' ')),
        );
    });
    const response = await guardedFetch(create({ allow }), upstream.url, {
      method: 'PUT',
      headers: { 'x-key': 'k' },
      body: 'data',
    });
    expect(response.body.toString()).toBe('PUT k data');
  });

  it('takes no body in a content coding, of which nothing was asked for', async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('coded');
    });
    const taken: Buffer[] = [];
    const take = async (chunk: Buffer): Promise<void> => void taken.push(chunk);
    const guard = create({ allow });
    await expect(guardedFetch(guard, upstream.url, { take })).rejects.toMatchObject({
      name: 'UrlFetchError',
      reason: 'encoding',
    });
    expect(taken).toEqual([]);
    // Who looks at the status alone has no use for the body.
    expect((await guardedFetch(guard, upstream.url)).status).toBe(200);
  });

  it('gives up on a chain of redirects, or returns the first where none is wanted', async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.writeHead(302, { location: '/again' }).end();
    });
    const guard = create({ allow });
    await expect(guardedFetch(guard, upstream.url)).rejects.toMatchObject({ reason: 'redirects' });
    const response = await guardedFetch(guard, upstream.url, { maxRedirects: 0 });
    expect(response.status).toBe(302);
  });

  it('bounds the size of the answer', async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.end(Buffer.alloc(2000));
    });
    const guard = create({ allow });
    await expect(guardedFetch(guard, upstream.url, { maxBytes: 1999 })).rejects.toMatchObject({
      name: 'UrlFetchError',
      reason: 'too_large',
    });
    const response = await guardedFetch(guard, upstream.url, { maxBytes: 2000 });
    expect(response.body.length).toBe(2000);
  });

  it('bounds the time, also while the name is resolved and while the body comes', async () => {
    const upstream = await upstreams.http((_request, response) => {
      response.write('first');
    });
    const timeout = { name: 'UrlFetchError', reason: 'timeout' };
    await expect(
      guardedFetch(create({ allow }), upstream.url, { timeoutMs: 50 }),
    ).rejects.toMatchObject(timeout);
    const stuck = create({ lookup: () => new Promise(() => undefined) });
    await expect(guardedFetch(stuck, 'http://a.example/', { timeoutMs: 50 })).rejects.toMatchObject(
      timeout,
    );
  });

  it('stops when the caller aborts', async () => {
    const upstream = await upstreams.http(() => controller.abort());
    const controller = new AbortController();
    await expect(
      guardedFetch(create({ allow }), upstream.url, { signal: controller.signal }),
    ).rejects.toMatchObject({ name: 'UrlFetchError', reason: 'aborted' });
  });

  it('tells a failure without the address', async () => {
    const gone = new Upstreams();
    const { url } = await gone.http(() => undefined);
    await gone.closeAll();
    await expect(guardedFetch(create({ allow }), url)).rejects.toMatchObject({
      reason: 'network',
      message: 'the host did not answer',
    });
  });
});

describe('addresses', () => {
  it('every spelling of a private IPv4 address inside IPv6 is refused', () => {
    assert(
      property(uint8Array({ minLength: 4, maxLength: 4 }), (octets) => {
        const words = Buffer.from(octets);
        const [first, second] = [words.readUInt16BE(0), words.readUInt16BE(2)].map((word) =>
          word.toString(16),
        );
        for (const address of [
          `::ffff:${octets.join('.')}`,
          `0:0:0:0:0:ffff:${first}:${second}`,
          `::${first}:${second}`,
          `64:ff9b::${first}:${second}`,
          `2002:${first}:${second}::1`,
        ]) {
          expect(isPublicAddress(address)).toBe(false);
        }
      }),
    );
  });

  it('a set has exactly the addresses of its blocks', () => {
    const set = createAddressSet(['10.0.0.0/30', '2001:db8::/126', '1.2.3.4']);
    expect(['10.0.0.0', '10.0.0.3', '2001:db8::3', '1.2.3.4'].every((a) => set.has(a))).toBe(true);
    expect(
      ['10.0.0.4', '2001:db8::4', '1.2.3.5', '::ffff:10.0.0.1', ''].some((a) => set.has(a)),
    ).toBe(false);
  });
});
