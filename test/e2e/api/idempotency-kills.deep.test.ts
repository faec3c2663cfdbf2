import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { Clock } from '../../../src/core/time/clock.ts';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { startChatReceiver } from '../../scheduler/notify/chat-receiver.ts';
import { customProvider } from '../../support/chat.ts';
import { startCountingProxy } from '../../support/stage/counting-proxy.ts';
import type { CountingProxy } from '../../support/stage/counting-proxy.ts';
import { ask, newDirectory, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { createMortalStore } from '../../support/stage/mortal-store.ts';
import type { Moment, MortalStore } from '../../support/stage/mortal-store.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';

const MINUTES = 60_000;
/** More commits than one call makes, those in the background included. */
const MAX_COMMITS = 40;
/** Leases of every kind are out after so long. */
const LEASES_MS = 60_000;
const SKILL = '---\nname: review\ndescription: Reviews code.\n---\nRead it.\n';
const say = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });

/** A kind of call that can be named. */
interface Kind {
  readonly path: (ids: Ids) => string;
  readonly body: (mark: string) => unknown;
  /** Things that the calls with this mark have made. */
  readonly made: (mark: string) => Promise<number>;
}

type Ids = Record<'agent' | 'session' | 'service' | 'deployment' | 'skill', string>;

/**
 * Each kind of named call is made by a gateway that dies at the first commit, at the second and so on,
 * and repeated at one that is started afterwards on the same store.
 */
