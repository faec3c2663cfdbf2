import { describe, expect, it } from 'vitest';
import { formatDiagnostics } from '../../../src/config/source/diagnostic.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { memoryFiles } from '../memory-files.ts';

const BASE = `version: 1
namespace: team
providers:
  - { name: vendor, type: openai, api_key: "\${secret:env:KEY}", timeouts: { idle: 30, total: 60 } }
  - { name: echo, type: mock }
models:
  - name: team/fast
    description: quick
    labels: { tier: gold, owner: team }
    routes: [{ provider: vendor }, { provider: echo }]
agents:
  - name: clerk
    model: team/fast
    mcp_servers:
      - { type: url, name: docs, url: "https://docs.example.com/mcp" }
      - { type: url, name: wiki, url: "https://wiki.example.com/mcp" }
    tools:
      - { type: mcp_toolset, mcp_server_name: docs }
      - { type: mcp_toolset, mcp_server_name: wiki }
services:
  - { name: desk, agent_id: "\${ref:agent.clerk.id}", protocols: [rest], memory_config: { a: 1 } }
`;

async function load(files: Record<string, string>, ...overlays: string[]) {
  const memory = memoryFiles({ '/gw/gateway.yaml': BASE, ...files });
  const options = { paths: ['gateway.yaml'], cwd: '/gw', env: { LIMIT: '7' }, files: memory };
  const { config, diagnostics } = await loadConfig({ ...options, overlays });
  const told = formatDiagnostics(diagnostics, 'text');
  const bodyOf = (identity: string) => {
    const found = config?.desired.objects.find((object) => object.identity === identity);
    return found && { ...JSON.parse(JSON.stringify(found.body)), labels: found.labels };
  };
  return { config, told, bodyOf };
}

const loadOver = (overlay: string) => load({ '/gw/prod.yaml': overlay }, 'prod.yaml');

