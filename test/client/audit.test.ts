import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/client/audit.ts';
import { connect, testCalls, testLists, without } from './support.ts';

const START = Date.UTC(2026, 10, 21, 10);
const entryAt = (seconds: number): AuditEntry => ({
  id: `aud_${seconds}`,
  at: new Date(START + seconds * 1_000).toISOString(),
  organization: null,
  actor: { kind: 'key', id: 'key_1', name: 'ops' },
  from: { address: null, client: null },
  action: 'update',
  object: { kind: 'models', id: 'mdl_1', name: 'm' },
  changes: [],
  request_id: null,
  chain: 1,
  number: seconds,
  hash: 'h',
});
const ENTRY = entryAt(0);
const VERDICT = { valid: true, entries: 3, seals: 1, fault: null };
const MEMBERS = ['id', 'at', 'action', 'actor', 'object', 'from'];

describe('the audit log', () => {
  testCalls([
    {
      name: 'get',
      call: ({ audit }, signal) => audit.get('aud/1', signal),
      method: 'GET',
      target: '/admin/v1/audit/aud%2F1',
      answer: ENTRY,
      refused: without(ENTRY, ...MEMBERS),
    },
    {
      name: 'verify',
      call: ({ audit }, signal) => audit.verify(signal),
      method: 'GET',
      target: '/admin/v1/audit/verify',
      answer: VERDICT,
      refused: [{}, { ...VERDICT, valid: 'yes' }],
    },
  ]);

  testLists([
    {
      name: 'list',
      call: ({ audit }, signal) => audit.list({ actor: 'ops', kind: 'models' }, signal),
      targets: [
        '/admin/v1/audit?actor=ops&kind=models',
        '/admin/v1/audit?actor=ops&kind=models&page=p+2',
      ],
      item: ENTRY,
      refused: without(ENTRY, ...MEMBERS),
    },
  ]);

  it('is watched from now on, each entry once', async () => {
    const pages = [
      [entryAt(0)],
      [entryAt(0)],
      [entryAt(9), entryAt(5), entryAt(0)],
      [entryAt(30), entryAt(9)],
      [entryAt(60), entryAt(30)],
    ];
    const { client, sent } = connect(pages.map((data) => ({ data })));
    const watched = client.audit.watch(
      { action: 'update' },
      { intervalMs: 2_000, onTrouble: () => undefined },
    );
    const told: string[] = [];
    while (told.length < 4) told.push((await watched.next()).value.id);
    expect(told).toEqual(['aud_5', 'aud_9', 'aud_30', 'aud_60']);
    const asked = sent.map(({ target }) => new URLSearchParams(target.split('?')[1]));
    expect(asked.map((query) => query.get('limit'))).toEqual(['1', '1000', '1000', '1000', '1000']);
    expect(asked.at(-1)?.get('from')).toBe(new Date(START + 20_000).toISOString());
    expect(asked.every((query) => query.get('action') === 'update')).toBe(true);
  });

  it('is watched from a time that is named', async () => {
    const { client, sent } = connect([{ data: [entryAt(3)] }]);
    const { at: from } = ENTRY;
    const options = { from, intervalMs: 2_000, onTrouble: () => undefined };
    expect((await client.audit.watch({}, options).next()).value).toEqual(entryAt(3));
    expect(sent.map(({ target }) => target)).toEqual([
      `/admin/v1/audit?limit=1000&from=${encodeURIComponent(from)}`,
    ]);
  });
});
