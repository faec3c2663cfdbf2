import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeEnvFile, parseEnvFile } from '../../../src/config/read/env-file.ts';
import { environmentConfig } from '../../../src/config/read/environment-config.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { loadObject } from '../../../src/config/read/load-object.ts';
import { nodeConfigFiles } from '../../../src/config/read/load.ts';
import { resolveSecret, SecretRef } from '../../../src/config/objects/references.ts';
import { verifies } from '../../requirements.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { memoryFiles } from '../memory-files.ts';

const GATEWAY = [
  'version: 1',
  'providers:',
  '  - { name: a, type: openai, api_key: "${secret:env:OPENAI_API_KEY}" }',
  'models:',
  '  - { name: "${env:MODEL}", routes: [{ provider: a, upstream_model: m }] }',
  '',
].join('\n');

interface Given {
  readonly dotEnv?: string;
  readonly env?: Record<string, string>;
  readonly paths?: string[];
  readonly envFile?: boolean;
}

async function load({ dotEnv, env = {}, paths = ['conf/gateway.yaml'], envFile = true }: Given) {
  const files = memoryFiles({
    '/project/conf/gateway.yaml': GATEWAY,
    '/project/.env': 'OPENAI_API_KEY=of-the-wrong-folder\nMODEL=wrong',
    ...(dotEnv !== undefined && { '/project/conf/.env': dotEnv }),
  });
  const { config, diagnostics } = await loadConfig({ paths, env, envFile, cwd: '/project', files });
  const key = new SecretRef('env', 'OPENAI_API_KEY', '/');
  return {
    config,
    key: config && (await resolveSecret(key, config.sources).catch(String)),
    taken: config && describeEnvFile(config.fromEnvFile),
    said: diagnostics.map(({ file, line, message }) => `${file}:${line} ${message}`),
  };
}

