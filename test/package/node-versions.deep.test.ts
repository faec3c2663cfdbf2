import { once } from 'node:events';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { payloads, streamedText } from '../support/chat.ts';
import { eventually } from '../support/gateway.ts';
import { installProduct } from './support/installed.ts';
import { packProduct, ROOT } from './support/packed.ts';
import type { Packed } from './support/packed.ts';

/** The oldest that is promised, and a release of the other major. */
const VERSIONS = ['20.19.0', '22.23.3'];
const MODEL =
  'version: 1\nnamespace: more\nmodels: [{ name: mock/more, routes: [{ provider: mock, upstream_model: echo }] }]\n';

let packed: Packed & { directory: string };
let product: string;
beforeAll(async () => {
  packed = await packProduct();
  product = await installProduct(packed, join(packed.directory, 'consumer'));
});
afterAll(() => rm(packed.directory, { recursive: true, force: true }));

describe.each(VERSIONS)('the installed package under Node.js %s', (version) => {
  it(
    verifies(
      'ops.node-version',
      'starts, answers, streams, runs Agents, plans, applies and stops, with nothing compiled',
    ),
    async (test) => {
      const node = await findNode(version);
      if (node === undefined) {
        test.skip(`Node.js ${version} cannot be had here`);
        return;
      }
      const home = join(packed.directory, version);
      await mkdir(join(home, 'bin'), { recursive: true });
      // Nothing but this Node.js, the command and a shell: no compiler, no npm.
      for (const [name, target] of [
        ['node', node],
        ['gateway', join(product, '..', '.bin', 'gateway')],
        ['sh', '/bin/sh'],
        ['env', '/usr/bin/env'],
      ] as const)
        await symlink(target, join(home, 'bin', name));
      const env = { PATH: join(home, 'bin'), HOME: home };
      const options = { cwd: join(home, 'project'), env, extendEnv: false } as const;
      const gateway = async (...argv: string[]) => (await execa('gateway', argv, options)).stdout;

      await execa('gateway', ['init', '--template', 'agent-service', 'project'], {
        ...options,
        cwd: home,
      });
      expect((await execa('node', ['--version'], options)).stdout).toBe(`v${version}`);
      const { version: own } = JSON.parse(await readFile(join(product, 'package.json'), 'utf8'));
      expect(await gateway('version')).toBe(own);

      const server = execa('gateway', ['start', '--port', '0'], { ...options, reject: false });
      let log = '';
      server.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
      const stop = once(server, 'exit');
      try {
        const url = await eventually(() => /gateway listening on (\S+)/.exec(log)?.[1]);
        expect(await gateway('chat', 'mock/echo', 'hello')).toBe('You said: hello');
        const key = await readFile(join(home, 'project', '.gateway', 'admin.key'), 'utf8');
        const streamed = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key.trim()}` },
          body: JSON.stringify({
            model: 'mock/echo',
            stream: true,
            messages: [{ role: 'user', content: 'hello' }],
          }),
        });
        const text = await streamed.text();
        expect(streamedText(text)).toBe('You said: hello');
        expect(payloads(text).at(-1)).toBe('[DONE]');

        // The Agent's tool is a program that the gateway starts.
        expect(await gateway('invoke', 'desk', 'Where is A-17?', '--follow')).toMatch(
          /A-17: .*shipped/,
        );
        expect(await gateway('plan')).toMatch(/no changes/i);
        expect(await gateway('apply', '--yes')).toMatch(/^no changes/m);
        const models = join(home, 'project', 'more.yaml');
        await writeFile(models, MODEL);
        const changed = await gateway('apply', '-f', models, '--yes');
        expect(changed).toMatch(/^1 applied, 0 failed/m);
        expect(await gateway('chat', 'mock/more', 'again')).toBe('You said: again');
      } finally {
        server.kill('SIGTERM');
        await stop;
      }
      expect({ code: (await server).exitCode, log }).toMatchObject({ code: 0 });
      expect(log).not.toMatch(/warning/i);
    },
  );
});

describe('a Node.js that is too old', () => {
  it('is told which one is needed, before anything else is loaded', async () => {
    const { engines } = JSON.parse(await readFile(join(product, 'package.json'), 'utf8'));
    const [, major, minor] = /^>=(\d+)\.(\d+)\.0$/.exec(engines.node) ?? [];
    for (const old of ['18.20.8', `${major}.${Number(minor) - 1}.9`]) {
      const as = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${old}' } })`;
      const argv = ['--import', `data:text/javascript,${encodeURIComponent(as)}`];
      const binary = join(product, 'bin/gateway.js');
      const { exitCode, stderr } = await execa(process.execPath, [...argv, binary, 'version'], {
        reject: false,
      });
      expect(stderr).toBe(`gateway needs Node.js ${major}.${minor} or newer; this is ${old}`);
      expect(exitCode).toBe(1);
    }
  });
});

/** Its executable; undefined, and a word about it, where it cannot be fetched. In CI that is a failure. */
async function findNode(version: string): Promise<string | undefined> {
  const script = join(ROOT, 'scripts/fetch-node.js');
  const { exitCode, stdout, stderr } = await execa(process.execPath, [script, version], {
    reject: false,
  });
  if (exitCode === 0) return stdout;
  if (process.env['CI']) throw new Error(`Node.js ${version} cannot be fetched: ${stderr}`);
  console.warn(`NOT TESTED on Node.js ${version}, which cannot be fetched: ${stderr}`);
  return undefined;
}
