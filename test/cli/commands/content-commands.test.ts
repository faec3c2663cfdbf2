import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startMediaStudio } from '../../support/stage/media-studio.ts';
import { runCli } from '../run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import type { CliRun } from '../run-cli.ts';

const CONFIG = {
  providers: [{ name: 'acme', type: 'mock' }],
  models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
};
const SECRETS = [
  'canary-first-8c11-4471',
  'canary-second-90aa-3b',
  'canary-third-77fe-12',
] as const;
const MAIN = '---\nname: review\ndescription: Reviews code.\n---\nLook closely.\n';

let gateway: TestGateway;
let cwd: string;
beforeAll(async () => {
  gateway = await startGateway({ ...CONFIG, server: { log: { level: 'debug' } } });
  cwd = await emptyDirectory();
  await gateway.admin('POST', '/admin/v1/organizations', { name: 'other' });
  await gateway.admin('POST', '/admin/v1/agents', { name: 'coder', model: 'acme/one' });
  const own = { name: 'theirs', model: 'acme/one', organization: 'other' };
  await gateway.admin('POST', '/admin/v1/agents', own);
});
afterAll(() => gateway.stop());

/** All that commands said. */
let said = '';
async function run(argv: string[], rest: { stdin?: string; env?: Record<string, string> } = {}) {
  const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey, ...rest.env };
  const done: CliRun = await runCli(argv, { cwd, ...rest, env });
  said += done.stdout + done.stderr;
  return done;
}

describe('gateway credentials', () => {
  const CREATE = ['credentials', 'create', '--scope-name', 'tracker'];
  const create = (...more: string[]) => [...CREATE, '--agent', 'coder', ...more];

  it(
    verifies(
      'cli.credentials',
      'takes a value from a file, stdin or the environment, and prints only hints',
    ),
    async () => {
      await writeFile(join(cwd, 'token.txt'), `${SECRETS[0]}\n`);
      const made = await run(
        create('tracker token', '--secret-key', 'token', '--value-file', 'token.txt', '--debug'),
      );
      expect(made).toMatchObject({ code: 0 });
      expect(made.stdout).toMatch(/^credential tracker token \(sec_\S+\) created: can…471\n$/);
      expect(made.stderr).toMatch(/token as a bearer token; no process gets it/);
      const id = /sec_\w+/.exec(made.stdout)?.[0] ?? '';

      const piped = await run(
        create('--secret-key', 'ACME_TOKEN', '--value-stdin', '--weight', '3', '-o', 'json'),
        { stdin: SECRETS[1] },
      );
      expect(piped.json()).toMatchObject({
        ok: true,
        warnings: [],
        data: { name: 'tracker:ACME_TOKEN', scope: 'mcp', weight: 3, value_hint: 'can…-3b' },
      });

      const rotated = await run(['credentials', 'rotate', id, '--value-env', 'NEW', '--debug'], {
        env: { NEW: SECRETS[2] },
      });
      expect(rotated.stdout).toBe(`credential tracker token (${id}) rotated: can…-12\n`);
      const listed = await run(['credentials', 'list', '-o', 'json']);
      expect(listed.json().data).toHaveLength(2);
      for (const verb of ['disable', 'enable', 'get'])
        expect((await run(['credentials', verb, id])).code).toBe(0);

      expect((await run(['help', 'credentials', 'create'])).stdout).not.toMatch(/--value[ =]/);
      for (const secret of SECRETS) {
        expect(said).not.toContain(secret);
        expect(gateway.log()).not.toContain(secret);
      }
    },
  );

  it('belongs to the organization of its Agent', async () => {
    const argv = ['--agent', 'theirs', '--secret-key', 'x-api-key', '--value-stdin', '-o', 'json'];
    const made = await run([...CREATE, ...argv], { stdin: 'value-of-theirs' });
    const other = (await gateway.admin('GET', '/admin/v1/organizations/other')).body;
    expect(made.json().data).toMatchObject({ organization: other.id });
  });

  it.each([
    [create('--secret-key', 'a', '--value', 'plain-secret'), /value/],
    [create('--secret-key', 'a'), /the value is missing/],
    [create('--secret-key', 'a', '--value-stdin', '--value-env', 'A'), /from one place/],
    [create('--secret-key', 'a', '--value-env', 'NOT_SET'), /NOT_SET is not set/],
    [create('--secret-key', 'a', '--value-file', 'none.txt'), /none.txt cannot be read/],
    [create('--secret-key', 'a', '--value-stdin'), /stdin is empty/],
    [create('--value-stdin'), /--secret-key is missing/],
    [['credentials', 'rotate', 'sec_none'], /the value is missing/],
  ])('refuses %j before anything is sent', async (argv, why) => {
    const refused = await run(argv);
    expect(refused.code).toBe(64);
    expect(refused.stderr).toMatch(why);
    expect(refused.stderr).not.toContain('plain-secret');
  });

  it('says what is not there', async () => {
    const argv = ['--scope-name', 'x', '--secret-key', 'a', '--value-stdin'];
    const none = await run(['credentials', 'create', '--agent', 'none', ...argv], { stdin: 'v' });
    expect([none.code, none.stderr]).toEqual([
      1,
      expect.stringContaining('there is no Agent "none"'),
    ]);
    const rotated = await run(['credentials', 'rotate', 'sec_none', '--value-stdin'], {
      stdin: 'v',
    });
    expect(rotated.code).toBe(1);
  });
});

