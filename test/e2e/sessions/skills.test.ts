import Anthropic, { toFile } from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic-0';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { unzip } from '../../support/unzip.ts';

const MAIN = '---\nname: review\ndescription: Reviews code.\n---\nRead it.\n';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ server: { compat: { resource_x_api_key: true } } });
});

afterAll(() => gateway.stop());

const clients = {
  '1.x': () => new Anthropic({ apiKey: gateway.clientKey, baseURL: gateway.url, maxRetries: 0 }),
  '0.x': () => new Anthropic0({ apiKey: gateway.clientKey, baseURL: gateway.url, maxRetries: 0 }),
};

describe.each(Object.entries(clients))('the official client %s', (_name, connect) => {
  it(
    verifies(
      'skills.crud',
      'uploads Skills and their versions, lists, gets, downloads and deletes them',
    ),
    async () => {
      const { skills, agents } = (connect() as Anthropic).beta;
      const upload = async (text: string) => [
        await toFile(Buffer.from(text), 'review/SKILL.md'),
        await toFile(Buffer.from([0, 255, 13, 10]), 'review/data/x.bin'),
      ];
      const created = await skills.create({ display_name: 'Review', files: await upload(MAIN) });
      expect(created).toMatchObject({
        type: 'skill',
        display_name: 'Review',
        source: { type: 'custom' },
      });
      expect(created.id).toMatch(/^skill_/);
      expect(await skills.retrieve(created.id)).toEqual(created);
      const listed: string[] = [];
      for await (const { id } of skills.list({ limit: 1, source: 'custom' })) listed.push(id);
      expect(listed).toContain(created.id);

      const agent = await agents.create({
        name: 'Reviewer',
        model: 'acme/fast',
        skills: [{ type: 'custom', skill_id: created.id }],
      });
      expect(agent.skills).toEqual([
        { type: 'custom', skill_id: created.id, version: created.latest_version_id },
      ]);

      const second = await skills.versions.create(created.id, {
        files: await upload(MAIN.replace('Read it', 'Read all')),
      });
      expect(second.id).toMatch(/^skillver_/);
      expect(second).toMatchObject({ skill_id: created.id, name: 'review' });
      const params = { skill_id: created.id };
      expect(await skills.versions.retrieve(second.id, params)).toEqual(second);
      const versions: string[] = [];
      for await (const { id } of skills.versions.list(created.id, { limit: 1 })) versions.push(id);
      expect(versions).toEqual([second.id, created.latest_version_id]);

      const download = await skills.versions.download(second.id, params);
      expect(download.headers.get('content-type')).toBe('application/zip');
      const entries = unzip(Buffer.from(await download.arrayBuffer()));
      expect([...entries.keys()]).toEqual(['review/SKILL.md', 'review/data/x.bin']);
      expect(entries.get('review/SKILL.md')?.toString()).toContain('Read all');
      expect([...(entries.get('review/data/x.bin') ?? [])]).toEqual([0, 255, 13, 10]);

      expect(await skills.versions.delete(second.id, params)).toMatchObject({
        id: second.id,
        type: 'skill_version_deleted',
      });
      await expect(skills.delete(created.id)).rejects.toMatchObject({ status: 409 });
      await agents.update(agent.id, { skills: null });
      expect(await skills.delete(created.id)).toMatchObject({
        id: created.id,
        type: 'skill_deleted',
      });
      await expect(skills.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
    },
  );

  it(verifies('skills.upload.rules', 'is told what is wrong with an upload'), async () => {
    const { skills } = (connect() as Anthropic).beta;
    for (const names of [
      ['SKILL.md'],
      ['review/README.md'],
      ['a/SKILL.md', 'b/x.md'],
      ['a/SKILL.md', 'a/../x.md'],
      ['/a/SKILL.md'],
    ]) {
      const files = await Promise.all(names.map((name) => toFile(Buffer.from(MAIN), name)));
      await expect(skills.create({ files }), names.join()).rejects.toMatchObject({ status: 400 });
    }
  });
});

describe('/v1/skills', () => {
  it('takes texts as JSON too, and needs the scope skills', async () => {
    const body = { files: { 'SKILL.md': MAIN } };
    const made = await gateway.call('POST', '/v1/skills', { body });
    expect(made).toMatchObject({ status: 201, body: { name: 'review' } });
    const limited = { name: 'limited', organization: 'default', scopes: ['agents'] };
    const { value: key } = (await gateway.admin('POST', '/admin/v1/keys', limited)).body;
    expect((await gateway.call('GET', '/v1/skills', { key })).status).toBe(403);
    const path = `/v1/skills/${made.body.id}/versions/${made.body.latest_version_id}/content`;
    expect((await gateway.call('GET', path, { key: '' })).status).toBe(401);
  });
});
