import { describe, expect, it } from 'vitest';
import { ClientError } from '../../../src/client/http/client-error.ts';
import type { Client } from '../../../src/client/create-client.ts';
import { waitUntilServed, type WaitOptions } from '../../../src/cli/local/wait-until-served.ts';

/** A gateway that serves what was applied from some round on; the clock jumps from wait to wait. */
function gatewayServing(from: { model: number; service: number }) {
  let [now, models, services] = [0, 0, 0];
  const key = {
    id: 'key_1',
    name: 'ci',
    organization: { id: 'org_1', name: 'default' },
    scopes: [],
  };
  const client = {
    baseUrl: 'http://gateway.test',
    models: { list: async () => (++models >= from.model ? [{ id: 'team/one' }] : []) },
    async raw({ path }: { path: string }) {
      if (path === '/v1/account/key') return { body: JSON.stringify(key) };
      if (++services >= from.service) return { body: '{}' };
      throw new ClientError({ status: 404, code: 'not_found', message: 'no such endpoint' });
    },
  };
  const clock = {
    now: () => now,
    monotonic: () => now,
    setTimeout(fn: () => void, ms: number) {
      now += ms;
      queueMicrotask(fn);
      return { cancel: () => undefined };
    },
  };
  const made = (kind: 'model' | 'service' | 'agent', identity: string, action: 'create' | 'none') =>
    ({ kind, identity, action, id: `${kind}_1` }) as const;
  const options = (signal = new AbortController().signal): WaitOptions => ({
    client: client as unknown as Client,
    desired: { namespace: 'team', managed: new Set(), objects: [], moved: [] },
    report: {
      applied: [
        made('model', 'team/one', 'create'),
        made('service', 'default/desk', 'create'),
        made('service', 'acme/theirs', 'create'),
        made('agent', 'default/clerk', 'create'),
      ],
      failed: [],
      blocked: [],
      notRun: [],
      issued: [],
    },
    context: { clock, signal, timeoutMs: 2_000 },
  });
  return { options, now: () => now };
}

describe('waitUntilServed', () => {
  it('looks again until models are in the catalog and Services answer', async () => {
    const gateway = gatewayServing({ model: 3, service: 2 });
    expect(await waitUntilServed(gateway.options())).toEqual([]);
    expect(gateway.now()).toBe(500);
  });

  it('gives what is not served when the time is up', async () => {
    const gateway = gatewayServing({ model: 2, service: Infinity });
    expect(await waitUntilServed(gateway.options())).toEqual(['service default/desk']);
    expect(gateway.now()).toBe(2_000);
  });

  it('ends when a stop is asked for', async () => {
    const gateway = gatewayServing({ model: Infinity, service: 1 });
    expect(await waitUntilServed(gateway.options(AbortSignal.abort()))).toEqual(['model team/one']);
    expect(gateway.now()).toBe(0);
  });
});