describe('gateway skills', () => {
  it('uploads a folder, its next version, and unpacks either', async () => {
    const folder = join(cwd, 'review');
    await mkdir(join(folder, 'data'), { recursive: true });
    await mkdir(join(folder, '.git'));
    await writeFile(join(folder, 'SKILL.md'), MAIN);
    await writeFile(join(folder, 'data/x.bin'), Buffer.from([0, 255, 13, 10]));
    await writeFile(join(folder, '.git/config'), 'x');
    const made = await run(['skills', 'create', 'review', '--display-name', 'Review']);
    expect(made.stdout).toMatch(/^skill review \(skill_\S+\) created, version skillver_\S+\n$/);
    const first = /skillver_\w+/.exec(made.stdout)?.[0] ?? '';
    const id = /skill_\w+/.exec(made.stdout)?.[0] ?? '';

    await writeFile(join(folder, 'SKILL.md'), MAIN.replace('closely', 'twice'));
    const updated = await run(['skills', 'update', 'review', './review', '-o', 'json']);
    const second = updated.json().data;
    expect(second).toMatchObject({ type: 'skill_version', skill_id: id });
    const versions = await run(['skills', 'versions', 'review', '-q']);
    expect(versions.stdout).toBe(`${second.id}\n${first}\n`);
    expect((await run(['skills', 'versions', id])).stdout).toContain('Reviews code.');

    expect((await run(['skills', 'get', 'review', '--out', 'latest'])).code).toBe(0);
    expect((await readdir(join(cwd, 'latest'))).toSorted()).toEqual(['SKILL.md', 'data']);
    expect(await readFile(join(cwd, 'latest/SKILL.md'), 'utf8')).toContain('Look twice.');
    expect([...(await readFile(join(cwd, 'latest/data/x.bin')))]).toEqual([0, 255, 13, 10]);
    const old = ['skills', 'get', id, '--at', first, '--out', 'old', '-o', 'json'];
    expect((await run(old)).json().data).toMatchObject({
      version: first,
      files: ['SKILL.md', 'data/x.bin'],
    });
    expect(await readFile(join(cwd, 'old/SKILL.md'), 'utf8')).toBe(MAIN);
    const again = await run(old);
    expect([again.code, again.json().error.message]).toEqual([
      64,
      expect.stringMatching(/old is not empty/),
    ]);
    expect((await run(['skills', 'get', id, '--at', 'skillver_none', '--out', 'no'])).code).toBe(1);
  });

  it('refuses what is no Skill', async () => {
    await mkdir(join(cwd, 'empty'));
    await mkdir(join(cwd, 'wrong'));
    await writeFile(join(cwd, 'wrong/SKILL.md'), 'no front matter');
    const empty = await run(['skills', 'create', 'empty']);
    expect([empty.code, empty.stderr]).toEqual([64, expect.stringMatching(/no SKILL.md/)]);
    const missing = await run(['skills', 'create', 'nowhere']);
    expect([missing.code, missing.stderr]).toEqual([64, expect.stringMatching(/cannot be read/)]);
    const wrong = await run(['skills', 'create', 'wrong']);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/front matter/)]);
  });
});

