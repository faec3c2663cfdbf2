import { describe, expect, it } from 'vitest';
import { createIdSource } from '../../../src/core/ids.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { createSpools } from '../../../src/core/memory/spool.ts';
import type { FormField } from '../../../src/resources/store/dialect.ts';
import { segmentsBelow, toResourceRequest } from '../../../src/server/http/resource-exchange.ts';
import type { ResourcePlace } from '../../../src/server/http/resource-exchange.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { formText } from '../../support/form-text.ts';
import { RESOURCE_VALUES } from '../../support/value-bounds.ts';
import { exchangeOf, namedCall } from '../routes/handler-calls.ts';
import type { CallOptions } from '../routes/handler-calls.ts';

const FORM = 'multipart/form-data; boundary=b';
const YAML = { 'content-type': 'application/yaml' };

function setUp(place: Partial<ResourcePlace>, options: CallOptions, maxBodyBytes = 1_000) {
  const exchange = exchangeOf({ path: '/v1/things/a', ...options });
  const spools = createSpools('unused', createIdSource(createFakeClock()));
  const kept = { now: 0 };
  const request = toResourceRequest({ path: '/v1/things', ...place }, exchange, {
    spools: {
      ...spools,
      create() {
        const spool = spools.create();
        const { dispose } = spool;
        kept.now += 1;
        spool.dispose = () => ((kept.now -= 1), dispose.call(spool));
        return spool;
      },
    },
    maxBodyBytes,
    resourceValues: RESOURCE_VALUES,
    holder: 'key_1',
  });
  return { exchange, request, kept };
}

describe('segments below a path', () => {
  it.each([
    ['/v1/things', []],
    ['/v1/things/', []],
    ['/v1/things/a', ['a']],
    ['/v1/things/a/b', ['a', 'b']],
    ['/v1/things//a//b/', ['a', 'b']],
    ['/v1/things/a%2Fb/c%20d', ['a/b', 'c d']],
    ['/v1/things/%2525', ['%25']],
  ])('of %s are %j', (path, segments) => {
    expect(segmentsBelow('/v1/things', path)).toEqual(segments);
  });

  it('are refused where they cannot be decoded', () => {
    for (const path of ['/v1/things/%', '/v1/things/a/%ff'])
      expect(() => segmentsBelow('/v1/things', path)).toThrow(
        expect.objectContaining({ code: 'not_found', message: 'no such path' }),
      );
  });
});

describe('a request for a resource', () => {
  it('has the method, the segments and the query of the exchange', () => {
    const { named } = namedCall();
    const options = { method: 'PATCH', path: '/v1/things/a%2Fb/c', search: '?q=x&q=y', named };
    const { request } = setUp({}, options);
    expect(request.method).toBe('PATCH');
    expect(request.segments).toEqual(['a/b', 'c']);
    expect(request.query.getAll('q')).toEqual(['x', 'y']);
    expect(request.named).toBe(named);
  });

  it('is answered to HEAD as to GET', () => {
    for (const method of ['HEAD', 'GET']) expect(setUp({}, { method }).request.method).toBe('GET');
  });

  it('reads JSON whatever its type says', async () => {
    for (const headers of [{}, YAML, { 'content-type': 'text/plain' }]) {
      const { request } = setUp({}, { method: 'POST', body: { a: 1 }, headers });
      expect(await request.body()).toEqual({ a: 1 });
    }
    const { request } = setUp({ yaml: true }, { method: 'POST', body: { a: 1 } });
    expect(await request.body()).toEqual({ a: 1 });
  });

  it('may have no body only where that is said', async () => {
    const none = () => setUp({}, { method: 'POST' }).request;
    expect(await none().body({ optional: true })).toEqual({});
    await expect(none().body()).rejects.toMatchObject({ code: 'invalid_json' });
  });

  it('is refused with more bytes or values than it may have', async () => {
    const body = { a: 'x'.repeat(20) };
    const { length } = JSON.stringify(body);
    expect(await setUp({}, { body }, length).request.body()).toEqual(body);
    await expect(setUp({}, { body }, length - 1).request.body()).rejects.toMatchObject({
      code: 'body_too_large',
    });
    const many = { list: Array.from({ length: 50_001 }, () => '') };
    await expect(setUp({}, { body: many }, 1_000_000).request.body()).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('a request in YAML', () => {
  const fault = () => new GatewayError('unprocessable', { message: 'too small', param: 'b' });

  it('is read where a kind takes it', async () => {
    const options = { method: 'POST', body: 'a: 1\nb: c\n', headers: YAML };
    expect(await setUp({ yaml: true }, options).request.body()).toEqual({ a: 1, b: 'c' });
    await expect(setUp({}, options).request.body()).rejects.toMatchObject({
      code: 'invalid_json',
    });
    const none = setUp({ yaml: true }, { method: 'POST', headers: YAML });
    expect(await none.request.body({ optional: true })).toEqual({});
  });

  it('tells where the member at fault is written', async () => {
    const { request } = setUp({ yaml: true }, { body: 'a: 1\nb: c\n', headers: YAML });
    const before = fault();
    expect(request.locate(before)).toBe(before);
    await request.body();
    expect(request.locate(fault())).toMatchObject({ message: expect.stringContaining('line 2') });
  });

  it('alone has places', async () => {
    const { request } = setUp({ yaml: true }, { body: { b: 1 } });
    await request.body();
    const thrown = fault();
    expect(request.locate(thrown)).toBe(thrown);
  });
});

describe('a request in a form', () => {
  const parts = [
    { name: 'title', content: 'first' },
    { name: 'file', filename: 'a.txt', type: 'text/plain', content: 'hello' },
    { name: 'file', filename: 'b.bin', content: '1234567' },
  ];
  const body = formText('b', parts).toString();
  const options = { method: 'POST', body, headers: { 'content-type': FORM } };
  const toText = (fields: readonly FormField[]) =>
    fields.map(({ content, ...field }) => ({ ...field, content: content?.toString() }));
  const fromForm = (fields: readonly FormField[]) => ({ fields: toText(fields) });

  it('is what the kind makes of its fields', async () => {
    const { request, exchange, kept } = setUp({ fromForm }, options);
    expect(await request.body()).toEqual({
      fields: [
        { name: 'title', value: 'first' },
        { name: 'file', filename: 'a.txt', contentType: 'text/plain', content: 'hello' },
        expect.objectContaining({ name: 'file', filename: 'b.bin', content: '1234567' }),
      ],
    });
    expect(exchange.intake.held).toBe(Buffer.byteLength(body) + 'hello1234567'.length);
    expect(kept.now).toBe(0);
  });

  it('is none where the kind takes no forms, or the type says JSON', async () => {
    await expect(setUp({}, options).request.body()).rejects.toMatchObject({ code: 'invalid_json' });
    const json = { method: 'POST', body: { a: 1 } };
    expect(await setUp({ fromForm }, json).request.body()).toEqual({ a: 1 });
  });

  it('is refused with more bytes than it may have', async () => {
    const limit = Buffer.byteLength(body);
    expect(await setUp({ fromForm }, options, limit).request.body()).toHaveProperty('fields');
    await expect(setUp({ fromForm }, options, limit - 1).request.body()).rejects.toMatchObject({
      code: 'body_too_large',
    });
  });
});
