import type { Reply } from '../caller.ts';
import { isOk } from '../journal.ts';
import type { Chat } from '../journal.ts';
import type { GatewayNode } from '../gateway-node.ts';
import { ask } from '../stage.ts';
import type { PayingKey, Stage } from '../stage.ts';
import { repeat } from './repeat.ts';

const WORKERS = 4;
const EVERY_MS = 60;
/** One of so many clients leaves before its answer is there. */
const LEAVING = 20;

export interface ChatOptions {
  readonly key: PayingKey;
  readonly what: string;
  readonly model?: Chat['model'];
  readonly isStream?: boolean;
  readonly leaveAfterMs?: number;
  readonly node?: GatewayNode;
}

/** Chats, streamed and not, of keys with limits and without. */
export function startChats(stage: Stage, until: AbortSignal): Promise<void>[] {
  const { random, keys } = stage;
  const work = async (): Promise<void> => {
    const limited = random.pick(keys.limited);
    const key = random.pick([keys.client, keys.client, keys.rated, limited]);
    await chat(stage, {
      key,
      what: key === keys.client ? 'chat' : key === keys.rated ? 'chat.rated' : 'chat.limited',
      model: key === keys.client ? random.pick(['flat', 'tokens']) : 'flat',
      isStream: random.next() < 0.5,
      ...(random.between(0, LEAVING) === 0 && { leaveAfterMs: random.between(5, 60) }),
    });
  };
  return Array.from({ length: WORKERS }, () => repeat(stage, { until, everyMs: EVERY_MS, work }));
}

/** One chat, and its place in the journal. */
export async function chat(
  stage: Stage,
  { key, what, model = 'flat', isStream = false, ...rest }: ChatOptions,
): Promise<Reply> {
  const mark = stage.journal.newMark('c');
  const reply = await ask(stage, [what, 'POST /v1/chat/completions'], {
    ...rest,
    key: key.value,
    body: {
      model: `chaos/${model}`,
      messages: [{ role: 'user', content: `say it #${mark}#` }],
      max_tokens: 50,
      stream: isStream,
    },
  });
  const isAnswered = isOk(reply) && (!isStream || String(reply.body).includes('[DONE]'));
  stage.journal.chats.push({ mark, keyId: key.id, model, isStream, reply, isAnswered });
  return reply;
}
