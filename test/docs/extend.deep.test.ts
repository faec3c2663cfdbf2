import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../requirements.ts';
import { ask, newDirectory, startGateway } from '../support/gateway.ts';
import { markedBlocks } from './code-blocks.ts';
import { ROOT } from './reader.ts';

const COPIED = ['src', 'bin', 'scripts', 'templates', 'package.json', 'tsconfig.build.json'];
const NAME = 'gateway-plugin-tally';
const SHAPE = { properties: { data: { anyOf: [{ required: ['count'] }, { type: 'null' }] } } };

let copy: string;
beforeAll(async () => {
  copy = await newDirectory();
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const page = await readFile(join(ROOT, 'docs/extend.md'), 'utf8');
  for (const { mark, file, code } of markedBlocks(unindented(page))) {
    if (file === undefined) continue;
    const path = join(copy, file);
    if (mark === 'into') await writeFile(path, insertAt(await readFile(path, 'utf8'), code));
    else await mkdir(dirname(path), { recursive: true }).then(() => writeFile(path, code));
  }
  await execa('node', ['scripts/build.js'], { cwd: copy });
});
afterAll(() => rm(copy, { recursive: true, force: true }));

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

/** Runs the command of the copy, in the copy or a folder of it. */
const gateway = (args: readonly string[], env: Record<string, string> = {}, folder = '') =>
  execa('node', [join(copy, 'bin/gateway.js'), ...args], {
    cwd: join(copy, folder),
    env: { PATH: process.env['PATH'] ?? '', HOME: copy, ...env },
    extendEnv: false,
  });

