import { ActiveExchanges } from '../../inference/active-exchanges.ts';
import type { InferenceDeps } from '../../inference/run-inference.ts';
import { createAffinity } from '../../routing/affinity.ts';
import type { Catalog } from '../../routing/catalog.ts';
import { createHealth } from '../../routing/health.ts';
import type { Health } from '../../routing/health.ts';
import { createOutageLog } from '../../routing/outage-log.ts';
import { createSharedCooldowns } from '../../routing/shared-cooldowns.ts';
import type { Store } from '../../store/store.ts';
import type { Charges } from '../../usage/spend/charges.ts';
import { createCharges } from '../../usage/spend/create-charges.ts';
import type { Ledger } from '../../usage/ledger/ledger.ts';
import { createRefusals } from '../../usage/requests/refusals.ts';
import type { RequestSignals } from '../../usage/requests/live/request-signals.ts';
import type { Refusals } from '../../usage/requests/refusals.ts';
import type { KeyHasher } from '../../core/seal.ts';
import { tellFailure } from './report-store.ts';
import { logRequests, observeRequests, signalRequests } from '../http/observe-requests.ts';
import type { AlertParts } from './late/alerts.ts';
import type { GatewayOptions } from './gateway-options.ts';
import { createTransports } from './transports.ts';
import type { Transports } from './transports.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { OriginRules } from '../../inference/request-origin.ts';

/** Characters of a hash: 128 bits of it tell end users apart. */
const HASH_LENGTH = 22;

/** Rules of `server.usage`. Hashes need the master key, so that guessed ids cannot be checked. */
export function originRules(
  { labels, tags, endUsers }: ServerConfig['usage'],
  hasher: KeyHasher,
): OriginRules {
  const hash = (id: string): string => {
    const [digest = ''] = hasher.hashes(`end-user\0${id}`);
    return `user_${digest.slice(0, HASH_LENGTH)}`;
  };
  const told = { plain: (id: string) => id, hashed: hash, off: () => undefined };
  return { labels, tags, endUser: told[endUsers] };
}

/** An answer that is not a stream is held whole; larger ones are refused as invalid. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Messages needs a limit; what the models of today can all produce. */
const DEFAULT_MAX_TOKENS = 8192;

export interface InferencePartsOptions extends Pick<
  GatewayOptions,
  'clock' | 'config' | 'connections' | 'log' | 'random' | 'proxies'
> {
  ledger: Ledger;
  signals: RequestSignals;
  hasher: KeyHasher;
  /** Receives settled calls and budgets that calls do not fit into. */
  alerts: Pick<AlertParts, 'observe' | 'exceeded'>;
  catalog(): Catalog;
  onBug(thrown: unknown, requestId: string): void;
}

/** Parts that inference needs, with its connections to providers. */
export interface InferenceParts {
  readonly deps: InferenceDeps;
  readonly charges: Charges;
  readonly refusals: Pick<Refusals, 'note' | 'has'>;
  readonly transportToApi: Transports['transportToApi'];
  /** Ends open streams in their own protocol. */
  endStreams(): void;
  close(): Promise<void>;
}

async function openRefusals(
  store: Store,
  {
    clock,
    config,
    log,
    signals,
  }: Pick<InferencePartsOptions, 'clock' | 'config' | 'log' | 'signals'>,
): Promise<Refusals> {
  const [logOne, signalOne] = [logRequests(log), signalRequests(signals)];
  const metrics = config.metrics.listen ? await import('../process/metrics.ts') : undefined;
  const count = (await metrics?.createRefusalCounter()) ?? (() => undefined);
  return createRefusals({
    store,
    clock,
    observe(start, outcome) {
      logOne(start, outcome);
      signalOne(start, outcome);
    },
    count,
    onLeftOut: (refusals, ms) =>
      log.warn('requests with refused credentials left no record', { refusals, within_ms: ms }),
    onError: (error) => tellFailure(log, 'a refusal was not recorded', { error }),
  });
}

/** Health that all processes on the store share; its outages are in the log. */
function openHealth(
  store: Store,
  { clock, log, catalog }: Pick<InferencePartsOptions, 'clock' | 'log' | 'catalog'>,
): { health: Health; close(): void } {
  const cooldowns = createSharedCooldowns({ store, clock });
  const nameOf = (id: string): string =>
    catalog().accounts.find((account) => account.id === id)?.name ?? id;
  const outages = createOutageLog({ clock, log, nameOf });
  const health = createHealth({
    clock,
    onCooldown(name, cooldown, kind) {
      cooldowns.onCooldown(name, cooldown);
      outages.began(name, cooldown, kind);
    },
    onRecovery(name, until) {
      cooldowns.onRecovery(name, until);
      outages.ended(name);
    },
  });
  cooldowns.join({
    learn(name, cooldown) {
      health.learn(name, cooldown);
      outages.learn(name, cooldown);
    },
    forgive(name, until) {
      health.forgive(name, until);
      outages.forgive(name, until);
    },
  });
  return { health, close: cooldowns.close };
}

export async function openInference(
  store: Store,
  options: InferencePartsOptions,
): Promise<InferenceParts> {
  const { clock, config, connections, log, random, ledger, hasher } = options;
  const { signals, alerts, catalog, onBug } = options;
  const transports = createTransports({ clock, log, connections, proxies: options.proxies });
  const { health, close: closeHealth } = openHealth(store, options);
  const active = new ActiveExchanges();
  const observers = [logRequests(log), signalRequests(signals), alerts.observe];
  if (config.metrics.listen) {
    const { createMetrics } = await import('../process/metrics.ts');
    observers.push(await createMetrics({ catalog, health, look: transports.look }));
  }
  const refusals = await openRefusals(store, options);
  return {
    deps: {
      clock,
      health,
      transportFor: transports.transportFor,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      maxAnswerValues: config.limits.answerValues,
      ledger: observeRequests(ledger, { observers, signals, onExceeded: alerts.exceeded }),
      random,
      outputBound: config.limits.outputTokensBound,
      defaultMaxTokens: DEFAULT_MAX_TOKENS,
      affinity: createAffinity(store),
      keepContent: config.log.content,
      allowsUnpriced: config.limits.unpriced === 'allow',
      origins: originRules(config.usage, hasher),
      refusals,
      active,
      onBug,
    },
    refusals,
    charges: createCharges({
      store,
      observe(charge, id) {
        const start = { ...charge, id, stream: false };
        for (const observe of observers) observe(start, charge.outcome);
      },
    }),
    transportToApi: transports.transportToApi,
    endStreams() {
      active.shutDown();
    },
    async close() {
      closeHealth();
      await refusals.close();
      await transports.close();
    },
  };
}