describe('the .env beside the configuration', () => {
  it.each([['conf/gateway.yaml'], ['conf'], ['/project/conf/gateway.yaml']])(
    verifies('config.env-file', 'feeds references and settings of %s, and its names are listed'),
    async (path) => {
      const dotEnv = 'OPENAI_API_KEY=sk-1\nMODEL=m\nGATEWAY_PORT=9001\nOTHER=x\n';
      const { config, key, taken, said } = await load({ dotEnv, paths: [path] });
      expect(said).toEqual([]);
      expect(key).toBe('sk-1');
      expect(config?.server.listen.port).toBe(9001);
      expect(config?.desired.objects.map(({ name }) => name)).toContain('m');
      expect(taken).toBe('from conf/.env: OPENAI_API_KEY, MODEL, GATEWAY_PORT');
    },
  );

  it('never wins over the environment, where an empty variable counts as unset', async () => {
    const dotEnv = 'OPENAI_API_KEY=of-file\nMODEL=of-file\nGATEWAY_PORT=9001\nGATEWAY_HOST=';
    const env = { OPENAI_API_KEY: '', MODEL: 'set', GATEWAY_PORT: '9002' };
    const { config, key, taken } = await load({ dotEnv, env });
    expect([key, config?.server.listen.port, taken]).toEqual([
      'of-file',
      9002,
      'from conf/.env: OPENAI_API_KEY',
    ]);
    expect(config?.desired.objects.map(({ name }) => name)).toContain('set');
  });

  it('is looked for in one place, which the error of an unset variable names', async () => {
    const [message] = (await load({ env: { OPENAI_API_KEY: 'k' } })).said;
    expect(message).toContain('MODEL is not set (looked for in /project/conf/.env, too)');
    const { key } = await load({ env: { MODEL: 'm' } });
    expect(key).toContain('OPENAI_API_KEY is not set (looked for in /project/conf/.env, too)');
    const off = await load({ dotEnv: 'MODEL=m', envFile: false });
    expect(off.said).toEqual(['conf/gateway.yaml:5 the environment variable MODEL is not set']);
  });

  it.each([
    'GATEWAY_SERVER',
    'GATEWAY_API_KEY',
    'GATEWAY_API_KEY_FILE',
    'GATEWAY_CONTEXT',
    'GATEWAY_CONFIG',
    'NODE_OPTIONS',
    'NODE_EXTRA_CA_CERTS',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'PATH',
    'HOME',
    'XDG_CONFIG_HOME',
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'HTTPS_PROXY',
    'https_proxy',
    'NO_PROXY',
    'SSL_CERT_FILE',
    'OPENSSL_CONF',
    'BASH_ENV',
  ])('never gives %s, not even to a reference', async (name) => {
    const files = memoryFiles({
      '/project/gateway.yaml': `version: 1\nx: "\${env:${name}}"\n`,
      '/project/.env': `${name}=evil\n`,
    });
    const options = { paths: ['gateway.yaml'], env: {}, cwd: '/project', files, envFile: true };
    const { diagnostics } = await loadConfig({ ...options, unknownFields: 'warn' });
    const said = diagnostics.map(({ file, severity, message }) => [file, severity, message]);
    expect(said).toContainEqual(['.env', 'warning', `${name} is never taken from .env`]);
    expect(said).toContainEqual([
      'gateway.yaml',
      'error',
      `the environment variable ${name} is not set (looked for in /project/.env, too)`,
    ]);
  });

  it('warns of a variable of the gateway that has no effect there, and of no other', async () => {
    const env = { MODEL: 'm', OPENAI_API_KEY: 'k' };
    const dotEnv = 'GATEWAY_WATCH=1\nGATEWAY_SERVER=http://evil\nNODE_OPTIONS=x\nNODE_ENV=dev';
    expect((await load({ dotEnv, env })).said).toEqual([
      'conf/.env:1 GATEWAY_WATCH has no effect in .env: it is no setting of the server and in no reference',
      'conf/.env:2 GATEWAY_SERVER is never taken from .env',
    ]);
  });

  it('shows neither names nor values of lines that it cannot read', async () => {
    const dotEnv = 'A=1\n\nsecret words\nB="x\nC=\'a\' b\nD="open\n';
    const { config, said } = await load({ dotEnv, env: { MODEL: 'm' } });
    expect(config).toBeUndefined();
    expect(said).toEqual([
      'conf/.env:3 expected NAME=value',
      'conf/.env:4 the quote " is not closed',
      "conf/.env:5 nothing may follow the closing '; a value with ' in it needs other quotes",
      'conf/.env:6 the quote " is not closed',
    ]);
  });

  it('gives one object of the command line its variables, too', async () => {
    const cwd = await directoryOfTest();
    await writeFile(join(cwd, '.env'), 'KEY=sk-2\nREST=1\n');
    const entry = { name: 'p', type: 'openai', api_key: '${secret:env:KEY}' };
    const loaded = await loadObject('provider', entry, { env: {}, directory: cwd, envFile: true });
    expect(await resolveSecret(new SecretRef('env', 'KEY', cwd), loaded.sources)).toBe('sk-2');
    expect(Object.keys(loaded.fromEnvFile.values)).toEqual(['KEY']);
  });
});

