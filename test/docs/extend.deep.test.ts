import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { putPlainNpm } from '../cli/plain-npm.ts';
import { runCli } from '../cli/run-cli.ts';
import { verifies } from '../requirements.ts';
import { ask, newDirectory, startGateway } from '../support/gateway.ts';
import { builtMain } from '../support/process/built-command.ts';
import { markedBlocks } from './code-blocks.ts';
import { ROOT } from './reader.ts';

const COPIED = ['src', 'bin', 'scripts', 'templates', 'package.json', 'tsconfig.build.json'];
const NAME = 'gateway-plugin-tally';
const SHAPE = { properties: { data: { anyOf: [{ required: ['count'] }, { type: 'null' }] } } };

/** A further entry of the copy's build: what docs/cli.md and the console are made of. */
const SHOWN = `import { COMMANDS } from './cli/commands.ts';
import { withFlags } from './cli/grammar/load-flags.ts';
import { renderDocs } from './cli/grammar/render-docs.ts';
export { CONFIGURATION_KINDS as kinds } from './console/logic/configuration-kinds.ts';
export const pages = async (): Promise<string> => renderDocs(await withFlags(COMMANDS));
`;

let copy: string;
/** What the compiler says of the copy, which it reads while the other tests run. */
let types: Promise<{ failed: boolean; stdout: string }>;
let main: Awaited<ReturnType<typeof builtMain>>;
/** Answers on /v1/chat/completions and /v1/notes. */
let vendor: Vendor;
/** Gateway of the copy in its folder `served`, with what the tests need that only add to it. */
let server: Served;
/** A key of clients of it. */
let clientKey: string;
beforeAll(async () => {
  copy = await newDirectory();
  await execa('cp', ['-a', ...COPIED, copy], { cwd: ROOT });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const page = await readFile(join(ROOT, 'docs/extend.md'), 'utf8');
  for (const { mark, file, code } of markedBlocks(unindented(page))) {
    if (file === undefined) continue;
    const path = join(copy, file);
    if (mark === 'into') await writeFile(path, insertAt(await readFile(path, 'utf8'), code));
    else await mkdir(dirname(path), { recursive: true }).then(() => writeFile(path, code));
  }
  // No page of the console is asked for.
  await writeFile(
    join(copy, 'scripts/build-console.js'),
    'export const buildConsole = () => true;\n',
  );
  await writeFile(join(copy, 'src/shown.ts'), SHOWN);
  // Declarations of the copy are of no use: its types are only checked.
  const build = join(copy, 'scripts/build.js');
  const script = await readFile(build, 'utf8');
  expect(script).toContain('declare(), ');
  expect(script).toContain("  index: 'index',\n");
  await writeFile(
    build,
    script.replace('declare(), ', '').replace("  index: 'index',", "$& shown: 'shown',"),
  );
  types = checkTypes();
  await execa('node', ['scripts/build.js'], { cwd: copy });
  main = await builtMain(copy);
  vendor = await serveVendor();
  server = await serve();
  const body = { name: 'app', scopes: ['inference', 'models', 'agents'] };
  const { url, key } = server;
  const made = await ask(`${url}/admin/v1/keys`, { method: 'POST', key, body });
  clientKey = made.body.value;
});
afterAll(async () => {
  await types;
  await server?.stop();
  vendor?.close();
  await rm(copy, { recursive: true, force: true });
});

/** The checker costs least in one thread and without garbage collection. */
function checkTypes(): Promise<{ failed: boolean; stdout: string }> {
  const words = '-p tsconfig.build.json --singleThreaded --noEmit'.split(' ');
  const undeclared = '--declaration false --emitDeclarationOnly false'.split(' ');
  return execa('node', ['node_modules/typescript/bin/tsc', ...words, ...undeclared], {
    cwd: copy,
    env: { GOGC: 'off', GOMEMLIMIT: '4GiB' },
    reject: false,
  });
}

/** The page with blocks within its lists as they stand in a file. */
const unindented = (page: string): string => page.replaceAll(/^ {3}(?=\S| )/gm, '');

