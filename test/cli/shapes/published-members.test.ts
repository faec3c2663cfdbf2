import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { runCli } from '../run-cli.ts';
import type { CliRun } from '../run-cli.ts';
import { createAjv } from '../../support/schemas/create-ajv.ts';

const START = {
  version: 1,
  namespace: 'shop',
  providers: [{ name: 'acme', type: 'mock', api_key: '${secret:env:UPSTREAM_KEY}' }],
  models: [
    { name: 'acme/one', routes: [{ provider: 'acme' }], fallbacks: ['acme/two'] },
    { name: 'acme/two', routes: [{ provider: 'acme' }] },
    { name: 'acme/three', routes: [{ provider: 'acme' }] },
  ],
  keys: [{ name: 'app' }],
};
const CHANGED = {
  ...START,
  models: [
    { name: 'acme/one', routes: [{ provider: 'acme', weight: 2 }] },
    { name: 'acme/two', routes: [{ provider: 'acme' }] },
  ],
};

/** Command lines in turn, behind the exit code that each must have. */
const CALLS = [
  '0 plan -f start.yaml --out plan.json',
  '0 plan show plan.json',
  '0 apply -f start.yaml --dry-run',
  '0 apply --plan plan.json -f start.yaml',
  '0 plan -f changed.yaml --prune',
  '0 diff -f changed.yaml',
  '0 wait model/acme/one --for exists',
  '8 wait model/acme/absent --for exists --timeout 1s',
  'BY HAND',
  '2 drift -f start.yaml --exit-code',
  '0 plan -f start.yaml --write-secret provider/acme#api_key',
  '0 apply -f changed.yaml --prune --confirm-prune 1',
  '0 transfer model/acme/two --to other --dry-run',
  '0 transfer model/acme/two --to other',
  '3 plan -f absent.yaml',
  '3 drift -f absent.yaml',
] as const;

const ajv = createAjv({ allErrors: true });
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({});
  for (const [name, value] of Object.entries({ START, CHANGED }))
    await writeFile(join(gateway.directory, `${name.toLowerCase()}.yaml`), JSON.stringify(value));
});
afterAll(() => gateway.stop());

function run(...argv: string[]): Promise<CliRun> {
  const env = {
    GATEWAY_SERVER: gateway.url,
    GATEWAY_API_KEY: gateway.adminKey,
    UPSTREAM_KEY: 'upstream-secret-value',
    XDG_CONFIG_HOME: gateway.directory,
  };
  return runCli([...argv, '-o', 'json', '--yes'], { env, cwd: gateway.directory });
}

/** Deletes one object, changes another and adds a third, as somebody might. */
async function changeByHand(): Promise<void> {
  const { body } = await gateway.admin('GET', '/admin/v1/models?limit=100');
  const idOf = (name: string): string =>
    body.data.find((one: { name: string }) => one.name === name).id;
  await gateway.admin('DELETE', `/admin/v1/models/${idOf('acme/three')}`);
  await gateway.admin('PATCH', `/admin/v1/models/${idOf('acme/one')}`, { fallbacks: [] });
  await gateway.admin('POST', '/admin/v1/models', { name: 'acme/by-hand' });
}

/** The schema without room for members that it does not name. */
function closed(schema: any): any {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, name === 'const' ? value : closed(value)]),
  );
  const isOpen = schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0;
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

it(
  verifies(
    'cli.schemas.new-outputs',
    'names every member that plan, diff, apply, drift, transfer and wait print',
  ),
  async () => {
    const { data: schemas } = (await run('schema', 'output')).json();
    const whats = new Set<string>();
    const members = new Set<string>();
    for (const call of CALLS) {
      if (call === 'BY HAND') {
        await changeByHand();
        continue;
      }
      const [code, ...words] = call.split(' ');
      const printed = await run(...words);
      const document = printed.json();
      expect(printed.code, `${call}: ${printed.stdout}`).toBe(Number(code));
      const { $id: _id, ...schema } = schemas[document.schema];
      const validate = ajv.compile(closed(schema));
      validate(document);
      expect(ajv.errorsText(validate.errors), call).toBe('No errors');
      expect(document.data, call).not.toBeNull();
      for (const { what } of document.data.drifted ?? []) whats.add(what);
      for (const action of document.data.actions ?? [])
        for (const name of Object.keys(action)) members.add(name);
      for (const name of ['prunable', 'issued'])
        if (document.data[name]?.length > 0) members.add(name);
    }
    // Documents that hold nothing would fit any schema.
    expect([...whats].toSorted()).toEqual(['added', 'changed', 'deleted']);
    expect([...members]).toEqual(
      expect.arrayContaining(['basis', 'changes', 'issued', 'ownership', 'prunable']),
    );
  },
  60_000,
);
