import { once } from 'node:events';
import { LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { CassetteInput } from '../../../src/providers/mock/tape/cassette.ts';
import { verifies } from '../../requirements.ts';
import { customProvider, openaiClient, orderedModel } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const PRICING = { per_call: '0.5', per_second: '0.1' };

function config(upstream: string): object {
  return {
    server: { store: { driver: 'lmdb' } },
    providers: [customProvider('studio', upstream, { protocols: { videos: true } })],
    models: [orderedModel('v/film', ['studio'], { type: 'video', pricing: PRICING })],
  };
}

async function startMock(cassette: CassetteInput) {
  const mock = await startMockServer({ cassette });
  onTestFinished(() => mock.close());
  return mock;
}

/** A process of its own, or this one. */
async function start(
  upstream: string,
  { directory, binary }: { directory: string; binary: boolean },
): Promise<TestGateway> {
  const gateway = await startGateway(config(upstream), { binary, directory });
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

async function costs(gateway: TestGateway): Promise<string[]> {
  const { body } = await gateway.admin('GET', '/admin/v1/requests?limit=100');
  const records = body.data as { cost: string }[];
  return records.map(({ cost }) => cost).filter((cost) => cost !== '0.00');
}

describe('video tasks beyond one process', () => {
  it(
    verifies('video.tasks.charged-once', 'go on after kill -9, and are charged for by the next'),
    async () => {
      const mock = await startMock({ rules: [{ reply: { polls: 0 } }] });
      const directory = await directoryOfTest();
      const first = await start(mock.url, { directory, binary: true });
      const { clientKey } = first;
      const { id } = await openaiClient(first).videos.create({
        model: 'v/film',
        prompt: 'a fox',
        seconds: '8',
      });
      first.child?.kill('SIGKILL');
      if (first.child) await once(first.child, 'exit');

      const second = await start(mock.url, { directory, binary: false });
      await eventually(async () => (await costs(second)).length > 0, 15_000);
      const client = openaiClient(second, clientKey);
      expect(await client.videos.retrieve(id)).toMatchObject({ id, status: 'completed' });
      await client.videos.retrieve(id);
      expect(await costs(second)).toEqual(['1.30']);
    },
    40_000,
  );

  it(
    verifies('video.tasks.charged-once', 'are charged for once by two processes that both look'),
    async () => {
      const mock = await startMock({ rules: [{ reply: { polls: 3 } }] });
      const directory = await directoryOfTest();
      const first = await start(mock.url, { directory, binary: true });
      const second = await start(mock.url, { directory, binary: false });
      const { clientKey } = first;
      const clients = [openaiClient(first, clientKey), openaiClient(second, clientKey)] as const;
      const { id } = await clients[0].videos.create({
        model: 'v/film',
        prompt: 'x',
        seconds: '4',
      });
      const looks = Array.from({ length: 10 }, () =>
        clients.map((client) => client.videos.retrieve(id)),
      );
      await Promise.all(looks.flat());
      const last = await Promise.all(clients.map((client) => client.videos.retrieve(id)));
      expect(last.map(({ status }) => status)).toEqual(['completed', 'completed']);
      await eventually(async () => (await costs(second)).length > 0);
      expect(await costs(first)).toEqual(['0.90']);
      expect(await costs(second)).toEqual(['0.90']);
    },
    40_000,
  );
});

describe('video tasks at a server of somebody else', () => {
  it(verifies('video.tasks.shape', 'are made and watched by the official client'), async () => {
    const server = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', latency: 0 });
    server.addFixturesFromJSON([
      {
        match: { userMessage: 'a fox' },
        response: { video: { id: 'vid_done', status: 'completed', url: 'https://a.b/c.mp4' } },
      },
      {
        match: { userMessage: 'a cave' },
        response: { video: { id: 'vid_dark', status: 'processing' } },
      },
    ]);
    const url = await server.start();
    onTestFinished(() => server.stop());
    const gateway = await startGateway(config(url));
    onTestFinished(async () => void (await gateway.stop()));
    const client = openaiClient(gateway);
    const done = await client.videos.create({ model: 'v/film', prompt: 'a fox', seconds: '8' });
    expect(done).toMatchObject({
      status: 'completed',
      progress: 100,
      prompt: 'a fox',
      seconds: '8',
    });
    expect(await client.videos.retrieve(done.id)).toMatchObject({
      id: done.id,
      status: 'completed',
    });
    expect(await costs(gateway)).toEqual(['1.30']);
    const running = await client.videos.create({ model: 'v/film', prompt: 'a cave' });
    expect(running.status).toBe('in_progress');
    expect((await client.videos.retrieve(running.id)).status).toBe('in_progress');
    expect(await costs(gateway)).toEqual(['1.30']);
  });
});
