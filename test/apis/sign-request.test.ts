import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fromBytes, joinBodies } from '../../src/core/memory/spooled-body.ts';
import { sign, signatureHeaders } from '../../src/apis/sign-request.ts';

describe('a signature', () => {
  it('is that of the example of RFC 9421, B.2.5', () => {
    const secret = Buffer.from(
      'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==',
      'base64',
    );
    const { input, signature } = sign(
      [
        ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
        ['@authority', 'example.com'],
        ['content-type', 'application/json'],
      ],
      ';created=1618884473;keyid="test-shared-secret"',
      secret,
    );
    expect(input).toBe(
      '("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    );
    expect(signature).toBe('pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=');
  });

  it('covers method, host, path, query and body', async () => {
    const url = new URL('https://api.example:8443/a%2Fb?x=1&y');
    const body = joinBodies([fromBytes(Buffer.from('{"a":')), fromBytes(Buffer.from('1}'))]);
    const key = { id: 'k"1', secret: 'shared' };
    const flat = await signatureHeaders({ method: 'POST', url, body }, key, 1_700_000_000);
    const digest = createHash('sha256').update('{"a":1}').digest('base64');
    const params =
      '("@method" "@authority" "@path" "@query" "content-digest")' +
      ';created=1700000000;keyid="k\\"1";alg="hmac-sha256"';
    const base = [
      '"@method": POST',
      '"@authority": api.example:8443',
      '"@path": /a%2Fb',
      '"@query": ?x=1&y',
      `"content-digest": sha-256=:${digest}:`,
      `"@signature-params": ${params}`,
    ].join('\n');
    const signature = createHmac('sha256', 'shared').update(base).digest('base64');
    expect(flat).toEqual([
      'content-digest',
      `sha-256=:${digest}:`,
      'signature-input',
      `sig1=${params}`,
      'signature',
      `sig1=:${signature}:`,
    ]);
  });

  it('says an empty query as ?, and nothing of a body that is not there', async () => {
    const url = new URL('https://api.example/a');
    const flat = await signatureHeaders(
      { method: 'GET', url, body: undefined },
      { id: 'k', secret: 's' },
      1,
    );
    expect(flat[1]).toBe(
      'sig1=("@method" "@authority" "@path" "@query");created=1;keyid="k";alg="hmac-sha256"',
    );
    const base =
      '"@method": GET\n"@authority": api.example\n"@path": /a\n"@query": ?\n' +
      `"@signature-params": ${flat[1]?.slice('sig1='.length)}`;
    const signature = createHmac('sha256', 's').update(base).digest('base64');
    expect(flat[3]).toBe(`sig1=:${signature}:`);
  });
});
