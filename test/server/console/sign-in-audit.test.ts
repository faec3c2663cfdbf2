import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditNote } from '../../../src/audit/audit-entry.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { createSignInAudit, MAX_PER_MINUTE } from '../../../src/server/console/sign-in-audit.ts';
import type { SignInAudit } from '../../../src/server/console/sign-in-audit.ts';
import type { Op } from '../../../src/store/store.ts';
import type { HttpExchange } from '../../../src/surfaces/http-exchange.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';

const MINUTE = 60_000;
const FROM = { address: '192.0.2.1', client: 'browser' };
const REQUEST = {
  socket: { remoteAddress: FROM.address },
  headers: { 'user-agent': FROM.client },
} as IncomingMessage;
const EXCHANGE = { id: 'req_1', request: REQUEST } as HttpExchange;
const PRINCIPAL = { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' };
const OPS: Op[] = [{ type: 'put', key: ['a'], value: 1 }];

describe('entries on sessions of the console', () => {
  let clock: FakeClock;
  let committed: { ops: readonly Op[]; note: AuditNote }[];
  let recorded: AuditNote[];
  let fault: Error | undefined;
  let audit: SignInAudit;
  beforeEach(() => {
    clock = createFakeClock();
    committed = [];
    recorded = [];
    fault = undefined;
    audit = createSignInAudit({
      clock,
      audit: {
        async commit(ops, note) {
          committed.push({ ops, note });
          return { ok: true, version: 'v1' };
        },
        async record(note) {
          if (fault) throw fault;
          recorded.push(note);
        },
      },
    });
  });

  const refuse = (code: ErrorCode = 'invalid_api_key') =>
    audit.refused(EXCHANGE, 'key', new GatewayError(code));
  const leftOut = (note: AuditNote | undefined): unknown =>
    note?.changes.find(({ path }) => path === 'left_out')?.new;

  it('are committed with the session that begins', async () => {
    const commit = audit.toCommit('sign_in', EXCHANGE, { principal: PRINCIPAL, by: 'link' });
    expect(await commit(OPS, 'session-1')).toEqual({ ok: true, version: 'v1' });
    const note = {
      origin: {
        actor: { kind: 'key', id: 'key_1', name: 'first' },
        from: FROM,
        requestId: 'req_1',
      },
      action: 'sign_in',
      object: { kind: 'console_session', id: 'session-1', name: null },
      organization: 'org_1',
      changes: [{ path: 'by', old: null, new: 'link' }],
    };
    expect(committed).toEqual([{ ops: OPS, note }]);
  });

  it('name no organization and no way where a session of an ended key ends', async () => {
    const principal = { keyId: 'key_1', keyName: 'key_1' };
    await audit.toCommit('sign_out', EXCHANGE, { principal })([], 'session-1');
    expect(committed[0]?.note).toMatchObject({
      action: 'sign_out',
      organization: null,
      changes: [],
    });
  });

  it('tell of a refusal, its way and its reason, and of nobody', async () => {
    await refuse();
    expect(recorded).toEqual([
      {
        origin: {
          actor: { kind: 'person', id: null, name: 'unknown' },
          from: FROM,
          requestId: 'req_1',
        },
        action: 'sign_in_refused',
        object: { kind: 'console_session', id: 'req_1', name: null },
        organization: null,
        changes: [
          { path: 'by', old: null, new: 'key' },
          { path: 'reason', old: null, new: 'invalid_api_key' },
        ],
      },
    ]);
  });

  it.each<ErrorCode>(['missing_api_key', 'api_key_revoked', 'organization_disabled'])(
    'tell of the refusal %s',
    async (code) => {
      await refuse(code);
      expect(recorded).toHaveLength(1);
    },
  );

  it.each<ErrorCode>(['global_rate_limited', 'invalid_request', 'store_unavailable'])(
    'do not tell of %s, which says nothing of the key',
    async (code) => {
      await refuse(code);
      expect(recorded).toEqual([]);
    },
  );

  it('do not tell of what is no refusal', async () => {
    await audit.refused(EXCHANGE, 'key', Object.assign(new Error('a bug'), { status: 401 }));
    expect(recorded).toEqual([]);
  });

  it('tell of twenty refusals in a minute, and then how many were left out', async () => {
    expect(MAX_PER_MINUTE).toBe(20);
    for (let count = 0; count < 23; count++) await refuse();
    expect(recorded).toHaveLength(20);
    expect(recorded.map(leftOut)).toEqual(Array.from({ length: 20 }, () => undefined));
    clock.advance(MINUTE - 1);
    await refuse();
    expect(recorded).toHaveLength(20);
    clock.advance(1);
    await refuse();
    await refuse();
    expect(recorded.slice(20).map(leftOut)).toEqual([4, undefined]);
    for (let count = 0; count < 20; count++) await refuse();
    expect(recorded).toHaveLength(40);
  });

  it('tell of a single one that was left out', async () => {
    for (let count = 0; count < 21; count++) await refuse();
    clock.advance(MINUTE);
    await refuse();
    expect(recorded.slice(20).map(leftOut)).toEqual([1]);
  });

  it('leave no room away for refusals that are not told', async () => {
    for (let count = 0; count < 30; count++) await refuse('global_rate_limited');
    await refuse();
    expect(recorded.map(leftOut)).toEqual([undefined]);
  });

  it('do not change the refusal where they cannot be written', async () => {
    fault = new Error('away');
    await expect(refuse()).resolves.toBeUndefined();
  });
});
