import { Buffer } from 'node:buffer';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSkillFolder } from '../../src/cli/input/skill-folder.ts';
import { writeSkillFiles } from '../../src/cli/project/dumped-files.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { toZip } from '../../src/resources/skills/zip.ts';
import { readManifest } from '../../src/store/backends/lmdb/backup/manifest.ts';
import { runCli } from '../cli/run-cli.ts';
import { formText } from '../support/form-text.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { askRaw } from '../support/raw-client.ts';
import { speak } from '../support/raw-socket.ts';
import { unzip } from '../support/unzip.ts';
import { verifies } from '../requirements.ts';
import { directoryOfTest } from '../support/process/directory-of-test.ts';

/** Ways out of a folder, for one kind of machine or another. */
const WAYS_OUT: readonly string[] = [
  '../outside',
  'a/../../outside',
  'a/..',
  '..',
  '.',
  './a',
  'a/./b',
  '/etc/passwd',
  '//host/share',
  'a//b',
  'a/',
  '..\\outside',
  'a\\..\\..\\outside',
  '\\\\host\\share',
  'C:/outside',
  'c:outside',
  'a\0b',
  'a\nb',
  'a\x7fb',
  '',
  '__proto__/a',
  'x'.repeat(600),
  `${'x'.repeat(300)}/a`,
];
const MAIN = '---\nname: plain\ndescription: a plain one\n---\nHello\n';

/** Every path below a folder. */
async function everything(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: [{ name: 'mock', type: 'mock' }],
    models: [{ name: 'm', routes: [{ provider: 'mock' }] }],
  });
});
afterAll(() => gateway.stop());

const BOUNDARY = 'b0undary';
type Part = Parameters<typeof formText>[1][number];

function upload(path: string, parts: readonly Part[]) {
  return askRaw(gateway.url + path, {
    key: gateway.clientKey,
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: formText(BOUNDARY, [...parts]),
  });
}

const skillFile = (filename: string, content = 'text'): Part => ({
  name: 'files[]',
  filename,
  type: 'text/plain',
  content,
});

