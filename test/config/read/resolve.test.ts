import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlaces } from '../../../src/config/source/locate.ts';
import { parseYaml } from '../../../src/config/source/parse-yaml.ts';
import { ObjectRef, resolveSecret, SecretRef } from '../../../src/config/objects/references.ts';
import { resolveDocument } from '../../../src/config/read/resolve.ts';
import { verifies } from '../../requirements.ts';
import { memoryFiles } from '../memory-files.ts';

const files = memoryFiles({
  '/etc/gw/prompt.txt': 'Be kind.\nAlways.\n',
  '/etc/gw/sub/deep.txt': 'deep ${env:HOST}: {yaml: [',
  '/etc/gw/link.txt': '-> ../secret.txt',
  '/etc/secret.txt': 'outside',
  '/etc/gw/key': 'sk-file\n',
});
const env = {
  HOST: 'example.com',
  EMPTY: '',
  EVIL: 'x\nadmin: true\n${env:HOST} ${secret:env:HOST}',
};

async function resolve(text: string, variables: Record<string, string> = env) {
  const places = createPlaces();
  const { documents } = parseYaml({ file: 'f.yaml', directory: '/etc/gw', text }, places);
  const sources = { env: variables, files };
  const { value, diagnostics } = await resolveDocument(documents.at(0)!, { places, sources });
  const problems = diagnostics.map(
    ({ line, column, path, message }) => `${line}:${column} ${path} ${message}`,
  );
  return { value: value as Record<string, unknown>, problems, places };
}

describe('resolveDocument', () => {
  it(
    verifies(
      'config.interpolation',
      'replaces every kind of reference in values, and escapes, and lists all unset variables at once',
    ),
    async () => {
      const { value, problems } = await resolve(
        [
          'url: https://${env:HOST}/${env:PATHNAME:-v1}',
          'empty: "${env:EMPTY:-fallback}${env:EMPTY}"',
          'prompt: ${file:prompt.txt}',
          'program: ${path:sub/deep.txt}',
          'org: ${ref:organization.team.id}',
          'model: ${ref:model.acme/fast.name}',
          'key: ${secret:env:OPENAI_API_KEY}',
          'file_key: ${secret:file:/run/secrets/key}',
          'literal: $${env:HOST} $$ $x {y}',
          '"${env:HOST}": keys stay',
        ].join('\n'),
      );
      expect(problems).toEqual([]);
      expect(value).toEqual({
        url: 'https://example.com/v1',
        empty: 'fallback',
        prompt: 'Be kind.\nAlways.',
        program: '/etc/gw/sub/deep.txt',
        org: new ObjectRef('organization', 'team', 'id'),
        model: new ObjectRef('model', 'acme/fast', 'name'),
        key: new SecretRef('env', 'OPENAI_API_KEY', '/etc/gw'),
        file_key: new SecretRef('file', '/run/secrets/key', '/etc/gw'),
        literal: '${env:HOST} $$ $x {y}',
        '${env:HOST}': 'keys stay',
      });
      const unset = await resolve('a: ${env:ONE}\nb:\n  - x-${env:TWO}\n  - ${env:THREE}\n');
      expect(unset.problems).toEqual([
        '1:4 a the environment variable ONE is not set',
        '3:5 b[0] the environment variable TWO is not set',
        '4:5 b[1] the environment variable THREE is not set',
      ]);
    },
  );

  it.each([
    ['a: ${HOME}', 'unknown reference ${HOME}'],
    ['a: ${env:}', 'unknown reference ${env:}'],
    ['a: ${env:A B}', 'unknown reference ${env:A B}'],
    ['a: "${env:HOST"', 'unknown reference ${'],
    ['a: ${secret:vault:x}', 'unknown reference ${secret:vault:x}'],
    ['a: ${ref:model}', 'unknown reference ${ref:model}'],
    ['a: Bearer ${secret:env:KEY}', '${secret:env:KEY} must be the whole value'],
    ['a: ${ref:model.x.id}/y', '${ref:model.x.id} must be the whole value'],
    ['a: ${file:absent.txt}', 'the file absent.txt cannot be read'],
    ['a: ${path:absent.txt}', 'the file absent.txt cannot be read'],
    [
      'a: ${path:../secret.txt}',
      'the file ../secret.txt lies outside of the configuration directory',
    ],
  ])('refuses %j', async (text, message) => {
    expect((await resolve(text)).problems).toEqual([`1:4 a ${message}`]);
  });

  it.each(['../../secret.txt', '/etc/secret.txt', 'sub/../../secret.txt', 'link.txt', '.'])(
    'does not let ${file:%s} leave the configuration directory',
    async (name) => {
      const { value, problems } = await resolve(`a: \${file:${name}}`);
      expect(problems).toEqual([
        `1:4 a the file ${name} lies outside of the configuration directory`,
      ]);
      expect(value['a']).toBe('');
    },
  );

  it('never parses again what a variable or file holds', async () => {
    const { value, problems } = await resolve('a: ${env:EVIL}\nb: ${file:sub/deep.txt}\n');
    expect(problems).toEqual([]);
    expect(value).toEqual({ a: env.EVIL, b: 'deep ${env:HOST}: {yaml: [' });
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), fc.string(), async (text, other) => {
        const given = await resolve('a: "[${env:X}|${env:Y}]"', { X: text, Y: other });
        expect(given.value).toEqual({ a: `[${text}|${other}]` });
        expect(given.problems).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('resolveSecret', () => {
  const sources = { env: { KEY: 'sk-env', EMPTY: '' }, files };

  it('gives the value of a variable or of a file without its last line break', async () => {
    expect(await resolveSecret(new SecretRef('env', 'KEY', '/etc/gw'), sources)).toBe('sk-env');
    expect(await resolveSecret(new SecretRef('file', 'key', '/etc/gw'), sources)).toBe('sk-file');
  });

  it('names what is missing', async () => {
    const missing = (source: 'env' | 'file', name: string) =>
      resolveSecret(new SecretRef(source, name, '/etc/gw'), sources);
    await expect(missing('env', 'NOPE')).rejects.toThrow('environment variable NOPE is not set');
    await expect(missing('env', 'EMPTY')).rejects.toThrow('environment variable EMPTY is not set');
    await expect(missing('file', 'nope')).rejects.toThrow('secret file nope cannot be read');
  });

  it('prints and serialises as its name', () => {
    const ref = new SecretRef('env', 'KEY', '/etc/gw');
    expect(`${ref.toString()} ${JSON.stringify({ ref })}`).toBe(
      '${secret:env:KEY} {"ref":"${secret:env:KEY}"}',
    );
  });
});

it('tells which files are referred to, so that they can be watched', async () => {
  const text = 'a: ${file:sub/deep.txt}\nb: ${secret:file:/run/key}\nc: ${secret:env:HOST}\n';
  const places = createPlaces();
  const { documents } = parseYaml({ file: 'f.yaml', directory: '/etc/gw', text }, places);
  const { included } = await resolveDocument(documents.at(0)!, { places, sources: { env, files } });
  expect([...included]).toEqual(['/etc/gw/sub/deep.txt', '/run/key']);
});
