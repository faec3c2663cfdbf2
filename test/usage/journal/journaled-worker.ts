import type { ServerConfig } from '../../../src/config/schema/server-config.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import type { Log } from '../../../src/core/log.ts';
import { openUsage } from '../../../src/server/compose/open-usage.ts';
import type { LiveUsage } from '../../../src/server/compose/open-usage.ts';
import type { Store } from '../../../src/store/store.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { quietTurns } from '../usage-fixtures.ts';

type Settings = Partial<Pick<ServerConfig, 'ledger' | 'ledgerSync' | 'workers'>>;

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  level: 'error',
} as unknown as Log;

/** Limits and records of one worker as the gateway opens them; time passes while it waits for others. */
export async function openWorker(
  store: Store,
  clock: FakeClock,
  settings: Settings = {},
): Promise<LiveUsage> {
  const config = {
    ledger: 'auto',
    ledgerSync: null,
    workers: 1,
    log: { content: false },
    limits: { rpm: null },
    ...settings,
  } as unknown as ServerConfig;
  const state = { isOpen: false };
  const opening = openUsage(store, {
    config,
    clock,
    ids: createIdSource(clock),
    log: SILENT,
    signals: { listener: undefined },
  });
  const done = opening.finally(() => (state.isOpen = true));
  for (await quietTurns(3); !state.isOpen; await quietTurns(2)) clock.advance(50);
  return done;
}
