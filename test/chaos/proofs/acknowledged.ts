import { APPLIED, revisionOf } from '../load/applies.ts';
import type { GatewayNode } from '../gateway-node.ts';
import type { Stage } from '../stage.ts';
import { readAll, toProof } from './pages.ts';
import type { Proof } from './pages.ts';

/** Everything that was answered with success is there, wherever one looks. */
export async function proveAcknowledged(stage: Stage): Promise<Proof> {
  const looked = await Promise.all(stage.nodes.map((node) => lookAt(stage, node)));
  const checked = looked.reduce((sum, one) => sum + one.checked, 0);
  const faults = looked.flatMap((one) => one.faults);
  return toProof('no acknowledged write is missing', checked, faults);
}

async function lookAt(stage: Stage, node: GatewayNode) {
  const { journal } = stage;
  const faults: string[] = [];
  let checked = 0;
  const expectThat = (isSo: boolean, what: string): void => {
    checked++;
    if (!isSo) faults.push(`${node.name}: ${what}`);
  };
  const byId = async (path: string) => {
    const items = await readAll(stage, node, path);
    return new Map(items.map((item) => [item.id as string, item]));
  };
  const agents = await byId('/v1/agents?limit=100');
  for (const { id, name } of journal.agents)
    expectThat(agents.get(id)?.name === name, `Agent ${id} is missing`);
  const keys = await byId('/admin/v1/keys?limit=100');
  for (const { id, revokedAt } of journal.keys) {
    expectThat(keys.has(id), `key ${id} is missing`);
    if (revokedAt !== undefined)
      expectThat(Boolean(keys.get(id)?.revoked_at), `key ${id} is not revoked any more`);
  }
  const sessions = await byId('/v1/sessions?limit=100');
  for (const { id } of journal.sessions) expectThat(sessions.has(id), `Session ${id} is missing`);
  const runs = await byId('/v1/deployment_runs?limit=100');
  for (const { id, session } of journal.runs) {
    const run = runs.get(id);
    expectThat(run !== undefined, `run ${id} is missing`);
    if (session !== null)
      expectThat(run?.session_id === session, `run ${id} has another Session than was told`);
  }
  const { tried, acknowledged } = journal.applied;
  const models = await readAll(stage, node, '/admin/v1/models?limit=100');
  const applied = [
    ...APPLIED.map((name) => [...agents.values()].filter((one) => one.name === name)),
    models.filter(({ name }) => name === 'applied/model'),
  ];
  for (const found of applied) {
    const revision = revisionOf(String(found[0]?.system ?? found[0]?.description ?? ''));
    const isWhole = found.length === 1 && revision >= acknowledged && revision <= tried;
    expectThat(isWhole, `applied revision ${acknowledged} became ${revision} (${found.length})`);
  }
  return { checked, faults };
}
