import type { ServerResponse } from 'node:http';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { CHAT } from '../../fixtures/wire/chat.ts';
import { GENERATE_CONTENT } from '../../fixtures/wire/generate-content.ts';
import { MESSAGES } from '../../fixtures/wire/messages.ts';
import { RESPONSES } from '../../fixtures/wire/responses.ts';
import type { Wire, WireFixtures } from '../../fixtures/wire/wire.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { ClientRow, Target } from './client.ts';

export const PROVIDERS = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
  'generate-content': GENERATE_CONTENT,
} as const satisfies Record<string, WireFixtures>;

export type ProviderId = keyof typeof PROVIDERS;
export const PROVIDER_IDS = Object.keys(PROVIDERS) as ProviderId[];

/** The name that providers know the model by. */
export const UPSTREAM_MODEL = 'up';

type Play = (response: ServerResponse) => void | Promise<void>;

/** A gateway in front of a provider of every protocol; the test says what it answers. */
export interface Stage {
  readonly gateway: TestGateway;
  target(provider: ProviderId): Target;
  /** The next answer; of what is a wire, in the form that was asked for. */
  play(answer: Wire | Play): void;
  /** Forgets answers that were not asked for. */
  clear(): void;
  /** The last request that a provider got. */
  sent(): { text: string; body: Received };
  /** The record of the last request, when it is settled. */
  record(): Promise<RequestRecord>;
  close(): Promise<void>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- requests of every protocol
export type Received = any;

export async function openStage(): Promise<Stage> {
  let answers: (Wire | Play)[] = [];
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
  const gateway = await startGateway({
    providers: PROVIDER_IDS.map((id) => ({
      name: id,
      type: 'custom',
      base_url: `${upstream.url}/${id === 'generate-content' ? 'v1beta' : 'v1'}`,
      auth: { type: 'none' },
      protocols: { [id]: true },
    })),
    models: PROVIDER_IDS.map((id) => ({
      name: `acme/${id}`,
      routes: [{ provider: id, upstream_model: UPSTREAM_MODEL, mapping: 'translated' }],
    })),
  });
  return {
    gateway,
    target: (id) => ({ url: gateway.url, key: gateway.clientKey, model: `acme/${id}` }),
    play: (answer) => void (answers = [...answers, answer]),
    clear: () => void (answers = []),
    sent() {
      const text = upstream.seen.at(-1)?.body.toString('utf8') ?? '{}';
      return { text, body: JSON.parse(text) };
    },
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
  readonly provider: ProviderId;
  readonly stream: boolean;
  readonly isNative: boolean;
  readonly form: string;
}

/** Every client beside every provider, whole and streamed. */
export function pairsOf(clients: readonly ClientRow[]): Pair[] {
  return clients.flatMap((client) =>
    PROVIDER_IDS.flatMap((provider) =>
      [false, true].map((stream) => ({
        client,
        provider,
        stream,
        isNative: client.id === provider,
        form: stream ? 'streamed' : 'whole',
      })),
    ),
  );
}

/** A title of a table over pairs. */
export const PAIR_TITLE = '$client.id ($client.library) of $provider, $form';
