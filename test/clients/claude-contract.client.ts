import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { endEvents, MESSAGE_START, messagesFrames, textEvents } from '../support/messages.ts';
import { beginEvents, sendJson, startUpstream } from '../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../support/stage/upstream.ts';
import { verifies } from '../requirements.ts';
import { CLAUDE, runClaude, startRecorder } from './claude-code.ts';
import { CONTRACT, CUSTOM_HEADERS, REJECTION, UPSTREAM_MODEL } from './claude-contract.ts';
import type { Scenario, Traffic } from './claude-contract.ts';

interface Body {
  model: string;
  thinking?: { type: string };
  messages: { role: string; content: unknown }[];
  tools?: { name: string }[];
}

/** Words and variables of each run. */
const RUNS: Readonly<Record<Scenario, { words: string[]; env?: Record<string, string> }>> = {
  work: {
    words: ['Ask an agent', '--dangerously-skip-permissions', '--effort', 'low'],
    env: {
      ANTHROPIC_MODEL: 'acme/claude-work[1m]',
      ANTHROPIC_CUSTOM_HEADERS: CUSTOM_HEADERS.join('\n'),
      CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
      CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
      ENABLE_PROMPT_CACHING_1H: '1',
      CLAUDE_CODE_ENABLE_TELEMETRY: '1',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      IS_SANDBOX: '1',
    },
  },
  recovery: { words: ['hello'] },
  refusal: { words: ['hello'], env: { ANTHROPIC_AUTH_TOKEN: 'sk-wrong' } },
  count: {
    words: ['/context', '--settings', '{"apiKeyHelper":"echo $GATEWAY_KEY"}'],
    env: { ANTHROPIC_AUTH_TOKEN: '' },
  },
};

let folder: string;
let upstream: Upstream;
let gateway: TestGateway;
const streams: string[] = [];
const traffic = new Map<Scenario, Traffic>();

beforeAll(async () => {
  if (!existsSync(CLAUDE)) return;
  folder = await mkdtemp(join(process.env['CLIENTS'] ?? '', 'contract-'));
  await writeFile(join(folder, 'note.txt'), 'plover\n');
  upstream = await startUpstream(play);
  const scenarios = Object.keys(RUNS) as Scenario[];
  gateway = await startGateway(
    {
      providers: [
        { name: 'vendor', type: 'anthropic', base_url: upstream.url, api_key: '${secret:env:KEY}' },
      ],
      models: scenarios.map((name) => ({
        name: `acme/claude-${name}`,
        routes: [{ provider: 'vendor', upstream_model: UPSTREAM_MODEL }],
      })),
    },
    { env: { KEY: 'sk-upstream' } },
  );
  for (const name of scenarios) traffic.set(name, await trafficOf(name));
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(!existsSync(CLAUDE))("Claude Code's contract with gateways", () => {
  it.each(CONTRACT)(verifies('clients.claude-contract', 'holds: $row'), (row) => {
    const seen = traffic.get(row.in);
    if (!seen) throw new Error(`no traffic of ${row.in}`);
    expect(Boolean(row.holds(seen)), summaryOf(seen)).toBe(true);
  });
});

async function trafficOf(name: Scenario): Promise<Traffic> {
  const { words, env = {} } = RUNS[name];
  const home = join(folder, name);
  await mkdir(home);
  upstream.seen.length = 0;
  streams.length = 0;
  const recorder = await startRecorder(() => gateway.url);
  const key = gateway.clientKey;
  const run = await runClaude(words, {
    home,
    cwd: folder,
    env: {
      ANTHROPIC_BASE_URL: recorder.url,
      ANTHROPIC_MODEL: `acme/claude-${name}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: recorder.url,
      ANTHROPIC_AUTH_TOKEN: key,
      GATEWAY_KEY: key,
      ...env,
    },
  });
  await recorder.close();
  const { body } = await gateway.admin('GET', `/admin/v1/requests?model=acme/claude-${name}`);
  const cache = await readFile(join(home, '.claude/cache/gateway-models.json'), 'utf8').catch(
    () => '{"models":[]}',
  );
  const { models: discovered } = JSON.parse(cache) as { models: Traffic['discovered'] };
  const got = [...upstream.seen];
  const seen = { sent: recorder.seen, got, records: body.data as Traffic['records'] };
  return { ...run, ...seen, discovered, key, streams: [...streams] };
}

/** The main conversation asks an agent, and the agent reads a file; one capability is refused. */
function play(response: ServerResponse, { url, body }: SeenRequest): void {
  if (url.includes('count_tokens')) return sendJson(response, 200, { input_tokens: 12_345 });
  const { messages, tools = [], thinking } = JSON.parse(body.toString()) as Body;
  const text = JSON.stringify(messages.filter(({ role }) => role === 'user').at(-1));
  if (text.includes('hello') && thinking?.type === 'adaptive') {
    response.setHeader('retry-after', new Date(Date.now() + 60_000).toUTCString());
    const error = { type: 'invalid_request_error', message: REJECTION };
    return sendJson(response, 400, { type: 'error', error });
  }
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  const isFirst = !text.includes('tool_result');
  const events =
    isFirst && text.includes('Ask an agent') && has('Agent')
      ? call('Agent', { description: 'x', prompt: 'Read it', subagent_type: 'general-purpose' })
      : isFirst && text.includes('Read it') && has('Read')
        ? call('Read', { file_path: join(folder, 'note.txt') })
        : [...textEvents(0, 'plo', 'ver'), ...endEvents()];
  const bytes = messagesFrames([MESSAGE_START, { type: 'ping' }, ...events]);
  streams.push(bytes);
  response.setHeader('anthropic-ratelimit-unified-status', 'allowed');
  beginEvents(response);
  response.end(bytes);
}

function call(name: string, input: object): object[] {
  const block = { type: 'tool_use', id: `toolu_${name}`, name, input: {} };
  const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
  return [
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    ...endEvents('tool_use'),
  ];
}

function summaryOf({ code, output, sent }: Traffic): string {
  const lines = sent.map(({ method, url, answer }) => `${method} ${url}: ${answer?.status}`);
  return [...lines, `ended with ${code}: ${output.slice(-300)}`].join('\n');
}
