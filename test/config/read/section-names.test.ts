import { describe, expect, it } from 'vitest';
import { kindNamed } from '../../../src/config/objects/kinds.ts';
import { loadConfig, type LoadConfigOptions } from '../../../src/config/read/load-config.ts';
import { loadObject } from '../../../src/config/read/load-object.ts';
import { configJsonSchema } from '../../../src/config/schema/json-schema.ts';
import { explain } from '../../../src/config/schema/explain.ts';
import { formatDiagnostics } from '../../../src/config/source/diagnostic.ts';
import { verifies } from '../../requirements.ts';
import { createAjv } from '../../support/schemas/create-ajv.ts';
import { memoryFiles } from '../memory-files.ts';

function load(files: Readonly<Record<string, string>>, options: Partial<LoadConfigOptions> = {}) {
  const entries = Object.entries(files).map(([name, text]) => [`/gw/${name}`, text] as const);
  return loadConfig({
    paths: Object.keys(files).filter((name) => !name.startsWith('over')),
    env: {},
    cwd: '/gw',
    files: memoryFiles(Object.fromEntries(entries)),
    ...options,
  });
}

const problems = async (files: Readonly<Record<string, string>>) =>
  formatDiagnostics((await load(files)).diagnostics, 'text')
    .split('\n')
    .filter(Boolean);

const BASE = 'version: 1\nproviders: [{name: p, type: mock}]\nagents: [{name: a, model: m/x}]\n';
const MODEL = 'models: [{name: m/x, routes: [{provider: p}]}]\n';
const AGENT = 'agent_id: "${ref:agent.a.id}"';
const EVENTS = 'initial_events: [{type: user.message, content: [{type: text, text: hi}]}]';
const SCHEDULE = `[{name: nightly, ${AGENT}, ${EVENTS}}]`;
const SERVICE = `[{name: desk, ${AGENT}, protocols: [rest]}]`;

const TEXTS: readonly [string, string, string][] = [
  ['schedules', 'deployments', SCHEDULE],
  ['endpoints', 'services', SERVICE],
  ['api_keys', 'keys', '[{name: ci}]'],
];

describe('another word for a section', () => {
  it.each(TEXTS)(
    verifies('words.accepted', 'declares the same objects: %s'),
    async (word, name, entries) => {
      const declared = async (section: string) => {
        const { config, diagnostics } = await load({
          'g.yaml': `${BASE}${MODEL}${section}: ${entries}\n`,
        });
        expect(diagnostics).toEqual([]);
        return config?.desired.objects.map(({ kind, identity, body }) => ({
          kind,
          identity,
          body,
        }));
      };
      expect(await declared(word)).toEqual(await declared(name));
    },
  );

  it.each(TEXTS)(
    'is a fault with both places where one file has two: %s',
    async (word, name, list) => {
      const text = `${BASE}${MODEL}${name}: ${list}\n${word}: ${list}\n`;
      expect(await problems({ 'g.yaml': text })).toEqual([
        `g.yaml:6:1: error: ${word}: ${word} and ${name} are one section`,
        `  hint: ${name} is at g.yaml:5; write all of them under one of the two`,
      ]);
    },
  );

  it('may be in one file and the name of the contract in another', async () => {
    const { config, diagnostics } = await load({
      'a.yaml': `${BASE}${MODEL}schedules: ${SCHEDULE}\n`,
      'b.yaml': `deployments: [{name: weekly, ${AGENT}, ${EVENTS}}]\n`,
    });
    expect(diagnostics).toEqual([]);
    const names = config?.desired.objects.filter(({ kind }) => kind === 'deployment');
    expect(names?.map(({ body }) => body['name']).toSorted()).toEqual(['nightly', 'weekly']);
  });

  it('keeps the place of a fault', async () => {
    const text = `${BASE}${MODEL}schedules:\n  - name: nightly\n    initial_events: 7\n`;
    expect((await problems({ 'g.yaml': text }))[0]).toMatch(/^g\.yaml:7:21: error: /);
  });

  it('is taken in overlays, references and moves', async () => {
    const files = {
      'g.yaml': `${BASE}${MODEL}schedules: ${SCHEDULE}\nmoved: [{kind: schedule, from: old, to: nightly}]\n`,
      'over.yaml': 'schedules: [{name: nightly, labels: {team: core}}]\n',
    };
    const { config, diagnostics } = await load(files, { overlays: ['over.yaml'] });
    expect(diagnostics).toEqual([]);
    const found = config?.desired.objects.find(({ kind }) => kind === 'deployment');
    expect(found?.labels).toEqual({ team: 'core' });
    expect(config?.desired.moved[0]?.kind).toBe('deployment');
  });

  it.each([
    ['schedule', 'deployment'],
    ['schedules', 'deployment'],
    ['endpoint', 'service'],
    ['api_key', 'key'],
    ['deployments', 'deployment'],
    ['key', 'key'],
    ['moon', undefined],
  ])('names a kind: %s', (word, kind) => {
    expect(kindNamed(word)).toBe(kind);
  });

  it('is explained, and known to editors', () => {
    expect(explain('schedule.initial_events').type).toBe(explain('deployment.initial_events').type);
    expect(explain('endpoints.protocols').required).toBe(true);
    const isValid = createAjv().compile(configJsonSchema());
    const entry = { name: 'desk', agent_id: 'agent_1', protocols: ['rest'] };
    expect(isValid({ version: 1, endpoints: [entry] })).toBe(true);
    expect(isValid({ version: 1, endpoints: [{ ...entry, protocols: ['x'] }] })).toBe(false);
  });
});

describe('a word for a scope', () => {
  it('is declared as the scope of the contract', async () => {
    const { config, diagnostics } = await load({
      'g.yaml': 'version: 1\nkeys: [{name: ci, scopes: [services, schedules, inference]}]\n',
    });
    expect(diagnostics).toEqual([]);
    const [key] = config?.desired.objects ?? [];
    expect(key?.body['scopes']).toEqual(['endpoints', 'deployments', 'inference']);
  });

  it('is one in a reference, too', async () => {
    const text = 'version: 1\nkeys: [{name: ci, scopes: ["${env:SCOPE}", inference]}]\n';
    const { config } = await load({ 'g.yaml': text }, { env: { SCOPE: 'schedules' } });
    const [key] = config?.desired.objects ?? [];
    expect(key?.body['scopes']).toEqual(['deployments', 'inference']);
  });

  it('is one in a move whose kind is a reference', async () => {
    const text = `${BASE}${MODEL}schedules: ${SCHEDULE}\nmoved: [{kind: "\${env:KIND}", from: old, to: nightly}]\n`;
    const { config } = await load({ 'g.yaml': text }, { env: { KIND: 'schedules' } });
    expect(config?.desired.moved[0]?.kind).toBe('deployment');
  });
});

describe('one object', () => {
  const loaded = async (kind: 'key' | 'service', entry: Record<string, unknown>) => {
    const { desired, diagnostics } = await loadObject(kind, entry, {
      env: { SCOPE: 'schedules' },
      directory: '/gw',
    });
    expect(diagnostics).toEqual([]);
    return desired?.objects[0]?.body;
  };

  it('takes words for scopes and names of Agents as a file does', async () => {
    const key = await loaded('key', { name: 'ci', scopes: ['services', '${env:SCOPE}'] });
    expect(key?.['scopes']).toEqual(['endpoints', 'deployments']);
    const service = await loaded('service', { name: 'desk', agent_id: 'a', protocols: ['rest'] });
    expect(String(service?.['agent_id'])).toBe('${ref:agent.a.id}');
  });
});
