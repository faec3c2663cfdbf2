import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { verifies } from '../../requirements.ts';
import {
  CHAT_PATH,
  chatBody,
  chunk,
  COMPLETION,
  customProvider,
  orderedModel,
  streamedText,
} from '../../support/chat.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw, sendRaw } from '../../support/raw-client.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';
import { inTurn } from '../../runs.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Answers whole and streamed; says `down` for the model `down` and nothing for `hung`. */
async function provider(): Promise<Upstream> {
  const upstream = await startUpstream((response, { body }) => {
    const { model, stream } = JSON.parse(body.toString()) as { model: string; stream?: boolean };
    if (model === 'hung') return;
    if (model === 'down') return sendJson(response, 503, { error: { message: 'down' } });
    if (!stream) return sendJson(response, 200, COMPLETION);
    beginEvents(response);
    const usage = JSON.stringify(COMPLETION.usage);
    response.end(
      `${chunk({ content: 'fine' })}${chunk({}, 'stop')}data: {"choices":[],"usage":${usage}}\n\ndata: [DONE]\n\n`,
    );
  });
  cleanups.push(() => upstream.close());
  return upstream;
}

const PRICED = { pricing: { input: '1', output: '10' } };

async function gatewayOf(server: object = {}, directory?: string) {
  const upstream = await provider();
  const gateway = await startGateway(
    {
      server,
      providers: ['a', 'b'].map((name) => customProvider(name, upstream.url)),
      models: [
        orderedModel('m/a', ['a'], PRICED),
        {
          name: 'm/second',
          routes: [
            { provider: 'a', upstream_model: 'down' },
            { provider: 'b', upstream_model: 'up', priority: 1 },
          ],
          ...PRICED,
        },
        { name: 'm/down', routes: [{ provider: 'a', upstream_model: 'down' }], ...PRICED },
        { name: 'm/hung', routes: [{ provider: 'a', upstream_model: 'hung' }], ...PRICED },
      ],
    },
    directory === undefined ? {} : { directory },
  );
  cleanups.push(() => gateway.stop());
  return { gateway, upstream };
}

async function recordOf(
  gateway: TestGateway,
  answer: { headers: Headers },
): Promise<RequestRecord> {
  const id = answer.headers.get('x-request-id');
  return eventually(async () => {
    const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
    const record = body as RequestRecord;
    return record.result === 'pending' ? undefined : record;
  });
}

