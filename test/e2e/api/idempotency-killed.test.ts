import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../chaos/random.ts';
import { verifies } from '../../requirements.ts';
import { customProvider } from '../../support/chat.ts';
import { ask, newDirectory, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';

const ROUNDS = 2;
const OF_EACH = 4;
const LATEST_MS = 40;
const PROVIDER_MS = 15;
const PICTURES = { created: 1, data: [{ b64_json: 'aGk=' }] };
const say = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });

/** A call and its name, which is also the word by which what it made is found. */
interface Named {
  readonly kind: 'agent' | 'session' | 'message' | 'trigger' | 'run' | 'image';
  readonly name: string;
  readonly path: string;
  readonly body: object;
}

describe('named calls of a gateway that is killed', () => {
  it(
    verifies(
      'idempotency.atomic-with-effect',
      'idempotency.message-once',
      'idempotency.outcome-unknown',
      'make one thing each, or say that nobody knows what came of them',
    ),
    async () => {
      const random = createRandom(13);
      const upstream = await startUpstream(async (response) => {
        await sleep(PROVIDER_MS);
        sendJson(response, 200, PICTURES);
      });
      const directory = await newDirectory();
      let gateway: TestGateway | undefined;
      onTestFinished(async () => {
        await gateway?.stop();
        await upstream.close();
        await rm(directory, { recursive: true, force: true });
      });
      const config = {
        server: { store: { driver: 'lmdb' } },
        providers: [
          customProvider('studio', upstream.url, { protocols: { images: true } }),
          { name: 'mock', type: 'mock' },
        ],
        models: [
          { name: 'k/text', routes: [{ provider: 'mock' }] },
          { name: 'k/image', type: 'image', routes: [{ provider: 'studio' }] },
        ],
      };
      const open = (binary: boolean) => startGateway(config, { binary, directory });
      gateway = await open(true);
      const { clientKey: key } = gateway;
      const post = (path: string, body: object, name?: string): Promise<Answer> =>
        ask(`${gateway?.url}${path}`, {
          method: 'POST',
          key,
          body,
          ...(name !== undefined && { headers: { 'idempotency-key': name } }),
        });
      const list = async (path: string): Promise<any[]> => {
        const { body } = await ask(`${gateway?.url}${path}?limit=100`, { key });
        expect(body.next_page ?? null).toBeNull();
        return body.data;
      };
      const { body: agent } = await post('/v1/agents', { name: 'Base', model: 'k/text' });
      const { body: session } = await post('/v1/sessions', { agent: agent.id });
      const { body: deployment } = await post('/v1/deployments', {
        name: 'Base',
        agent_id: agent.id,
        initial_events: [say('go')],
      });
      const messages = `/v1/sessions/${session.id}/events`;
      const toCalls = (name: string): Named[] => [
        { kind: 'agent', name, path: '/v1/agents', body: { name, model: 'k/text' } },
        { kind: 'session', name, path: '/v1/sessions', body: { agent: agent.id, title: name } },
        { kind: 'message', name, path: messages, body: { events: [say(name)] } },
        { kind: 'trigger', name, path: `/v1/deployments/${deployment.id}/runs`, body: {} },
        {
          kind: 'run',
          name,
          path: '/v1/run',
          body: { model: 'k/image', input: { prompt: `run ${name}` } },
        },
        {
          kind: 'image',
          name,
          path: '/v1/images/generations',
          body: { model: 'k/image', prompt: `image ${name}` },
        },
      ];
      const untilAnswered = async ({ path, body, name }: Named): Promise<Answer> => {
        for (let tries = 0; tries < 100; tries++) {
          const answer = await post(path, body, name);
          const isUnderWay = JSON.stringify(answer.body).includes('is under way');
          if (answer.status < 500 && !isUnderWay) return answer;
          await sleep(100);
        }
        throw new Error(`${path} is never answered`);
      };

      const asked: { call: Named; answer: Answer }[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const calls = Array.from({ length: OF_EACH }, (_, index) =>
          toCalls(`n${round}-${index}`),
        ).flat();
        const sent = calls.map(({ path, body, name }) => post(path, body, name).catch(() => null));
        await sleep(random.between(0, LATEST_MS));
        const { child } = gateway;
        child?.kill('SIGKILL');
        if (child) await once(child, 'exit');
        await Promise.all(sent);
        // What is not killed any more need not be a process of its own.
        gateway = await open(round + 1 < ROUNDS);
        for (const call of calls) asked.push({ call, answer: await untilAnswered(call) });
      }

      const agents = await list('/v1/agents');
      const sessions = await list('/v1/sessions');
      const events = await list(messages);
      const prompts = upstream.seen.map(({ body }) => JSON.parse(body.toString()).prompt);
      const made: Record<Named['kind'], (name: string) => number> = {
        agent: (name) => agents.filter((one) => one.name === name).length,
        session: (name) => sessions.filter(({ title }) => title === name).length,
        message: (name) => events.filter(({ content }) => content?.[0]?.text === name).length,
        trigger: () => 1,
        run: (name) => prompts.filter((prompt) => prompt === `run ${name}`).length,
        image: (name) => prompts.filter((prompt) => prompt === `image ${name}`).length,
      };
      for (const { call, answer } of asked) {
        const { kind, name } = call;
        const where = `${kind} ${name}: ${answer.status} ${JSON.stringify(answer.body)}`;
        const again = await untilAnswered(call);
        expect([again.status, again.body.id], where).toEqual([answer.status, answer.body.id]);
        if (answer.status < 300) {
          expect(made[kind](name), where).toBe(1);
          continue;
        }
        expect(['run', 'image'], where).toContain(kind);
        expect(answer.status, where).toBe(409);
        expect(answer.headers.get('x-should-retry'), where).toBe('false');
        expect(made[kind](name), where).toBeLessThanOrEqual(1);
      }
      const runs = await list('/v1/deployment_runs');
      expect(runs.length).toBe(ROUNDS * OF_EACH);
      const ids = asked.filter(({ call }) => call.kind === 'trigger');
      expect(new Set(ids.map(({ answer }) => answer.body.id)).size).toBe(ROUNDS * OF_EACH);
    },
    180_000,
  );
});