describe('a named call whose process dies', () => {
  let aheadMs = 0;
  let store: Store;
  let directory: string;
  let clientKey: string;
  let ids: Ids;
  let victim: { gateway: TestGateway; mortal: MortalStore };
  let config: object;
  let provider: CountingProxy;
  let keeperUrl: string;
  const asked = { assets: 0 };
  const closing: (() => Promise<unknown>)[] = [];

  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + aheadMs,
    monotonic: () => systemClock.monotonic() + aheadMs,
  };

  async function open(): Promise<typeof victim> {
    const mortal = createMortalStore(store);
    // What a dead process still waits for is over at once.
    const own: Clock = {
      ...clock,
      setTimeout: (fn, ms) => systemClock.setTimeout(fn, mortal.isDead ? ms / 1_000 : ms),
    };
    const gateway = await startGateway(config, {
      directory,
      clock: own,
      openStore: async () => mortal.store,
    });
    return { gateway, mortal };
  }

  const post = (path: string, body: unknown, name?: string): Promise<Answer> =>
    ask(victim.gateway.url + path, {
      method: 'POST',
      key: clientKey,
      body,
      // A process that dies takes its connections with it.
      signal: victim.mortal.death,
      ...(name !== undefined && { headers: { 'idempotency-key': name } }),
    });
  const get = async (path: string): Promise<Answer['body']> =>
    (await ask(victim.gateway.url + path, { key: clientKey })).body;
  const make = async (path: string, body: unknown): Promise<Answer['body']> => {
    const made = await post(path, body);
    if (made.status >= 300) throw new Error(`${path}: ${made.status} ${JSON.stringify(made.body)}`);
    return made.body;
  };
  const listed = async (path: string, fits: (one: any) => boolean): Promise<number> => {
    let count = 0;
    for (let page = ''; ;) {
      const { data, next_page } = await get(`${path}?limit=100${page}`);
      count += data.filter(fits).length;
      if (!next_page) return count;
      page = `&page=${encodeURIComponent(next_page)}`;
    }
  };
  const sentTo = (path: string): number =>
    provider.seen.filter((one) => one.method === 'POST' && one.path === path).length;
  const messages = (session: string, mark: string): Promise<number> =>
    listed(`/v1/sessions/${session}/events`, (event) => textOf(event) === mark);
  const textOf = ({ type, content }: { type: string; content?: { text?: string }[] }) =>
    type === 'user.message' ? content?.[0]?.text : undefined;

  beforeAll(async () => {
    const mock = await startMockServer();
    provider = await startCountingProxy(mock.url);
    const keeper = await startUpstream((response) => {
      asked.assets++;
      sendJson(response, 200, { id: `kept_${asked.assets}` });
    });
    keeperUrl = keeper.url;
    const chats = await startChatReceiver();
    store = await openStore({ driver: 'memory' }, { clock });
    directory = await newDirectory();
    closing.push(
      () => provider.close(),
      () => mock.close(),
      () => keeper.close(),
      () => chats.close(),
      () => store.close(),
      () => rm(directory, { recursive: true, force: true }),
    );
    const protocols = { chat: true, images: true, videos: true, interactions: true };
    const model = (name: string, type: string): object => ({
      name: `k/${name}`,
      type,
      routes: [{ provider: 'counted', upstream_model: name }],
    });
    config = {
      server: {
        outbound: { allow: [new URL(keeper.url).host] },
        media: { provider: 'keeper' },
        notifications: { webhooks: { ours: { url: `${chats.url}/bots`, format: 'slack' } } },
      },
      providers: [
        customProvider('counted', provider.url, { protocols }),
        { ...customProvider('keeper', keeper.url, { protocols: { chat: true } }), assets: {} },
      ],
      models: [model('chat', 'llm'), model('image', 'image'), model('film', 'video')],
    };
    victim = await open();
    ({ clientKey } = victim.gateway);
    const agent = await make('/v1/agents', { name: 'Base', model: 'k/chat' });
    const session = await make('/v1/sessions', { agent: agent.id });
    const service = await make('/v1/endpoints', {
      name: 'Base',
      agent_id: agent.id,
      protocols: ['rest'],
    });
    const deployment = await make('/v1/deployments', {
      name: 'Base',
      agent_id: agent.id,
      initial_events: [say('go')],
      notification_settings: { chat_webhook_url: `${chats.url}/bots/x` },
    });
    const files = { 'SKILL.md': SKILL };
    const skill = await make('/v1/skills', { display_name: 'Base', files });
    ids = {
      agent: agent.id,
      session: session.id,
      service: service.id,
      deployment: deployment.id,
      skill: skill.id,
    };
    chatsReceived = () => chats.received.length;
  }, MINUTES);
  afterAll(async () => {
    closing.unshift(() => victim.gateway.stop());
    await Promise.all(stopping);
    for (const close of closing) await close();
  }, MINUTES);
  let chatsReceived = (): number => 0;
  const stopping: Promise<unknown>[] = [];

  /** The process is gone; another one finds what it left. */
  async function replace(): Promise<void> {
    // One that is dead cannot take its leave of the store.
    stopping.push(victim.gateway.stop().catch(() => undefined));
    aheadMs += LEASES_MS;
    victim = await open();
  }

  /** Sends the call as official clients do: again while the answer asks for that. */
  async function untilAnswered(send: () => Promise<Answer>): Promise<Answer> {
    for (let tries = 0; tries < 20; tries++) {
      const answer = await send();
      const isUnderWay = answer.status === 409 && answer.headers.has('retry-after');
      if (answer.status < 500 && !isUnderWay && answer.status !== 429) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('no answer');
  }

  /** Judges the last answer and what there is; called for every commit at which the process died. */
  type Judge = (seen: { answer: Answer; count: number; where: string }) => void;

  async function killEverywhere(kind: Kind, moment: Moment, judge: Judge): Promise<number> {
    for (let commit = 1; commit <= MAX_COMMITS; commit++) {
      const mark = randomUUID();
      const name = randomUUID();
      const path = kind.path(ids);
      const send = (): Promise<Answer> => post(path, kind.body(mark), name);
      const before = await kind.made(mark);
      victim.mortal.dieAt(commit, moment);
      const first = await send().catch(() => undefined);
      const wasKilled = victim.mortal.isDead;
      await replace();
      const answer = await untilAnswered(send);
      const again = await untilAnswered(send);
      const where = `${path} ${moment} commit ${commit}: ${JSON.stringify(answer.body)}`;
      expect(again.status, where).toBe(answer.status);
      if (answer.status < 300) expect(again.body, where).toEqual(answer.body);
      if (first && first.status < 300 && answer.status < 300)
        expect(answer.body.id, where).toBe(first.body.id);
      judge({ answer, count: (await kind.made(mark)) - before, where });
      if (!wasKilled) return commit;
    }
    throw new Error('the call never came to its end');
  }

  const made = (path: string, body: (mark: string) => object): Kind => ({
    path: () => path,
    body,
    made: (mark) => listed(path, (one) => JSON.stringify(one).includes(mark)),
  });

  const IN_STORE: Record<string, Kind> = {
    agent: made('/v1/agents', (mark) => ({ name: mark, model: 'k/chat' })),
    service: made('/v1/endpoints', (mark) => ({
      name: mark,
      agent_id: ids.agent,
      protocols: ['rest'],
    })),
    schedule: made('/v1/deployments', (mark) => ({
      name: mark,
      agent_id: ids.agent,
      initial_events: [say('go')],
    })),
    skill: made('/v1/skills', (mark) => ({ display_name: mark, files: { 'SKILL.md': SKILL } })),
    'version of a Skill': {
      path: ({ skill }) => `/v1/skills/${skill}/versions`,
      body: (mark) => ({ files: { 'SKILL.md': `${SKILL}${mark}` } }),
      made: () => listed(`/v1/skills/${ids.skill}/versions`, () => true),
    },
    'change of an Agent': {
      path: ({ agent }) => `/v1/agents/${agent}`,
      body: (mark) => ({ name: mark }),
      made: () => listed(`/v1/agents/${ids.agent}/versions`, () => true),
    },
    session: made('/v1/sessions', (mark) => ({
      agent: ids.agent,
      title: mark,
      initial_events: [say(mark)],
    })),
    'change of a Session': {
      path: ({ session }) => `/v1/sessions/${session}`,
      body: (mark) => ({ title: mark }),
      made: (mark) => listed(`/v1/sessions/${ids.session}/events`, (event) => event.title === mark),
    },
    message: {
      path: ({ session }) => `/v1/sessions/${session}/events`,
      body: (mark) => ({ events: [say(mark)] }),
      made: (mark) => messages(ids.session, mark),
    },
    'run of a Service': {
      path: ({ service }) => `/v1/endpoints/${service}/run`,
      body: (mark) => ({ content: [{ type: 'text', text: mark }] }),
      made: () => listed('/v1/sessions', (one) => one.endpoint_id === ids.service),
    },
    'run of a Schedule': {
      path: ({ deployment }) => `/v1/deployments/${deployment}/runs`,
      body: () => ({}),
      made: () => listed('/v1/deployment_runs', (one) => one.deployment_id === ids.deployment),
    },
    'run that nobody waits for': {
      path: () => '/v1/run',
      body: (mark) => ({ model: 'k/film', input: { prompt: mark }, async: true }),
      made: async () => (await store.list({ prefix: ['run'], limit: 10_000 })).length,
    },
  };

  // Every other kind; the quick test of such kills has the commonest of them.
  const halves = [0, 1].map((half) =>
    Object.entries(IN_STORE).filter((_, index) => index % 2 === half),
  );

  it.each(inTurn('kinds of named calls', halves).flat())(
    verifies(
      'idempotency.atomic-with-effect',
      'idempotency.message-once',
      'made one %s, at whichever commit that was',
    ),
    async (_name, kind) => {
      const last = await killEverywhere(kind, 'before', ({ answer, count, where }) => {
        expect(answer.status, where).toBeLessThan(300);
        expect(count, where).toBe(1);
      });
      expect(last).toBeGreaterThan(2);
    },
    5 * MINUTES,
  );

  const OUTSIDE: Record<string, Kind> = {
    image: {
      path: () => '/v1/images/generations',
      body: (prompt) => ({ model: 'k/image', prompt }),
      made: async () => sentTo('/v1/images/generations'),
    },
    video: {
      path: () => '/v1/videos',
      body: (prompt) => ({ model: 'k/film', prompt }),
      made: async () => sentTo('/v1/videos'),
    },
    interaction: {
      path: () => '/v1beta/interactions',
      body: (input) => ({ model: 'k/chat', input }),
      made: async () => sentTo('/v1beta/interactions') + sentTo('/v1/interactions'),
    },
    run: {
      path: () => '/v1/run',
      body: (text) => ({ model: 'k/image', input: { prompt: text } }),
      made: async () => sentTo('/v1/images/generations'),
    },
    asset: {
      path: () => '/v1/assets',
      body: (name) => ({ url: `${keeperUrl}/a.png`, asset_type: 'Image', name }),
      made: async () => asked.assets,
    },
    'message to a chat': {
      path: ({ deployment }) => `/v1/deployments/${deployment}/notifications/chat/test`,
      body: () => ({}),
      made: async () => chatsReceived(),
    },
  };

  const MOMENTS = ['before', 'after'] as const;
  // Every kind at one moment, and the next kind at the other one.
  const outsideAt = [0, 1].map((turn) =>
    Object.entries(OUTSIDE).map(
      ([name, kind], index) => [name, MOMENTS[(index + turn) % 2]!, kind] as const,
    ),
  );

  it.each(inTurn('moments of named calls', outsideAt).flat())(
    verifies(
      'idempotency.outcome-unknown',
      'has asked for one %s at most, or says that nobody knows (%s its commits)',
    ),
    async (_name, moment, kind) => {
      const unknown: string[] = [];
      await killEverywhere(kind, moment, ({ answer, count, where }) => {
        expect(count, where).toBeLessThanOrEqual(1);
        if (answer.status < 300) return expect(count, where).toBe(1);
        expect(answer.status, where).toBe(409);
        expect(answer.headers.get('x-should-retry'), where).toBe('false');
        expect(JSON.stringify(answer.body), where).toMatch(/GET \/v1\/|gateway logs req_/);
        unknown.push(where);
      });
      expect(unknown.length).toBeGreaterThan(0);
    },
    5 * MINUTES,
  );
});