/** Starts the gateway of the copy in a folder of it; gives its URL and the key of its administrator. */
async function serve(
  folder: string,
  config: string,
  env: Record<string, string> = {},
): Promise<{ url: string; key: string; stop(): Promise<void> }> {
  await mkdir(join(copy, folder), { recursive: true });
  await writeFile(join(copy, folder, 'gateway.yaml'), config);
  const server = execa('node', [join(copy, 'bin/gateway.js'), 'start', '--port', '0'], {
    cwd: join(copy, folder),
    env: { PATH: process.env['PATH'] ?? '', HOME: copy, ...env },
    extendEnv: false,
    reject: false,
  });
  const stop = async () => {
    server.kill();
    await server;
  };
  onTestFinished(stop);
  const url = await new Promise<string>((resolve, reject) => {
    void server.then(({ stderr }) => reject(new Error(stderr)));
    let said = '';
    server.stderr.on('data', (chunk) => {
      said += String(chunk);
      const [, found] = /gateway listening on (http:\S+)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const key = await readFile(join(copy, folder, '.gateway/admin.key'), 'utf8');
  return { url, key: key.trim(), stop };
}

/**
 * Starts a provider that gives one answer on each path, an object or the text of a stream, and notes the
 * paths, credentials and bodies of what it is asked.
 */
async function serveVendor(
  answers: Readonly<Record<string, object | string>>,
): Promise<{ origin: string; asked: unknown[]; bodies: unknown[] }> {
  const asked: unknown[] = [];
  const bodies: unknown[] = [];
  const vendor = createServer((request, response) => {
    asked.push(request.url, request.headers.authorization);
    const answer = answers[request.url ?? ''] ?? {};
    const isStream = typeof answer === 'string';
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
    void collect(request, bodies).then(() =>
      response.end(isStream ? answer : JSON.stringify(answer)),
    );
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void vendor.close());
  return { origin: `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`, asked, bodies };
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

async function collect(request: IncomingMessage, bodies: unknown[]): Promise<void> {
  bodies.push(await json(request));
}

/** A provider that speaks chat and notes, and a model for each of the two. */
const notesConfig = (origin: string): string => `version: 1
providers:
  - { name: acme, type: custom, base_url: '${origin}/v1', api_key: '\${secret:env:ACME_API_KEY}', protocols: { chat: true, notes: true } }
models:
  - { name: acme/chat, routes: [{ provider: acme, upstream_model: up, protocols: [chat] }] }
  - { name: acme/notes, routes: [{ provider: acme, upstream_model: up, protocols: [notes] }] }
`;

describe('docs/extend.md', () => {
  it(verifies('extend.docs-proved', 'adds a type of provider, which is called'), async () => {
    const message = { role: 'assistant', content: 'Hello from Acme' };
    const { origin, asked } = await serveVendor({
      '/v1/chat/completions': { choices: [{ index: 0, message, finish_reason: 'stop' }] },
    });
    const config = `version: 1
providers:
  - { name: acme, type: acme, base_url: '${origin}/v1', api_key: '\${secret:env:ACME_API_KEY}' }
models:
  - { name: acme/fast, routes: [{ provider: acme }] }
`;
    await serve('provider', config, { ACME_API_KEY: 'sk-acme' });
    const { stdout } = await gateway(
      ['chat', '--no-stream', 'acme/fast', 'Hello!'],
      {},
      'provider',
    );
    expect(stdout).toBe('Hello from Acme');
    expect(asked).toEqual(['/v1/chat/completions', 'Bearer sk-acme']);
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
      const { url, key } = await serve('kind', prompt('greet', 'Hello'));
      const admin = (method: string, path: string, body?: unknown) =>
        ask(url + path, { method, key, body });
      const run = async (...args: string[]) =>
        (
          await gateway([...args, '-o', 'json'], {}, 'kind').then(({ stdout }) =>
            JSON.parse(stdout),
          )
        ).data;

      const [declared] = (await admin('GET', '/admin/v1/prompts')).body.data;
      expect(declared).toMatchObject({ type: 'prompt', name: 'greet', text: 'Hello', version: 1 });
      const created = await admin('POST', '/admin/v1/keys', { name: 'app', scopes: ['agents'] });
      const own = await ask(`${url}/v1/prompts`, { key: created.body.value });
      expect(own.body.data).toMatchObject([{ id: declared.id, text: 'Hello' }]);

      const file = join(copy, 'kind/team.yaml');
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
      expect((await gateway(['prompts', 'list'], {}, 'kind')).stdout).toMatch(
        /^NAME +TEXT +ID\ngreet +Hello +prompt_\w+\nteam +Bye +prompt_\w+\nsecond +Once more +prompt_\w+$/,
      );
      expect(await run('prompts', 'update', 'second', '--text', 'New')).toMatchObject({
        text: 'New',
        labels: { a: 'b' },
      });
      await run('prompts', 'delete', 'second', '--yes');
      expect(await run('prompts', 'list')).toMatchObject([{ name: 'greet' }, { name: 'team' }]);
      const words = ['complete-words', 'prompts', 'get', ''];
      expect((await gateway(words, {}, 'kind')).stdout).toContain('greet');

      const shown = { type: { const: 'prompt' }, text: { type: 'string' } };
      const openapi = (await admin('GET', '/openapi.json')).body;
      expect(Object.keys(openapi.paths['/v1/prompts'])).toEqual(['get', 'post']);
      expect(openapi.components.schemas['Prompt'].properties).toMatchObject(shown);
      const printed = await run('schema', 'output', 'prompts', 'get');
      expect(printed.properties.data.anyOf[0].allOf[0].properties).toMatchObject(shown);
      expect((await run('schema')).properties.prompts.items.required).toContain('text');
      expect(await run('explain', 'prompt.text')).toMatchObject({ required: true });

      const page =
        "const { COMMANDS } = await import('./src/cli/commands.ts');" +
        "const { withFlags } = await import('./src/cli/grammar/load-flags.ts');" +
        "const { renderDocs } = await import('./src/cli/grammar/render-docs.ts');" +
        'process.stdout.write(renderDocs(await withFlags(COMMANDS)));' +
        "const { CONFIGURATION_KINDS } = await import('./src/console/logic/configuration-kinds.ts');" +
        'process.stdout.write(JSON.stringify(CONFIGURATION_KINDS));';
      const docs = await execa('node', ['--import', 'tsx', '--input-type=module', '-e', page], {
        cwd: copy,
      });
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
      const lines = [{ by: 'assistant', text: 'Noted' }];
      const message = { role: 'assistant', content: 'Said' };
      const { origin, asked, bodies } = await serveVendor({
        '/v1/notes': { model: 'up', lines },
        '/v1/chat/completions': { choices: [{ index: 0, message, finish_reason: 'stop' }] },
      });
      const { url, key } = await serve('protocol', notesConfig(origin), {
        ACME_API_KEY: 'sk-acme',
      });
      const created = await ask(`${url}/admin/v1/keys`, {
        method: 'POST',
        key,
        body: { name: 'app' },
      });
      const call = (path: string, body: object) =>
        ask(url + path, { method: 'POST', key: created.body.value, body });
      const note = (model: string) => ({ model, lines: [{ by: 'user', text: 'Hi' }], extra: 1 });
      const chat = (model: string) => ({
        model,
        messages: [{ role: 'user', content: 'Hi' }],
        seed: 1,
      });

      const own = await call('/v1/notes', note('acme/notes'));
      expect([own.status, own.body.lines]).toEqual([200, lines]);
      const there = await call('/v1/notes', note('acme/chat'));
      expect(there.body).toEqual({
        model: 'acme/chat',
        lines: [{ by: 'assistant', text: 'Said' }],
      });
      const back = await call('/v1/chat/completions', chat('acme/notes'));
      expect(back.body.choices[0].message.content).toBe('Noted');
      expect(asked).toEqual(
        ['/v1/notes', '/v1/chat/completions', '/v1/notes'].flatMap((path) => [
          path,
          'Bearer sk-acme',
        ]),
      );
      expect(bodies).toEqual([
        { ...note('up') },
        expect.objectContaining({ model: 'up', messages: [{ role: 'user', content: 'Hi' }] }),
        { model: 'up', lines: [{ by: 'user', text: 'Hi' }] },
      ]);
      expect(await call('/v1/notes', { lines: [] })).toMatchObject({
        status: 400,
        body: { failed: '`model` is required' },
      });

      const model = await ask(`${url}/v1/models/acme/notes`, { key: created.body.value });
      expect(model.body.protocols.chat).toMatchObject([
        { provider_protocol: 'notes', translated: true },
      ]);
      expect(model.body.protocols.chat[0].loses).toContain('seed');
      const document = await ask(`${url}/openapi.json`, { key: created.body.value });
      expect(document.body.paths['/v1/notes'].post.responses.default).toEqual({
        $ref: '#/components/responses/NotesError',
      });
      expect(document.body.components.schemas.NotesError.properties).toHaveProperty('failed');
    },
  );

  it(
    verifies('extend.protocol', 'streams what is translated into a protocol that was added'),
    async () => {
      const frames = ['{"text":"No"}', '{"text":"ted"}', '{"end":true}'];
      const { origin } = await serveVendor({
        '/v1/notes': frames.map((data) => `data: ${data}\n\n`).join(''),
      });
      const { url, key } = await serve('streams', notesConfig(origin), { ACME_API_KEY: 'sk-acme' });
      const created = await ask(`${url}/admin/v1/keys`, {
        method: 'POST',
        key,
        body: { name: 'app' },
      });
      const stream = async (path: string, body: object): Promise<string> => {
        const answer = await fetch(url + path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${created.body.value}`,
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
      expect(own).toBe(frames.map((data) => `data: ${data}\n\n`).join(''));
    },
  );

  it(verifies('extend.docs-proved', 'adds a store, which outlives its process'), async () => {
    const config = 'version: 1\nserver: { store: { driver: sheet, path: rows } }\n';
    const before = await serve('store', config);
    const name = 'kept';
    const { status } = await ask(`${before.url}/admin/v1/organizations`, {
      method: 'POST',
      key: before.key,
      body: { name },
    });
    expect(status).toBe(201);
    await before.stop();
    expect(await readdir(join(copy, 'store/rows'))).toEqual(['rows.json']);
    const after = await serve('store', config);
    const { body } = await ask(`${after.url}/admin/v1/organizations/${name}`, { key: after.key });
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
      await gateway(['plugins', 'install', './plugin', '--yes']);
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
});
