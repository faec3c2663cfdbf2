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
import { CONFIG, newService } from './service-setup.ts';

// The package has a program and no module.
const PROGRAM = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/**
 * Those of the public scenarios that need no tools or resources of the scenario's own, but for the tool
 * `test_reconnection` of server-sse-polling: a call whose stream breaks off. A stage before the Service
 * makes it of `send_message` and a connection that is lost.
 */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'server-sse-multiple-streams',
  'server-sse-polling',
  'dns-rebinding-protection',
];

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

let gateway: TestGateway;
let proxy: AuthProxy;
let stage: LossyStage;
let directory: string;
let url: string;
let found: ReadonlyMap<string, Check[]>;

beforeAll(async () => {
  gateway = await startGateway(CONFIG);
  // It sends no key of its own.
  proxy = await startAuthProxy(gateway.url, gateway.clientKey);
  stage = await startLossyStage(proxy.url);
  directory = await mkdtemp(join(tmpdir(), 'conformance-'));
  const { id } = await newService(gateway, { name: 'conforming', protocols: ['mcp'] });
  url = `${stage.url}/v1/endpoints/${id}/mcp`;
  found = await playAll();
});

afterAll(async () => {
  await stage.close();
  await proxy.close();
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

/** What the program found of every scenario; most are of what a Service does not offer, and fail. */
async function playAll(): Promise<Map<string, Check[]>> {
  const out = await mkdtemp(join(directory, 'all'));
  const words = [PROGRAM, 'server', '--url', url, '--suite', 'all', '-o', out];
  const played = promisify(execFile)(process.execPath, words, { cwd: directory, timeout: 60_000 });
  await expect(played).rejects.toMatchObject({ code: 1 });
  return foundIn(out);
}

const statusesOf = (scenario: string): string[] =>
  (found.get(scenario) ?? []).map(({ status }) => status);

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

describe('the public conformance suite of MCP', () => {
  it.each(SCENARIOS)(verifies('mcp.conformance', 'passes a Service in %s'), (scenario) => {
    expect(statusesOf(scenario)).toContain('SUCCESS');
    for (const fault of ['FAILURE', 'WARNING']) expect(statusesOf(scenario)).not.toContain(fault);
  });

  it(
    verifies('mcp.conformance.not-vacuous', 'lets none of its scenarios pass without a check'),
    () => {
      const passed = [...found.keys()].filter((name) => !statusesOf(name).includes('FAILURE'));
      expect(passed.toSorted()).toEqual(SCENARIOS.toSorted());
    },
  );

  it(
    verifies('mcp.conformance.not-vacuous', 'sees a stream that breaks off be gone on with'),
    () => {
      const passed = found.get('server-sse-polling')?.filter(({ status }) => status === 'SUCCESS');
      expect(passed?.map(({ id }) => id)).toEqual([
        'server-sse-priming-event',
        'server-sse-retry-field',
        'server-sse-disconnect-resume',
      ]);
      expect(stage.lost()).toBeGreaterThan(0);
    },
  );

  it('fails where a Service does not do what is asked, so its passing means something', () => {
    expect(statusesOf('resources-list')).toContain('FAILURE');
  });
});
