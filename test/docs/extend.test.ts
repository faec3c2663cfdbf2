import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newDirectory, startGateway } from '../support/gateway.ts';
import { markedBlocks } from './code-blocks.ts';
import { ROOT } from './reader.ts';

const COPIED = ['src', 'bin', 'scripts', 'templates', 'package.json', 'tsconfig.build.json'];
const SHAPE = { properties: { data: { anyOf: [{ required: ['count'] }, { type: 'null' }] } } };

let copy: string;
beforeAll(async () => {
  copy = await newDirectory();
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const page = await readFile(join(ROOT, 'docs/extend.md'), 'utf8');
  // Blocks within a list are indented.
  for (const { mark, file, code } of markedBlocks(page.replaceAll(/^ {3}(?=\S| )/gm, ''))) {
    if (file === undefined) continue;
    const path = join(copy, file);
    if (mark === 'into') await writeFile(path, insertAt(await readFile(path, 'utf8'), code));
    else await mkdir(dirname(path), { recursive: true }).then(() => writeFile(path, code));
  }
  await execa('node', ['scripts/build.js'], { cwd: copy });
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** The text with all lines but the first behind the one line that is like the first. */
function insertAt(text: string, code: string): string {
  const [anchor = '', ...added] = code.trimEnd().split('\n');
  const lines = text.split('\n');
  const places = lines.flatMap((line, at) => (line.trim() === anchor.trim() ? [at] : []));
  expect(places, anchor).toHaveLength(1);
  return lines.toSpliced((places[0] as number) + 1, 0, ...added).join('\n');
}

/** Runs the command of the copy. */
const gateway = (args: readonly string[], env: Record<string, string> = {}) =>
  execa('node', [join(copy, 'bin/gateway.js'), ...args], {
    cwd: copy,
    env: { PATH: process.env['PATH'] ?? '', HOME: copy, ...env },
    extendEnv: false,
  });

describe('docs/extend.md', () => {
  it('adds a type of provider, which is called', async () => {
    const asked: (string | undefined)[] = [];
    const vendor = createServer((request, response) => {
      asked.push(request.url, request.headers.authorization);
      const message = { role: 'assistant', content: 'Hello from Acme' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    });
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void vendor.close());
    const { port } = vendor.address() as AddressInfo;
    const config = `version: 1
providers:
  - { name: acme, type: acme, base_url: 'http://127.0.0.1:${port}/v1', api_key: '\${secret:env:ACME_API_KEY}' }
models:
  - { name: acme/fast, routes: [{ provider: acme }] }
`;
    const file = join(copy, 'gateway.yaml');
    await writeFile(file, config);
    const server = execa('node', [join(copy, 'bin/gateway.js'), 'start', '--port', '0'], {
      cwd: copy,
      env: { PATH: process.env['PATH'] ?? '', HOME: copy, ACME_API_KEY: 'sk-acme' },
      extendEnv: false,
      reject: false,
    });
    onTestFinished(async () => {
      server.kill();
      await server.then(() => undefined);
    });
    await new Promise<void>((resolve, reject) => {
      void server.then(({ stderr }) => reject(new Error(stderr)));
      let said = '';
      server.stderr.on('data', (chunk) => {
        said += String(chunk);
        if (said.includes('gateway listening on')) resolve();
      });
    });
    const { stdout } = await gateway(['chat', '--no-stream', 'acme/fast', 'Hello!']);
    expect(stdout).toBe('Hello from Acme');
    expect(asked).toEqual(['/v1/chat/completions', 'Bearer sk-acme']);
  });

  it('adds a command with help, completion and a shape of its result', async () => {
    const { url, adminKey, stop } = await startGateway('version: 1\n');
    onTestFinished(async () => void (await stop()));
    const env = { GATEWAY_SERVER: url, GATEWAY_API_KEY: adminKey };
    expect((await gateway(['count'], env)).stdout).toBe('0 models');
    expect(JSON.parse((await gateway(['count', '-o', 'json'], env)).stdout).data).toEqual({
      count: 0,
    });
    expect((await gateway(['help'])).stdout).toContain('Count the models');
    expect((await gateway(['complete-words', 'cou'])).stdout).toContain('count');
    const { stdout } = await gateway(['schema', 'output', 'count']);
    expect(JSON.parse(stdout)).toMatchObject(SHAPE);
  });

  it('adds a template, which is valid', async () => {
    await gateway(['init', '--template', 'tiny', 'project']);
    expect((await gateway(['validate', '-f', 'project/gateway.yaml'])).stdout).toContain('valid');
  });
});
