import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { verifies } from '../requirements.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { runCli, type CliRun } from './run-cli.ts';
import { createAjv } from '../support/schemas/create-ajv.ts';

type Json = Readonly<Record<string, unknown>>;

const SERVICE = { name: 'help', agent_id: '${ref:agent.first.id}', protocols: ['rest'] };
const RUNTIME = { type: 'agent', model: 'acme/kept' };

/** What is declared first, and applied. */
const BEFORE = {
  version: 1,
  namespace: 'team',
  providers: [
    { name: 'one', type: 'mock', api_key: '${secret:env:UPSTREAM}' },
    { name: 'two', type: 'mock' },
  ],
  models: [
    { name: 'acme/kept', display_name: 'Kept', routes: [{ provider: 'one' }] },
    { name: 'acme/gone', routes: [{ provider: 'one' }] },
    { name: 'acme/touched', routes: [{ provider: 'two' }] },
    { name: 'acme/lost', routes: [{ provider: 'two' }] },
  ],
  keys: [{ name: 'ci' }, { name: 'old' }],
  agents: [
    { name: 'first', model: 'acme/kept' },
    { name: 'second', model: 'acme/kept' },
  ],
  services: [SERVICE],
  deployments: [
    {
      name: 'report',
      agent_id: '${ref:agent.first.id}',
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'x' }] }],
      schedule: { type: 'cron', expression: '0 7 * * *', timezone: 'UTC' },
    },
  ],
};

/** The same later: changed, reset, bound anew, taken away, new, protected. */
const AFTER = {
  ...BEFORE,
  providers: [
    {
      name: 'one',
      type: 'mock',
      api_key: '${secret:env:UPSTREAM}',
      lifecycle: { protected: true },
    },
    { name: 'two', type: 'mock' },
  ],
  models: [
    { name: 'acme/kept', routes: [{ provider: 'one', weight: 2 }, { provider: 'two' }] },
    { name: 'acme/touched', routes: [{ provider: 'two' }] },
    { name: 'acme/lost', routes: [{ provider: 'two' }] },
    { name: 'acme/new', routes: [{ provider: 'two' }] },
  ],
  keys: [{ name: 'ci', rpm_cap: 5 }, { name: 'fresh' }],
  deployments: BEFORE.deployments.map((one) => ({ ...one, agent_id: '${ref:agent.second.id}' })),
};
/** A Service that becomes declarative gets another id. */
const FIXED = { ...BEFORE, services: [{ ...SERVICE, agent_id: null, runtime: RUNTIME }] };
const BROKEN = { version: 1, models: [{ name: 'acme/bad', strategi: 'priority' }] };

/** Command lines with members that their data must hold, so that no shape is judged by empty lists. */
const CALLS: readonly (readonly [string, readonly string[]])[] = [
  ['validate -f after.yaml --online', ['"files":["']],
  ['validate -f broken.yaml', ['"hint":']],
  ['plan -f after.yaml --prune', ['"steps":["', '"reset":true', '"note":', '"irreversible":[{']],
  ['plan -f after.yaml --write-secret provider/one#api_key', ['"secret":true', '"prunable":[{']],
  ['plan -f after.yaml --only model/acme/*', ['"origin":"server"']],
  ['plan -f fixed.yaml', ['"forcedBy":["']],
  ['plan -f after.yaml --out plan.json', ['"basis":{']],
  ['plan show plan.json', ['"basis":{']],
  ['diff -f after.yaml', ['"basis":{']],
  ['drift -f after.yaml', ['"what":"changed"', '"what":"deleted"', '"what":"added"']],
  ['apply -f after.yaml --prune --confirm-prune 2', ['"applied":[{', '"issued":[{']],
  ['wait model/acme/new --for exists', ['"outcome":"holds"']],
  ['wait schedule/report --for status=paused --timeout 1s', ['"outcome":"timeout"']],
  ['adopt -f hand.yaml', ['"adopted":[{']],
  ['transfer model/acme/hand --to team --dry-run', ['"objects":[{']],
  ['delete -f nowhere.yaml', ['"gone":[{']],
  ['delete -f hand.yaml', ['"applied":[{']],
];

let gateway: TestGateway;
let schemas: Readonly<Record<string, Json>>;
beforeAll(async () => {
  gateway = await startGateway();
  const files = { before: BEFORE, after: AFTER, fixed: FIXED, broken: BROKEN };
  for (const [name, tree] of Object.entries(files)) await write(name, tree);
  await write('hand', { version: 1, namespace: 'hand', models: [{ name: 'acme/hand' }] });
  await write('nowhere', { version: 1, namespace: 'x', models: [{ name: 'acme/none' }] });
  schemas = (await run('schema', 'output')).json().data;
  expect(await run('apply', '-f', 'before.yaml')).toMatchObject({ code: 0 });
  const routes = [{ provider: 'two', weight: 9 }];
  await gateway.admin('PATCH', '/admin/v1/models/acme%2Ftouched', { routes });
  await gateway.admin('DELETE', '/admin/v1/models/acme%2Flost');
  await gateway.admin('POST', '/admin/v1/models', { name: 'acme/hand' });
});
afterAll(() => gateway.stop());

function write(name: string, tree: object): Promise<void> {
  return writeFile(join(gateway.directory, `${name}.yaml`), stringify(tree));
}

function run(...argv: string[]): Promise<CliRun> {
  const env = {
    GATEWAY_SERVER: gateway.url,
    GATEWAY_API_KEY: gateway.adminKey,
    UPSTREAM: 'upstream-key',
  };
  return runCli([...argv, '-o', 'json', '--yes'], { env, cwd: gateway.directory });
}

/** Schemas that may judge a value: itself and all branches of its unions. */
function branches(schema: unknown): Json[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = schema as Json;
  const inner = [own['anyOf'], own['allOf'], own['oneOf']].flatMap((one) =>
    Array.isArray(one) ? one.flatMap((each) => branches(each)) : [],
  );
  return [own, ...inner];
}

/** Paths of members that no branch of the schema names. */
function unnamed(schema: readonly unknown[], value: unknown, path = ''): string[] {
  const all = schema.flatMap((one) => branches(one));
  // A schema without words takes anything.
  if (all.some((one) => Object.keys(one).length === 0)) return [];
  if (Array.isArray(value)) {
    const items = all.map(({ items: item }) => item);
    return value.flatMap((member, index) => unnamed(items, member, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const inner = all.flatMap(({ properties, additionalProperties }) => [
      ...(Object.hasOwn((properties as Json | undefined) ?? {}, name)
        ? [(properties as Json)[name]]
        : []),
      ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
    ]);
    return inner.length === 0 ? [`${path}.${name}`] : unnamed(inner, member, `${path}.${name}`);
  });
}

it(
  verifies(
    'cli.schemas.new-outputs',
    'plan, apply, drift, delete, wait, adopt and transfer print what their schemas name, and nothing else',
  ),
  async () => {
    const ajv = createAjv({ allErrors: true });
    for (const [line, members] of CALLS) {
      const document = (await run(...line.split(' '))).json();
      const schema = schemas[document.schema];
      const validate = ajv.getSchema(document.schema) ?? ajv.compile(schema ?? false);
      expect([validate(document), ajv.errorsText(validate.errors)], line).toEqual([
        true,
        'No errors',
      ]);
      for (const member of members) expect(JSON.stringify(document.data), line).toContain(member);
      expect(unnamed([schema], document), line).toEqual([]);
    }
  },
  60_000,
);
