import Anthropic, { toFile } from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic-0';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

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

describe('/v1/files', () => {
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
      expect([status, body.error.type]).toEqual([400, 'invalid_request']);
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