describe('a request record', () => {
  let gateway: TestGateway;
  let ends: (() => Promise<unknown>)[];
  beforeAll(async () => {
    ({ gateway } = await gatewayOf({ log: { format: 'json' } }));
    ends = cleanups.splice(0).reverse();
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  it(
    verifies(
      'requests.record',
      'says who asked, who was tried and why, what was used and what it cost',
    ),
    async () => {
      for (const stream of [false, true]) {
        const answer = await gateway.chat('m/second', { body: { stream } });
        expect(await recordOf(gateway, answer)).toEqual({
          id: answer.headers.get('x-request-id'),
          created_at: expect.stringMatching(/^\d{4}-.*Z$/),
          organization: expect.stringMatching(/^org_/),
          key: { id: expect.stringMatching(/^key_/), name: 'default' },
          surface: 'chat',
          model: 'm/second',
          alias: null,
          conversation: null,
          end_user: null,
          tags: null,
          stream,
          answered_by: { model: 'm/second', provider: 'b', upstream_model: 'up' },
          status: 200,
          result: 'ok',
          error_code: null,
          attempts: [
            {
              provider: 'a',
              model: 'down',
              status: 503,
              outcome: 'status_503',
              ms: expect.any(Number),
              verdict: 'next route',
            },
            {
              provider: 'b',
              model: 'up',
              status: 200,
              outcome: 'ok',
              ms: expect.any(Number),
              verdict: 'final',
            },
          ],
          usage: {
            input_tokens: 7,
            cache_read_tokens: 0,
            cache_write_5m_tokens: 0,
            cache_write_1h_tokens: 0,
            output_tokens: 2,
            reasoning_tokens: 0,
            images: 0,
            seconds: 0,
          },
          estimated: false,
          cost: '0.000027',
          losses: [],
          overhead_us: expect.any(Number),
          first_content_ms: expect.any(Number),
          total_ms: expect.any(Number),
        });
      }
      const all = await gateway.admin('GET', '/admin/v1/requests');
      expect(all.body.data).toHaveLength(2);
    },
  );

  it(verifies('requests.record', 'is kept of a failure too, and costs nothing'), async () => {
    const record = await recordOf(gateway, await gateway.chat('m/down'));
    expect(record).toMatchObject({
      status: 503,
      result: 'error',
      error_code: 'no_route_succeeded',
      answered_by: null,
      attempts: [{ provider: 'a', outcome: 'status_503' }],
      cost: '0.00',
      estimated: false,
    });
  });

  it(
    verifies(
      'requests.record',
      'ops.log.content-off',
      'has prompt and answer only where that is switched on',
    ),
    async () => {
      for (const content of [false, true]) {
        const site = content ? await gatewayOf({ log: { content, format: 'json' } }) : { gateway };
        for (const stream of [false, true]) {
          const answer = await site.gateway.chat('m/a', { body: { stream, user: 'canary' } });
          const record = await recordOf(site.gateway, answer);
          if (content) {
            expect(record.content?.request).toContain('canary');
            expect(record.content?.response).toContain('fine');
          } else expect(record).not.toHaveProperty('content');
        }
        expect(site.gateway.log()).not.toMatch(/canary|"fine|hello/);
      }
    },
  );

  it(verifies('ops.log.content-off', 'has one structured line in the log beside it'), async () => {
    const answer = await gateway.chat('m/second');
    const record = await recordOf(gateway, answer);
    const lines = gateway
      .log()
      .split('\n')
      .filter((line) => line.includes('"message":"request"') && line.includes(record.id))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toEqual([
      expect.objectContaining({
        request_id: record.id,
        key_id: record.key.id,
        model: 'm/second',
        provider: 'b',
        attempts: 'a:status_503,b:ok',
        status: 200,
        input_tokens: 7,
        output_tokens: 2,
        cost_nanos: 27_000,
        total_ms: expect.any(Number),
        first_content_ms: expect.any(Number),
      }),
    ]);
  });
});

describe('a reservation', () => {
  it(
    verifies(
      'store.ledger.release-on-restart',
      'is released at once by a call that failed or was given up before any output',
    ),
    async () => {
      const { gateway, upstream } = await gatewayOf();
      // 500 output tokens at 10 dollars a million are half a cent: one such call fits, two do not.
      const created = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'small',
        spending_limit: { day: '0.009' },
      });
      const key = String(created.body.value);
      const call = (model: string) => gateway.chat(model, { key, body: { max_tokens: 500 } });
      for (let i = 0; i < 3; i++) expect((await call('m/down')).status).toBe(503);

      const before = upstream.seen.length;
      const body = chatBody('m/hung', { max_tokens: 500 });
      const hung = sendRaw(gateway.url + CHAT_PATH, { key, body });
      await eventually(() => upstream.seen.length > before);
      const refused = await call('m/a');
      expect([refused.status, refused.body]).toEqual([
        402,
        { error: 'API key spending limit exceeded' },
      ]);
      hung.destroy();
      await eventually(async () => (await call('m/a')).status === 200);
    },
  );
});

describe('a store that fails', () => {
  /** A journal on files whose directory can be taken away. */
  async function failing(server: object = {}) {
    const directory = await newDirectory();
    cleanups.push(() => rm(directory, { recursive: true, force: true }));
    const path = join(directory, 'store');
    const store = { driver: 'fs', path };
    const { gateway, upstream } = await gatewayOf({ ...server, store }, directory);
    const limited = await gateway.admin('POST', '/admin/v1/keys', {
      name: 'limited',
      spending_limit: { day: '5' },
    });
    const key = String(limited.body.value);
    expect((await gateway.chat('m/a', { key })).status).toBe(200);
    await recordOf(gateway, await gateway.chat('m/a'));
    upstream.seen.length = 0;
    const heal = async (): Promise<void> => {
      await rm(path, { recursive: true, force: true });
      await rename(`${path}.away`, path);
    };
    await rename(path, `${path}.away`);
    await writeFile(path, 'not a directory');
    cleanups.push(() => heal().catch(() => undefined));
    return { gateway, upstream, key, heal };
  }

  const expectRefused = async (gateway: TestGateway, stream: boolean, key = gateway.clientKey) => {
    const answer = await askRaw(gateway.url + CHAT_PATH, {
      key,
      body: chatBody('m/a', { stream }),
    });
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.body.toString())).toEqual({
      error: {
        message: 'the request could not be recorded',
        type: 'api_error',
        param: null,
        code: 'persistence_failed',
      },
    });
  };

  it.each(inTurn('answers while a store fails', [false, true]))(
    verifies(
      'chat.status.500-persistence',
      'lets nothing of an answer through, then stops asking providers, and heals (stream: %s)',
    ),
    async (stream) => {
      const { gateway, upstream, heal } = await failing();
      await expectRefused(gateway, stream);
      const asked = upstream.seen.length;
      expect(asked).toBeLessThanOrEqual(1);
      for (let i = 0; i < 3; i++) await expectRefused(gateway, stream);
      expect(upstream.seen).toHaveLength(asked);
      await heal();
      const answer = await eventually(async () => {
        const told = await gateway.chat('m/a', { body: { stream } });
        return told.status === 200 && told;
      });
      if (stream) expect(streamedText(String(answer.body))).toBe('fine');
      expect(await recordOf(gateway, answer)).toMatchObject({ result: 'ok' });
    },
  );

  it(
    verifies(
      'chat.status.500-persistence',
      'lets no provider see a call that a spending limit applies to',
    ),
    async () => {
      const { gateway, upstream, key } = await failing();
      await expectRefused(gateway, false, key);
      expect(upstream.seen).toHaveLength(0);
    },
  );

  it(
    verifies(
      'chat.status.500-persistence',
      'lets no provider see any call where records come first',
    ),
    async () => {
      const { gateway, upstream } = await failing({ ledger: 'before_call' });
      await expectRefused(gateway, true);
      expect(upstream.seen).toHaveLength(0);
    },
  );
});
