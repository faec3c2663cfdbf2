import Anthropic, { toFile } from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic-0';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    server: { compat: { resource_x_api_key: true }, limits: { body: '12MiB' } },
  });
});

afterAll(() => gateway.stop());

const clients = {
  '1.x': () => new Anthropic({ apiKey: gateway.clientKey, baseURL: gateway.url, maxRetries: 0 }),
  '0.x': () => new Anthropic0({ apiKey: gateway.clientKey, baseURL: gateway.url, maxRetries: 0 }),
};

describe.each(Object.entries(clients))('the official client %s', (_name, connect) => {
  it(
    verifies('files.minimum', 'uploads files, lists, gets, downloads and deletes them'),
    async () => {
      const { files } = (connect() as Anthropic).beta;
      const bytes = Buffer.alloc(10 * 1024 * 1024, 'x\u0000\u00ff');
      const uploaded = await files.upload({
        file: await toFile(bytes, 'été 1.bin', { type: 'image/png' }),
      });
      expect(uploaded).toEqual({
        id: expect.stringMatching(/^file_/),
        type: 'file',
        filename: 'été 1.bin',
        mime_type: 'image/png',
        size_bytes: bytes.length,
        downloadable: true,
        expires_at: null,
        labels: {},
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      expect(await files.retrieveMetadata(uploaded.id)).toEqual(uploaded);
      const empty = await files.upload({ file: await toFile(Buffer.alloc(0), 'empty.txt') });
      expect(empty).toMatchObject({ size_bytes: 0 });
      const listed: string[] = [];
      for await (const { id } of files.list({ limit: 1 })) listed.push(id);
      expect(listed).toEqual(expect.arrayContaining([uploaded.id, empty.id]));
      const some = await files.list({ ids: [empty.id] });
      expect(some.data.map(({ id }) => id)).toEqual([empty.id]);

      const download = await files.download(uploaded.id);
      expect(download.headers.get('content-type')).toBe('image/png');
      expect(download.headers.get('content-disposition')).toBe(
        "attachment; filename*=UTF-8''%C3%A9t%C3%A9%201.bin",
      );
      expect(bytes.equals(Buffer.from(await download.arrayBuffer()))).toBe(true);
      expect(await (await files.download(empty.id)).text()).toBe('');

      for (const { id } of [uploaded, empty]) {
        expect(await files.delete(id)).toMatchObject({ id, type: 'file_deleted' });
        await expect(files.retrieveMetadata(id)).rejects.toMatchObject({ status: 404 });
        await expect(files.download(id)).rejects.toMatchObject({ status: 404 });
      }
      const left = await gateway.gateway?.store.list({ prefix: ['content'] });
      expect(left).toEqual([]);
    },
  );
});

async function upload(parts: [name: string, value: string | Blob][], key = gateway.clientKey) {
  const body = new FormData();
  for (const [name, value] of parts) body.append(name, value);
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateway.url}/v1/files`, { method: 'POST', headers, body });
  return { status: response.status, body: await response.json() };
}

const openAiClients = {
  '7.x': () =>
    new OpenAI({ apiKey: gateway.clientKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 }),
  '6.x': () =>
    new OpenAI6({ apiKey: gateway.clientKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 }),
};

describe.each(Object.entries(openAiClients))('the OpenAI client %s', (_name, connect) => {
  it(
    verifies(
      'files.openai-shape',
      'files.dialect.shared',
      'files.paging.after-id',
      'uploads files, pages through them, and shares them with Messages clients',
    ),
    async () => {
      const { files } = connect() as OpenAI;
      const messages = clients['1.x']().beta.files;
      const made = await files.create({
        file: await toFile(Buffer.from('a,b\n'), 'table.csv', { type: 'text/csv' }),
        purpose: 'assistants',
      });
      expect(made).toEqual({
        id: expect.stringMatching(/^file_/),
        object: 'file',
        bytes: 4,
        created_at: expect.any(Number),
        filename: 'table.csv',
        purpose: 'assistants',
        status: 'processed',
      });
      expect(Math.abs(made.created_at - Date.now() / 1000)).toBeLessThan(600);
      const other = await messages.upload({ file: await toFile(Buffer.from('PDF'), 'b.pdf') });
      expect(await files.retrieve(other.id)).toMatchObject({
        object: 'file',
        bytes: 3,
        purpose: 'user_data',
      });
      expect(await messages.retrieveMetadata(made.id)).not.toHaveProperty('purpose');
      expect(await (await files.content(other.id)).text()).toBe('PDF');
      expect(await (await messages.download(made.id)).text()).toBe('a,b\n');

      const third = await files.create({
        file: await toFile(Buffer.from('x'), 'x'),
        purpose: 'batch',
      });
      const ids = [made.id, other.id, third.id];
      const walk = async (query: OpenAI.FileListParams): Promise<string[]> => {
        const seen: string[] = [];
        for await (const { id } of files.list(query)) seen.push(id);
        return seen.filter((id) => ids.includes(id));
      };
      expect(await walk({ limit: 1 })).toEqual([...ids].reverse());
      expect(await walk({ limit: 1, order: 'asc' })).toEqual(ids);
      expect(await walk({ purpose: 'assistants' })).toEqual([made.id]);
      for (const id of ids)
        expect(await files.delete(id)).toEqual({ id, object: 'file', deleted: true });
      await expect(files.retrieve(made.id)).rejects.toMatchObject({
        status: 404,
        code: 'not_found',
        type: 'not_found_error',
      });
      await expect(
        files.create({
          file: await toFile(Buffer.from('x'), 'x'),
          purpose: 'user_data',
          expires_after: { anchor: 'created_at', seconds: 3600 },
        }),
      ).rejects.toMatchObject({ status: 400, param: 'expires_after' });
    },
  );
});

describe('/v1/files', () => {
  it(
    verifies(
      'files.dialect.messages',
      'files.paging.after-id',
      'lists every file once to Messages clients that page by the last id',
    ),
    async () => {
      const version = { 'anthropic-version': '2023-06-01' };
      const beta = { 'anthropic-beta': 'files-api-2025-04-14' };
      const made: string[] = [];
      for (const text of ['1', '2', '3'])
        made.push((await upload([['file', new Blob([text])]])).body.id);
      const seen: string[] = [];
      for (let after = ''; ;) {
        const query = after === '' ? '?limit=2' : `?limit=2&after_id=${after}`;
        const { body } = await gateway.call('GET', `/v1/files${query}`, { headers: version });
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        expect(body).toMatchObject({ first_id: body.data[0].id, last_id: body.data.at(-1).id });
        if (!body.has_more) break;
        after = body.last_id;
      }
      expect(seen.filter((id) => made.includes(id))).toEqual(made);
      expect(new Set(seen).size).toBe(seen.length);
      const one = await gateway.call('GET', `/v1/files/${made[0]}`, { headers: beta });
      expect(one.body).toMatchObject({ type: 'file', size_bytes: 1 });
      expect(one.body).not.toHaveProperty('object');
      for (const query of ['after_id=nothing', 'before_id=x']) {
        const refused = await gateway.call('GET', `/v1/files?${query}`, { headers: version });
        expect([refused.status, refused.body.error.type]).toEqual([400, 'invalid_request']);
      }
      for (const id of made)
        expect((await gateway.call('DELETE', `/v1/files/${id}`, { headers: beta })).body).toEqual({
          id,
          type: 'file_deleted',
          deleted: true,
        });
    },
  );

  it('refuses an upload without its one file, and too large a one', async () => {
    const small = new Blob(['x']);
    for (const parts of [
      [],
      [['file', 'text']],
      [['other', small]],
      [
        ['file', small],
        ['file', small],
      ],
    ] as [string, string | Blob][][]) {
      const { status, body } = await upload(parts);
      expect([status, body.error.type]).toEqual([400, 'invalid_request_error']);
    }
    const large = new Blob([new Uint8Array(13 * 1024 * 1024)]);
    expect((await upload([['file', large]])).status).toBe(413);
    const json = await gateway.call('POST', '/v1/files', { body: { name: 'a', mime_type: 'b/c' } });
    expect(json.status).toBe(400);
    expect((await gateway.call('GET', '/v1/files')).body.data).toEqual([]);
  });

  it(
    verifies(
      'files.minimum',
      'resource.org-isolation',
      'shows no organization the files of others',
    ),
    async () => {
      await gateway.admin('POST', '/admin/v1/organizations', { name: 'other' });
      const made = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'k',
        organization: 'other',
      });
      const { value: key } = made.body;
      const { body } = await upload([['file', new Blob(['<script>'], { type: 'text/html' })]]);
      const path = `/v1/files/${body.id}`;
      for (const [method, at] of [
        ['GET', path],
        ['GET', `${path}/content`],
        ['DELETE', path],
      ] as const) {
        expect((await gateway.call(method, at, { key })).status).toBe(404);
      }
      expect((await gateway.call('GET', '/v1/files', { key })).body.data).toEqual([]);
      const own = await gateway.call('GET', `${path}/content`);
      expect(own).toMatchObject({ status: 200, body: '<script>' });
      expect(own.headers.get('x-content-type-options')).toBe('nosniff');
      expect(own.headers.get('content-disposition')).toMatch(/^attachment;/);
      expect((await gateway.call('PATCH', path, { body: {} })).status).toBe(405);
      expect((await gateway.call('GET', `${path}/other`)).status).toBe(404);
    },
  );
});
