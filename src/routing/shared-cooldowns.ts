import type { Clock } from '../core/time/clock.ts';
import { isFromAhead, timeLeft } from '../core/time/deadline.ts';
import type { Entry, Key, Op, Store } from '../store/store.ts';
import { isForgiven } from './health.ts';
import type { Cooldown, Health, HealthOptions } from './health.ts';

const COOLDOWNS: Key = ['cooldown'];
const MAX_COOLDOWNS = 1_000;
/** A cooldown is known so long after its end, so that a failed probe doubles the one before it. */
const KEPT_MS = 5 * 60_000;
/**
 * Growth of a cooldown from which it is reported again, in ms: providers under load refuse many calls at once.
 */
const NEWS_MS = 1_000;
/** Each means that another process reported something newer. */
const MAX_TRIES = 5;

type Hearer = Pick<Health, 'learn' | 'forgive'>;

/** Its two listeners are for {@link HealthOptions}; they return at once. */
export interface SharedCooldowns extends Required<Pick<HealthOptions, 'onRecovery'>> {
  onCooldown(name: string, cooldown: Cooldown): void;
  /** Shares with `health`, from now on, what every process on the store knows. */
  join(health: Hearer): void;
  close(): void;
}

/** Message of one process to the others about a breaker. */
interface News {
  readonly cooldown: Cooldown | undefined;
  /** Cooldowns up to here are over. */
  readonly forgiven: number;
  isWritten: boolean;
}

/**
 * Breakers of all processes on one store: a candidate that one of them cools is skipped by all, till the later
 * of their deadlines; one that recovers at one is used by all again (requirement store.multi-node). A recovery
 * ends the cooldowns that its process knew of: an answer that was on its way while another process was refused
 * says nothing about that refusal. No request waits for it; others find out themselves what the store did not
 * take.
 */
export function createSharedCooldowns({
  store,
  clock,
}: {
  store: Store;
  clock: Clock;
}): SharedCooldowns {
  const told = new Map<string, News>();
  let unwatch = (): void => undefined;
  let isWriting = false;

  const write = async (): Promise<void> => {
    isWriting = true;
    for (let next = unwritten(told); next; next = unwritten(told)) {
      const [name, news] = next;
      news.isWritten = true;
      // Others find out by themselves then, as a single process does.
      await tell(store, clock, { name, ...news }).catch(() => undefined);
    }
    isWriting = false;
  };

  const note = (name: string, news: Omit<News, 'isWritten'>): void => {
    if (told.size >= MAX_COOLDOWNS) told.clear();
    told.set(name, { ...news, isWritten: false });
    if (!isWriting) void write();
  };

  return {
    onCooldown(name, cooldown) {
      const { cooldown: before, forgiven = -Infinity } = told.get(name) ?? {};
      const now = clock.now();
      if (before && !isFromAhead(before.until, now) && cooldown.until < before.until + NEWS_MS)
        return;
      note(name, { cooldown, forgiven: isFromAhead(forgiven, now) ? -Infinity : forgiven });
    },
    onRecovery: (name, until) => note(name, { cooldown: undefined, forgiven: until }),
    join(health) {
      const forgive: Hearer['forgive'] = (name, until) => {
        const cooldown = told.get(name)?.cooldown;
        if (cooldown && isForgiven(cooldown.until, until, clock.now())) told.delete(name);
        health.forgive(name, until);
      };
      const learn: Hearer['learn'] = (name, cooldown) => health.learn(name, cooldown);
      const look = createLook({ store, clock, health: { learn, forgive } });
      unwatch = store.watch(COOLDOWNS, look);
      look();
    },
    close: () => unwatch(),
  };
}

function unwritten(told: ReadonlyMap<string, News>): [string, News] | undefined {
  for (const one of told) if (!one[1].isWritten) return one;
  return undefined;
}

/** Reads what all processes know; a look that is asked for while one is under way comes after it. */
function createLook({
  store,
  clock,
  health,
}: {
  store: Store;
  clock: Clock;
  health: Hearer;
}): () => void {
  let known = new Map<string, Cooldown>();
  let looking = false;
  let again = false;

  const read = async (): Promise<void> => {
    const entries = await store.list<Cooldown>({ prefix: COOLDOWNS, limit: MAX_COOLDOWNS });
    const found = new Map(entries.map(({ key, value }) => [String(key[1]), value]));
    // A cooldown that is gone before its time was removed by the process that saw the candidate recover.
    for (const [name, { until }] of known) {
      const now = clock.now();
      const standing = found.get(name)?.until;
      const isOver = standing === undefined || (standing < until && !isFromAhead(until, now));
      if (isOver && now < until + KEPT_MS) health.forgive(name, until);
    }
    // Each once: its time begins when it is heard of.
    for (const [name, cooldown] of found)
      if (known.get(name)?.until !== cooldown.until) health.learn(name, cooldown);
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

/** Writes the later one of the stored deadline and the new one, if one clock made both. */
async function tell(
  store: Store,
  clock: Clock,
  { name, cooldown, forgiven }: Omit<News, 'isWritten'> & { name: string },
): Promise<void> {
  const key = [...COOLDOWNS, name];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const entry = await store.get<Cooldown>(key);
    const isStanding = entry !== undefined && !isForgiven(entry.value.until, forgiven, clock.now());
    if (isStanding && !(cooldown && replaces(cooldown, entry.value, clock.now()))) return;
    const op = cooldown ? toPut(key, { cooldown, entry, clock }) : toDelete(key, entry);
    if (!op || (await store.commit([op])).ok) return;
  }
}

function replaces({ until }: Cooldown, standing: Cooldown, now: number): boolean {
  return until > standing.until || isFromAhead(standing.until, now);
}

function toPut(
  key: Key,
  { cooldown, entry, clock }: { cooldown: Cooldown; entry: Entry | undefined; clock: Clock },
): Op {
  const ttlMs = Math.max(0, timeLeft(cooldown.until, clock.now())) + KEPT_MS;
  const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
  return { type: 'put', key, value: cooldown, ttlMs, ...condition };
}

function toDelete(key: Key, entry: Entry | undefined): Op | undefined {
  return entry && { type: 'delete', key, ifVersion: entry.version };
}
