import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { schemaOf } from '../../src/cli/command.ts';
import { DATA_SHAPES } from '../../src/cli/shapes/shapes.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { verifies } from '../requirements.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { startMediaStudio } from '../support/stage/media-studio.ts';
import type { MediaStudio } from '../support/stage/media-studio.ts';
import { runCli } from './run-cli.ts';
import type { CliRun } from './run-cli.ts';
import { createAjv } from '../support/schemas/create-ajv.ts';

const SKILL = '---\nname: skill\ndescription: Knows.\n---\nKnow.\n';
const CONFIG = {
  namespace: 'shapes',
  providers: [{ name: 'acme', type: 'mock' }],
  models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
  apis: [{ name: 'weather', base_url: 'https://weather.example' }],
  skills: [{ name: 'skill', files: { 'SKILL.md': SKILL } }],
  agents: [{ name: 'agent', model: 'acme/one' }],
  services: [
    { name: 'service', slug: 'service', agent_id: '${ref:agent.agent.id}', protocols: ['rest'] },
  ],
  credentials: [
    {
      name: 'secret',
      agent_id: '${ref:agent.agent.id}',
      scope: 'mcp',
      scope_name: 'shop',
      secret_key: 'token',
      value: '${secret:env:SHOP_TOKEN}',
    },
  ],
};
const MORE = `version: 1
namespace: more
models: [{ name: acme/two, routes: [{ provider: acme }] }]
`;

const PRICES = JSON.stringify([
  {
    id: 'openai',
    models: [{ id: 'gpt', match: { equals: 'gpt' }, prices: { input_mtok: 1 } }],
  },
]);
const PRICES_SUM = createHash('sha256').update(PRICES).digest('hex');

/** One line per command line; `ID` is a Session, the other capitals what they say. */
const CALLS = `
init new
start --check
start --check -c absent.yaml
status
doctor --offline
validate -f more.yaml
validate -f absent.yaml
plan -f more.yaml
plan -f absent.yaml
plan -f more.yaml --out plan.json
plan show plan.json
diff -f more.yaml
apply -f more.yaml --dry-run
apply -f more.yaml
drift -f more.yaml
adopt -f more.yaml
dump
dump --split dumped
dump -A --split namespaces
transfer model/acme/two --to other --dry-run
explain model.routes
schema
schema output
schema output stream
chat acme/one hello --no-stream
connect
connect claude
connect claude --write
connect claude --undo
models list
models get acme/one
models explain acme/one
keys create new
keys update new --scope everything
keys list
keys get new
keys update new --rpm-cap 7 --label team=core
keys rotate new --overlap 1h
keys revoke new
providers create made --kind mock
providers create made --kind nowhere
providers update made --enabled false
providers list
providers get acme
models create acme/made --route made
models add acme/made --strategy none
models update acme/made --set routes[0].weight=2
models update acme/made --set routes[0].weight=none
apis create made --base-url https://made.example
apis update made --methods GET
apis list
apis get weather
aliases create quick --model acme/one
aliases update quick --enabled false
aliases list
aliases get quick
budgets create team-blue --amount 5 --per month
budgets update team-blue --amount 6
budgets list
budgets list --own
budgets get team-blue
budgets disable team-blue
budgets enable team-blue
budgets delete team-blue
organizations create made --spending-limit 5
organizations update made --credit 5
organizations list
organizations get default
prices show
prices update prices.json --sha256 ${PRICES_SUM}
prices update prices.json
prices reset
usage
usage --by key --by day
usage --own
account
executions
logs
audit
audit verify
api GET /healthz
whoami
console --no-open
login --context schemas --api-key-file .gateway/admin.key
config get-contexts
config current-context
config view --show-origin
config use-context local
config delete-context schemas
config delete-context schemas
logout
selftest --model acme/one
agents list
agents get agent
agents create made --model acme/one
agents update made --system brief
services create made --agent made --protocols rest
services update made --slug made
schedules create made --cron @daily --agent made --message hello
schedules create made --cron * --agent made --message hello
schedules update made --paused true
services list
services get service
services disable service
services enable service
credentials list
credentials get secret
credentials create other --agent agent --scope-name shop --secret-key OTHER_TOKEN --value-stdin
credentials rotate other --value-stdin
credentials update other --weight 2
credentials disable secret
credentials enable secret
credentials create new --agent agent --scope-name shop --secret-key token --value-file more.yaml
credentials rotate new --value-file more.yaml
skills list
skills get skill
skills get skill --out unpacked
skills update skill unpacked --force
skills versions skill
files upload more.yaml
files list
files get more.yaml
files download more.yaml --out copy.yaml
files delete more.yaml
assets create MEDIA --type Image --name fox
assets get ASSET
invoke service hello
sessions list
sessions get ID
sessions events ID
sessions send ID more
sessions archive ID
sessions delete ID
deployments list
deployments get SCHEDULE
deployments pause SCHEDULE
deployments unpause SCHEDULE
deployments next * --timezone UTC
trigger SCHEDULE
runs list
runs get RUN
run acme/one --input {"messages":[{"role":"user","content":"hi"}]} --wait
run acme/none --input {}
wait RUN
wait RUN --for status=failed
wait service/service --for exists
tasks get TASK
webhooks list
webhooks redeliver DELIVERY
webhooks secret rotate
deployments archive SCHEDULE
deployments delete SCHEDULE
agents archive agent
services delete service
skills delete skill
init plugin --template plugin
plugins manifest plugin
plugins install ./plugin
plugins list
plugins remove gateway-plugin-report
plugins install ./absent
skills create unpacked --display-name again
delete -f more.yaml
store migrate --from old.yaml --to lmdb:moved
store backup copied -c moved.yaml
store verify copied
store verify
store verify absent
store restore copied --to restored
store admin-key
store admin-key -c absent.yaml
version
completion bash
help
help keys create
help exit-codes
help env
help flags
help config
keys get nobody
sessions get nobody --ignore-not-found
keyz
keys list --bogus
`;

