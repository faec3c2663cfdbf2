import { describe, expect, it } from 'vitest';
import { type DiagnosticFormat, formatDiagnostics } from '../../src/config/source/diagnostic.ts';
import { configJsonSchema } from '../../src/config/schema/json-schema.ts';
import { loadConfig, type LoadConfigOptions } from '../../src/config/read/load-config.ts';
import { verifies } from '../requirements.ts';
import { memoryFiles } from './memory-files.ts';
import { createAjv } from '../support/schemas/create-ajv.ts';

const CANARY = 'sk-canary-5a5a5a5a5a5a';

function load(files: string | Record<string, string>, options: Partial<LoadConfigOptions> = {}) {
  const entries = typeof files === 'string' ? { 'g.yaml': files } : files;
  return loadConfig({
    paths: Object.keys(entries),
    env: {},
    cwd: '/gw',
    files: memoryFiles(
      Object.fromEntries(Object.entries(entries).map(([name, text]) => [`/gw/${name}`, text])),
    ),
    ...options,
  });
}

async function problems(
  files: string | Record<string, string>,
  options: Partial<LoadConfigOptions> = {},
): Promise<string[]> {
  const { diagnostics } = await load(files, options);
  return formatDiagnostics(diagnostics, 'text').split('\n').filter(Boolean);
}

/** One model and its provider, with `extra` members of the model on line 4. */
const withModel = (extra: string) =>
  `version: 1\nproviders: [{name: p, type: mock}]\nmodels:\n  - {name: a/b, ${extra}}\n`;

