import { expect, it } from 'vitest';
import type { Log } from '../../../src/core/log.ts';
import {
  logRequests,
  observeRequests,
  signalRequests,
} from '../../../src/server/http/observe-requests.ts';
import type { Ledger } from '../../../src/usage/ledger/ledger.ts';
import type { RequestSignals } from '../../../src/usage/requests/live/request-signals.ts';
import { outcome, principal } from '../../usage/usage-fixtures.ts';

function setup() {
  const signals: RequestSignals = { listener: undefined };
  const waits: string[] = [];
  const durable = {
    // oxlint-disable-next-line unicorn/no-thenable -- counts who waits for it
    then(resolve: () => void) {
      waits.push('begun');
      resolve();
    },
  } as unknown as Promise<void>;
  const entry = { admitted: undefined, durable, settled: undefined, follow() {}, settle() {} };
  const ledger = { begin: () => entry } as unknown as Ledger;
  const observers = [signalRequests(signals)];
  const observed = observeRequests(ledger, { observers, signals, onExceeded: () => undefined });
  const begin = (id: string) =>
    observed.begin({
      id,
      at: 0,
      principal: principal(),
      surface: 'chat',
      model: 'acme/one',
      stream: false,
      bound: 0,
    });
  return { signals, waits, begin };
}

it('waits for nothing and tells nothing while nobody listens', () => {
  const { waits, begin } = setup();
  begin('req_1').settle(outcome());
  expect(waits).toEqual([]);
});

it('tells who listens of the durable beginning and of the end, once', () => {
  const { signals, waits, begin } = setup();
  const told: string[] = [];
  signals.listener = {
    begun: ({ id }) => told.push(`${id} begun`),
    ended: ({ id }, { result }) => told.push(`${id} ${result}`),
  };
  const entry = begin('req_1');
  entry.settle(outcome());
  entry.settle(outcome());
  expect(waits).toEqual(['begun']);
  expect(told).toEqual(['req_1 begun', 'req_1 ok']);
});

it('logs why and where a provider could not be reached', () => {
  const lines: Record<string, unknown>[] = [];
  const log = { info: (_message: string, fields: object) => lines.push({ ...fields }) };
  const start = { id: 'req_1', principal: principal(), surface: 'chat', model: 'acme/one' };
  const failed = {
    provider: 'up',
    model: 'm',
    status: null,
    outcome: 'connect',
    ms: 1,
    cause: 'ECONNREFUSED',
    address: '127.0.0.1:1',
  };
  const observe = logRequests(log as unknown as Log);
  observe(start as never, outcome({ attempts: [failed, failed] }));
  observe(start as never, outcome());
  expect(lines.map(({ causes }) => causes)).toEqual(['up: ECONNREFUSED 127.0.0.1:1', undefined]);
});
