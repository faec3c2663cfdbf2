import { describe, expect, it } from 'vitest';
import { runAlert, sessionAlert, unpricedAlert } from '../../src/alerts/event-alerts.ts';
import type { RunRow } from '../../src/scheduler/run-row.ts';
import type { SessionRest } from '../../src/sessions/session.ts';
import type { SessionRow } from '../../src/sessions/session-row.ts';
import { placeEvents } from '../../src/sessions/log/place-events.ts';
import { idle } from '../sessions/support.ts';
import { verifies } from '../requirements.ts';

const AT = Date.UTC(2026, 10, 21, 23, 59);
const RUN = { id: 'drun_1', organization: 'org_1', deploymentId: 'depl_1', error: null } as RunRow;

describe('the alert of a run', () => {
  it('is none where the run succeeded', () => {
    expect(runAlert(RUN, AT)).toBeUndefined();
  });

  it('names the Schedule, the run and the failure', () => {
    const error = { type: 'agent_archived_error', message: 'the Agent is archived' } as const;
    expect(runAlert({ ...RUN, error }, AT)).toEqual({
      id: 'schedule/drun_1',
      type: 'alert.schedule',
      organization: 'org_1',
      at: AT,
      text: 'Schedule depl_1: run drun_1 failed: agent_archived_error: the Agent is archived',
      data: { deployment: 'depl_1', run: 'drun_1', error: 'agent_archived_error' },
    });
  });
});

describe('the alert of a Session of a Schedule', () => {
  const ROW = {
    id: 'sess_1',
    organization: 'org_1',
    deploymentId: 'depl_1',
    runId: 'drun_1',
    status: 'running',
    head: 7,
  } as SessionRow;
  const failure = { reason: 'retries_exhausted', message: 'no provider route succeeded' };
  const end = (rest: SessionRest, row: Partial<SessionRow> = {}) => {
    const after: SessionRow = { ...ROW, status: 'idle', ...row, rest };
    return sessionAlert({ before: ROW, after }, { name: 'report', at: AT });
  };

  it(
    verifies('schedules.outcome', 'names Schedule, run, Session and cause where it failed'),
    () => {
      expect(end(failure)).toEqual({
        id: 'schedule/sess_1/7',
        type: 'alert.schedule',
        organization: 'org_1',
        at: AT,
        text: 'Schedule report (depl_1): Session sess_1 failed: no provider route succeeded',
        data: {
          deployment: 'depl_1',
          name: 'report',
          run: 'drun_1',
          session: 'sess_1',
          error: 'retries_exhausted',
        },
      });
      expect(end({ reason: 'budget_reached', message: null })?.text).toContain(
        'failed: budget_reached',
      );
      const late = { reason: 'terminated', message: 'it has reached its timeout' };
      expect(end(late, { status: 'terminated' })?.text).toContain(
        'was ended by time: it has reached its timeout',
      );
    },
  );

  it('is none for another end, and for a Session of no Schedule', () => {
    expect(end({ reason: 'end_turn', message: null })).toBeUndefined();
    expect(end({ reason: 'requires_action', message: null })).toBeUndefined();
    expect(end(failure, { deploymentId: null })).toBeUndefined();
  });

  it.each<Partial<SessionRow>>([{ status: 'running' }, { status: 'idle', isPaused: true }])(
    'is none where a client interrupted it: %o',
    (row) => {
      const before: SessionRow = { ...ROW, awaiting: [], queued: 0, lastAt: AT, ...row };
      const about = { name: 'report', at: AT };
      const stop = { type: 'user.interrupt', id: 'sevt_1' } as const;
      const rest = { ...idle('end_turn'), id: 'sevt_2' };
      for (const events of [[stop], [stop, rest]]) {
        const { row: after } = placeEvents(before, events, AT);
        expect(after.rest?.reason).toBe('interrupted');
        expect(sessionAlert({ before, after }, about)).toBeUndefined();
      }
    },
  );

  it('comes once for an end, and again for the next one', () => {
    const after: SessionRow = { ...ROW, status: 'idle', rest: failure };
    const later = { ...after, head: 9 };
    const about = { name: 'report', at: AT };
    expect(sessionAlert({ before: after, after: later }, about)).toBeUndefined();
    const again = { ...later, rest: { ...failure } };
    expect(sessionAlert({ before: later, after: again }, about)?.id).toBe('schedule/sess_1/9');
  });
});

describe('the alert of an unpriced call', () => {
  const call = { id: 'req_1', organization: 'org_1', provider: 'acme', model: 'large' };

  it('is one for each model of a provider and day', () => {
    const first = unpricedAlert(call, AT);
    expect(first).toMatchObject({
      id: 'unpriced/org_1/acme/large/2026-11-21',
      type: 'alert.unpriced',
      data: { request: 'req_1', provider: 'acme', model: 'large', day: '2026-11-21' },
    });
    expect(unpricedAlert({ ...call, id: 'req_2' }, AT).id).toBe(first.id);
    expect(unpricedAlert(call, AT + 60_000).id).toBe('unpriced/org_1/acme/large/2026-11-22');
    expect(unpricedAlert({ ...call, provider: 'other' }, AT).id).not.toBe(first.id);
  });

  it('names an API once, which answers under its own name', () => {
    expect(unpricedAlert(call, AT).text).toContain('the price of large at acme; first');
    expect(unpricedAlert({ ...call, model: 'acme' }, AT).text).toContain(
      'the price of acme; first',
    );
  });
});
