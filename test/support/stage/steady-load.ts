import { setTimeout as pause } from 'node:timers/promises';
import { createKeptPool } from './kept-pool.ts';
import type { KeptPool, Whole } from './kept-pool.ts';

export interface SteadyLoad {
  /** What was done so far, by kind. */
  readonly done: Readonly<Record<'chat' | 'stream' | 'turn', number>>;
  /** Everything that was not as it must be. */
  readonly failures: string[];
  /** Lets what is under way end, then looks at every Session. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  /** One or several addresses of the same gateway. */
  readonly urls: readonly string[];
  readonly key: string;
  /** Of an Agent whose model answers every message. */
  readonly agent: string;
  readonly model: string;
}

interface Event {
  readonly id: string;
  readonly type: string;
}

const REST_MS = 20;
/** Between two looks at a turn that is under way. */
const LOOK_MS = 150;
const CHAT_PATH = '/v1/chat/completions';

/**
 * Calls, streams, turns and tails without an end, as clients make them that know what HTTP allows:
 * nothing that was sent is sent again, a tail goes on behind the last event that it saw.
 */
export function startSteadyLoad(options: LoadOptions): SteadyLoad {
  const { urls, key, agent, model } = options;
  const pool = createKeptPool(urls);
  const done = { chat: 0, stream: 0, turn: 0 };
  const failures: string[] = [];
  const over = new AbortController();
  const post = (path: string, body: object): Promise<Whole> =>
    pool.ask({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const get = async (path: string): Promise<any> =>
    parsed(
      await pool.ask({ method: 'GET', path, headers: { authorization: `Bearer ${key}` } }),
      200,
    );
  const messages = [{ role: 'user', content: 'hello' }];

  const chat = async (): Promise<void> => {
    parsed(await post(CHAT_PATH, { model, messages }), 200);
    done.chat++;
  };
  const stream = async (): Promise<void> => {
    const { status, text } = await post(CHAT_PATH, { model, messages, stream: true });
    if (status !== 200 || !text.endsWith('data: [DONE]\n\n')) throw new Error(`${status} ${text}`);
    done.stream++;
  };
  const repeat = async (kind: string, work: () => Promise<void>): Promise<void> => {
    while (!over.signal.aborted) {
      await work().catch(
        (error: unknown) => void failures.push(`${kind} of ${urls.join()}: ${String(error)}`),
      );
      await pause(REST_MS);
    }
  };

  const conversation = async (): Promise<void> => {
    const { id } = parsed(await post('/v1/sessions', { agent }), 201);
    const at = `/v1/sessions/${id}`;
    const seen: string[] = [];
    const isEnded = { value: false };
    let onOpen = (): void => undefined;
    const opened = new Promise<void>((resolve) => (onOpen = resolve));
    const tailing = tail({ pool, key, at, seen, isEnded, onOpen }).catch(
      (error: unknown) => void failures.push(`tail of ${urls.join()}: ${String(error)}`),
    );
    // A tail tells what comes after it was opened.
    await Promise.race([opened, tailing]);
    let sent = 0;
    const say = async (): Promise<void> => {
      const content = [{ type: 'text', text: `message ${sent++}` }];
      parsed(await post(`${at}/events`, { events: [{ type: 'user.message', content }] }), 200);
      while ((await get(at)).status !== 'idle') await pause(LOOK_MS);
      done.turn++;
    };
    await repeat('turn', say);
    const { data } = (await get(`${at}/events?limit=1000`)) as { data: Event[] };
    const answers = data.filter(({ type }) => type === 'agent.message').length;
    if (answers !== sent) failures.push(`${id}: ${sent} messages, ${answers} answers`);
    for (const { type } of data) if (type === 'session.error') failures.push(`${id}: ${type}`);
    const ids = data.map((event) => event.id);
    while (seen.length < ids.length && failures.length === 0) await pause(REST_MS);
    isEnded.value = true;
    // Tells its tail that nothing more comes.
    parsed(
      await pool.ask({ method: 'DELETE', path: at, headers: { authorization: `Bearer ${key}` } }),
      200,
    );
    await tailing;
    if (seen.slice(0, ids.length).join() !== ids.join())
      failures.push(`${id}: the tail told ${seen.join()} of ${ids.join()}`);
  };

  const all = Promise.all([
    repeat('chat', chat),
    repeat('stream', stream),
    conversation().catch((error: unknown) => void failures.push(`session: ${String(error)}`)),
  ]);
  return {
    done,
    failures,
    async stop() {
      over.abort();
      await all;
      pool.close();
    },
  };
}

/** Follows a Session, again and again behind the last event that came, until it is over. */
async function tail({
  pool,
  key,
  at,
  seen,
  isEnded,
  onOpen,
}: {
  pool: KeptPool;
  key: string;
  at: string;
  seen: string[];
  isEnded: { readonly value: boolean };
  onOpen(): void;
}): Promise<void> {
  while (!isEnded.value) {
    const last = seen.at(-1);
    const answer = await pool.open({
      method: 'GET',
      path: `${at}/events/stream`,
      headers: { authorization: `Bearer ${key}`, ...(last && { 'last-event-id': last }) },
    });
    if (answer.statusCode !== 200) throw new Error(`a tail was answered ${answer.statusCode}`);
    onOpen();
    let rest = '';
    for await (const piece of answer.setEncoding('utf8')) {
      const blocks = (rest + String(piece)).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const id = /^id: (.+)$/m.exec(block)?.[1];
        if (id !== undefined) seen.push(id);
      }
    }
    if (!answer.complete) throw new Error('a tail was cut');
    await pause(REST_MS);
  }
}

function parsed({ status, text }: Whole, expected: number): any {
  if (status !== expected) throw new Error(`${status} ${text}`);
  return JSON.parse(text);
}
