import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runCli } from '../../cli/run-cli.ts';
import type { CliRun } from '../../cli/run-cli.ts';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const VERBS = new Set(['get', 'pause', 'unpause', 'enable', 'disable', 'archive', 'delete']);
const WORDS: Readonly<Record<string, string>> = {
  agents: 'Agent',
  apis: 'API',
  assets: 'asset',
  credentials: 'credential',
  deployments: 'Schedule',
  files: 'file',
  keys: 'key',
  models: 'model',
  organizations: 'organization',
  providers: 'provider',
  runs: 'run',
  services: 'Service',
  sessions: 'Session',
  skills: 'Skill',
  tasks: 'task',
};

/** Commands that look at or change one object by its name or id. */
const NAMING = COMMANDS.map(({ name }) => name).filter((name) => {
  const [kind = '', verb = '', ...rest] = name.split(' ');
  return rest.length === 0 && kind in WORDS && (VERBS.has(verb) || verb === 'revoke');
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

function cli(...argv: string[]): Promise<CliRun> {
  return runCli(argv, { cwd: gateway.directory, env: adminEnv(gateway) });
}

describe('what is not there', () => {
  it.each(NAMING)(
    verifies('cli.not-found', 'cli.not-found.actions', 'is told by name: %s'),
    async (name) => {
      const words = name.split(' ');
      const kind = words[0] ?? '';
      const list = `${kind === 'deployments' ? 'schedules' : kind} list`;
      const shows = COMMANDS.some((command) => command.name === `${kind} list`)
        ? `\nhint: \`gateway ${list}\` lists what exists`
        : '';
      const [refused, ignored] = await Promise.all([
        cli(...words, 'nope', '--yes'),
        cli(...words, 'nope', '--yes', '--ignore-not-found', '-o', 'json'),
      ]);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toBe(`error: there is no ${WORDS[kind]} "nope"${shows}\n`);
      expect([ignored.code, ignored.stderr]).toEqual([0, '']);
      expect(ignored.json()).toMatchObject({ ok: true, data: null, error: null });
    },
  );

  it('is an error document with -o json', async () => {
    const refused = await cli('services', 'get', 'nope', '-o', 'json');
    expect([refused.code, refused.json()]).toMatchObject([
      1,
      { ok: false, data: null, error: { code: 'not_found', status: 404 } },
    ]);
  });

  it.each([
    [['runs', 'list', '--deployment', 'nope'], 'Schedule', 'schedules'],
    [['trigger', 'nope'], 'Schedule', 'schedules'],
    [['skills', 'versions', 'nope'], 'Skill', 'skills'],
    [['models', 'explain', 'nope'], 'model', 'models'],
    [['sessions', 'events', 'nope'], 'Session', 'sessions'],
  ])('is told in the same words by %j', async (argv, word, kind) => {
    const refused = await cli(...argv);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `error: there is no ${word} "nope"\nhint: \`gateway ${kind} list\` lists what exists\n`,
    ]);
  });

  it('is told in a reference of what is created', async () => {
    const refused = await cli('keys', 'create', 'k', '--organization', 'nope');
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/no organization `nope`.*\nhint: `gateway organizations list` lists/),
    ]);
  });

  it('is told of the organization of the key where only that was looked through', async () => {
    const refused = await cli('invoke', 'nope', 'hello');
    expect(refused.stderr).toBe(
      'error: the organization of the key has no Service "nope"\n' +
        'hint: `gateway services list` lists what exists, `gateway whoami` shows the key in use\n',
    );
    const byId = await cli('invoke', 'ep_nope', 'hello');
    expect([byId.code, byId.stderr]).toEqual([1, expect.stringContaining('Service not found')]);
  });
});
