import { describe, expect, it } from 'vitest';
import { converge } from '../../src/config/apply/converge.ts';
import { formatDiagnostics } from '../../src/config/source/diagnostic.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { bootstrap } from '../../src/resources/bootstrap.ts';
import { createResourceClient } from '../../src/server/compose/resource-client.ts';
import { verifies } from '../requirements.ts';
import { makeResources } from '../resources/make-resources.ts';

const FILE = `version: 1
apis:
  - name: weather
    base_url: https://api.weather.example/v2
    api_key: \${secret:env:WEATHER_KEY}
    auth: { type: header, name: x-api-key }
    paths: [/forecast, /stations/*]
    pricing: { per_call: 0.0005, input: "2" }
    usage: { input: { field: $.used } }
    timeouts: { total: 60 }
  - name: open
    base_url: https://open.example
    auth: { type: none }
`;
const SOURCES = {
  env: { WEATHER_KEY: 'secret' },
  files: { read: () => Promise.reject(new Error('no files')) },
};

async function load(stdin: string) {
  return loadConfig({ paths: ['-'], stdin, env: SOURCES.env, cwd: '/' });
}

describe('the section apis', () => {
  it(verifies('config.format', 'is kept as declared, and then left alone'), async () => {
    const { repository } = makeResources();
    await bootstrap(repository);
    const client = createResourceClient(repository);
    const run = async (text: string) => {
      const { config, diagnostics } = await load(text);
      expect(formatDiagnostics(diagnostics, 'text')).toBe('');
      const { desired } = config ?? expect.fail('not loaded');
      const secretMatches = () => true;
      const result = await converge({ desired, client, sources: SOURCES as never, secretMatches });
      expect(result.diagnostics).toEqual([]);
      return result.report?.applied.map(({ kind, identity, action }) =>
        [action, kind, identity].join(' '),
      );
    };
    expect(await run(FILE)).toEqual(['create api open', 'create api weather']);
    const made = await client.list('api');
    expect(made.sort((a, b) => (String(a['name']) < String(b['name']) ? 1 : -1))).toMatchObject([
      { name: 'weather', api_key_configured: true, usage: { input: { most: 100_000 } } },
      { name: 'open', api_key_configured: false, auth: { type: 'none' } },
    ]);
    expect(await run(FILE)).toEqual([]);
    const [kept = ''] = FILE.split('  - name: open');
    expect(await run(kept.replace('/forecast, ', ''))).toEqual([
      'update api weather',
      'delete api open',
    ]);
  });

  it('tells where it is wrong', async () => {
    const problems = async (text: string) =>
      formatDiagnostics((await load(`version: 1\n${text}`)).diagnostics, 'text');
    expect(await problems('apis: [{ name: a, base_url: "https://u:p@a.example" }]\n')).toContain(
      '2:',
    );
    expect(
      await problems('apis:\n  - name: a\n    base_url: https://a.example\n    paths: [/a, b]\n'),
    ).toContain('5:17: error: apis[0].paths[1]: a path begins with /');
    expect(
      await problems('apis:\n  - name: a\n    base_url: https://a.example\n    api_key: abc\n'),
    ).toContain('a secret must not be written in the file');
  });
});
