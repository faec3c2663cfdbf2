import { X509Certificate } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createAuthority } from '../../support/certificates.ts';
import { makeResources, MASTER_KEY } from '../make-resources.ts';
import type { Resources } from '../make-resources.ts';

const authority = createAuthority('Inside');
const client = authority.issue('gateway.corp.example');
const renewed = authority.issue('gateway.corp.example');
const base = { name: 'one', type: 'custom', base_url: 'https://h/', auth: { type: 'none' } };
const DAY_MS = 24 * 60 * 60 * 1000;

afterAll(() => authority.dispose());

async function keyIn(from: Resources): Promise<string | undefined> {
  const definition = from.repository.definitionOf('provider');
  const stored = await from.repository.get(definition, 'one', { organization: null });
  return from.repository.reveal(stored, 'tls.key');
}

describe('the client certificate of a provider', () => {
  it('is refused once it has expired, and hinders no other change', async () => {
    const end = Date.parse(new X509Certificate(client.cert).validTo);
    const clock = createFakeClock(end - DAY_MS);
    const { call } = makeResources({ clock });
    expect((await call('POST providers', { body: { ...base, tls: client } })).status).toBe(201);
    clock.advance(2 * DAY_MS);
    const off = await call('PATCH providers/one', { body: { enabled: false } });
    expect(off).toMatchObject({ status: 200, body: { tls_key_configured: true } });
    const again = await call('POST providers', { body: { ...base, name: 'two', tls: client } });
    expect(again).toMatchObject({
      status: 400,
      body: { param: 'tls.cert', message: expect.stringMatching(/has expired on .*; renew it/) },
    });
  });

  it('must fit the key that is kept when it is changed alone', async () => {
    const { call } = makeResources();
    await call('POST providers', { body: { ...base, tls: client } });
    const { body } = await call('PATCH providers/one', { body: { tls: { cert: renewed.cert } } });
    expect(body).toMatchObject({
      param: 'tls.key',
      message: expect.stringContaining('is not the private key of tls.cert'),
    });
    const { status } = await call('PATCH providers/one', { body: { tls: renewed } });
    expect(status).toBe(200);
  });

  it('keeps its version when it is written again', async () => {
    const { call } = makeResources();
    await call('POST providers', { body: { ...base, tls: client } });
    const same = await call('PATCH providers/one', { body: { tls: client } });
    expect(same.body['version']).toBe(1);
  });

  it('opens under the former master key beside a new one, and is written anew without it', async () => {
    const resources = makeResources();
    await resources.call('POST providers', { body: { ...base, tls: client } });
    const next = Buffer.from('a newer master key of 32 letters');
    expect(await keyIn(resources.other([next, MASTER_KEY]))).toBe(client.key);
    const alone = resources.other([next]);
    await expect(keyIn(alone)).rejects.toThrow(/another master key/);
    const written = await alone.call('PATCH providers/one', { body: { tls: client } });
    expect(written.status).toBe(200);
    expect(await keyIn(alone)).toBe(client.key);
  });
});
