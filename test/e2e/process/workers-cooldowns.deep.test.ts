import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import { freshChat } from '../../support/fresh-chat.ts';

const MODEL = 'm/ab';
/** Longer than the test. */
const REFUSED_S = 120;
/** Within it the workers learn of each other's cooldowns. */
const SHARED_MS = 1_000;

/** A provider that keeps requests waiting until it is told to refuse the first of them. */
async function startHeld() {
  const held: ServerResponse[] = [];
  let isHolding = true;
  let asked = 0;
  const upstream = await startUpstream((response) => {
    asked += 1;
    if (isHolding) held.push(response);
    else answer(response);
  });
  onTestFinished(() => upstream.close());
  return {
    url: upstream.url,
    asked: () => asked,
    held: () => held.length,
    hold: () => void (isHolding = true),
    /** The others get an answer in the same moment. */
    refuseFirst(seconds: number) {
      isHolding = false;
      const [first, ...others] = held.splice(0);
      const headers = { 'content-type': 'application/json', 'retry-after': String(seconds) };
      first?.writeHead(429, headers).end('{}');
      for (const response of others) answer(response);
    },
  };
}

function answer(response: ServerResponse): void {
  const message = { role: 'assistant', content: 'hello' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  sendJson(response, 200, { id: 'c', object: 'chat.completion', choices });
}

async function start(url: string): Promise<TestGateway> {
  const custom = { type: 'custom', base_url: `${url}/v1`, protocols: { chat: true } };
  const gateway = await startGateway(
    {
      providers: [
        { name: 'a', ...custom, auth: { type: 'none' } },
        { name: 'b', type: 'mock' },
      ],
      models: [
        {
          name: MODEL,
          routes: [
            { provider: 'a', priority: 1 },
            { provider: 'b', priority: 2 },
          ],
        },
      ],
    },
    { binary: true, args: ['--workers', '2'] },
  );
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

/** Both workers get some of them; all are answered, by one provider or the other. */
async function chatsOf(gateway: TestGateway, count: number): Promise<void> {
  const chats = Array.from({ length: count }, () => freshChat(gateway, MODEL));
  for (const { status } of await Promise.all(chats)) expect(status).toBe(200);
}

it(
  verifies(
    'routing.cooldown.workers',
    'what a provider refused to one of two workers, the other leaves alone within a second',
  ),
  async () => {
    const { url, asked, held, hold, refuseFirst } = await startHeld();
    const gateway = await start(url);
    const first = freshChat(gateway, MODEL);
    await eventually(() => held() === 1);
    refuseFirst(1);
    await first;

    hold();
    // A worker that tries the provider again sends it nothing else, so these are one of each.
    const trials: Promise<unknown>[] = [];
    await eventually(() => {
      trials.push(freshChat(gateway, MODEL));
      return held() >= 2;
    }, 20_000);
    const refusedAt = performance.now();
    refuseFirst(REFUSED_S);
    await Promise.all(trials);
    await sleep(refusedAt + SHARED_MS - performance.now());
    const before = asked();
    await chatsOf(gateway, 20);
    expect(asked()).toBe(before);
  },
);
