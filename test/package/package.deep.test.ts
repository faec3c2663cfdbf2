import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { putPlainNpm } from '../cli/plain-npm.ts';
import { runCli } from '../cli/run-cli.ts';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';
import { payloads, streamedText } from '../support/chat.ts';
import { startVendor } from '../support/fake-vendor.ts';
import { ask, eventually } from '../support/gateway.ts';
import { builtMain } from '../support/process/built-command.ts';
import { filesBelow, packagesBelow } from './support/files-below.ts';
import { installProduct } from './support/installed.ts';
import { packProduct, ROOT } from './support/packed.ts';
import type { Packed } from './support/packed.ts';

interface LockEntry {
  version: string;
  integrity?: string;
  resolved?: string;
  license?: string;
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
  /** It comes inside the package that it stands below. */
  inBundle?: boolean;
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
}
interface SourceMap {
  sources: string[];
}
interface Lock {
  packages: Record<string, LockEntry>;
}

/** What may be in the package, and nothing else. */
const CONTENT = [
  /^bin\/(gateway\.js|worker-start\.cjs)$/,
  /^dist\/lib\/[\w-]+\.js(\.map)?$/,
  /^dist\/types\/[\w/-]+\.d\.ts$/,
  /^dist\/help\.txt$/,
  /^dist\/console\/(index\.html|assets\/[\w-]+\.(js|css|svg))$/,
  /^docs\/(operations\/)?[\w-]+\.(md|json|yaml)$/,
  /^docs\/images\/[\w-]+\.svg$/,
  // The picture in the README.
  /^docs\/console\/requests-light\.png$/,
  // Of files with a dot in front npm drops some, so templates spell those with an underscore.
  /^templates\/(?!.*\/\.(?!github\/))[\w/.-]+\.(md|yaml|yml|json|js|mjs)$/,
  /^templates\/[\w-]+\/_gitignore$/,
  /^(LICENSE|README\.md|CHANGELOG\.md|gateway\.yaml\.example|package\.json|npm-shrinkwrap\.json)$/,
];
/** What nobody may publish: maps inside of files, and what looks like a secret. */
const FORBIDDEN =
  /sourceMappingURL=(?![\w-]+\.js\.map(\n|$))|_authToken|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bsk-(?:ant-|proj-)?[A-Za-z0-9]{24,}|\bAKIA[A-Z0-9]{16}\b|\bghp_[A-Za-z0-9]{30,}/;
const MIB = 1024 * 1024;
const MAX_PACKED = 2.2 * MIB;
const MAX_UNPACKED = 7.5 * MIB;

const EXACT = /^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;
const MAX_DIRECT = 30;
const MAX_INSTALLED = 260;
const PERMISSIVE =
  /^(MIT|MIT-0|ISC|Apache-2\.0|BSD-2-Clause|BSD-3-Clause|0BSD|BlueOak-1\.0\.0|Unlicense|\(MIT OR CC0-1\.0\)|\(BSD-3-Clause OR GPL-2\.0\))$/;
/**
 * The packages that would run a script at install. Both only look whether the binary that comes as a
 * package of its own fits, so they work without, too: see the test of the Node.js versions.
 */
const WITH_SCRIPTS = ['node_modules/lmdb', 'node_modules/msgpackr-extract'];

/** The oldest release of Node.js that is promised, and one of the other major. */
const VERSIONS = ['20.19.0', '22.23.3'];
const MODEL =
  'version: 1\nnamespace: more\nmodels: [{ name: mock/more, routes: [{ provider: mock, upstream_model: echo }] }]\n';

