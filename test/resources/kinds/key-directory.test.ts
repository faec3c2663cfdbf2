import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createChangeFeed } from '../../../src/resources/changes/change-feed.ts';
import { createKeyDirectory } from '../../../src/resources/kinds/key-directory.ts';
import type { KeyDirectory } from '../../../src/resources/kinds/key-directory.ts';
import { verifies } from '../../requirements.ts';
import { makeResources, MASTER_KEY } from '../make-resources.ts';
import type { Resources } from '../make-resources.ts';

describe('createKeyDirectory', () => {
  let resources: Resources;
  let directory: KeyDirectory;
  let home: string;

  beforeEach(async () => {
    resources = makeResources();
    directory = createKeyDirectory(resources);
    const { body } = await resources.call('POST organizations', {
      body: { name: 'home', spending_limit: { month: '100' } },
    });
    home = body['id'];
  });

  const create = async (body: object = {}) => {
    const options = { organization: home, body: { name: 'ci', ...body } };
    return (await resources.call('POST keys', options)).body;
  };

  it('finds the principal of a key with all that limits it', async () => {
    const { id, value } = await create({
      scopes: ['inference'],
      rpm_cap: 5,
      concurrency_cap: 2,
      spending_limit: '0.5',
      limits: { conversation_spending: '0.2' },
      labels: { team: 'core' },
      allowed_models: ['acme/*'],
    });
    await directory.update('everything');
    expect(directory.lookup(value)).toEqual({
      keyId: id,
      keyName: 'ci',
      organizationId: home,
      organizationEnabled: true,
      scopes: new Set(['inference']),
      keySpend: { lifetime: 500_000_000 },
      organizationSpend: { month: 100_000_000_000 },
      conversationSpend: 200_000_000,
      labels: { team: 'core' },
      role: null,
      rpmCap: 5,
      concurrencyCap: 2,
      allowedModels: ['acme/*'],
    });
  });

  it('finds a key by its id, as things stand with it', async () => {
    const { id, value } = await create();
    await directory.update('everything');
    expect(directory.find(id)).toEqual(directory.lookup(value));
    expect(directory.find('key_none')).toBe('unknown');
    await resources.call(`POST keys/${id}/revoke`, { organization: home });
    await directory.update('everything');
    expect(directory.find(id)).toBe('revoked');
  });

  it('knows nobody else', async () => {
    const { value } = await create();
    await directory.update('everything');
    for (const wrong of [
      '',
      value.slice(0, -1),
      `${value}0`,
      value.toUpperCase(),
      'x'.repeat(9000),
    ]) {
      expect(directory.lookup(wrong)).toBe('unknown');
    }
  });

  it(verifies('auth.key.legacy-and-opaque', 'finds an imported key of any form'), async () => {
    for (const value of ['sk-sb-0123456789', 'no prefix is needed!'.replaceAll(' ', '~')]) {
      const { id } = await create({ name: value.slice(0, 5), value });
      await directory.update('everything');
      expect(directory.lookup(value)).toMatchObject({ keyId: id });
    }
  });

  it(
    verifies(
      'keys.rotation.overlap',
      'finds an old and a new key side by side, and goes on with one when the other is revoked',
    ),
    async () => {
      const before = await create({ name: 'before' });
      const after = await create({ name: 'after' });
      await directory.update('everything');
      expect(directory.lookup(before['value'])).toMatchObject({ keyId: before['id'] });
      expect(directory.lookup(after['value'])).toMatchObject({ keyId: after['id'] });
      await resources.call(`POST keys/${before['id']}/revoke`);
      await directory.update('everything');
      expect(directory.lookup(before['value'])).toBe('revoked');
      expect(directory.lookup(after['value'])).toMatchObject({ keyId: after['id'] });
    },
  );

  it('tells expiry from the very instant on, and revocation before it', async () => {
    const { id, value } = await create({ expires_at: '2026-11-21T00:00:01Z' });
    await directory.update('everything');
    resources.clock.advance(999);
    expect(directory.lookup(value)).toMatchObject({ keyId: id });
    resources.clock.advance(1);
    expect(directory.lookup(value)).toBe('expired');
    await resources.call(`POST keys/${id}/revoke`);
    await directory.update('everything');
    expect(directory.lookup(value)).toBe('revoked');
  });

  it('tells when the organization is disabled', async () => {
    const { value } = await create();
    await resources.call(`PATCH organizations/${home}`, { body: { enabled: false } });
    await directory.update('everything');
    expect(directory.lookup(value)).toMatchObject({ organizationEnabled: false });
  });

  it(
    verifies(
      'store.secrets.key-rotation',
      'finds keys that were hashed under a previous master key',
    ),
    async () => {
      const { id, value } = await create();
      const rotated = resources.other([
        Buffer.from('a newer master key of 32 letters'),
        MASTER_KEY,
      ]);
      const after = createKeyDirectory(rotated);
      await after.update('everything');
      expect(after.lookup(value)).toMatchObject({ keyId: id });
    },
  );

  it('sees a revocation by another process within half a second without a bell', async () => {
    const { id, value } = await create();
    const store = { ...resources.store, watch: () => () => undefined };
    const feed = createChangeFeed({ store, clock: resources.clock, onError: () => undefined });
    feed.subscribe((changes) => directory.update(changes));
    await directory.update('everything');
    await resources.other().call(`POST keys/${id}/revoke`);
    expect(directory.lookup(value)).toMatchObject({ keyId: id });
    resources.clock.advance(500);
    await vi.waitFor(() => expect(directory.lookup(value)).toBe('revoked'));
    feed.close();
  });
});