describe('an overlay', () => {
  it('merges objects by kind and name, field by field, and leaves the rest as it is', async () => {
    const { config, told, bodyOf } = await loadOver(`namespace: team-prod
providers: [{ name: vendor, timeouts: { idle: 90 } }]
models: [{ name: team/fast, labels: { tier: silver }, routes: [{ provider: vendor, weight: 3 }] }]
`);
    expect(told).toBe('');
    expect(config?.desired.namespace).toBe('team-prod');
    expect(config?.files).toEqual(['gateway.yaml', 'prod.yaml']);
    expect(bodyOf('vendor')).toMatchObject({
      type: 'openai',
      api_key: '${secret:env:KEY}',
      timeouts: { idle: 90, total: 60 },
    });
    expect(bodyOf('team/fast')).toMatchObject({
      description: 'quick',
      labels: { tier: 'silver', owner: 'team' },
      routes: [{ provider: 'vendor', weight: 3 }],
    });
    expect(bodyOf('echo')).toMatchObject({ type: 'mock' });
  });

  it('adds objects of its own, and merges lists of named objects by their names', async () => {
    const { told, bodyOf } = await loadOver(`agents:
  - name: clerk
    mcp_servers:
      - { name: wiki, url: "https://wiki.prod.example.com/mcp" }
      - { type: url, name: shop, url: "https://shop.example.com/mcp" }
    tools:
      - { type: mcp_toolset, mcp_server_name: docs }
      - { type: mcp_toolset, mcp_server_name: wiki }
      - { type: mcp_toolset, mcp_server_name: shop }
models: [{ name: team/slow, routes: [{ provider: echo }] }]
`);
    expect(told).toBe('');
    expect(bodyOf('default/clerk').mcp_servers).toEqual([
      { type: 'url', name: 'docs', url: 'https://docs.example.com/mcp' },
      { type: 'url', name: 'wiki', url: 'https://wiki.prod.example.com/mcp' },
      { type: 'url', name: 'shop', url: 'https://shop.example.com/mcp' },
    ]);
    expect(bodyOf('team/slow')).toMatchObject({ routes: [{ provider: 'echo' }] });
  });

  it('removes a field by null, and replaces fields of free form whole', async () => {
    const { told, bodyOf } = await loadOver(`models:
  - { name: team/fast, description: null, labels: { owner: null, missing: null } }
services: [{ name: desk, memory_config: { b: null } }]
`);
    expect(told).toBe('');
    expect(bodyOf('team/fast')).not.toHaveProperty('description');
    expect(bodyOf('team/fast').labels).toEqual({ tier: 'gold' });
    expect(bodyOf('default/desk').memory_config).toEqual({ b: null });
  });

  it('knows what belongs to an organization by both names', async () => {
    const keys = 'organizations: [{ name: acme }]\nkeys: [{ name: ci, organization: acme }]\n';
    const files = {
      '/gw/keys.yaml': keys,
      '/gw/prod.yaml':
        'keys: [{ name: ci, rpm_cap: 5 }, { name: ci, organization: acme, rpm_cap: 6 }]',
    };
    const { told, bodyOf } = await load(files, 'keys.yaml', 'prod.yaml');
    expect(told).toBe('');
    expect(bodyOf('acme/ci')).toMatchObject({ rpm_cap: 6 });
    expect(bodyOf('default/ci')).toMatchObject({ rpm_cap: 5 });
  });

  it('comes in the order that is given, directories in the order of their files', async () => {
    const model = (text: string) => `models: [{ name: team/fast, description: ${text} }]`;
    const files = {
      '/gw/prod/10.yaml': model('ten'),
      '/gw/prod/20.yaml': model('twenty'),
      '/gw/eu.yaml': model('eu'),
    };
    expect((await load(files, 'prod', 'eu.yaml')).bodyOf('team/fast').description).toBe('eu');
    expect((await load(files, 'eu.yaml', 'prod')).bodyOf('team/fast').description).toBe('twenty');
  });

  it('has references of its own, converted as in every file', async () => {
    const { told, bodyOf } = await loadOver(
      'keys: [{ name: ci, rpm_cap: "${env:LIMIT}" }]\nmodels: [{ name: team/fast, description: "${env:LIMIT}" }]\n',
    );
    expect(told).toBe('');
    expect(bodyOf('default/ci')).toMatchObject({ rpm_cap: 7 });
    expect(bodyOf('team/fast').description).toBe('7');
    const files = {
      '/gw/prod.yaml': 'keys: [{ name: ci, rpm_cap: "${env:LIMIT}" }]',
      '/gw/text.yaml': 'keys: [{ name: ci, rpm_cap: "7" }]',
    };
    expect((await load(files, 'prod.yaml', 'text.yaml')).told).toMatch(/^text\.yaml:1:29: error/);
  });

  it.each([
    ['models:\n  - name: team/fast\n    descripton: x\n', 'prod.yaml:3:5', 'descripton'],
    ['models:\n  - name: team/fast\n    description: 4\n', 'prod.yaml:3:18', 'description'],
    ['providers:\n  - name: vendor\n    type: null\n', 'prod.yaml:3:11', 'type'],
    [
      'models:\n  - name: team/fast\n    routes:\n      - provider: nobody\n',
      'prod.yaml:4:19',
      'no provider is named nobody',
    ],
    [
      'agents:\n  - name: clerk\n    mcp_servers:\n      - name: wiki\n        url: 5\n',
      'prod.yaml:5:14',
      'url',
    ],
    ['providers:\n  - name: vendor\n    api_key: sk-literal\n', 'prod.yaml:3:14', 'secret'],
    ['models:\n  - description: x\n', 'prod.yaml:2:5', 'needs the name'],
    ['models: null\n', 'prod.yaml:1:1', 'models has no value'],
    ['- 1\n', 'prod.yaml:1:1', 'a mapping'],
    ['modles: []\n', 'prod.yaml:1:1', 'unknown section'],
    ['models: [{ name: "${env:NOWHERE}" }]\n', 'prod.yaml:1:18', 'NOWHERE'],
  ])('says where in it the fault is: %j', async (overlay, place, word) => {
    const { config, told } = await loadOver(overlay);
    expect(config).toBeUndefined();
    const line = told.split('\n').find((one) => one.startsWith(place));
    expect(line ?? told).toContain(word);
    expect(line ?? told).toContain(place);
  });

  it('that is not there is an error', async () => {
    expect((await load({}, 'nowhere.yaml')).told).toContain(
      'nowhere.yaml:1:1: error: cannot be read',
    );
  });
});