/**
 * Their results are lines, or what another protocol says; others need a Session that waits, a chat provider,
 * or a process that may be signalled.
 */
const NO_DOCUMENT = new Set([
  'start',
  'dev',
  'dev-tunnel',
  'mock',
  'acp',
  'mcp',
  'tail',
  'sessions tail',
  'sessions allow',
  'sessions deny',
  'sessions answer',
  'sessions interrupt',
  'agents chat',
  'services chat',
  'runs watch',
  'complete-words',
  'deployments test-notification',
  'reload',
  'stop',
]);

let gateway: TestGateway;
let studio: MediaStudio;
let schemas: Readonly<Record<string, object>>;
const ajv = createAjv({ allErrors: true, validateFormats: false });

beforeAll(async () => {
  studio = await startMediaStudio();
  const server = { outbound: { allow: [new URL(studio.url).host] } };
  const env = { SHOP_TOKEN: 'shop-token-value' };
  gateway = await startGateway({ ...CONFIG, server }, { env });
  await writeFile(join(gateway.directory, 'more.yaml'), MORE);
  await writeFile(join(gateway.directory, 'prices.json'), PRICES);
  await makeStores(gateway.directory);
  schemas = (await run('schema', 'output')).json().data;
});
afterAll(async () => {
  await gateway.stop();
  await studio.close();
});

/** A journal to move, and the configurations before and after. */
async function makeStores(directory: string): Promise<void> {
  const path = join(directory, 'old');
  const store = await openStore({ driver: 'fs', path }, { clock: systemClock });
  await store.commit([{ type: 'put', key: ['k'], value: 1 }]);
  await store.close();
  for (const [name, driver] of [
    ['old', 'fs'],
    ['moved', 'lmdb'],
  ]) {
    const config = { version: 1, server: { store: { driver, path: `./${name}` } } };
    await writeFile(join(directory, `${name}.yaml`), JSON.stringify(config));
  }
}

function run(...argv: string[]): Promise<CliRun> {
  const env = {
    GATEWAY_SERVER: gateway.url,
    GATEWAY_API_KEY: gateway.adminKey,
    XDG_DATA_HOME: gateway.directory,
    XDG_CONFIG_HOME: gateway.directory,
    PATH: process.env['PATH'] ?? '',
  };
  return runCli([...argv, '-o', 'json', '--yes'], {
    env,
    cwd: gateway.directory,
    stdin: 'from-stdin',
  });
}

function expectValid(name: string, value: unknown, what: string): void {
  const schema = schemas[name];
  expect(schema, `${what}: ${name}`).toBeDefined();
  const validate = ajv.getSchema(name) ?? ajv.compile(schema ?? false);
  expect([validate(value), ajv.errorsText(validate.errors)], what).toEqual([true, 'No errors']);
}