describe('gateway files', () => {
  it('uploads, lists, shows, downloads and deletes', async () => {
    const bytes = Buffer.alloc(1_000_000, 'x\u0000ÿ');
    await writeFile(join(cwd, 'été.pdf'), bytes);
    const uploaded = await run(['files', 'upload', 'été.pdf']);
    expect(uploaded.stdout).toMatch(/^file_\w+\n$/);
    const id = uploaded.stdout.trim();
    const listed = await run(['files', 'list', '--organization', 'default']);
    expect(listed.stdout).toMatch(
      new RegExp(`^été.pdf +application/pdf +1000000 +\\S+ +${id}$`, 'm'),
    );
    expect((await run(['files', 'get', id, '-o', 'json'])).json().data).toMatchObject({
      filename: 'été.pdf',
      size_bytes: 1_000_000,
    });

    const refused = await run(['files', 'download', id]);
    expect([refused.code, refused.stderr]).toEqual([64, expect.stringMatching(/already exists/)]);
    expect((await run(['files', 'download', id, '--out', 'copy.pdf'])).code).toBe(0);
    expect(bytes.equals(await readFile(join(cwd, 'copy.pdf')))).toBe(true);
    expect((await run(['files', 'download', id, '--force'])).code).toBe(0);

    expect((await run(['files', 'delete', id])).code).toBe(64);
    expect((await run(['files', 'rm', id, '--yes'])).stdout).toContain('is deleted');
    expect((await run(['files', 'download', id, '--out', 'gone.pdf'])).code).toBe(1);
    expect(await readdir(cwd)).not.toContain('gone.pdf');
    expect((await run(['files', 'upload', 'nowhere.txt'])).code).toBe(64);
  });

  it('keeps a file for another organization, under another name and type', async () => {
    await writeFile(join(cwd, 'notes'), 'x');
    const upload = ['files', 'upload', 'notes', '--organization', 'other', '-o', 'json'];
    const made = await run([...upload, '--name', '../../etc/notes.txt', '--type', 'text/plain']);
    const { id } = made.json().data;
    expect(made.json().data).toMatchObject({ mime_type: 'text/plain' });
    const listed = await run(['files', 'list', '--organization', 'default', '-o', 'json']);
    expect(listed.json().data).toEqual([]);
    const downloaded = await run(['files', 'download', id, '-o', 'json']);
    expect(downloaded.json().data).toEqual({ id, path: join(cwd, 'notes.txt') });
  });
});

describe('gateway assets', () => {
  it('prints the reference of media, and where it is', async () => {
    const studio = await startMediaStudio();
    const server = { outbound: { allow: [new URL(studio.url).host] } };
    const other = await startGateway({ ...CONFIG, server });
    const env = { GATEWAY_SERVER: other.url, GATEWAY_API_KEY: other.clientKey };
    try {
      const url = `${studio.url}/sound.mp3`;
      const made = await run(['assets', 'create', url, '--type', 'Audio', '--name', 'fox'], {
        env,
      });
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(made.stdout).toMatch(/^asset:\/\/media_\w+\n$/);
      const reference = made.stdout.trim();
      for (const named of [reference, reference.slice('asset://'.length)]) {
        const shown = (await run(['assets', 'get', named, '-o', 'json'], { env })).json().data;
        expect(shown).toMatchObject({ asset_url: reference, name: 'fox', status: 'Active' });
        expect((await fetch(shown.download_url)).headers.get('content-type')).toBe('audio/mpeg');
      }
      const wrong = await run(['assets', 'create', url], { env });
      expect(wrong.code).not.toBe(0);
      expect(wrong.stderr).toMatch(/no Image/);
      expect((await run(['assets', 'create', url, '--type', 'audio'], { env })).code).toBe(64);
      const none = await run(['assets', 'get', 'x', '--ignore-not-found'], { env });
      expect(none).toMatchObject({ code: 0, stdout: '' });
    } finally {
      await other.stop();
      await studio.close();
    }
  });
});
