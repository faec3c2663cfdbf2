import { expect, it } from 'vitest';
import { observeRequests, signalRequests } from '../../../src/server/http/observe-requests.ts';
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
