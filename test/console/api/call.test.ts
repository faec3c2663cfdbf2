import { expect, it } from 'vitest';
import { createApi } from '../../../src/console/api/call.ts';

it('says for which session it asks, and changes by its token', async () => {
  const sent: unknown[] = [];
  let session: { id: string; csrf: string } | undefined;
  const api = createApi({
    fetch: async (_target, init) => {
      sent.push(init?.headers);
      return Response.json({});
    },
    session: () => session,
    onSignedOut: () => undefined,
  });
  await api.json('/session');
  session = { id: 'mine', csrf: 'token' };
  await api.json('/v1/agents');
  await api.json('/v1/deployments/a/pause', { method: 'POST' });
  const mine = { 'x-gateway-console-session': 'mine' };
  expect(sent).toEqual([{}, mine, { ...mine, 'x-gateway-csrf': 'token' }]);
});