/** The text with the lines of a block that are not there yet beside its first or last one, which is. */
function insertAt(text: string, code: string): string {
  const lines = text.split('\n');
  const placesOf = (anchor = '') =>
    lines.flatMap((line, at) => (line.trim() === anchor.trim() ? [at] : []));
  const block = code.trimEnd().split('\n');
  const [behind, before] = [placesOf(block[0]), placesOf(block.at(-1))];
  expect([behind.length, before.length], code).toContain(1);
  return behind.length === 1
    ? lines.toSpliced((behind[0] as number) + 1, 0, ...block.slice(1)).join('\n')
    : lines.toSpliced(before[0] as number, 0, ...block.slice(0, -1)).join('\n');
}

/** Runs the command of the copy, in the copy or a folder of it; throws unless it exits with 0. */
async function gateway(
  args: readonly string[],
  env: Record<string, string> = {},
  folder = '',
): Promise<{ stdout: string }> {
  const ran = await runCli([...args], {
    cwd: join(copy, folder),
    env: { PATH: process.env['PATH'] ?? '', HOME: copy, ...env },
    main,
  });
  const stdout = ran.stdout.replace(/\n$/, '');
  if (ran.code === 0) return { stdout };
  throw Object.assign(new Error(ran.stderr), { exitCode: ran.code, stdout });
}

interface Served {
  readonly url: string;
  /** Of the administrator. */
  readonly key: string;
  stop(): Promise<void>;
}

/** Starts the gateway of the copy in its folder `served`, also again. */
async function serve(): Promise<Served> {
  const cwd = join(copy, 'served');
  await mkdir(cwd, { recursive: true });
  await writeFile(join(cwd, 'gateway.yaml'), projectOf(vendor.origin));
  const child = execa('node', [join(copy, 'bin/gateway.js'), 'start', '--port', '0'], {
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: copy,
      GATEWAY_DRAIN_IDLE: '50ms',
      ACME_API_KEY: 'sk-acme',
    },
    extendEnv: false,
    reject: false,
  });
  const url = await new Promise<string>((resolve, reject) => {
    void child.then(({ stderr }) => reject(new Error(stderr)));
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += String(chunk);
      const [, found] = /gateway listening on (http:\S+)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const key = await readFile(join(cwd, '.gateway/admin.key'), 'utf8');
  return {
    url,
    key: key.trim(),
    async stop() {
      child.kill();
      await child;
    },
  };
}

interface Vendor {
  readonly origin: string;
  /** Paths, credentials and bodies since the last `forget`. */
  readonly asked: { path: string | undefined; authorization: string | undefined; body: unknown }[];
  forget(): void;
  close(): void;
}

/** Data of the events of a stream of notes. */
const FRAMES = ['{"text":"No"}', '{"text":"ted"}', '{"end":true}'].map(
  (data) => `data: ${data}\n\n`,
);
const LINES = [{ by: 'assistant', text: 'Noted' }];
const MESSAGE = { role: 'assistant', content: 'Said' };

async function serveVendor(): Promise<Vendor> {
  const asked: Vendor['asked'] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await json(request)) as { stream?: boolean };
    const { url: path, headers } = request;
    asked.push({ path, authorization: headers.authorization, body });
    if (path === '/v1/notes' && body.stream === true) {
      response.setHeader('content-type', 'text/event-stream');
      response.end(FRAMES.join(''));
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        path === '/v1/notes'
          ? { model: 'up', lines: LINES }
          : { choices: [{ index: 0, message: MESSAGE, finish_reason: 'stop' }] },
      ),
    );
  };
  const listener = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    asked,
    forget: () => void asked.splice(0),
    close: () => void listener.close(),
  };
}

/** Starts a gateway with a model of each of two vendors; gives the variables that name it. */
async function serveModels(): Promise<Record<string, string>> {
  const models = ['acme/one', 'other/one'];
  const { url, adminKey, stop } = await startGateway({
    providers: [{ name: 'mock', type: 'mock' }],
    models: models.map((name) => ({ name, routes: [{ provider: 'mock' }] })),
  });
  onTestFinished(async () => void (await stop()));
  return { GATEWAY_SERVER: url, GATEWAY_API_KEY: adminKey };
}

