import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import { resolveApi } from '../../src/routing/api.ts';
import type { ApiSettings, ApiTarget } from '../../src/routing/api.ts';

const SECRET = 'upstream-secret-value';

const resolve = (overrides: Partial<ApiSettings> = {}, secret?: string): ApiTarget =>
  resolveApi(
    {
      name: 'weather',
      base_url: 'https://api.example.com/v1',
      auth: { type: 'none' },
      headers: {},
      methods: ['GET'],
      paths: [],
      response_headers: [],
      usage: {},
      ...overrides,
    },
    secret,
  );

/** The refusal; its message never tells the credential. */
function refusalOf(overrides: Partial<ApiSettings>, secret?: string): GatewayError {
  try {
    resolve(overrides, secret);
  } catch (error) {
    if (error instanceof GatewayError && !(secret && error.message.includes(secret))) return error;
    throw error;
  }
  throw new Error('it was taken');
}

const paramOf = (overrides: Partial<ApiSettings>, secret?: string): string | undefined => {
  const { code, param } = refusalOf(overrides, secret);
  return code === 'invalid_request' ? param : code;
};

describe('a target of an API', () => {
  it('is what its resource says', () => {
    const target = resolve(
      {
        base_url: 'https://api.example.com:8443/v1/?units=si',
        auth: { type: 'header', name: 'X-Key' },
        headers: { 'X-Client': 'gateway', 'x-empty': '' },
        methods: ['GET', 'POST'],
        paths: ['/search', '/items/**'],
        response_headers: ['ETag'],
        usage: { input: { field: '$.usage.tokens', most: 7 } },
        connections: 3,
      },
      SECRET,
    );
    expect(target).toEqual({
      name: 'weather',
      origin: 'https://api.example.com:8443',
      basePath: '/v1',
      baseQuery: 'units=si',
      auth: { type: 'header', name: 'X-Key' },
      secret: SECRET,
      headers: { 'x-client': 'gateway', 'x-empty': '' },
      methods: ['GET', 'POST'],
      paths: [['search'], ['items', '**']],
      responseHeaders: ['etag'],
      usage: [{ counts: 'input', path: ['usage', 'tokens'], most: 7 }],
      connections: 3,
    });
  });

  it('has the usual number of connections where none is said', () => {
    expect(resolve({ connections: null }).connections).toBeUndefined();
  });

  it.each([
    ['http://example.com', ''],
    ['http://example.com/', ''],
    ['http://example.com///', ''],
    ['http://example.com/a/b//', '/a/b'],
    ['http://example.com//a', '//a'],
  ])('at %s has the base path %j', (base, path) => {
    expect(resolve({ base_url: base })).toMatchObject({ basePath: path, baseQuery: '' });
  });
});

describe('an address', () => {
  it.each([
    'nowhere',
    '/v1',
    'ftp://example.com',
    'file:///etc/passwd',
    'https://user@example.com',
    'https://:word@example.com',
    'https://example.com/#part',
  ])('%s is refused', (base) => {
    expect(paramOf({ base_url: base })).toBe('base_url');
  });
});

describe('a credential', () => {
  it.each([
    { type: 'bearer' },
    { type: 'header', name: 'x-key' },
    { type: 'query', name: 'key' },
    { type: 'signature', key_id: 'one' },
  ] as const)('is needed for auth of $type', (auth) => {
    expect(paramOf({ auth })).toBe('api_key');
    expect(paramOf({ auth }, '')).toBe('api_key');
    expect(resolve({ auth }, SECRET).secret).toBe(SECRET);
  });

  it('is not needed without auth', () => {
    expect(resolve().secret).toBeUndefined();
  });

  it.each(['a\nb', ' a', 'a ', '\u20ac', 'a\u007f'])('%j cannot be sent', (secret) => {
    expect(paramOf({ auth: { type: 'bearer' } }, secret)).toBe('api_key');
  });

  it.each(['a', 'a b', 'a\tb', '\u00e9'])('%j can be sent', (secret) => {
    expect(resolve({ auth: { type: 'bearer' } }, secret).secret).toBe(secret);
  });
});

describe('a header', () => {
  const names = ['Host', 'content-length', 'Transfer-Encoding', 'connection', 'te', 'upgrade'];

  it.each([...names, 'a b', 'a:b', ''])('of the name %j cannot be set', (name) => {
    expect(paramOf({ headers: { [name]: 'x' } })).toBe('headers');
    expect(paramOf({ auth: { type: 'header', name } }, SECRET)).toBe('auth.name');
  });

  it('with a value that cannot be sent is refused', () => {
    const { param, message } = refusalOf({ headers: { 'X-A': 'a\r\nb' } });
    expect({ param, message }).toEqual({
      param: 'headers',
      message: 'the value of x-a contains characters that cannot be sent',
    });
  });

  it('is named in its refusal no longer than needed', () => {
    const { message } = refusalOf({ headers: { [`${'n'.repeat(64)}m m`]: '' } });
    expect(message).toBe(`the header "${'n'.repeat(64)}" cannot be set`);
  });

  it.each([
    'Set-Cookie',
    'set-cookie2',
    'www-authenticate',
    'authorization',
    'location',
    'retry-after',
    'retry-after-ms',
    'x-should-retry',
    'x-ratelimit-remaining',
    'ratelimit',
    'rate-limit-reset',
    'x-request-id',
    'request-id',
    'Connection',
  ])('%s of an answer never reaches clients', (name) => {
    expect(paramOf({ response_headers: ['etag', name] })).toBe('response_headers[1]');
  });

  it.each(['x-location', 'location-x', 'x-set-cookie'])('%s of an answer may', (name) => {
    expect(resolve({ response_headers: [name] }).responseHeaders).toEqual([name]);
  });
});

it('a path that is no pattern is refused by its place', () => {
  expect(paramOf({ paths: ['/a', 'b'] })).toBe('paths[1]');
});

it('a field that is no path in a document is refused by the unit it counts', () => {
  const usage = { input: { field: '$.a', most: 1 }, seconds: { field: 'b', most: 1 } };
  expect(paramOf({ usage })).toBe('usage.seconds.field');
});
