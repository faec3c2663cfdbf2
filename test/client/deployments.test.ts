import { describe, expect, it } from 'vitest';
import { connect, failed, testCalls, testLists, without } from './support.ts';

const AT = '2026-11-21T10:00:00Z';
const SCHEDULE = { id: 'depl_1', name: 'nightly', status: 'active', created_at: AT };
const RUN = {
  id: 'drun_1',
  type: 'deployment_run',
  deployment_id: 'depl_1',
  trigger_context: { type: 'manual' },
  session_id: null,
  error: null,
  created_at: AT,
};
const MEMBERS = ['id', 'name', 'status', 'created_at'];

describe('deployments', () => {
  testCalls([
    {
      name: 'get',
      call: ({ deployments }, signal) => deployments.get('depl/1', signal),
      method: 'GET',
      target: '/v1/deployments/depl%2F1',
      answer: SCHEDULE,
      refused: without(SCHEDULE, ...MEMBERS),
    },
    {
      name: 'an action',
      call: ({ deployments }, signal) => deployments.action('depl/1', 'pause', signal),
      method: 'POST',
      target: '/v1/deployments/depl%2F1/pause',
      body: {},
      answer: SCHEDULE,
      refused: without(SCHEDULE, ...MEMBERS),
    },
    {
      name: 'delete',
      call: ({ deployments }, signal) => deployments.delete('depl/1', signal),
      method: 'DELETE',
      target: '/v1/deployments/depl%2F1',
      answer: { id: 'depl_1' },
      gives: undefined,
      refused: [{}],
    },
    {
      name: 'trigger',
      call: ({ deployments }, signal) => deployments.trigger('depl/1', signal),
      method: 'POST',
      target: '/v1/deployments/depl%2F1/runs',
      body: {},
      answer: RUN,
      refused: without(RUN, 'id', 'deployment_id', 'created_at'),
    },
    {
      name: 'the test of a notification',
      call: ({ deployments }, signal) => deployments.testNotification('depl/1', signal),
      method: 'POST',
      target: '/v1/deployments/depl%2F1/notifications/chat/test',
      body: {},
      answer: { delivered: true },
      gives: undefined,
      refused: [{}, { delivered: false }, { delivered: 'yes' }],
    },
  ]);

  testLists([
    {
      name: 'list',
      call: ({ deployments }, signal) => deployments.list({ name: 'n' }, signal),
      targets: ['/v1/deployments?limit=100&name=n', '/v1/deployments?limit=100&name=n&page=p+2'],
      item: SCHEDULE,
      refused: without(SCHEDULE, ...MEMBERS),
    },
  ]);
});

describe('a Schedule that is looked for', () => {
  const other = { ...SCHEDULE, id: 'depl_2' };

  it('is fetched by its id', async () => {
    const { client, sent } = connect([SCHEDULE]);
    expect(await client.deployments.find('depl_1')).toEqual(SCHEDULE);
    expect(sent.map(({ target }) => target)).toEqual(['/v1/deployments/depl_1']);
  });

  it('is found by its name among those whose names are alike', async () => {
    const { client, sent } = connect([{ data: [{ ...other, name: 'nightly 2' }, SCHEDULE] }]);
    expect(await client.deployments.find('nightly')).toEqual(SCHEDULE);
    expect(sent.map(({ target }) => target)).toEqual([
      '/v1/deployments?limit=100&name=nightly&include_archived=true',
    ]);
  });

  it('is an archived one only where no other has the name', async () => {
    const archived = { ...SCHEDULE, id: 'depl_0', status: 'archived', archived_at: 'then' };
    const both = connect([{ data: [archived, { ...SCHEDULE, archived_at: null }] }]);
    expect(await both.client.deployments.find('nightly')).toMatchObject({ id: 'depl_1' });
    const one = connect([{ data: [archived] }]);
    expect(await one.client.deployments.find('nightly')).toMatchObject({ id: 'depl_0' });
  });

  it('is told to be missing, or one of several', async () => {
    const none = connect([{ data: [{ ...SCHEDULE, name: 'nightly 2' }] }]);
    await expect(none.client.deployments.find('nightly')).rejects.toMatchObject({
      code: 'not_found',
      status: 404,
      message: 'no deployment nightly',
    });
    const two = connect([{ data: [SCHEDULE, other] }]);
    await expect(two.client.deployments.find('nightly')).rejects.toMatchObject({
      code: 'ambiguous',
      message: 'nightly is the name of depl_1, depl_2',
    });
  });
});

it('takes what is no longer there for deleted only where a first answer was lost', async () => {
  const again = connect([failed(503), failed(404)]);
  await expect(again.client.deployments.delete('depl_1')).resolves.toBeUndefined();
  const first = connect([failed(404)]);
  await expect(first.client.deployments.delete('depl_1')).rejects.toMatchObject({ status: 404 });
});