/** Expects help, completion and schema of a command that follow from its declaration. */
async function expectPages(
  words: readonly string[],
  { usage, flag, summary }: { usage: string; flag: string; summary: string },
): Promise<void> {
  const last = words.at(-1) ?? '';
  const above = words.slice(0, -1);
  expect((await gateway(['help', ...above])).stdout).toContain(`${last}  `);
  expect((await gateway(['help', ...above])).stdout).toContain(summary);
  const page = (await gateway([...words, '--help'])).stdout;
  expect(page).toContain(`Usage: ${usage}`);
  expect(page).toContain(flag);
  const complete = async (...line: string[]) =>
    (await gateway(['complete-words', '--', ...line])).stdout.split('\n');
  expect(await complete(...above, last.slice(0, -1))).toContain(last);
  expect(await complete(...words, '--')).toContain(flag.replace(/.*(--\w+).*/, '$1'));
  const { stdout } = await gateway(['schema', 'output', ...words]);
  expect(JSON.parse(stdout)).toMatchObject(SHAPE);
}

/**
 * On the store that was added: a provider of the type that was added, one that speaks chat and notes with
 * a model for each, and a prompt.
 */
const projectOf = (origin: string): string => `version: 1
namespace: greet
server: { store: { driver: sheet, path: rows } }
providers:
  - { name: acme, type: acme, base_url: '${origin}/v1', api_key: '\${secret:env:ACME_API_KEY}' }
  - { name: both, type: custom, base_url: '${origin}/v1', api_key: '\${secret:env:ACME_API_KEY}', protocols: { chat: true, notes: true } }
models:
  - { name: acme/fast, routes: [{ provider: acme }] }
  - { name: acme/chat, routes: [{ provider: both, upstream_model: up, protocols: [chat] }] }
  - { name: acme/notes, routes: [{ provider: both, upstream_model: up, protocols: [notes] }] }
prompts:
  - { name: greet, text: Hello }
`;