describe('a file system with', () => {
  const find = async (cwd: string) =>
    environmentConfig({ env: {}, cwd, files: nodeConfigFiles, envFile: true });
  const problems = async (cwd: string) =>
    (await find(cwd)).envFile.diagnostics.map(({ line, message }) => `${line} ${message}`);

  it('a link reads what it leads to', async () => {
    const cwd = await directoryOfTest();
    await writeFile(join(cwd, 'keys'), 'OPENAI_API_KEY=k\n');
    await symlink('keys', join(cwd, '.env'));
    expect((await find(cwd)).found).toEqual([{ provider: 'openai', variable: 'OPENAI_API_KEY' }]);
    const dangling = await directoryOfTest();
    await symlink('nothing', join(dangling, '.env'));
    expect(await problems(dangling)).toEqual([]);
  });

  it('a directory, a large or a binary file of that name says so', async () => {
    const [folder, large, binary] = [
      await directoryOfTest(),
      await directoryOfTest(),
      await directoryOfTest(),
    ];
    await mkdir(join(folder, '.env'));
    await writeFile(join(large, '.env'), `A=${'x'.repeat(1024 * 1024)}`);
    await writeFile(join(binary, '.env'), Buffer.from([0x41, 0x3d, 0xff, 0xfe]));
    expect(await problems(folder)).toEqual(['1 cannot be read: is a directory']);
    expect(await problems(large)).toEqual(['1 cannot be read: file is larger than 1048576 bytes']);
    expect(await problems(binary)).toEqual(['1 cannot be read: is not valid UTF-8']);
  });

  it('the address of a vendor in .env never gets a key of the environment', async () => {
    const cwd = await directoryOfTest();
    const options = { cwd, files: nodeConfigFiles, envFile: true };
    await writeFile(join(cwd, '.env'), 'OPENAI_BASE_URL=https://elsewhere.example\n');
    const mixed = await environmentConfig({ ...options, env: { OPENAI_API_KEY: 'mine' } });
    expect(mixed.found).toEqual([]);
    expect(mixed.leftOut).toEqual([
      { provider: 'openai', because: expect.stringContaining('OPENAI_BASE_URL is from .env') },
    ]);
    const own = `OPENAI_BASE_URL=https://elsewhere.example\nOPENAI_API_KEY=theirs\n`;
    await writeFile(join(cwd, '.env'), own);
    expect((await environmentConfig({ ...options, env: {} })).found).toHaveLength(1);
    await writeFile(
      join(cwd, '.env'),
      `${own.replace('elsewhere.example', '127.0.0.1:9100')}GATEWAY_PORT=9100`.replace(
        'https',
        'http',
      ),
    );
    expect((await environmentConfig({ ...options, env: {} })).found).toEqual([]);
  });
});

describe('its syntax', () => {
  const read = (text: string) =>
    Object.fromEntries(parseEnvFile(text).entries.map(({ name, value }) => [name, value]));

  it('is that of Node.js for every well-formed file', () => {
    const name = fc.stringMatching(/^[A-Z_][A-Z0-9_.-]{0,8}$/);
    const plain = fc.stringMatching(/^([a-z0-9 =$\\{}:/.'"`]{0,12}[a-z0-9])?$/);
    const value = fc.oneof(
      plain.filter((text) => !/^\s*['"`]/.test(text)),
      fc.stringMatching(/^[^'\r]{0,10}$/).map((text) => `'${text}'`),
      fc.stringMatching(/^[^"\r]{0,10}$/).map((text) => `"${text}"`),
      fc.stringMatching(/^[^`\r]{0,10}$/).map((text) => `\`${text}\``),
    );
    const comment = fc.constantFrom('', ' # note', '#note');
    const entry = fc
      .tuple(fc.constantFrom('', 'export '), name, fc.constantFrom('=', ' = '), value, comment)
      .map((parts) => parts.join(''));
    const line = fc.oneof({ weight: 4, arbitrary: entry }, fc.constantFrom('', '# a=b'));
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), (lines, end) => {
        const text = lines.map((one) => `${one}${end}`).join('');
        expect(parseEnvFile(text).faults).toEqual([]);
        expect(read(text)).toEqual({ ...parseEnv(text) });
      }),
    );
  });

  it('takes a mark of UTF-8, line breaks in quotes, and the last of several values', () => {
    const text = '\uFEFFA="one\ntwo"\r\nB="x\\ny"\nB=last # note\nC=a#b\nD=\n';
    expect(read(text)).toEqual({ A: 'one\ntwo', B: 'last', C: 'a', D: '' });
    expect(parseEnvFile(text).entries.map(({ line }) => line)).toEqual([1, 4, 5, 6]);
  });

  it('stops after ten faults', () => {
    expect(parseEnvFile('no variable\n'.repeat(100_000)).faults).toHaveLength(10);
  });
});
