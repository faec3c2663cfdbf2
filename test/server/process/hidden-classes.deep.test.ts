import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

/** Calls before V8 knows the shapes of all objects, and calls that are watched. */
const [WARM_UP, WATCHED] = [120, 60];
/** Hidden classes by one place in the code that are those of each call. */
const OF_EACH = WATCHED / 2;

/** `map,Transition,time,from,to,pc,line,column,reason,name`. */
const TRANSITION = /^map,Transition,\d+,\w+,\w+,\w+,(-?\d+,-?\d+),\w*,(.*)$/gm;

const FREE = 'sk-free-0123456789abcdef0123456789abcdef';
const LIMITED = 'sk-limited-0123456789abcdef0123456789abcdef';

let directory: string;
let gateway: TestGateway;
let log: string;

beforeAll(async () => {
  directory = await newDirectory();
  log = join(directory, 'maps.log');
  const nodeFlags = ['--log-maps', `--logfile=${log}`, '--no-logfile-per-isolate'];
  gateway = await startGateway(
    {
      providers: [{ name: 'mock', type: 'mock' }],
      models: [
        { name: 'acme/echo', routes: [{ provider: 'mock' }], pricing: { input: 1, output: 2 } },
      ],
      keys: [
        { name: 'free', value: '${secret:env:FREE}' },
        {
          name: 'limited',
          value: '${secret:env:LIMITED}',
          spending_limit: '1000000',
          rpm_cap: 1_000_000,
        },
      ],
    },
    { binary: true, directory, nodeFlags, env: { FREE, LIMITED } },
  );
});
afterAll(async () => {
  await gateway?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Places that made a hidden class for each call that was watched, by line and name. */
async function placesOf(call: () => Promise<unknown>): Promise<string[]> {
  const calls = async (count: number): Promise<void> => {
    for (let made = 0; made < count; made++) await call();
  };
  await calls(WARM_UP);
  const file = await open(log);
  const { size: before } = await file.stat();
  await calls(WATCHED);
  const { size: after } = await file.stat();
  const { buffer: bytes } = await file.read({
    position: before,
    buffer: Buffer.alloc(after - before),
  });
  await file.close();
  const counts = new Map<string, number>();
  for (const [, at, name] of bytes.toString('latin1').matchAll(TRANSITION)) {
    const place = `${at} ${name}`;
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return Array.from(counts).flatMap(([place, count]) => (count >= OF_EACH ? [place] : []));
}

const MESSAGES = [{ role: 'user', content: 'Say hello' }];
const CHAT = '/v1/chat/completions';

/** Calls of a path, each with this body. */
const call =
  (path: string, more: object, key = FREE) =>
  async (): Promise<void> => {
    const answer = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/echo', ...more }),
    });
    await answer.text();
    expect(answer.status).toBe(200);
  };

// V8 of Node.js 20 makes one, at 1.5 µs, whenever a name is added to a spread object.
it.each([
  ['a chat', call(CHAT, { messages: MESSAGES, user: 'u1' })],
  ['a call with limits', call(CHAT, { messages: MESSAGES }, LIMITED)],
  ['a stream', call(CHAT, { messages: MESSAGES, stream: true })],
  [
    'a stream of Messages',
    call('/v1/messages', { messages: MESSAGES, max_tokens: 9, stream: true }),
  ],
  ['a response', call('/v1/responses', { input: 'Say hello' })],
])('makes no hidden class for %s', async (_, make) => {
  expect(await placesOf(make)).toEqual([]);
});