describe('docs/extend.md', () => {
  it(verifies('extend.docs-proved', 'adds a type of provider, which is called'), async () => {
    vendor.forget();
    const words = ['chat', '--no-stream', 'acme/fast', 'Hello!'];
    expect((await gateway(words, {}, 'served')).stdout).toBe('Said');
    expect(vendor.asked).toMatchObject([
      { path: '/v1/chat/completions', authorization: 'Bearer sk-acme' },
    ]);
  });

  it(
    verifies(
      'extend.docs-proved',
      'extend.kind',
      'adds a kind, which API, files, plan, commands, pages and the console know',
    ),
    async () => {
      const prompt = (name: string, text: string) =>
        `version: 1\nnamespace: ${name}\nprompts:\n  - { name: ${name}, text: ${text} }\n`;
      const { url, key } = server;
      const admin = (method: string, path: string, body?: unknown) =>
        ask(url + path, { method, key, body });
      const run = async (...args: string[]) =>
        (
          await gateway([...args, '-o', 'json'], {}, 'served').then(({ stdout }) =>
            JSON.parse(stdout),
          )
        ).data;

      const [declared] = (await admin('GET', '/admin/v1/prompts')).body.data;
      expect(declared).toMatchObject({ type: 'prompt', name: 'greet', text: 'Hello', version: 1 });
      const own = await ask(`${url}/v1/prompts`, { key: clientKey });
      expect(own.body.data).toMatchObject([{ id: declared.id, text: 'Hello' }]);

      const file = join(copy, 'served/team.yaml');
      await writeFile(file, prompt('team', 'Hi'));
      expect((await run('apply', '--yes', '-f', file)).applied).toMatchObject([
        { action: 'create' },
      ]);
      await writeFile(file, prompt('team', 'Bye'));
      const changes = [{ path: 'text', field: 'text', old: 'Hi', new: 'Bye' }];
      const planned = { kind: 'prompt', identity: 'default/team', action: 'update', changes };
      expect((await run('plan', '-f', file)).actions).toMatchObject([planned]);
      expect((await run('diff', '-f', file)).actions).toMatchObject([planned]);
      expect((await run('apply', '--yes', '-f', file)).applied).toMatchObject([
        { action: 'update' },
      ]);
      expect(await run('drift', '-f', file)).toEqual({ drifted: [], pending: 0 });

      await run('prompts', 'create', 'second', '--text', 'Once more', '--label', 'a=b');
      expect((await gateway(['prompts', 'list'], {}, 'served')).stdout).toMatch(
        /^NAME +TEXT +ID\ngreet +Hello +prompt_\w+\nteam +Bye +prompt_\w+\nsecond +Once more +prompt_\w+$/,
      );
      expect(await run('prompts', 'update', 'second', '--text', 'New')).toMatchObject({
        text: 'New',
        labels: { a: 'b' },
      });
      await run('prompts', 'delete', 'second', '--yes');
      expect(await run('prompts', 'list')).toMatchObject([{ name: 'greet' }, { name: 'team' }]);
      const words = ['complete-words', 'prompts', 'get', ''];
      expect((await gateway(words, {}, 'served')).stdout).toContain('greet');

      const shown = { type: { const: 'prompt' }, text: { type: 'string' } };
      const openapi = (await admin('GET', '/openapi.json')).body;
      expect(Object.keys(openapi.paths['/v1/prompts'])).toEqual(['get', 'post']);
      expect(openapi.components.schemas['Prompt'].properties).toMatchObject(shown);
      const printed = await run('schema', 'output', 'prompts', 'get');
      expect(printed.properties.data.anyOf[0].allOf[0].properties).toMatchObject(shown);
      expect((await run('schema')).properties.prompts.items.required).toContain('text');
      expect(await run('explain', 'prompt.text')).toMatchObject({ required: true });

      const page =
        "const { kinds, pages } = await import('./dist/lib/shown.js');" +
        'process.stdout.write((await pages()) + JSON.stringify(kinds));';
      const docs = await execa('node', ['--input-type=module', '-e', page], { cwd: copy });
      expect(docs.stdout).toContain('gateway prompts create');
      expect(docs.stdout).toContain('The text itself');
      expect(docs.stdout).toContain('["prompts","Prompts"]');
    },
  );

  it(
    verifies('extend.protocol', 'adds a translated protocol by its folder and one list'),
    async () => {
      const page = await readFile(join(ROOT, 'docs/extend.md'), 'utf8');
      const [, section = ''] = /^## A protocol$(.*?)^## /ms.exec(page) ?? [];
      const filesOf = (wanted: string): string[] =>
        markedBlocks(unindented(section)).flatMap(({ mark, file }) =>
          mark === wanted && file !== undefined ? [file] : [],
        );
      expect(new Set(filesOf('file').map((file) => dirname(file)))).toEqual(
        new Set(['src/protocols/notes']),
      );
      expect(new Set(filesOf('into'))).toEqual(new Set(['src/protocols/registry.ts']));
    },
  );

  it(
    verifies(
      'extend.docs-proved',
      'extend.protocol',
      'adds a protocol, which clients and providers speak, translated into others and from them',
    ),
    async () => {
      vendor.forget();
      const key = clientKey;
      const call = (path: string, body: object) =>
        ask(server.url + path, { method: 'POST', key, body });
      const note = (model: string) => ({ model, lines: [{ by: 'user', text: 'Hi' }], extra: 1 });
      const chat = (model: string) => ({
        model,
        messages: [{ role: 'user', content: 'Hi' }],
        seed: 1,
      });

      const own = await call('/v1/notes', note('acme/notes'));
      expect([own.status, own.body.lines]).toEqual([200, LINES]);
      const there = await call('/v1/notes', note('acme/chat'));
      expect(there.body).toEqual({
        model: 'acme/chat',
        lines: [{ by: 'assistant', text: 'Said' }],
      });
      const back = await call('/v1/chat/completions', chat('acme/notes'));
      expect(back.body.choices[0].message.content).toBe('Noted');
      const authorization = 'Bearer sk-acme';
      expect(vendor.asked).toEqual([
        { path: '/v1/notes', authorization, body: note('up') },
        {
          path: '/v1/chat/completions',
          authorization,
          body: expect.objectContaining({
            model: 'up',
            messages: [{ role: 'user', content: 'Hi' }],
          }),
        },
        {
          path: '/v1/notes',
          authorization,
          body: { model: 'up', lines: [{ by: 'user', text: 'Hi' }] },
        },
      ]);
      expect(await call('/v1/notes', { lines: [] })).toMatchObject({
        status: 400,
        body: { failed: '`model` is required' },
      });

      const model = await ask(`${server.url}/v1/models/acme/notes`, { key });
      expect(model.body.protocols.chat).toMatchObject([
        { provider_protocol: 'notes', translated: true },
      ]);
      expect(model.body.protocols.chat[0].loses).toContain('seed');
      const document = await ask(`${server.url}/openapi.json`, { key });
      expect(document.body.paths['/v1/notes'].post.responses.default).toEqual({
        $ref: '#/components/responses/NotesError',
      });
      expect(document.body.components.schemas.NotesError.properties).toHaveProperty('failed');
    },
  );

  it(
    verifies('extend.protocol', 'streams what is translated into a protocol that was added'),
    async () => {
      const key = clientKey;
      const stream = async (path: string, body: object): Promise<string> => {
        const answer = await fetch(server.url + path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ model: 'acme/notes', stream: true, ...body }),
        });
        return answer.text();
      };
      const said = await stream('/v1/chat/completions', {
        messages: [{ role: 'user', content: 'Hi' }],
      });
      const texts = [...said.matchAll(/"content":"([^"]+)"/g)].map(([, text]) => text);
      expect(texts.join('')).toBe('Noted');
      expect(said).toContain('data: [DONE]');
      const own = await stream('/v1/notes', { lines: [{ by: 'user', text: 'Hi' }] });
      expect(own).toBe(FRAMES.join(''));
    },
  );

  it(verifies('extend.docs-proved', 'adds a store, which outlives its process'), async () => {
    const name = 'kept';
    const { status } = await ask(`${server.url}/admin/v1/organizations`, {
      method: 'POST',
      key: server.key,
      body: { name },
    });
    expect(status).toBe(201);
    await server.stop();
    expect(await readdir(join(copy, 'served/rows'))).toEqual(['rows.json']);
    server = await serve();
    const path = `${server.url}/admin/v1/organizations/${name}`;
    const { body } = await ask(path, { key: server.key });
    expect(body).toMatchObject({ name, type: 'organization' });
  });

  it(
    verifies(
      'extend.docs-proved',
      'extend.command',
      'adds a command of one file with flags, help, completion and the schema of its output',
    ),
    async () => {
      const env = await serveModels();
      expect((await gateway(['count'], env)).stdout).toBe('2 models');
      expect((await gateway(['count', '--vendor', 'acme'], env)).stdout).toBe('1 models');
      const { stdout } = await gateway(['count', '-o', 'json'], {
        ...env,
        GATEWAY_COUNT_VENDOR: 'other',
      });
      expect(JSON.parse(stdout)).toMatchObject({ schema: 'gateway.count/v1', data: { count: 1 } });
      await expectPages(['count'], {
        usage: 'gateway count [flags]',
        flag: '--vendor NAME',
        summary: 'Count the models that the key may use',
      });
    },
  );

  it(
    verifies(
      'extend.docs-proved',
      'extend.command',
      'adds a plugin whose command is declared in the same shape',
    ),
    async () => {
      const env = await serveModels();
      const made = await gateway(['plugins', 'manifest', 'plugin', '-o', 'json']);
      expect(JSON.parse(made.stdout).data.commands).toEqual(['tally models']);
      const PATH = await putPlainNpm(join(copy, 'npm'));
      await gateway(['plugins', 'install', './plugin', '--yes'], { PATH });
      onTestFinished(async () => void (await gateway(['plugins', 'remove', NAME])));

      expect((await gateway(['tally', 'models', 'acme'], env)).stdout).toBe('1 models');
      const few = ['tally', 'models', 'acme', '-l', '2', '-o', 'json'];
      const refused = await gateway(few, env).catch((thrown: unknown) => thrown);
      expect(refused).toMatchObject({ exitCode: 1 });
      expect(JSON.parse((refused as { stdout: string }).stdout)).toMatchObject({
        schema: 'gateway.tally.models/v1',
        data: { count: 1 },
      });
      for (const words of [['acme', '--least', 'two'], ['acme', '--most', '1'], []]) {
        const wrong = gateway(['tally', 'models', ...words], env);
        await expect(wrong, words.join(' ')).rejects.toMatchObject({ exitCode: 64 });
      }
      await expectPages(['tally', 'models'], {
        usage: 'gateway tally models [flags] <vendor>',
        flag: '-l, --least INTEGER',
        summary: `Count the models of a vendor (plugin ${NAME})`,
      });
    },
  );

  it(verifies('extend.docs-proved', 'adds a template, which is valid'), async () => {
    await gateway(['init', '--template', 'tiny', 'project']);
    expect((await gateway(['validate', '-f', 'project/gateway.yaml'])).stdout).toContain('valid');
  });

  it(verifies('extend.docs-proved', 'adds what has the right types'), async () => {
    const { failed, stdout } = await types;
    expect(stdout).toBe('');
    expect(failed).toBe(false);
  });
});
