import type { ServerResponse } from 'node:http';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { WIRES } from '../../fixtures/wire/recorded.ts';
import type { Recorded } from '../../fixtures/wire/recorded.ts';
import type { Wire } from '../../fixtures/wire/wire.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { providerPerProtocol } from '../../support/stage/provider-per-protocol.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { ClientRow, Target } from './client.ts';

const PROVIDERS = Object.keys(WIRES) as Recorded[];

type Play = (response: ServerResponse) => void | Promise<void>;

/** A gateway in front of a provider of every protocol; the test says what it answers. */
export interface Stage {
  readonly gateway: TestGateway;
  target(provider: Recorded): Target;
  /** The next answer; of what is a wire, in the form that was asked for. */
  play(answer: Wire | Play): void;
  /** The last request that a provider got. */
  sent(): string;
  /** The record of the last request, when it is settled. */
  record(): Promise<RequestRecord>;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const answers: (Wire | Play)[] = [];
  const upstream = await startUpstream((response, { url, body }) => {
    const answer = answers.shift();
    if (!answer) return sendJson(response, 500, { error: { message: 'nothing to play' } });
    if (typeof answer === 'function') return answer(response);
    const isStreamed = url.includes('alt=sse') || /"stream":\s*true/.test(body.toString());
    if (!isStreamed) return sendJson(response, 200, answer.whole);
    beginEvents(response);
    for (const frame of answer.frames) response.write(frame);
    response.end();
    return undefined;
  });
  const gateway = await startGateway(providerPerProtocol(upstream.url, PROVIDERS));
  return {
    gateway,
    target: (id) => ({ url: gateway.url, key: gateway.clientKey, model: `acme/${id}` }),
    play: (answer) => void answers.push(answer),
    sent: () => upstream.seen.at(-1)?.body.toString('utf8') ?? '',
    record: () =>
      eventually(async () => {
        const { body } = await gateway.admin('GET', '/admin/v1/requests?limit=1');
        const [record] = body.data as RequestRecord[];
        return record !== undefined && record.result !== 'pending' && record;
      }),
    async close() {
      await gateway.stop();
      await upstream.close();
    },
  };
}

export interface Pair {
  readonly client: ClientRow;
  readonly provider: Recorded;
  readonly stream: boolean;
  readonly isNative: boolean;
  readonly form: string;
}

/** A provider of another protocol for each client; those of older libraries have the next one. */
const TRANSLATED: Readonly<Record<string, readonly Recorded[]>> = {
  chat: ['messages', 'generate-content', 'responses'],
  responses: ['chat', 'messages', 'generate-content'],
  messages: ['generate-content', 'chat', 'responses'],
  'generate-content': ['responses', 'messages', 'chat', 'messages'],
};

/** Every client with a provider of another protocol and one of its own, whole and streamed. */
export function livePairs(clients: readonly ClientRow[]): Pair[] {
  return clients.flatMap((client, at) => {
    const before = clients.slice(0, at).filter(({ id }) => id === client.id).length;
    const own = client.id as Recorded;
    return [TRANSLATED[own]?.[before] ?? own, own].flatMap((provider) =>
      [false, true].map((stream) => ({
        client,
        provider,
        stream,
        isNative: provider === own,
        form: stream ? 'streamed' : 'whole',
      })),
    );
  });
}

/** A title of a table over pairs. */
export const PAIR_TITLE = '$client.id ($client.library) of $provider, $form';
