import type { Clock } from '../core/clock.ts';
import type { Key, Op, Store } from '../store/store.ts';
import type { Cooldown, Health, HealthOptions } from './health.ts';

const COOLDOWNS: Key = ['cooldown'];
const MAX_COOLDOWNS = 1_000;
/** A cooldown is known so long after its end, so that a failed probe doubles the one before it. */
const KEPT_MS = 5 * 60_000;
/** What a cooldown must grow by to be told again: providers under load refuse many calls at once. */
const NEWS_MS = 1_000;
/** Each means that another process told something newer. */
const MAX_TRIES = 5;

export interface SharedCooldowns {
  /** For {@link HealthOptions}. Returns at once; what the store does not take others find out themselves. */
  readonly onCooldown: NonNullable<HealthOptions['onCooldown']>;
  /** From now on `health` knows what every process on the store knows. */
  join(health: Pick<Health, 'learn'>): void;
  close(): void;
}

/** What one process tells the others of a breaker. */
interface Told {
  readonly cooldown: Cooldown | null;
  isWritten: boolean;
}

/**
 * Breakers of all processes on one store: what one of them cools, all leave alone, till the later of
 * their deadlines; what recovers at one, all use again (requirement store.multi-node). No request
 * waits for it.
 */
export function createSharedCooldowns({
  store,
  clock,
}: {
  store: Store;
  clock: Clock;
}): SharedCooldowns {
  const told = new Map<string, Told>();
  let unwatch = (): void => undefined;
  let writing: Promise<void> | undefined;

  const write = async (): Promise<void> => {
    for (;;) {
      const next = [...told].find(([, { isWritten }]) => !isWritten);
      if (!next) return;
      const [name, one] = next;
      one.isWritten = true;
      // Others find out by themselves then, as if they were alone.
      await tell(store, clock, { name, cooldown: one.cooldown }).catch(() => undefined);
    }
  };

  return {
    onCooldown(name, cooldown) {
      const before = told.get(name)?.cooldown;
      if (before && cooldown && cooldown.until < before.until + NEWS_MS) return;
      if (told.size >= MAX_COOLDOWNS) told.clear();
      told.set(name, { cooldown, isWritten: false });
      writing ??= write().finally(() => (writing = undefined));
    },
    join(health) {
      const learn: Health['learn'] = (name, cooldown) => {
        if (!cooldown) told.delete(name);
        health.learn(name, cooldown);
      };
      const look = createLook({ store, clock, health: { learn } });
      unwatch = store.watch(COOLDOWNS, look);
      look();
    },
    close: () => unwatch(),
  };
}

/** Reads what all processes know; a look that is asked for while one is under way comes after it. */
function createLook({
  store,
  clock,
  health,
}: {
  store: Store;
  clock: Clock;
  health: Pick<Health, 'learn'>;
}): () => void {
  let known = new Map<string, Cooldown>();
  let looking = false;
  let again = false;

  const read = async (): Promise<void> => {
    const entries = await store.list<Cooldown>({ prefix: COOLDOWNS, limit: MAX_COOLDOWNS });
    const found = new Map(entries.map(({ key, value }) => [String(key[1]), value]));
    for (const [name, cooldown] of found) health.learn(name, cooldown);
    // What is gone before its time was taken back by whoever saw the candidate recover.
    for (const [name, { until }] of known)
      if (!found.has(name) && clock.now() < until + KEPT_MS) health.learn(name, null);
    known = found;
  };

  const look = async (): Promise<void> => {
    looking = true;
    do {
      again = false;
      // The next change or cooldown makes up for it.
      await read().catch(() => undefined);
    } while (again);
    looking = false;
  };

  return () => {
    if (looking) again = true;
    else void look();
  };
}

async function tell(
  store: Store,
  clock: Clock,
  { name, cooldown }: { name: string; cooldown: Cooldown | null },
): Promise<void> {
  const key = [...COOLDOWNS, name];
  if (!cooldown) return void (await store.commit([{ type: 'delete', key }]));
  const ttlMs = Math.max(0, cooldown.until - clock.now()) + KEPT_MS;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const entry = await store.get<Cooldown>(key);
    if (entry && entry.value.until >= cooldown.until) return;
    const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
    const put: Op = { type: 'put', key, value: cooldown, ttlMs, ...condition };
    if ((await store.commit([put])).ok) return;
  }
}
