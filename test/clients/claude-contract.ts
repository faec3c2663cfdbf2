import type { IncomingHttpHeaders } from 'node:http';
import type { SeenRequest } from '../support/stage/upstream.ts';
import type { Exchange, Run } from './claude-code.ts';

/** What a run of the client sent, what the provider got of it, and what the gateway recorded. */
export interface Traffic extends Run {
  readonly sent: readonly Exchange[];
  readonly got: readonly SeenRequest[];
  readonly records: readonly { conversation: string; result: string }[];
  /** Models that the client keeps from its discovery. */
  readonly discovered: readonly { id: string }[];
  readonly key: string;
  /** Bytes of the streams as the provider sent them. */
  readonly streams: readonly string[];
}

export type Scenario = 'work' | 'recovery' | 'refusal' | 'count';

/** One row of Claude Code's published contract with gateways, and how it is seen to hold. */
export interface ContractRow {
  /** As the contract names it. */
  readonly row: string;
  readonly gateway: string;
  readonly in: Scenario;
  /** Throws, or gives false, where the row does not hold. */
  holds(traffic: Traffic): unknown;
}

const NAME = 'acme/claude-work';
/** Name of the model at the provider. */
export const UPSTREAM_MODEL = 'claude-opus-4-8';
export const CUSTOM_HEADERS = ['x-team: blue', 'anthropic-later: 1'];
/** Wording on which the client acts. */
export const REJECTION = 'adaptive thinking is not supported on this model';

const messagesOf = ({ sent }: Traffic): Exchange[] =>
  sent.filter(({ url }) => url === '/v1/messages?beta=true');
const at = ({ sent }: Traffic, url: string): Exchange[] => sent.filter((one) => one.url === url);
const jsonOf = ({ body }: SeenRequest): Record<string, any> =>
  JSON.parse(body.toString()) as Record<string, any>;
const every = <T>(list: readonly T[], test: (one: T, index: number) => unknown): boolean =>
  list.length > 0 && list.every(test);
const betasOf = ({ headers }: { headers: IncomingHttpHeaders }): string[] =>
  String(headers['anthropic-beta']).split(',');

/** The header of every request as the client sent it, in its place. */
function arrives(traffic: Traffic, name: string): boolean {
  return every(
    messagesOf(traffic),
    ({ headers }, index) =>
      headers[name] !== undefined && traffic.got[index]?.headers[name] === headers[name],
  );
}

/** The first request has it, and all bodies came unchanged but for the model's name. */
function carries(
  traffic: Traffic,
  has: (body: Record<string, any>) => unknown,
  beta = '',
): boolean {
  const [first] = messagesOf(traffic);
  if (!first || !has(jsonOf(first))) return false;
  if (beta !== '' && !betasOf(first).some((one) => one.startsWith(beta))) return false;
  return arrives(traffic, 'anthropic-beta') && sameBodies(traffic);
}

function sameBodies(traffic: Traffic): boolean {
  return every(messagesOf(traffic), ({ body }, index) => {
    const text = body.toString().replace(`"model":"${NAME}"`, `"model":"${UPSTREAM_MODEL}"`);
    return traffic.got[index]?.body.toString() === text;
  });
}

const isWithheld = ({ got }: Traffic, name: RegExp): boolean =>
  every(got, ({ headers }) => !Object.keys(headers).some((one) => name.test(one)));

