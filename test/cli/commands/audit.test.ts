import { afterEach, describe, expect, it } from 'vitest';
import { startFakeServer, type FakeServer, type Handler } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';

const ENTRY = {
  id: 'aud_1',
  type: 'audit_entry',
  at: '2026-11-21T10:00:00.000Z',
  organization: 'org_1',
  actor: { kind: 'key', id: 'key_1', name: 'ci' },
  from: { address: '10.0.0.1', client: 'gateway-cli' },
  action: 'update',
  object: { kind: 'model', id: 'model_1', name: 'acme/fast' },
  changes: [
    { path: 'enabled', old: true, new: false },
    { path: 'description', old: null, new: '=SUM(A1), "quoted"' },
  ],
  request_id: 'req_1',
  chain: 0,
  number: 7,
  hash: 'ab12',
};
const SOUND = {
  valid: true,
  entries: 12,
  seals: 2,
  sealed_until: '2026-11-21T10:00:00.000Z',
  removed_before: null,
  fault: null,
};

let server: FakeServer | undefined;
afterEach(() => server?.close());

async function run(body: unknown, argv: string[]) {
  const handler: Handler = typeof body === 'function' ? (body as Handler) : () => ({ body });
  server = await startFakeServer(handler);
  const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test-0000000000000123' };
  const result = await runCli(argv, { env });
  return { ...result, calls: server.calls };
}

describe('gateway audit', () => {
  it('lists who changed what, filtered', async () => {
    const words =
      'audit --actor ci --action update --kind model --object acme/fast --request req_1';
    const shown = await run({ data: [ENTRY], next_page: null }, words.split(' '));
    expect(Object.fromEntries(shown.calls[0]?.query ?? [])).toEqual({
      actor: 'ci',
      action: 'update',
      kind: 'model',
      object: 'acme/fast',
      request: 'req_1',
      limit: '20',
    });
    expect(shown.stdout).toContain('model/acme/fast');
    expect(shown.stdout).toMatch(/^ {4}enabled: true -> false$/m);
  });

  it(
    verifies('cli.pages', 'fits 120 columns, with names for ids and a line for each change'),
    async () => {
      const members = ['name', 'amount', 'per', 'match.labels.team', 'on_exceed'];
      const changes = [
        { path: 'organization', old: null, new: 'org_1' },
        { path: 'labels.note', old: 'x'.repeat(200), new: null },
        ...members.map((path) => ({ path, old: null, new: `${path} value` })),
      ];
      const client = 'x'.repeat(200);
      const entry = {
        ...ENTRY,
        changes,
        from: { address: '2001:db8::ffff:ffff:ffff:ffff', client },
      };
      const { stdout } = await run(
        ({ path }: Parameters<Handler>[0]) => {
          if (path.startsWith('/admin/v1/audit'))
            return { body: { data: [entry], next_page: null } };
          return { body: { id: 'org_1', type: 'organization', name: 'default' } };
        },
        ['audit'],
      );
      const lines = stdout.split('\n');
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120);
      expect(lines.slice(2, 8)).toEqual([
        '    organization: default',
        expect.stringMatching(/^ {4}labels\.note: x+…$/),
        '    name: name value',
        '    amount: amount value',
        '    per: per value',
        '    and 2 more: gateway audit aud_1',
      ]);
    },
  );

  it('shows one entry by its id', async () => {
    const one = await run(ENTRY, ['audit', 'aud_1']);
    expect(one.calls[0]?.path).toBe('/admin/v1/audit/aud_1');
    expect(one.stdout).toContain('req_1');
    expect(one.stdout).toMatch(/^who +ci \(key key_1\)$/m);
    expect(one.stdout).toMatch(/^changed\n {4}enabled: true -> false\n {4}description: =SUM/m);
  });

  it('exports a row for each changed member, without formulas', async () => {
    const csv = await run({ data: [ENTRY], next_page: null }, ['audit', '-o', 'csv']);
    const [titles, ...rows] = csv.stdout.trim().split('\n');
    expect(titles).toMatch(/^id,at,organization,actor_kind/);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toContain(',enabled,true,false,req_1,');
    expect(rows[1]).toContain(`,"'=SUM(A1), ""quoted""",`);
  });

  it('verify tells of a sound log, and exits 1 with the entry that is not', async () => {
    const sound = await run(SOUND, ['audit', 'verify']);
    expect(sound).toMatchObject({ code: 0 });
    expect(sound.stdout).toContain('12 entries, 2 seals');
    await server?.close();
    const message = 'entry aud_1 was changed: it does not have the hash ab12 any more';
    const fault = { problem: 'changed', entry: 'aud_1', chain: 0, number: 7, message };
    const broken = await run({ ...SOUND, valid: false, fault }, ['audit', 'verify']);
    expect(broken).toMatchObject({ code: 1 });
    expect(broken.stderr).toContain(message);
  });

  it('refuses what cannot be combined', async () => {
    for (const words of [
      ['audit', 'aud_1', '--follow'],
      ['audit', '--follow', '--to', '2026-11-21'],
    ]) {
      expect((await run({ data: [], next_page: null }, words)).code).toBe(64);
      await server?.close();
    }
  });
});
