import { describe, expect, it } from 'vitest';
import { runAlert, unpricedAlert } from '../../src/alerts/event-alerts.ts';
import type { RunRow } from '../../src/scheduler/run-row.ts';

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