/** Names that only the gateway knows. */
async function names(): Promise<Record<string, string>> {
  const { data } = (await run('invoke', 'service', 'hello')).json();
  const agent = (await run('agents', 'get', 'agent')).json().data.id;
  const made = await gateway.call('POST', '/v1/deployments', {
    body: {
      name: 'schedule',
      agent,
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }],
    },
  });
  const ran = (await run('trigger', made.body.id)).json();
  const MEDIA = `${studio.url}/photo.png`;
  const ASSET = (await run('assets', 'create', MEDIA)).json().data.asset_url;
  const messages = [{ role: 'user', content: 'hi' }];
  const asked = { model: 'acme/one', input: { messages }, webhook_url: MEDIA };
  const TASK = (await gateway.call('POST', '/v1/run', { body: asked })).body.id;
  const DELIVERY = await eventually(async () => {
    const { body } = await gateway.call('GET', '/v1/webhooks/deliveries');
    return body.data[0]?.id as string | undefined;
  });
  const [ID, SCHEDULE, RUN] = [data.session_id, made.body.id, ran.data.id];
  return { ID, SCHEDULE, RUN, TASK, DELIVERY, MEDIA, ASSET, '*': '0 7 * * *' };
}

describe('the schemas of what commands print', () => {
  it(
    verifies('cli.output.envelope', 'there is one for every command, and for no other'),
    async () => {
      const commands = COMMANDS.filter(({ load }) => load !== undefined);
      const others = commands.filter(({ output }) => output === undefined);
      expect(Object.keys(DATA_SHAPES).sort()).toEqual(others.map(({ name }) => name).sort());
      expect(Object.keys(schemas).sort()).toEqual(
        [...commands.map(schemaOf), 'gateway/v1', 'gateway.stream/v1'].sort(),
      );
      const one = await run('schema', 'output', 'keys', 'ls');
      expect(one.json().data).toEqual(schemas['gateway.keys.list/v1']);
      expect((await run('schema', 'output', 'keyz')).code).toBe(64);
    },
  );

  it(
    verifies('cli.output.envelope', 'cli.output.ndjson', 'hold for the lines of those that stream'),
    async () => {
      const { data } = (await run('invoke', 'service', 'hello')).json();
      for (const words of [
        ['chat', 'acme/one', 'hello'],
        ['chat', 'acme/none', 'hello'],
        ['invoke', 'service', 'hello', '--follow'],
        ['services', 'chat', 'service', 'hello'],
        ['agents', 'chat', 'agent', 'hello'],
        ['tail', data.session_id, '--until-done'],
        ['sessions', 'tail', data.session_id, '--no-follow'],
      ]) {
        const { stdout, code } = await run(...words);
        if (code !== 0) {
          expectValid(JSON.parse(stdout).schema, JSON.parse(stdout), words.join(' '));
          continue;
        }
        for (const line of stdout.trimEnd().split('\n'))
          expectValid('gateway.stream/v1', JSON.parse(line), words.join(' '));
      }
    },
  );

  it(
    verifies(
      'cli.output.envelope',
      'cli.schemas.new-outputs',
      'hold for what every command prints, also when it fails',
    ),
    async () => {
      const known = await names();
      const ran = new Set<string>();
      for (const line of CALLS.trim().split('\n')) {
        const words = line.split(' ').map((word) => known[word] ?? word);
        const printed = await run(...words);
        const document = printed.json();
        expect(document.ok, `${line}: ${printed.stdout}`).toBe(document.error === null);
        expectValid(document.schema, document, line);
        if (document.data !== null) ran.add(document.schema);
      }
      const commands = COMMANDS.filter(({ name, load }) => load && !NO_DOCUMENT.has(name));
      expect(commands.map(schemaOf).filter((name) => !ran.has(name))).toEqual([]);
    },
  );

  it('refuse documents of another shape', async () => {
    const document = (await run('keys', 'list')).json();
    const validate = ajv.compile({ ...schemas['gateway.keys.list/v1'], $id: 'other' });
    expect(validate(document)).toBe(true);
    for (const wrong of [
      { ...document, more: 1 },
      { ...document, ok: false },
      { ...document, error: { code: 'x', message: 'y', hint: null, status: null } },
      { ...document, data: [{ ...document.data[0], enabled: 'yes' }] },
      { ...document, data: [{ ...document.data[0], hint: undefined }] },
      { ...document, warnings: undefined },
    ])
      expect(validate(wrong)).toBe(false);
  });
});
