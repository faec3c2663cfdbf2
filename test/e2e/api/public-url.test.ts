import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startMediaStudio } from '../../support/stage/media-studio.ts';
import type { MediaStudio } from '../../support/stage/media-studio.ts';

const PUBLIC = 'https://gateway.example/llm/v';
const TASKS = '/v1/contents/generations/tasks';

let gateway: TestGateway;
let studio: MediaStudio;

beforeAll(async () => {
  studio = await startMediaStudio();
  gateway = await startGateway({
    server: { public_url: `${PUBLIC}/`, outbound: { allow: [new URL(studio.url).host] } },
    providers: [{ name: 'mock', type: 'mock' }],
    models: [{ name: 'm/video', type: 'video', routes: [{ provider: 'mock' }] }],
  });
});
afterAll(async () => {
  await gateway.stop();
  await studio.close();
});

/** Everything in an answer that looks like an absolute URL. */
const urlsIn = (body: unknown): string[] => JSON.stringify(body).match(/https?:\/\/[^"\\]+/g) ?? [];

it(
  verifies('net.public-url', 'videos, assets and the description of the API begin with it'),
  async () => {
    const content = [{ type: 'text', text: 'waves' }];
    const made = await gateway.call('POST', TASKS, { body: { model: 'm/video', content } });
    const { id } = made.body as { id: string };
    const task = await eventually(async () => {
      const { body } = await gateway.call('GET', `${TASKS}/${id}`);
      return body.status === 'succeeded' ? body : undefined;
    });
    expect(urlsIn(task)).toEqual([`${PUBLIC}/v1/videos/${id}/content`]);
    const list = await gateway.call('GET', TASKS);
    expect(urlsIn(list.body)).toEqual([`${PUBLIC}/v1/videos/${id}/content`]);

    const asset = await gateway.call('POST', '/v1/assets', {
      body: { url: `${studio.url}/photo.png`, asset_type: 'Image' },
    });
    expect(asset.status).toBe(201);
    const externalId = (asset.body as { asset_url: string }).asset_url.slice('asset://'.length);
    const shown = await gateway.call('GET', `/v1/assets/${externalId}`);
    expect(urlsIn(shown.body)).toEqual([
      expect.stringMatching(`^${PUBLIC}/v1/assets/${externalId}/content\\?expires=`),
    ]);

    const described = await gateway.call('GET', '/openapi.json');
    expect(described.body.servers).toEqual([{ url: PUBLIC }]);
  },
);

it('its name may be asked for on a loopback address, others may not', async () => {
  const statusFor = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = request(`${gateway.url}/healthz`, { headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on('error', reject).end();
    });
  expect(await statusFor('gateway.example')).toBe(200);
  expect(await statusFor('other.example')).toBe(403);
});

it.each(['ftp://a', 'https://u:p@a.example', 'https://a.example/?x=1', 'a.example'])(
  'is refused: %s',
  async (url) => {
    const text = JSON.stringify({ version: 1, server: { public_url: url } });
    const run = await runCli(['validate', '-f', '-'], { stdin: text });
    expect(run.code).not.toBe(0);
    expect(run.stdout + run.stderr).toContain('server.public_url');
  },
);
