import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startAuthProxy } from '../../support/stage/auth-proxy.ts';
import type { AuthProxy } from '../../support/stage/auth-proxy.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startLossyStage } from '../../support/stage/lossy-stage.ts';
import type { LossyStage } from '../../support/stage/lossy-stage.ts';
import { CONFIG } from './service-setup.ts';

// The package has a program and no module.
const PROGRAM = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/**
 * Those of the public scenarios that need no tools or resources of the scenario's own, by revision, but for
 * the tool `test_reconnection` of server-sse-polling: a call whose stream breaks off. A stage before the
 * Service makes it of `send_message` and a connection that is lost.
 */
const SCENARIOS = {
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'tools-list',
    'server-sse-multiple-streams',
    'server-sse-polling',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'dns-rebinding-protection',
    'http-header-validation',
    'input-required-result-missing-input-response',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-unsupported-methods',
    'input-required-result-validate-input',
    'server-sse-multiple-streams',
    'tasks-capability-negotiation',
    'tasks-request-state-removal',
    'tasks-wire-fields',
    'tools-list',
  ],
} as const;

/** Failing checks of scenarios that are about more than the tools of a Service: each needs a tool or a list of its own. */
const LACKING = {
  caching: [
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-list-caching-hints',
    'sep-2549-resources-templates-list-caching-hints',
  ],
  'server-stateless': [
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-missing-capability-http-400',
    'sep-2575-server-no-log-without-loglevel',
    'sep-2575-server-rejects-undeclared-capability',
  ],
  'tasks-dispatch-and-envelope': ['tasks-result-type-complete-on-non-task-responses'],
  'tasks-lifecycle': [
    'sep-2663-tasks-get-status-failed',
    'sep-2663-tool-error-uses-completed-status',
  ],
  'tasks-request-headers': ['tasks-headers-tolerate-mcp-method-on-tools-call'],
};

const ASK = {
  type: 'custom',
  name: 'ask_user',
  description: 'Asks the user.',
  input_schema: { type: 'object', properties: {} },
};

/** A model that asks, too, and one answer that takes a second. */
const PROVIDERS = CONFIG.providers.map((provider) => ({
  ...provider,
  mock: {
    rules: [
      ...provider.mock.rules,
      { match: { text: 'ask' }, reply: { tool_calls: [{ name: ASK.name, arguments: {} }] } },
      {
        match: { text: 'briefly', stream: true },
        reply: { text: 'one two', chunks: 2, chunk_delay_ms: 600 },
      },
    ],
  },
}));

type Revision = keyof typeof SCENARIOS;
const REVISIONS = Object.keys(SCENARIOS) as Revision[];

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

let gateway: TestGateway;
let proxy: AuthProxy;
let stage: LossyStage;
let directory: string;
let url: string;
let found: Readonly<Record<Revision, ReadonlyMap<string, Check[]>>>;

beforeAll(async () => {
  gateway = await startGateway({ ...CONFIG, providers: PROVIDERS });
  // It sends no key of its own.
  proxy = await startAuthProxy(gateway.url, gateway.clientKey);
  stage = await startLossyStage(proxy.url);
  directory = await mkdtemp(join(tmpdir(), 'conformance-'));
  const agent = await gateway.call('POST', '/v1/agents', {
    body: { name: 'asking', model: 'acme/one', tools: [ASK] },
  });
  const body = { name: 'conforming', agent_id: agent.body.id, protocols: ['mcp'] };
  const service = await gateway.call('POST', '/v1/endpoints', { body });
  url = `${stage.url}/v1/endpoints/${service.body.id}/mcp`;
  // The program needs a newer Node.js than the lowest that the gateway runs on.
  const fetched = await run(process.execPath, ['scripts/fetch-node.js', '22.23.3'], { cwd: ROOT });
  const node = fetched.stdout.trim();
  const [first, second] = await Promise.all(REVISIONS.map((one) => play(one, node)));
  found = { '2025-11-25': first ?? new Map(), '2026-07-28': second ?? new Map() };
});

afterAll(async () => {
  await stage.close();
  await proxy.close();
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Findings for every scenario of a revision; most are of features that a Service does not have, and fail. */
async function play(revision: Revision, node: string): Promise<Map<string, Check[]>> {
  const out = await mkdtemp(join(directory, 'all'));
  const words = [PROGRAM, 'server', '--url', url, '--requirements', revision, '-o', out];
  await expect(run(node, words, { cwd: directory, timeout: 120_000 })).rejects.toMatchObject({
    code: 1,
  });
  return foundIn(out);
}

/** True for a scenario whose own checks were made, beyond that of every message against the schema, and hold. */
function isPassed(checks: readonly Check[]): boolean {
  const own = checks.filter(({ id }) => id !== 'wire-schema-valid');
  const fault = checks.find(({ status }) => status === 'FAILURE' || status === 'WARNING');
  return fault === undefined && own.some(({ status }) => status === 'SUCCESS');
}

/** By scenario; the program puts each into a folder `server-SCENARIO-TIME`. */
async function foundIn(out: string): Promise<Map<string, Check[]>> {
  const scenarios = new Map<string, Check[]>();
  for (const folder of await readdir(out)) {
    const text = await readFile(join(out, folder, 'checks.json'), 'utf8');
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    scenarios.set(scenario, JSON.parse(text) as Check[]);
  }
  return scenarios;
}

describe.each(REVISIONS)('the public conformance suite of MCP for %s', (revision) => {
  it.each(SCENARIOS[revision])(
    verifies('mcp.conformance', 'passes a Service in %s'),
    (scenario) => {
      const checks = found[revision].get(scenario) ?? [];
      expect(checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')).toEqual(
        [],
      );
      expect(isPassed(checks)).toBe(true);
    },
  );

  it(
    verifies('mcp.conformance.not-vacuous', 'lets none of its scenarios pass without a check'),
    () => {
      const passed = [...found[revision]].flatMap(([name, checks]) =>
        isPassed(checks) ? [name] : [],
      );
      expect(passed.toSorted()).toEqual([...SCENARIOS[revision]].toSorted());
    },
  );

  it('fails where a Service does not do what is asked, so its passing means something', () => {
    const checks = found[revision].get('resources-list') ?? [];
    expect(checks.map(({ status }) => status)).toContain('FAILURE');
  });
});

describe('a scenario that a Service passes in part', () => {
  it.each(Object.entries(LACKING))(
    verifies('mcp.modern.discover', 'mcp.modern.tasks', 'fails for want of its own tools: %s'),
    (scenario, failing) => {
      const checks = found['2026-07-28'].get(scenario) ?? [];
      const faults = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
      expect([...new Set(faults.map(({ id }) => id))].toSorted()).toEqual(failing);
      expect(checks.filter(({ status }) => status === 'SUCCESS').length).toBeGreaterThan(2);
    },
  );

  it(verifies('mcp.conformance.not-vacuous', 'sees a stream that breaks off be resumed'), () => {
    const checks = found['2025-11-25'].get('server-sse-polling');
    const passed = checks?.filter(({ status }) => status === 'SUCCESS');
    expect(passed?.map(({ id }) => id)).toEqual([
      'server-sse-priming-event',
      'server-sse-retry-field',
      'server-sse-disconnect-resume',
    ]);
    expect(stage.lost()).toBeGreaterThan(0);
  });
});
