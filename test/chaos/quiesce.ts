import { setTimeout as sleep } from 'node:timers/promises';
import { isOk } from './journal.ts';
import type { GatewayNode } from './gateway-node.ts';
import { ask, askAdmin, choose } from './stage.ts';
import type { Stage } from './stage.ts';

const LOOK_MS = 200;
/** For a machine that others use as well; the product needs a few seconds. */
const WITHIN_MS = 90_000;

/** How long it took until all was well again, in ms since the last fault was mended. */
export interface Recovery {
  readonly readyMs: number;
  readonly quietMs: number;
  /** What never came to rest. */
  readonly unquiet: string[];
}

/** Waits until every gateway is ready and nothing is under way any more. */
export async function quiesce(stage: Stage): Promise<Recovery> {
  const began = Date.now();
  const unready = await Promise.all(
    stage.nodes.map(async (node) => {
      const isReady = await within(async () => (await get(stage, node, '/readyz')) !== undefined);
      return isReady ? [] : [`${node.name} is not ready`];
    }),
  );
  const readyMs = Date.now() - began;
  const loose: Record<string, () => Promise<boolean>> = {
    Sessions: () => isEmpty(stage, '/v1/sessions?limit=1&statuses=running,rescheduling'),
    runs: () => isEmpty(stage, '/v1/deployment_runs?limit=1&status=pending'),
    calls: () => isEmpty(stage, '/admin/v1/requests?limit=1&status=pending'),
  };
  const unquiet = unready.flat();
  for (const [what, isOver] of Object.entries(loose)) {
    if (!(await within(isOver))) unquiet.push(`${what} are under way for ever`);
  }
  return { readyMs, quietMs: Date.now() - began, unquiet };
}

async function isEmpty(stage: Stage, path: string): Promise<boolean> {
  const body = await get(stage, choose(stage), path);
  return body?.data.length === 0;
}

async function get(stage: Stage, node: GatewayNode, path: string) {
  const asked = path.startsWith('/admin') ? askAdmin : ask;
  const reply = await asked(stage, ['look', `GET ${path}`], { node });
  return isOk(reply) ? reply.body : undefined;
}

/** Repeats until it is true; false when it never was. */
export async function within(look: () => Promise<boolean> | boolean): Promise<boolean> {
  for (const end = Date.now() + WITHIN_MS; ; await sleep(LOOK_MS)) {
    if (await look()) return true;
    if (Date.now() > end) return false;
  }
}
