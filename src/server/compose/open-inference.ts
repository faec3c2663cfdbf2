import { ActiveExchanges } from '../../inference/active-exchanges.ts';
import type { InferenceDeps } from '../../inference/run-inference.ts';
import { createAffinity } from '../../routing/affinity.ts';
import type { Catalog } from '../../routing/catalog.ts';
import { createHealth } from '../../routing/health.ts';
import { createSharedCooldowns } from '../../routing/shared-cooldowns.ts';
import type { Store } from '../../store/store.ts';
import type { Charges } from '../../usage/spend/charges.ts';
import { createCharges } from '../../usage/spend/create-charges.ts';
import type { Ledger } from '../../usage/ledger/ledger.ts';
import { createRefusals } from '../../usage/requests/refusals.ts';
import type { Refusals } from '../../usage/requests/refusals.ts';
import { tellFailure } from './report-store.ts';
import { logRequests, observeRequests } from '../http/observe-requests.ts';
import type { AlertParts } from './late/alerts.ts';
import type { GatewayOptions } from './open-gateway.ts';
import { createTransports } from './transports.ts';
import type { Transports } from './transports.ts';

/** An answer that is not a stream is held whole; larger ones are refused as invalid. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Messages needs a limit; what the models of today can all produce. */
const DEFAULT_MAX_TOKENS = 8192;

export interface InferencePartsOptions extends Pick<
  GatewayOptions,
  'clock' | 'config' | 'connections' | 'log' | 'random'
> {
  ledger: Ledger;
  /** Hears of what is settled and of budgets that calls do not fit into. */
  alerts: Pick<AlertParts, 'observe' | 'exceeded'>;
  catalog(): Catalog;
  onBug(thrown: unknown, requestId: string): void;
}

/** Parts on which inference stands, with its connections to providers. */
export interface InferenceParts {
  readonly deps: InferenceDeps;
  readonly charges: Charges;
  readonly transportToApi: Transports['transportToApi'];
  /** Ends open streams in their own protocol. */
  endStreams(): void;
  close(): Promise<void>;
}

async function openRefusals(
  store: Store,
  { clock, config, log }: Pick<InferencePartsOptions, 'clock' | 'config' | 'log'>,
): Promise<Refusals> {
  const metrics = config.metrics.listen ? await import('../process/metrics.ts') : undefined;
  const count = (await metrics?.createRefusalCounter()) ?? (() => undefined);
  return createRefusals({
    store,
    clock,
    observe: logRequests(log),
    count,
    onLeftOut: (refusals, ms) =>
      log.warn('requests with refused credentials left no record', { refusals, within_ms: ms }),
    onError: (error) => tellFailure(log, 'a refusal was not recorded', { error }),
  });
}

export async function openInference(
  store: Store,
  {
    clock,
    config,
    connections,
    log,
    random,
    ledger,
    alerts,
    catalog,
    onBug,
  }: InferencePartsOptions,
): Promise<InferenceParts> {
  const transports = createTransports({ clock, log, connections });
  const cooldowns = createSharedCooldowns({ store, clock });
  const health = createHealth({ clock, ...cooldowns });
  cooldowns.join(health);
  const active = new ActiveExchanges();
  const observers = [logRequests(log), alerts.observe];
  if (config.metrics.listen) {
    const { createMetrics } = await import('../process/metrics.ts');
    observers.push(await createMetrics({ catalog, health, look: transports.look }));
  }
  const refusals = await openRefusals(store, { clock, config, log });
  return {
    deps: {
      clock,
      health,
      transportFor: transports.transportFor,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      maxAnswerValues: config.limits.answerValues,
      ledger: observeRequests(ledger, observers, alerts.exceeded),
      random,
      outputBound: config.limits.outputTokensBound,
      defaultMaxTokens: DEFAULT_MAX_TOKENS,
      affinity: createAffinity(store),
      keepContent: config.log.content,
      allowsUnpriced: config.limits.unpriced === 'allow',
      refusals,
      active,
      onBug,
    },
    charges: createCharges({
      store,
      observe(charge, id) {
        for (const observe of observers) observe({ ...charge, id }, charge.outcome);
      },
    }),
    transportToApi: transports.transportToApi,
    endStreams() {
      active.shutDown();
    },
    async close() {
      cooldowns.close();
      await refusals.close();
      await transports.close();
    },
  };
}
