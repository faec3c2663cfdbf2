import { randomUUID } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { ask, eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { customProvider } from '../../support/chat.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const ID = 'routing.idempotency-key';
const PICTURES = { created: 1, data: [{ b64_json: 'aGk=' }] };
/** Agent with a model of another provider, since runs call it at any time. */
const AGENT = { name: 'Helper', model: 'i/text' };

describe('a call that names itself', () => {
  let upstream: Upstream;
  let gateway: TestGateway;
  let open: () => void = () => undefined;
  beforeAll(async () => {
    upstream = await startUpstream(async (response, { body }) => {
      const [, model] = /"model":"(\w+)"/.exec(body.toString('latin1')) ?? [];
      if (model === 'slow') await new Promise<void>((resolve) => (open = resolve));
      if (model === 'reset') return void response.socket?.resetAndDestroy();
      if (model === 'down') return sendJson(response, 503, { error: { message: 'busy' } });
      sendJson(response, 200, PICTURES);
    });
    gateway = await startGateway({
      providers: [
        { name: 'mock', type: 'mock' },
        customProvider('pictures', upstream.url, {
          protocols: { images: true, chat: true },
        }),
      ],
      models: [
        { name: 'i/text', routes: [{ provider: 'mock' }] },
        ...['up', 'slow', 'reset', 'down'].map((name) => ({
          name: `i/${name}`,
          type: 'image',
          routes: [{ provider: 'pictures', upstream_model: name }],
        })),
      ],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const post = (path: string, body: unknown, headers: Record<string, string>): Promise<Answer> =>
    gateway.call('POST', path, { body, headers });
  const named = (name: string = randomUUID()) => ({ 'idempotency-key': name });
  const draw = (model: string, headers: Record<string, string>, prompt = 'x') =>
    post('/v1/images/generations', { model: `i/${model}`, prompt }, headers);
  const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';

  it(
    verifies(ID, 'is made once: a repeat gets the same status and body, and says so'),
    async () => {
      const headers = named();
      const before = upstream.seen.length;
      const first = await draw('up', headers);
      expect(first, JSON.stringify(first.body)).toMatchObject({ status: 200, body: PICTURES });
      expect(isReplay(first)).toBe(false);
      const again = await draw('up', headers);
      expect(again).toMatchObject({ status: 200, body: first.body });
      expect(isReplay(again)).toBe(true);
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
      expect(upstream.seen.length).toBe(before + 1);
      await draw('up', named());
      expect(upstream.seen.length).toBe(before + 2);
    },
  );

  it(
    verifies(ID, 'answers 409 for another body under the same name, and makes nothing'),
    async () => {
      const headers = named();
      const made = await post('/v1/agents', AGENT, headers);
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      const other = await post('/v1/agents', { ...AGENT, name: 'Other' }, headers);
      expect(other).toMatchObject({
        status: 409,
        body: { type: 'error', error: { type: 'idempotency_key_reused' } },
      });
      expect(other.headers.get('x-should-retry')).toBe('false');
      const again = await post('/v1/agents', AGENT, headers);
      expect(again).toMatchObject({ status: 201, body: { id: made.body.id } });
      const { body } = await gateway.call('GET', '/v1/agents?limit=100');
      expect(body.data.filter(({ name }: { name: string }) => name === 'Other')).toEqual([]);
      expect(body.data.filter(({ id }: { id: string }) => id === made.body.id).length).toBe(1);
    },
  );

  it(verifies(ID, 'is told apart by key and by path'), async () => {
    const headers = named();
    const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'second' });
    const first = await post('/v1/agents', AGENT, headers);
    const other = await ask(`${gateway.url}/v1/agents`, {
      method: 'POST',
      key: made.body.value,
      body: AGENT,
      headers,
    });
    expect(isReplay(other)).toBe(false);
    expect(other.body.id).not.toBe(first.body.id);
    const elsewhere = await post(`/v1/agents/${first.body.id}`, { name: 'Renamed' }, headers);
    expect(elsewhere).toMatchObject({ status: 200, body: { name: 'Renamed' } });
    const refused = await ask(`${gateway.url}/v1/agents`, {
      method: 'POST',
      key: 'sk-none',
      body: AGENT,
      headers,
    });
    expect(refused).toMatchObject({ status: 401, body: { error: 'invalid API key' } });
  });

  it(verifies(ID, 'triggers once and uploads once, whatever boundary the form has'), async () => {
    const agent = await post('/v1/agents', AGENT, {});
    const deployment = await post(
      '/v1/deployments',
      {
        name: 'Daily',
        agent_id: agent.body.id,
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
      },
      named(),
    );
    expect(deployment.status, JSON.stringify(deployment.body)).toBe(201);
    const headers = named();
    const path = `/v1/deployments/${deployment.body.id}/runs`;
    const run = await post(path, {}, headers);
    expect(run.status, JSON.stringify(run.body)).toBe(200);
    expect((await post(path, {}, headers)).body.id).toBe(run.body.id);

    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey });
    const before = upstream.seen.length;
    const edit = async (content: string) =>
      client.images.edit(
        { model: 'i/up', prompt: 'x', image: await toFile(Buffer.from(content), 'a.png') },
        { headers: { 'Idempotency-Key': headers['idempotency-key'] }, maxRetries: 0 },
      );
    expect((await edit('one')).data).toEqual(PICTURES.data);
    expect((await edit('one')).data).toEqual(PICTURES.data);
    expect(upstream.seen.length).toBe(before + 1);
    await expect(edit('two')).rejects.toMatchObject({ status: 409 });
  });

  it(verifies(ID, 'is waited for by a repeat that comes while it is under way'), async () => {
    const headers = named();
    const before = upstream.seen.length;
    const first = draw('slow', headers);
    await eventually(() => upstream.seen.length === before + 1);
    const second = draw('slow', headers);
    const other = await draw('slow', headers, 'other');
    expect(other.status).toBe(409);
    open();
    expect((await first).body).toEqual(PICTURES);
    expect((await second).body).toEqual(PICTURES);
    expect(isReplay(await second)).toBe(true);
    expect(upstream.seen.length).toBe(before + 1);
  });

  it('goes on when its client gives up, which finds the answer when it comes back', async () => {
    const headers = named();
    const before = upstream.seen.length;
    const gone = new AbortController();
    const first = gateway.call('POST', '/v1/images/generations', {
      body: { model: 'i/slow', prompt: 'x' },
      headers,
      signal: gone.signal,
    });
    await eventually(() => upstream.seen.length === before + 1);
    gone.abort();
    await expect(first).rejects.toThrow();
    const second = draw('slow', headers);
    open();
    expect(await second).toMatchObject({ status: 200, body: PICTURES });
    expect(upstream.seen.length).toBe(before + 1);
    expect(upstream.seen.at(-1)?.aborted).toBe(false);
  });

  it('may be made again after a failure that did nothing, but not after one that may be billed', async () => {
    const headers = named();
    const bad = await post('/v1/agents', { name: 'Helper' }, headers);
    expect(bad.status).toBe(400);
    expect((await post('/v1/agents', AGENT, headers)).status).toBe(201);

    const busy = named();
    expect((await draw('down', busy)).status).toBe(503);
    const before = upstream.seen.length;
    expect((await draw('down', busy)).status).toBe(503);
    expect(upstream.seen.length).toBeGreaterThan(before);

    const billed = named();
    const lost = await draw('reset', billed);
    expect(lost.headers.get('x-should-retry')).toBe('false');
    const sent = upstream.seen.length;
    const again = await draw('reset', billed);
    expect(again).toMatchObject({ status: lost.status, body: lost.body });
    expect(isReplay(again)).toBe(true);
    expect(upstream.seen.length).toBe(sent);
  });

  it('is made again where its answer is a stream', async () => {
    const ask = { model: 'i/text', input: 'hello' };
    const headers = named();
    for (let time = 0; time < 2; time++) {
      const streamed = await post('/v1beta/interactions', { ...ask, stream: true }, headers);
      expect(streamed.headers.get('content-type')).toContain('text/event-stream');
      expect(streamed.body).toContain('interaction.complete');
      expect(isReplay(streamed)).toBe(false);
    }
    const whole = await post('/v1beta/interactions', ask, headers);
    expect(whole.status, JSON.stringify(whole.body)).toBe(200);
    const again = await post('/v1beta/interactions', ask, headers);
    expect(again.body).toEqual(whole.body);
    expect(isReplay(again)).toBe(true);
  });

  it('answers 400 for a name that is none', async () => {
    for (const name of ['', 'x'.repeat(256)])
      expect(await draw('up', named(name))).toMatchObject({ status: 400 });
  });

  it('is not a name where text is made or secrets are shown', async () => {
    const headers = named();
    const body = { name: 'one-key' };
    const keys = await Promise.all(
      [1, 2].map(() =>
        ask(`${gateway.url}/admin/v1/keys`, {
          method: 'POST',
          key: gateway.adminKey,
          body,
          headers,
        }),
      ),
    );
    expect(keys.filter(isReplay)).toEqual([]);
  });

  it('keeps nothing of an answer in clear text', async () => {
    const store = gateway.gateway?.store;
    const rows = await store?.list({ prefix: ['idempotency-part'], limit: 1000 });
    expect(rows?.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain('b64_json');
    expect(JSON.stringify(rows)).not.toContain(Buffer.from('{"created"').toString('base64'));
  });

  it('is not named where an official client counts its attempts, so a written answer is not given again', async () => {
    const anthropic = (fetch: typeof globalThis.fetch) =>
      new Anthropic({ baseURL: gateway.url, authToken: gateway.clientKey, apiKey: null, fetch });
    const create = (client: Anthropic) =>
      client.beta.agents.create({ name: 'Counted', model: 'i/up' });
    let lost = 0;
    const lossy: typeof globalThis.fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (lost++ > 0) return response;
      await response.text();
      throw new TypeError('the connection was lost');
    };
    const ids = async (): Promise<string[]> => {
      const { body } = await gateway.call('GET', '/v1/agents?limit=100');
      return body.data
        .filter(({ name }: { name: string }) => name === 'Counted')
        .map(({ id }: { id: string }) => id);
    };
    const made = await create(anthropic(lossy));
    expect(lost).toBe(2);
    const two = await ids();
    expect(two).toContain(made.id);
    expect(two).toHaveLength(2);
    // Attempts of which the first never arrived.
    let refused = 0;
    const refusing: typeof globalThis.fetch = async (input, init) => {
      if (refused++ === 0) throw new TypeError('the connection was refused');
      return fetch(input, init);
    };
    const another = await create(anthropic(refusing));
    expect(two).not.toContain(another.id);
    expect(await ids()).toHaveLength(3);
  });
});