describe('loadConfig', () => {
  it(
    verifies(
      'cli.validate.offline',
      'cli.validate.position',
      'names every problem at once with file, line, column, path and reason, in three formats',
    ),
    async () => {
      const text = [
        'version: 1',
        'server:',
        '  listen: { port: 99999 }',
        '  limits: { body: 12 furlongs, request_timeout: soon }',
        'providers:',
        '  - name: p',
        '    type: opneai',
        '  - name: q',
        '    type: custom',
        '  - name: m',
        '    type: mock',
        '    mock: { rules: [{ reply: { delay_ms: -1 } }] }',
        'models:',
        '  - name: a/b',
        '    routes:',
        '      - { provider: pp, weight: 0 }',
        '      - { upstream_model: x }',
        '    fallbacks: [c/d, e/f]',
        '    pricing: { input: lots }',
        '  - name: c/d',
        '    fallbacks: [a/b]',
        'organizations: [{ name: team }]',
        'keys:',
        '  - { name: k, organization: taem, scopes: [inference, adnim] }',
        '  - { name: l, spending_limit: { day: none } }',
      ].join('\n');
      const { config, diagnostics } = await load(text);
      expect(config).toBeUndefined();
      expect(formatDiagnostics(diagnostics, 'text').split('\n')).toEqual([
        'g.yaml:3:19: error: server.listen.port: too big: expected number to be <=65535',
        'g.yaml:4:19: error: server.limits.body: expected a size such as 32MiB or a number of bytes',
        'g.yaml:4:49: error: server.limits.request_timeout: expected a duration such as 500ms, 30s, 5m or 1h',
        'g.yaml:7:11: error: providers[0].type: unknown provider type "opneai"',
        '  hint: did you mean openai?',
        'g.yaml:8:5: error: providers[1].base_url: a provider of type custom needs base_url',
        'g.yaml:12:42: error: providers[2].mock.rules[0].reply.delay_ms: too small: expected number to be >=0',
        'g.yaml:16:21: error: models[0].routes[0].provider: no provider is named pp',
        '  hint: did you mean p?',
        'g.yaml:16:33: error: models[0].routes[0].weight: too small: expected number to be >0',
        'g.yaml:17:9: error: models[0].routes[1].provider: is required',
        'g.yaml:18:22: error: models[0].fallbacks[1]: no model is named e/f',
        '  hint: did you mean a/b?',
        'g.yaml:19:23: error: models[0].pricing.input: expected an amount in USD such as 10 or "10.50"',
        'g.yaml:21:17: error: models[1].fallbacks[0]: the fallbacks form a cycle: a/b → c/d → a/b',
        '  hint: remove one of them',
        'g.yaml:24:30: error: keys[0].organization: no organization is named taem',
        '  hint: did you mean team?',
        expect.stringMatching(/^g\.yaml:24:56: error: keys\[0\]\.scopes\[1\]: expected one of /),
        'g.yaml:25:39: error: keys[1].spending_limit.day: expected an amount in USD such as 10 or "10.50"',
      ]);
      const positions = (format: DiagnosticFormat, pattern: RegExp) =>
        [...formatDiagnostics(diagnostics, format).matchAll(pattern)].map(
          ([, line, column]) => `${line}:${column}`,
        );
      const expected = positions('text', /^g\.yaml:(\d+):(\d+):/gm);
      expect(positions('github', /^::error file=g\.yaml,line=(\d+),col=(\d+)::/gm)).toEqual(
        expected,
      );
      expect(positions('json', /"line": (\d+),\s+"column": (\d+)/g)).toEqual(expected);
    },
  );

  it(
    verifies(
      'cli.validate.unknown-field',
      'places an unknown field, suggests the near one, and only warns when told to',
    ),
    async () => {
      const text = withModel('fallbakcs: [], routes: [{provider: p, wieght: 2}]');
      const expected = (severity: string) => [
        `g.yaml:4:17: ${severity}: models[0].fallbakcs: unknown field fallbakcs`,
        '  hint: did you mean fallbacks?',
        `g.yaml:4:55: ${severity}: models[0].routes[0].wieght: unknown field wieght`,
        '  hint: did you mean weight?',
      ];
      expect(await problems(text)).toEqual(expected('error'));
      expect((await load(text)).config).toBeUndefined();
      expect(await problems(text, { unknownFields: 'warn' })).toEqual(expected('warning'));
      const { config } = await load(text, { unknownFields: 'warn' });
      expect(config?.desired.objects.at(-1)?.body).toEqual({
        name: 'a/b',
        routes: [{ provider: 'p' }],
      });
    },
  );

  it(
    verifies(
      'cli.validate.yaml-traps',
      'explains an unquoted star, a duplicate key, `no`, and one identity in two files',
    ),
    async () => {
      expect(await problems('version: 1\nx:\n  cron: */5 * * * *\n')).toEqual([
        'g.yaml:3:9: error: an unquoted * starts an alias, not a text',
        "  hint: write '*/5 * * * *'",
      ]);
      expect(await problems('version: 1\nmodels: []\nmodels: []\n')).toEqual([
        'g.yaml:3:1: error: the key models is given twice',
        '  hint: remove one; the first is at 2:1',
      ]);
      expect(await problems(withModel('enabled: no'))).toEqual([
        'g.yaml:4:26: error: models[0].enabled: expected boolean, received string',
        '  hint: YAML 1.2 reads no as a text; write false',
      ]);
      expect(
        await problems({
          'a.yaml': withModel('enabled: true'),
          'b.yaml': 'models:\n  - name: c/d\n  - {enabled: true, name: " a/b"}\n',
        }),
      ).toEqual([
        'b.yaml:3:27: error: models[2].name: model a/b is declared twice',
        '  hint: the first is at a.yaml:4:12; rename or remove one',
      ]);
    },
  );

  it.each([
    [
      'display_name: 7',
      'display_name: expected string, received number',
      'write it in quotes: "7"',
    ],
    [
      'max_output_tokens: "7"',
      'max_output_tokens: expected number, received string',
      'write 7 without quotes',
    ],
    [
      'labels: {gateway/owner: me}',
      'labels: labels that begin with gateway/ are kept by the gateway',
      undefined,
    ],
    ['timeouts: {idle: [1]}', 'timeouts.idle: expected string, or expected number', undefined],
  ])('explains %s', async (extra, message, hint) => {
    const [first, second] = await problems(withModel(extra));
    expect(first).toContain(message);
    expect(second).toBe(hint === undefined ? undefined : `  hint: ${hint}`);
  });

  it(
    verifies('capabilities.override', 'names what a route cannot say of its upstream model'),
    async () => {
      const withCapabilities = (text: string) =>
        problems(withModel(`routes: [{provider: p, capabilities: {${text}}}]`));
      expect(await withCapabilities('thinkng: budget')).toEqual([
        'g.yaml:4:55: error: models[0].routes[0].capabilities.thinkng: unknown field thinkng',
        '  hint: did you mean thinking?',
      ]);
      expect(await withCapabilities('thinking: budgets')).toEqual([
        'g.yaml:4:65: error: models[0].routes[0].capabilities.thinking: expected one of "any"|"adaptive"|"budget"|"effort"|"none"',
      ]);
      expect(await withCapabilities('thinking: budget, sampling_with_thinking: false')).toEqual([]);
    },
  );

  it(
    verifies(
      'config.secrets-by-reference',
      'refuses a literal where a secret belongs, and a secret where it would be shown',
    ),
    async () => {
      const text = [
        'version: 1',
        `server: {secrets: {master_key: ${CANARY}, previous_keys: [${CANARY}]}}`,
        'providers:',
        `  - {name: p, type: openai, api_key: ${CANARY}}`,
        '  - {name: q, type: openai, api_key: "${env:KEY}"}',
        '  - {name: r, type: vllm, base_url: "http://h", headers: {x: "${secret:env:KEY}"}}',
        'keys:',
        `  - {name: k, value: ${CANARY}}`,
        '  - {name: l, value: "${secret:file:/run/secrets/key}"}',
      ].join('\n');
      const lines = await problems(text, { env: { KEY: CANARY } });
      expect(lines.filter((line) => !line.startsWith('  hint'))).toEqual([
        'g.yaml:2:32: error: server.secrets.master_key: a secret must not be written in the file',
        'g.yaml:2:72: error: server.secrets.previous_keys[0]: a secret must not be written in the file',
        'g.yaml:4:38: error: providers[0].api_key: a secret must not be written in the file',
        'g.yaml:5:38: error: providers[1].api_key: a secret must not be written in the file',
        'g.yaml:6:62: error: providers[2].headers.x: ${secret:env:KEY} would be shown here',
        'g.yaml:8:22: error: keys[0].value: a secret must not be written in the file',
      ]);
      expect(lines).toContain('  hint: write ${secret:env:OPENAI_API_KEY} or ${secret:file:PATH}');
      expect(lines.join('\n')).not.toContain(CANARY);
      const outside = 'version: 1\norganizations: [{name: o, display_name: "${file:../x}"}]\n';
      expect(await problems(outside)).toEqual([
        'g.yaml:2:41: error: organizations[0].display_name: the file ../x lies outside of the configuration directory',
        '  hint: move it below the directory of the configuration file',
      ]);
    },
  );

  it(
    verifies(
      'config.multi-file',
      'joins files in the order of their paths, whatever the order of arguments or listing',
    ),
    async () => {
      const entries = {
        'conf/b.yaml': 'version: 1\nmodels: [{name: a/b, routes: [{provider: p}]}]\n',
        'conf/a.yaml':
          'version: 1\nmodels: [{name: z/z}]\nproviders: []\n---\nproviders: [{name: p, type: mock}]\n',
        'base.yaml': 'namespace: team\nserver: {workers: 2}\n',
      };
      const variants = await Promise.all(
        [
          ['conf', 'base.yaml'],
          ['base.yaml', 'conf/a.yaml', 'conf/b.yaml'],
          ['conf/b.yaml', 'conf', 'base.yaml', 'base.yaml'],
        ].map((paths) => load(entries, { paths })),
      );
      for (const { config, diagnostics } of variants) {
        expect(diagnostics).toEqual([]);
        // The files of each are its own.
        const { sources } = config!;
        expect(config).toEqual({ ...variants[0]?.config, sources });
      }
      expect(variants[0]?.config?.desired).toMatchObject({
        namespace: 'team',
        objects: [{ identity: 'p' }, { identity: 'a/b' }, { identity: 'z/z' }],
      });
      const stdin = await load({}, { paths: ['-'], stdin: 'version: 1\nmodels: []\n' });
      expect(stdin.config?.desired.managed).toEqual(new Set(['model']));
    },
  );

  it('refuses a section in two files, and an empty one', async () => {
    expect(
      await problems({
        'a.yaml': 'version: 1\nserver: {}\nnamespace: x\n',
        'b.yaml': 'server: {}\nnamespace: y\n',
      }),
    ).toEqual([
      'b.yaml:1:1: error: server: server is given twice',
      '  hint: the first is at a.yaml:2',
      'b.yaml:2:1: error: namespace: namespace is given twice',
      '  hint: the first is at a.yaml:3',
    ]);
    expect(await problems('version: 1\nmodels:\n')).toEqual([
      'g.yaml:2:1: error: models: models has no value',
      '  hint: write models: [] for none, or remove the key to leave them unmanaged',
    ]);
    expect((await problems('- a\n'))[0]).toContain('g.yaml:1:1: error: expected a mapping');
  });

  it('says which version it is of, and misspelled sections', async () => {
    expect(await problems('version: 2\nmodles: []\n')).toEqual([
      'g.yaml:1:10: error: version: expected 1',
      'g.yaml:2:1: error: modles: unknown section modles',
      '  hint: did you mean models?',
    ]);
    expect(await problems('models: []\n')).toEqual([
      'g.yaml:1:1: warning: no version is given; 1 is assumed',
      '  hint: add version: 1',
    ]);
  });

  it('warns about a provider without the key that its type needs', async () => {
    expect(await problems('version: 1\nproviders: [{name: a, type: openai}]\n')).toEqual([
      'g.yaml:2:13: warning: providers[0].api_key: a provider of type openai needs api_key',
      '  hint: write api_key: ${secret:env:OPENAI_API_KEY}',
    ]);
  });

  it('gives a text from outside the type that the schema wants, and only there', async () => {
    const text = withModel(
      'enabled: "${env:ON}", max_output_tokens: "${env:N}", display_name: "${env:N}"',
    );
    const { config, diagnostics } = await load(text, { env: { ON: 'false', N: '7' } });
    expect(diagnostics).toEqual([]);
    expect(config?.desired.objects.at(-1)?.body).toEqual({
      name: 'a/b',
      enabled: false,
      max_output_tokens: 7,
      display_name: '7',
    });
    const wrong = await problems(text, { env: { ON: 'no', N: '7 or so' } });
    expect(wrong).toEqual([
      'g.yaml:4:26: error: models[0].enabled: expected boolean, received string',
      'g.yaml:4:58: error: models[0].max_output_tokens: expected number, received string',
    ]);
  });

  it('tells a reference that cannot be resolved once, whatever its place takes', async () => {
    const text = withModel(
      'enabled: "${env:ON}", type: "${env:TYPE}", max_output_tokens: "${file:n.txt}", ' +
        'routes: [{provider: "${env:PROVIDER}"}]',
    );
    const { diagnostics } = await load(`${text}server: {listen: {port: "\${env:PORT}"}}\n`);
    expect(diagnostics.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'models[0].enabled: the environment variable ON is not set',
      'models[0].type: the environment variable TYPE is not set',
      'models[0].max_output_tokens: the file n.txt cannot be read',
      'models[0].routes[0].provider: the environment variable PROVIDER is not set',
      'server.listen.port: the environment variable PORT is not set',
    ]);
  });

  it(verifies('config.x-sections', 'ignores sections x-…, which can hold anchors'), async () => {
    const text = [
      'x-none:',
      'x-route: &route {provider: p, weight: 2}',
      'x-free: [1, {name: "${env:ABSENT}", apiKey: sk-x}]',
      'version: 1',
      'providers: [{name: p, type: mock}]',
      'models:',
      '  - {name: a/b, routes: [*route]}',
      '  - {name: a/c, routes: [{<<: *route, weight: 3}]}',
    ].join('\n');
    const { config, diagnostics } = await load(
      { 'a.yaml': text, 'b.yaml': 'x-route: {other: 1}\n' },
      { overlays: [] },
    );
    expect(diagnostics).toEqual([]);
    expect(config?.desired.objects.slice(-2).map(({ body }) => body['routes'])).toEqual([
      [{ provider: 'p', weight: 2 }],
      [{ provider: 'p', weight: 3 }],
    ]);
    const schema = createAjv({ validateFormats: false }).compile(configJsonSchema());
    expect(schema({ version: 1, 'x-any': { a: 1 } })).toBe(true);
    expect(schema({ version: 1, any: { a: 1 } })).toBe(false);
    const near = await load('version: 1\nx_any: 1\nx: {}\n');
    expect(near.diagnostics.map(({ path }) => path)).toEqual(['x_any', 'x']);
    expect((await load('x-only: 1\nversion: 1\n')).config?.isEmpty).toBe(true);
  });

  it('leaves a reference into an absent collection to the server', async () => {
    expect(await problems('version: 1\nmodels: [{name: a/b, routes: [{provider: p}]}]\n')).toEqual(
      [],
    );
    expect(
      await problems('version: 1\nkeys: [{name: k, organization: "${ref:organisation.x.id}"}]\n'),
    ).toEqual([
      'g.yaml:2:32: error: keys[0].organization: ${ref:organisation.x.id}: no kind is named organisation',
      '  hint: did you mean organization?',
    ]);
  });

  it('keeps control characters of a file from the terminal and escapes annotations', async () => {
    const { diagnostics } = await load('version: 1\n"\\e[31m%\\n": 1\n');
    expect(formatDiagnostics(diagnostics, 'text')).not.toContain('\u001b');
    const [annotation] = formatDiagnostics(diagnostics, 'github').split('\n');
    expect(annotation).toContain('%25\\n');
  });

  it(
    verifies(
      'cli.validate.offline',
      'misses the programs that Agents name and the server section lacks',
    ),
    async () => {
      const wanted = [
        'version: 1',
        'agents:',
        '  - name: a',
        '    model: m',
        '    mcp_servers: [{ type: stdio, name: t, server: shpo }]',
        '    tools: [{ type: mcp_toolset, mcp_server_name: t }]',
        'services:',
        '  - { name: s, protocols: [rest], runtime: { type: agent, harness: codre } }',
        'deployments:',
        '  - name: d',
        '    runtime: { type: agent, harness: { name: x, command: x } }',
        '    initial_events: [{ type: user.message, content: [{ type: text, text: go }] }]',
      ].join('\n');
      const declaring = (server: string) => `${wanted}\nserver: { ${server} }\n`;
      const programs =
        'mcp_servers: { shop: { command: x } }, harnesses: { coder: { command: x } }';
      expect(await problems(declaring(programs))).toEqual([
        'g.yaml:5:51: error: agents[0].mcp_servers[0].server: shpo is not declared in server.mcp_servers',
        '  hint: did you mean shop?',
        'g.yaml:8:68: error: services[0].runtime.harness: codre is not declared in server.harnesses',
        '  hint: did you mean coder?',
        'g.yaml:11:38: error: deployments[0].runtime.harness: a command is taken only with server.harnesses_inline',
        '  hint: declare it under server.harnesses and name it here',
      ]);
      expect((await problems(declaring('harnesses_inline: true'))).length).toBe(4);
      expect(await problems(`${wanted}\n`)).toEqual([]);
    },
  );
});
