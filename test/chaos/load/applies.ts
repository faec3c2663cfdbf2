import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BINARY } from '../../support/gateway.ts';
import type { GatewayNode } from '../gateway-node.ts';
import { choose } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { repeat } from './repeat.ts';

const EVERY_MS = 3_000;
const PATIENCE_MS = 20_000;
export const APPLIED = ['applied-0', 'applied-1', 'applied-2'];
export const revisionOf = (text: string): number => Number(/revision (\d+)/.exec(text)?.[1] ?? 0);

/** `gateway apply` of one revision after the other; the first before anything goes wrong. */
export function startApplies(stage: Stage, until: AbortSignal): Promise<void>[] {
  const work = async (): Promise<void> => void (await apply(stage, choose(stage)));
  return [repeat(stage, { until, everyMs: EVERY_MS, work })];
}

/** Gives what it said when it failed. */
export async function apply(stage: Stage, node: GatewayNode): Promise<string | undefined> {
  const { applied } = stage.journal;
  const revision = ++applied.tried;
  const file = join(stage.directory, 'desired.yaml');
  const system = `revision ${revision}`;
  const agents = APPLIED.map((name) => ({ name, model: 'chaos/flat', system }));
  const models = [
    { name: 'applied/model', description: system, routes: [{ provider: 'upstream' }] },
  ];
  await writeFile(file, JSON.stringify({ version: 1, namespace: 'chaos', models, agents }));
  const child = spawn(process.execPath, [BINARY, 'apply', '-f', file, '--yes'], {
    cwd: stage.directory,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: stage.directory,
      GATEWAY_SERVER: node.url,
      GATEWAY_API_KEY: stage.keys.admin,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const overdue = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(overdue);
  if (code !== 0) return said;
  applied.acknowledged = revision;
  applied.count++;
  return undefined;
}
