import { beforeEach, describe, expect, it } from 'vitest';
import type { JwtIssuer } from '../../../src/config/schema/jwt-schema.ts';
import { ISSUER_LABEL } from '../../../src/resources/kinds/key.ts';
import { ensureSubjectKey } from '../../../src/server/jwt/subject-keys.ts';
import type { TokenIdentity } from '../../../src/server/jwt/token-identity.ts';
import { makeResources } from '../../resources/make-resources.ts';
import type { Resources } from '../../resources/make-resources.ts';
import { issuerOf } from './issuer-of-tests.ts';

const LABELLED = { [ISSUER_LABEL]: 'corp' };

describe('the key of a subject', () => {
  let resources: Resources;
  let organization: string;
  let caughtUp: number;
  beforeEach(async () => {
    resources = makeResources();
    caughtUp = 0;
    const { body } = await resources.call('POST organizations', { body: { name: 'team' } });
    organization = body['id'];
  });

  const identity = (fields: object = {}, more: Partial<TokenIdentity> = {}): TokenIdentity => ({
    subject: 'alice',
    organization: 'team',
    scopes: [],
    fields: { ...fields },
    ...more,
  });
  const ensure = (told = identity(), issuer: JwtIssuer = issuerOf(), from = resources) =>
    ensureSubjectKey(issuer, told, {
      repository: from.repository,
      catchUp: async () => void caughtUp++,
    });
  const shown = async (id: string | undefined) => (await resources.call(`GET keys/${id}`)).body;
  const made = (body: object) =>
    resources.call('POST keys', { body: { organization: 'team', ...body } });

  it('is made with the name of its issuer and its own, and is seen when it is told', async () => {
    const id = await ensure();
    expect(await shown(id)).toMatchObject({
      name: 'corp/alice',
      organization,
      scopes: ['inference', 'models'],
      labels: LABELLED,
      version: 1,
    });
    expect(caughtUp).toBe(1);
  });

  it('has every scope that a role of its issuer gives, once', async () => {
    const roles = { claim: 'roles', scopes: { r: ['run', 'models'], s: ['run', 'assets'] } };
    const id = await ensure(identity(), issuerOf({ roles }));
    expect((await shown(id))['scopes']).toEqual(['run', 'models', 'assets']);
  });

  it('has the limits and labels that its token says', async () => {
    const id = await ensure(identity({ rpm_cap: 7, labels: { team: 'blue' } }));
    expect(await shown(id)).toMatchObject({ rpm_cap: 7, labels: { team: 'blue', ...LABELLED } });
  });

  it('is the same the next time, unchanged where its token says nothing of it', async () => {
    const id = await ensure();
    expect(await ensure()).toBe(id);
    expect(await shown(id)).toMatchObject({ version: 1 });
    expect(caughtUp).toBe(2);
  });

  it('keeps the label of its issuer, whatever its token says', async () => {
    const told = identity({ labels: { [ISSUER_LABEL]: 'other' } });
    const id = await ensure(told);
    expect(await ensure(told)).toBe(id);
    expect(await shown(id)).toMatchObject({ labels: LABELLED });
  });

  it('follows its token, and keeps the labels that the token does not say', async () => {
    const id = await ensure(identity({ rpm_cap: 7, labels: { team: 'blue', site: 'x' } }));
    expect(await ensure(identity({ rpm_cap: 9, labels: { team: 'red' } }))).toBe(id);
    expect(await shown(id)).toMatchObject({
      rpm_cap: 9,
      labels: { team: 'red', site: 'x', ...LABELLED },
    });
    await ensure(identity({ rpm_cap: 10 }));
    expect(await shown(id)).toMatchObject({
      rpm_cap: 10,
      labels: { team: 'red', site: 'x', ...LABELLED },
    });
  });

  it('stays as it is once it is revoked', async () => {
    const id = await ensure(identity({ rpm_cap: 7 }));
    await resources.call(`POST keys/${id}/revoke`);
    const before = await shown(id);
    expect(await ensure(identity({ rpm_cap: 9 }))).toBe(id);
    expect(await shown(id)).toEqual(before);
  });

  it('is one for callers of several processes at once', async () => {
    const other = resources.other();
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        ensure(identity(), issuerOf(), index % 2 ? resources : other),
      ),
    );
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^key_/);
    expect((await resources.call('GET keys')).body['data']).toHaveLength(1);
  });

  it('is found by the id of its organization as by its name', async () => {
    const id = await ensure();
    expect(await ensure(identity({}, { organization }))).toBe(id);
  });

  it('is none without its organization', async () => {
    expect(await ensure(identity({}, { organization: 'nowhere' }))).toBeUndefined();
    expect((await resources.call('GET keys')).body['data']).toEqual([]);
    expect(caughtUp).toBe(0);
  });

  it.each([undefined, {}, { team: 'blue' }, { [ISSUER_LABEL]: 'other' }])(
    'is none where a key with the labels %j has its name',
    async (labels) => {
      const { body } = await made({ name: 'corp/alice', ...(labels && { labels }) });
      const before = await shown(body['id']);
      expect(await ensure(identity({ rpm_cap: 9 }))).toBeUndefined();
      expect(await shown(body['id'])).toEqual(before);
      expect(caughtUp).toBe(0);
    },
  );

  it('rejects with what is wrong with its limits', async () => {
    await expect(ensure(identity({ rpm_cap: 'all' }))).rejects.toMatchObject({
      name: 'GatewayError',
    });
  });
});