describe('the files of a Skill', () => {
  it.each(WAYS_OUT.filter((path) => !/[\0\n\\\x7f]/.test(path)).map((path) => [path]))(
    verifies('skills.upload.rules', 'are refused where one is called %j'),
    async (path) => {
      const parts = [skillFile('plain/SKILL.md', MAIN), skillFile(`plain/${path}`)];
      const { status, body } = await upload('/v1/skills', parts);
      expect(body.toString()).toContain('error');
      expect(status).toBe(400);
    },
  );

  it.each(WAYS_OUT.map((path) => [path]))('are refused in JSON, too: %j', async (path) => {
    const files = JSON.stringify({ 'SKILL.md': MAIN, [path]: 'text' });
    const body = path.startsWith('__proto__')
      ? `{"files":${files}}`
      : JSON.stringify({ files: JSON.parse(files) });
    const answer = await gateway.call('POST', '/v1/skills', { body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  });

  it.each([
    ['twice', ['a.md', 'a.md']],
    ['as a file and a folder', ['a', 'a/b']],
    ['in two cases', ['Readme.md', 'README.md']],
    ['in folders of two cases', ['docs/a', 'Docs/a']],
    ['as a file and a folder of another case', ['A', 'a/b']],
    ['composed and decomposed', ['caf\u00e9', 'cafe\u0301']],
  ])('are refused where one is there %s', async (_what, paths) => {
    const parts = [skillFile('plain/SKILL.md', MAIN), ...paths.map((p) => skillFile(`plain/${p}`))];
    const { status, body } = await upload('/v1/skills', parts);
    expect(body.toString()).toMatch(/twice|spelling|file and a folder/);
    expect(status).toBe(400);
  });

  it('that are fit come back under their names', async () => {
    const names = [
      'a.md',
      '..a',
      'a..',
      '...',
      'C',
      'a:b',
      'nul',
      '~',
      '-rf',
      '%2e%2e',
      '\u2024\u2024',
    ];
    const parts = [
      skillFile('plain/SKILL.md', MAIN),
      ...names.map((n) => skillFile(`plain/d/${n}`)),
    ];
    const made = JSON.parse((await upload('/v1/skills', parts)).body.toString());
    const version = made.latest_version_id ?? made.latest_version;
    const path = `/v1/skills/${made.id}/versions/${version}/content`;
    const options = { key: gateway.clientKey, method: 'GET' };
    const { body } = await askRaw(gateway.url + path, options);
    const entries = [...unzip(body).keys()];
    expect(entries.toSorted()).toEqual(
      ['plain/SKILL.md', ...names.map((name) => `plain/d/${name}`)].toSorted(),
    );
  });

  it('never land outside of the folder that a command unpacks them to', async () => {
    for (const path of WAYS_OUT.filter((one) => one !== '')) {
      const place = await directoryOfTest();
      const folder = join(place, 'skill');
      const archive = toZip(
        [{ path: `plain/${path}`, bytes: Buffer.from('text') }],
        new Date(1e12),
      );
      await writeSkillFolder(archive, folder).catch(() => undefined);
      const found = await everything(place);
      expect(found.filter((one) => one !== 'skill' && !one.startsWith('skill/'))).toEqual([]);
      const tree = { version: 1 as const, skills: [{ name: '../..', files: { [path]: 'text' } }] };
      await writeSkillFiles(tree, join(place, 'skill')).catch(() => undefined);
      const dumped = await everything(place);
      expect(dumped.filter((one) => one !== 'skill' && !one.startsWith('skill/'))).toEqual([]);
    }
  });
});

describe('a file', () => {
  it('is kept by its id whatever it is called, and named to browsers as a name alone', async () => {
    const before = await everything(gateway.directory);
    for (const filename of [...WAYS_OUT, 'a"; x="b', 'a\u202egpj.exe', '<script>.html']) {
      if (/[\0\n\\\x7f"]/.test(filename) || filename === '') continue;
      const part = { name: 'file', filename, type: 'text/html', content: 'text' };
      const { status, body } = await upload('/v1/files', [part]);
      if (status !== 201) {
        expect(status, body.toString()).toBeLessThan(500);
        continue;
      }
      const { id } = JSON.parse(body.toString());
      const content = await askRaw(`${gateway.url}/v1/files/${id}/content`, {
        key: gateway.clientKey,
        method: 'GET',
      });
      expect(content.headers['content-disposition']).toMatch(
        /^attachment; filename\*=UTF-8''[\w.~%!-]*$/,
      );
      expect(content.headers['x-content-type-options']).toBe('nosniff');
    }
    expect(await everything(gateway.directory)).toEqual(before);
  });

  it('that a command downloads stays in the folder where it was asked for', async () => {
    const part = { name: 'file', filename: '../../outside.txt', type: 'text/plain', content: 'x' };
    const { id } = JSON.parse((await upload('/v1/files', [part])).body.toString());
    const place = await directoryOfTest();
    const cwd = join(place, 'a', 'b');
    await mkdir(cwd, { recursive: true });
    const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
    await runCli(['files', 'download', id], { cwd, env });
    expect(await everything(place)).toEqual(['a', 'a/b', 'a/b/outside.txt']);
  });
});

describe('an id in a path', () => {
  const STEPS = [
    '..%2f..%2fadmin.key',
    '%2e%2e%2fadmin.key',
    '..%5cadmin.key',
    '%00',
    '..%252fx',
    '.',
  ];

  it.each([
    '/v1/files/ID',
    '/v1/files/ID/content',
    '/v1/assets/ID',
    '/v1/skills/ID',
    '/v1/skills/ID/versions/ID/content',
    '/v1/agents/ID',
    '/v1/sessions/ID/events',
    '/v1/endpoints/ID',
    '/v1/deployments/ID',
    '/v1/deployment_runs/ID',
    '/v1/credentials/ID',
    '/v1/videos/ID/content',
    '/v1/tasks/ID',
    '/v1/run/ID',
    '/v1/media/ID',
    '/v1/models/ID',
    '/v1/api/ID/x',
    '/v1beta/interactions/ID',
    '/admin/v1/requests/ID',
    '/docs/ID',
    '/ID',
  ])('leads nowhere: %s', async (path) => {
    for (const id of STEPS) {
      const target = path.replaceAll('ID', id);
      const head = `host: localhost\r\nauthorization: Bearer ${gateway.adminKey}\r\n`;
      const { answers, said } = await speak(gateway.url, `GET ${target} HTTP/1.1\r\n${head}\r\n`, {
        isOver: ([first]) => first !== undefined,
      });
      expect([400, 403, 404], `${target}: ${said}`).toContain(answers[0]?.status);
      expect(said).not.toContain(gateway.adminKey);
    }
  });
});

describe('a template', () => {
  it.each([
    '../../etc',
    '/etc',
    'local/../../src',
    '..',
    '__proto__',
    'toString',
    'local\0',
    'shared',
  ])('that is called %j is none', async (name) => {
    const cwd = await directoryOfTest();
    const { code } = await runCli(['init', '--template', name], { cwd });
    expect(code).toBe(64);
    expect(await everything(cwd)).toEqual([]);
  });
});

describe('a file that the configuration brings in', () => {
  it.each([
    '../outside.txt',
    'below/../../outside.txt',
    '/etc/hostname',
    'link.txt',
    'linked/outside.txt',
    '.',
    '..',
    'below',
    'a\0b',
  ])(verifies('config.secrets-by-reference', 'lies below it, by any way: %j'), async (path) => {
    const place = await directoryOfTest();
    const cwd = join(place, 'project');
    await mkdir(join(cwd, 'below'), { recursive: true });
    await writeFile(join(place, 'outside.txt'), 'what is outside');
    await symlink(join(place, 'outside.txt'), join(cwd, 'link.txt'));
    await symlink(place, join(cwd, 'linked'));
    const text = { version: 1, organizations: [{ name: 'o', display_name: `\${file:${path}}` }] };
    await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify(text));
    const { config, diagnostics } = await loadConfig({ paths: ['gateway.yaml'], env: {}, cwd });
    expect(config).toBeUndefined();
    expect(JSON.stringify(diagnostics)).toMatch(/lies outside|cannot be read/);
    expect(JSON.stringify(diagnostics)).not.toContain('what is outside');
  });
});

describe('the manifest of a backup', () => {
  const digest = '0'.repeat(64);
  const store = { driver: 'lmdb', format: 1, identity: null, rows: 0, checksum: '' };
  const read = async (path: string) => {
    const folder = await directoryOfTest();
    const files = [{ path, size: 1, sha256: digest }];
    const manifest = { format: 1, created_at: '', store, files };
    await writeFile(join(folder, 'backup.json'), JSON.stringify(manifest));
    return readManifest(folder);
  };

  it.each([
    '../x',
    '/x',
    'media/../../x',
    'media/../x',
    'abcdef../x',
    'other/x',
    'media',
    'x',
    '..',
    '',
    'store/../x',
    'store/lock.mdb',
    'media//x',
  ])('names nothing but data and media: %j', async (path) => {
    await expect(read(path)).rejects.toMatchObject({ code: 'corrupt' });
  });

  it.each(['store/data.mdb', 'media/media/asset_1/0'])('may name %j', async (path) => {
    expect((await read(path)).files).toMatchObject([{ path }]);
  });
});