/** Rows of code.claude.com, "Claude Code gateway compatibility guide", and of `GET /protocol` of 2.1.332. */
export const CONTRACT: readonly ContractRow[] = [
  {
    row: '`POST /v1/messages?beta=true`',
    gateway: 'served; the query does not matter',
    in: 'work',
    holds: (traffic) =>
      traffic.code === 0 && every(messagesOf(traffic), ({ answer }) => answer.status === 200),
  },
  {
    row: '`POST /v1/messages/count_tokens`',
    gateway: 'forwarded; `/context` shows the counts of the provider',
    in: 'count',
    holds: (traffic) =>
      traffic.output.includes('12.3k') &&
      every(traffic.sent.slice(1), ({ answer }) => answer.status === 200),
  },
  {
    row: '`HEAD /api/hello` before anything else',
    gateway: '404 at once',
    in: 'work',
    holds: (traffic) => every(at(traffic, '/api/hello'), ({ answer }) => answer.status === 404),
  },
  {
    row: 'Streams: whole, in order, with their pings, as `text/event-stream`',
    gateway: "the provider's bytes, as they come",
    in: 'work',
    holds: (traffic) =>
      every(messagesOf(traffic), ({ answer }, index) => {
        const type = answer.headers['content-type'] ?? '';
        return type.startsWith('text/event-stream') && answer.body === traffic.streams[index];
      }),
  },
  {
    row: '`Authorization`, `x-api-key`, or one value in both',
    gateway: 'the key of the gateway in either; it never reaches a provider',
    in: 'work',
    holds: ({ got, key }) => every(got, ({ headers }) => !JSON.stringify(headers).includes(key)),
  },
  {
    row: 'The value of `apiKeyHelper`, in both',
    gateway: 'read as one key',
    in: 'count',
    holds: ({ sent }) =>
      every(
        sent.slice(1),
        ({ headers }) => headers.authorization === `Bearer ${String(headers['x-api-key'])}`,
      ),
  },
  {
    row: '`anthropic-version`',
    gateway: 'forwarded unchanged',
    in: 'work',
    holds: (traffic) => arrives(traffic, 'anthropic-version'),
  },
  {
    row: '`anthropic-beta`, every value',
    gateway: 'forwarded unchanged; what an account drops is its own setting',
    in: 'work',
    holds: (traffic) => arrives(traffic, 'anthropic-beta'),
  },
  {
    row: 'Other `anthropic-*` headers, also new ones',
    gateway: 'forwarded unchanged; a header that the account has itself wins',
    in: 'work',
    holds: (traffic) => arrives(traffic, 'anthropic-later'),
  },
  {
    row: '`x-claude-code-session-id`',
    gateway: 'the conversation of records, costs and budgets',
    in: 'work',
    holds: (traffic) => {
      const ids = new Set(
        messagesOf(traffic).map((one) => one.headers['x-claude-code-session-id']),
      );
      const sameAs = ({ conversation }: { conversation: string }): boolean => ids.has(conversation);
      return ids.size === 1 && every(traffic.records, sameAs);
    },
  },
  {
    row: '`x-claude-code-agent-id`, `-parent-agent-id`',
    gateway: "taken; a subagent's calls belong to the conversation of its session",
    in: 'work',
    holds: (traffic) => {
      const own = messagesOf(traffic).filter((one) => one.headers['x-claude-code-agent-id']);
      const isAnswered = every(own, ({ answer }) => answer.status === 200);
      return isAnswered && traffic.records.length === messagesOf(traffic).length;
    },
  },
  {
    row: 'Hint headers: `x-claude-code-request-class`, `-agent-type`, `-prompt-id`, …',
    gateway: 'taken, and not forwarded',
    in: 'work',
    holds: (traffic) =>
      every(messagesOf(traffic), ({ headers }) => headers['x-claude-code-request-class']) &&
      isWithheld(traffic, /^x-claude-code-/),
  },
  {
    row: '`ANTHROPIC_CUSTOM_HEADERS`',
    gateway: 'taken; only the `anthropic-*` ones are forwarded',
    in: 'work',
    holds: (traffic) =>
      every(messagesOf(traffic), ({ headers }) => headers['x-team'] === 'blue') &&
      isWithheld(traffic, /^x-team$/),
  },
  {
    row: 'Body fields, also new ones',
    gateway: "the client's bytes; only the value of `model` is replaced",
    in: 'work',
    holds: sameBodies,
  },
  {
    row: 'Attribution block of the system prompt',
    gateway: 'stays first, in an entry of its own',
    in: 'work',
    holds: (traffic) =>
      carries(traffic, ({ system }) => system[0].text.startsWith('x-anthropic-billing-header:')),
  },
  {
    row: 'Adaptive reasoning: `thinking`',
    gateway: 'forwarded',
    in: 'work',
    holds: (traffic) => carries(traffic, ({ thinking }) => thinking.type === 'adaptive'),
  },
  {
    row: 'Interleaved thinking',
    gateway: 'beta forwarded',
    in: 'work',
    holds: (traffic) => carries(traffic, () => true, 'interleaved-thinking-'),
  },
  {
    row: 'Extended context: a model named `…[1m]`',
    gateway: 'beta forwarded; the client leaves `[1m]` out of the name',
    in: 'work',
    holds: (traffic) => carries(traffic, ({ model }) => model === NAME, 'context-1m-'),
  },
  {
    row: 'Context management: `context_management`',
    gateway: 'forwarded with its beta',
    in: 'work',
    holds: (traffic) =>
      carries(traffic, ({ context_management: edits }) => edits, 'context-management-'),
  },
  {
    row: 'Beta tool fields: `defer_loading`, …',
    gateway: 'forwarded with their beta',
    in: 'work',
    holds: (traffic) =>
      carries(
        traffic,
        ({ tools }) => tools.some((tool: object) => 'defer_loading' in tool),
        'advanced-tool-use-',
      ),
  },
  {
    row: 'Effort and structured outputs: `output_config`',
    gateway: 'forwarded with its beta',
    in: 'work',
    holds: (traffic) =>
      carries(traffic, ({ output_config: config }) => config.effort === 'low', 'effort-'),
  },
  {
    row: 'Prompt caching: `cache_control`, for an hour with its beta',
    gateway: 'forwarded as it comes',
    in: 'work',
    holds: (traffic) =>
      carries(
        traffic,
        ({ system, messages }) =>
          JSON.stringify(system).includes('"ttl":"1h"') &&
          JSON.stringify(messages).includes('cache_control'),
        'extended-cache-ttl-',
      ),
  },
  {
    row: 'Messages of the role `system` in a conversation',
    gateway: 'forwarded',
    in: 'work',
    holds: (traffic) =>
      carries(traffic, ({ messages }) => messages.some((one: any) => one.role === 'system')),
  },
  {
    row: 'Wording of refused capabilities, with status and type',
    gateway: "the provider's words in the shape of the protocol; the client tries again without",
    in: 'recovery',
    holds: (traffic) => {
      const [refused, ...others] = messagesOf(traffic);
      if (refused?.answer.status !== 400 || traffic.code !== 0) return false;
      const { error } = JSON.parse(refused.answer.body) as { error: object };
      const isTold = JSON.stringify(error).includes(REJECTION);
      return isTold && every(others, (one) => jsonOf(one)['thinking']?.type !== 'adaptive');
    },
  },
  {
    row: '`retry-after` in whole seconds',
    gateway: 'not sent: another provider may be free at once; the client takes its own pauses',
    in: 'recovery',
    holds: ({ sent }) => every(sent, ({ answer }) => answer.headers['retry-after'] === undefined),
  },
  {
    row: '`x-should-retry: false` with a 401',
    gateway: 'sent; without it the client asks for three minutes',
    in: 'refusal',
    holds: (traffic) =>
      traffic.code !== 0 &&
      messagesOf(traffic).length === 1 &&
      every(messagesOf(traffic), ({ answer: { status, headers } }) => {
        return status === 401 && headers['x-should-retry'] === 'false';
      }),
  },
  {
    row: '`anthropic-ratelimit-unified-*` of answers',
    gateway: "withheld: they are of the provider's account, which clients share",
    in: 'work',
    holds: (traffic) =>
      every(
        messagesOf(traffic),
        ({ answer }) => !Object.keys(answer.headers).some((name) => name.includes('ratelimit')),
      ),
  },
  {
    row: '`GET /v1/models?limit=1000` within 3 s, without a redirect',
    gateway:
      'the models of the key; the client keeps those with `claude` in their names; with no other than `x-api-key` it needs `server.compat.model_lists`',
    in: 'work',
    holds: (traffic) =>
      every(at(traffic, '/v1/models?limit=1000'), ({ answer }) => answer.status === 200) &&
      traffic.discovered.some(({ id }) => id === NAME),
  },
  {
    row: 'Telemetry: `POST /v1/logs`, `/v1/metrics`, `/v1/traces`',
    gateway: '404 at once: send it to a collector',
    in: 'work',
    holds: (traffic) =>
      every(
        traffic.sent.filter(({ url }) => /^\/v1\/(logs|metrics|traces)$/.test(url)),
        ({ answer }) => answer.status === 404,
      ),
  },
];