/** A file beside it that a declaration names. */
const IMPORTED = /\b(?:from|import\(|import)\s*['"](\.{1,2}\/[^'"]+)['"]/g;
/** A source of ours, as a map of the build names it. */
const OWN = /^\.\.\/\.\.\/src\/[\w/-]+\.ts$/;
/** Address that nobody listens at, and that fetch does not refuse by itself. */
const CLOSED = 'http://127.0.0.1:2/';
const PROBE = {
  name: 'probe',
  version: '1.0.0',
  type: 'module',
  oclif: { commands: './commands' },
  peerDependencies: { 'agent-gateway': '*' },
};
const PROBING = `import { ClientError, GatewayCommand } from 'agent-gateway/plugin';
import * as api from 'agent-gateway';
export class Probe extends GatewayCommand {
  async run() {
    const errorOf = (client) => client.models.list().catch((error) => error);
    const client = api.createClient({ baseUrl: '${CLOSED}', clock: api.systemClock });
    return {
      class: ClientError === api.ClientError,
      ofCommandLine: (await errorOf(await this.client())) instanceof api.ClientError,
      ofApi: (await errorOf(client)) instanceof ClientError,
    };
  }
}`;

const json = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T;

let packed: Packed & { directory: string };
let shrinkwrap: Lock;
let entries: [string, LockEntry][];
let product: Promise<string> | undefined;
/** The folder of the product in a folder that it is installed into once. */
const installed = () => (product ??= installProduct(packed, join(packed.directory, 'consumer')));
beforeAll(async () => {
  packed = await packProduct();
  shrinkwrap = await json(join(packed.content, 'npm-shrinkwrap.json'));
  entries = Object.entries(shrinkwrap.packages).filter(([path]) => path !== '');
});
afterAll(() => rm(packed.directory, { recursive: true, force: true }));

describe('the packed files', () => {
  it(verifies('ops.supply-chain', 'are those that are meant to be published'), async () => {
    const found = await filesBelow(packed.content);
    expect(found.sort()).toEqual(packed.files.map(({ path }) => path).sort());
    expect(found.filter((path) => !CONTENT.some((rule) => rule.test(path)))).toEqual([]);
    for (const path of [
      'bin/gateway.js',
      'dist/types/index.d.ts',
      'LICENSE',
      'npm-shrinkwrap.json',
    ])
      expect(found).toContain(path);
    const executable = packed.files.filter(({ mode }) => (mode & 0o111) !== 0);
    expect(executable.map(({ path }) => path)).toEqual(['bin/gateway.js']);
  });

  it('hold the declarations that the entries reach, and no other', async () => {
    const types = join(packed.content, 'dist/types');
    const reached = new Set(['index.d.ts', 'plugin.d.ts']);
    for (const path of reached)
      for (const [, imported = ''] of (await readFile(join(types, path), 'utf8')).matchAll(
        IMPORTED,
      ))
        reached.add(join(dirname(path), imported.replace(/\.[jt]s$/, '.d.ts')));
    expect((await filesBelow(types)).sort()).toEqual([...reached].sort());
    expect(reached.size).toBeGreaterThan(2);
  });

  it(
    verifies('packages.one-instance', 'hold every source once, with a map, and no other package'),
    async () => {
      const lib = join(packed.content, 'dist/lib');
      const files = await filesBelow(lib);
      const built = files.filter((path) => path.endsWith('.js'));
      const maps = files.filter((path) => path.endsWith('.map'));
      // Files that only pass on what others hold have nothing to map.
      for (const path of built.filter((file) => !maps.includes(`${file}.map`)))
        expect(await readFile(join(lib, path), 'utf8'), path).toMatch(
          /^((import|export \{.*\} from) .*;\n?|export \{.*\};\n?)+$/,
        );
      const sources = await filesBelow(join(ROOT, 'src'));
      expect(built.length).toBeLessThan(sources.length / 2);
      const mapped = (await Promise.all(maps.map((path) => json<SourceMap>(join(lib, path)))))
        .flatMap((map) => map.sources)
        .sort();
      expect(mapped).toEqual([...new Set(mapped)]);
      expect(
        mapped.filter((source) => !sources.includes(source.replace('../../src/', ''))),
      ).toEqual([]);
    },
  );

  it('hold every template as it stands', async () => {
    const templates = (await filesBelow(join(ROOT, 'templates'))).sort();
    expect((await filesBelow(join(packed.content, 'templates'))).sort()).toEqual(templates);
  });

  it('hold no map inside, name no machine and show no secret', async () => {
    const wrong: string[] = [];
    for (const { path } of packed.files) {
      const text = await readFile(join(packed.content, path), 'utf8');
      const hit = FORBIDDEN.exec(text)?.[0];
      if (hit !== undefined) wrong.push(`${path}: ${hit}`);
      if (text.includes(ROOT) || text.includes(packed.directory)) wrong.push(`${path}: a folder`);
    }
    expect(wrong).toEqual([]);
  });

  it('are small', () => {
    const unpacked = packed.files.reduce((sum, { size }) => sum + size, 0);
    console.info(`package: ${mib(packed.size)} MiB packed, ${mib(unpacked)} MiB unpacked`);
    expect(packed.size).toBeLessThan(MAX_PACKED);
    expect(unpacked).toBeLessThan(MAX_UNPACKED);
  });
});

describe('the manifest', () => {
  it(verifies('ops.supply-chain', 'pins what it names, and runs nothing at install'), async () => {
    const manifest = await json<Record<string, Record<string, string>>>(
      join(packed.content, 'package.json'),
    );
    const { dependencies = {}, devDependencies = {}, scripts = {} } = manifest;
    const specs = Object.entries({ ...dependencies, ...devDependencies });
    expect(specs.filter(([, spec]) => !EXACT.test(spec))).toEqual([]);
    expect(Object.keys(dependencies).length).toBeLessThanOrEqual(MAX_DIRECT);
    const atInstall = /^(pre|post)?(install|uninstall|prepare|prepublish)$|^dependencies$/;
    expect(Object.keys(scripts).filter((name) => atInstall.test(name))).toEqual([]);
    expect(shrinkwrap.packages['']?.dependencies).toEqual(dependencies);
  });
});

describe('the shrinkwrap', () => {
  it(verifies('ops.supply-chain', 'pins the production part of the lock by hash'), async () => {
    const lock = await json<Lock>(join(ROOT, 'package-lock.json'));
    const locked = Object.entries(lock.packages).filter(
      ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
    );
    const versions = (list: typeof locked) => list.map(([path, { version }]) => [path, version]);
    // Only binaries for other machines may lack a hash, and those are left out.
    const hashed = locked.filter(([, { integrity, inBundle }]) => integrity || inBundle);
    const unhashed = locked.filter(([, one]) => !one.integrity && !one.inBundle);
    expect(unhashed.filter(([, { optional }]) => !optional)).toEqual([]);
    expect(versions(entries)).toEqual(versions(hashed));
    for (const [path, { integrity }] of entries)
      expect(integrity, path).toBe(lock.packages[path]?.integrity);
    const own = entries.filter(([, { inBundle }]) => !inBundle);
    expect(own.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
  });

  it('names no registry, so that the one of the user is asked', () => {
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(JSON.stringify(shrinkwrap)).not.toMatch(/https?:/);
  });

  it('lists few packages, all of a permissive licence', () => {
    const needed = entries.filter(([, { optional }]) => !optional).length;
    console.info(`package: ${needed} packages, ${entries.length - needed} optional ones besides`);
    expect(entries.length).toBeLessThanOrEqual(MAX_INSTALLED);
    const wrong = entries.filter(([, { license = 'none' }]) => !PERMISSIVE.test(license));
    expect(wrong.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
  });

  it('lists no package with an install script but the known ones', () => {
    const scripted = entries.filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(scripted.map(([path]) => path)).toEqual(WITH_SCRIPTS);
  });

  it(verifies('ops.supply-chain', 'is what an installation holds, to the version'), async () => {
    const product = await installed();
    const wanted = entries.map(([path, { version }]) => [path, version] as const);
    const held = await packagesBelow(product);
    const required = wanted.filter(([path]) => !shrinkwrap.packages[path]?.optional);
    expect(required.length).toBeGreaterThan(0);
    expect(held).toEqual(expect.arrayContaining(required));
    expect(wanted).toEqual(expect.arrayContaining(held));
  });
});

describe('the installed package', () => {
  it(
    verifies(
      'packages.one-instance',
      'shares its modules between the command line, the API and plugins, and keeps maps and dependencies',
    ),
    async () => {
      const product = await installed();
      const home = join(packed.directory, 'home');
      const probe = join(packed.directory, 'probe');
      await mkdir(join(probe, 'commands'), { recursive: true });
      await mkdir(home);
      await writeFile(join(probe, 'package.json'), JSON.stringify(PROBE));
      await writeFile(join(probe, 'commands', 'probe.js'), PROBING);
      const env = {
        PATH: await putPlainNpm(join(packed.directory, 'npm')),
        HOME: home,
        GATEWAY_SERVER: CLOSED,
        GATEWAY_API_KEY: 'none',
      };
      const main = await builtMain(product);
      const gateway = async (...argv: string[]) => {
        const { code, stdout, stderr } = await runCli(argv, { cwd: home, env, main });
        expect(code, stderr).toBe(0);
        return { stdout };
      };
      await gateway('plugins', 'manifest', probe);
      await gateway('plugins', 'install', probe, '--yes');
      const { stdout } = await gateway('probe', '--json');
      expect(JSON.parse(stdout).data).toEqual({ class: true, ofCommandLine: true, ofApi: true });

      // Dependencies are loaded from packages of their own, and a map leads to the line of the source.
      const lib = await filesBelow(join(product, 'dist/lib'));
      const held = lib.filter((path) => path.endsWith('.map'));
      const sources = await Promise.all(
        held.map((path) => json<SourceMap>(join(product, 'dist/lib', path))),
      );
      expect(sources.flatMap((map) => map.sources).filter((path) => !OWN.test(path))).toEqual([]);
      const failing = `import('agent-gateway').then((api) => api.createClient({ baseUrl: 'x', clock: {} }).chat.create())`;
      const { stderr } = await execa(
        process.execPath,
        ['--enable-source-maps', '--input-type=module', '-e', failing],
        { cwd: join(packed.directory, 'consumer'), reject: false },
      );
      expect(stderr).toMatch(/src\/client\/chat\.ts:\d+:\d+/);
    },
  );

  it(
    verifies(
      'cli.start.env-only',
      'starts with nothing but the key of a vendor, and serves its models at its prices',
    ),
    async () => {
      await installed();
      const vendor = await startVendor(['gpt-5', 'gpt-5-mini']);
      onTestFinished(() => vendor.close());
      // npm finds the package above this folder, which else it would install from the registry.
      const empty = join(packed.directory, 'consumer', 'empty');
      await mkdir(empty);
      const child = execa(
        'npm',
        'exec --offline --package agent-gateway -- gateway start --port 0'.split(' '),
        {
          cwd: empty,
          env: { OPENAI_API_KEY: 'from-vendor', OPENAI_BASE_URL: vendor.baseUrl, CI: 'true' },
          reject: false,
          detached: true,
        },
      );
      // npm hands no signal on, so the whole group is ended.
      onTestFinished(() => void process.kill(-Number(child.pid), 'SIGKILL'));
      let log = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text: Buffer) => (log += text.toString()));
      const url = await eventually(() => /listening on (\S+)\n/.exec(log)?.[1]);
      const key = (await readFile(join(empty, '.gateway', 'client.key'), 'utf8')).trim();
      const price = { input: '1.25', output: '10.00' };
      await eventually(async () => {
        const { body } = await ask(`${url}/v1/models/openai/gpt-5`, { key });
        return body.pricing?.input === price.input;
      });
      const body = { model: 'openai/gpt-5', messages: [{ role: 'user', content: 'Hello!' }] };
      const path = `${url}/v1/chat/completions`;
      const { status, headers } = await ask(path, { method: 'POST', key, body });
      expect([status, headers.get('x-gateway-provider')], log).toEqual([200, 'openai']);
      // A token at 1.25 and one at 10 dollars a million.
      expect(headers.get('x-gateway-cost')).toBe('0.00001125');
      expect(vendor.asked.at(-1)).toMatchObject({ key: 'from-vendor', model: 'gpt-5' });
      expect(await readdir(empty)).toEqual(['.gateway']);
    },
  );
});

describe.each(inTurn('versions of Node.js', VERSIONS))(
  'the installed package under Node.js %s',
  (version) => {
    it(
      verifies(
        'ops.node-version',
        'starts, answers, streams, runs Agents, plans, applies and stops, with nothing compiled',
      ),
      async (test) => {
        const product = await installed();
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
        const env = { PATH: join(home, 'bin'), HOME: home, GATEWAY_DRAIN_IDLE: '50ms' };
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
          expect(await gateway('plan')).toMatch(/no changes/i);
          const models = join(home, 'project', 'more.yaml');
          await writeFile(models, MODEL);
          expect(await gateway('apply', '-f', models, '--yes')).toMatch(/^1 applied, 0 failed/m);
          const key = await readFile(join(home, 'project', '.gateway', 'admin.key'), 'utf8');
          const streamed = await fetch(`${url}/v1/chat/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${key.trim()}` },
            body: JSON.stringify({
              model: 'mock/more',
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
        } finally {
          server.kill('SIGTERM');
          await stop;
        }
        expect({ code: (await server).exitCode, log }).toMatchObject({ code: 0 });
        expect(log).not.toMatch(/warning/i);
      },
    );
  },
);

describe('a Node.js that is too old', () => {
  it('is told which one is needed, before anything else is loaded', async () => {
    const product = await installed();
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

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}
