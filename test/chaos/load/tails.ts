import { request } from 'node:http';
import type { GatewayNode } from '../gateway-node.ts';
import type { TailNote } from '../journal.ts';
import { choose } from '../stage.ts';
import type { Stage } from '../stage.ts';

/** In silence a stream says something every 15 seconds of the gateways' time; so much later it is dead. */
const SILENCE_MS = 40_000;
const AGAIN_MS = 100;

/** A follower that comes back, to any gateway, behind the last event that it saw. */
export interface Tail extends TailNote {
  close(): void;
}

/** Follows a Session from behind `after` until it is closed. */
export function startTail(stage: Stage, session: string, after: string): Tail {
  const closing = new AbortController();
  const tail: Tail = { after, ids: [], connections: 0, close: () => closing.abort() };
  const again = (): void => {
    if (closing.signal.aborted) return;
    tail.connections++;
    const node = choose(stage);
    follow(stage, { node, session, tail, signal: closing.signal }, () => {
      setTimeout(again, AGAIN_MS).unref();
    });
  };
  again();
  return tail;
}

interface Following {
  readonly node: GatewayNode;
  readonly session: string;
  readonly tail: Tail;
  readonly signal: AbortSignal;
}

function follow(stage: Stage, { node, session, tail, signal }: Following, onEnd: () => void): void {
  const { after, ids } = tail;
  let text = '';
  const stream = request(
    `${node.url}/v1/sessions/${session}/events/stream`,
    {
      agent: false,
      signal,
      timeout: SILENCE_MS / stage.time.rate,
      headers: {
        authorization: `Bearer ${stage.keys.client.value}`,
        'last-event-id': ids.at(-1) ?? after,
      },
    },
    (answer) => {
      answer.setEncoding('utf8').on('data', (part: string) => {
        if (answer.statusCode !== 200) return;
        const frames = (text + part).split('\n\n');
        text = frames.pop() ?? '';
        for (const frame of frames) ids.push(...(/^id: (.+)$/m.exec(frame)?.slice(1) ?? []));
      });
      answer.on('error', () => undefined);
    },
  );
  stream.on('timeout', () => stream.destroy());
  stream.on('error', () => undefined);
  stream.on('close', onEnd);
  stream.end();
}
