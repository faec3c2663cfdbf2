import type { Clock, Timer } from '../../../core/time/clock.ts';
import { openDoorbell } from './doorbell.ts';
import { keyHead } from '../../key-codec.ts';
import { toId } from '../../prepare-commit.ts';
import type { Watchers } from '../../watchers.ts';

/** Two rounds make the bound of one second in which a change is seen whatever gets lost. */
const POLL_MS = 400;
const MAX_HEADS = 32;
/** lmdb reports the number of an own transaction in 32 bits. */
const WRAP = 2 ** 32;

export interface ChangeFeed {
  /** Notifies the watchers of this process and the other processes of a transaction's changes. */
  publish: (transaction: number, changed: readonly string[]) => void;
  close(): void;
}

export interface ChangeFeedOptions {
  directory: string;
  clock: Clock;
  watchers: Watchers;
  lastTransaction: () => number;
  /** Makes the next read see the commits of other processes up to now. */
  refresh: () => void;
}

/**
 * Joins own changes, rings of other processes and a slow poll: a committed transaction without a ring wakes
 * every watcher.
 */
export function openChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { clock, watchers, lastTransaction, refresh } = options;
  const known = new Set<number>();
  let judged = lastTransaction();
  /** Rings for transactions up to here had a whole round to arrive. */
  let horizon = judged;
  let timer: Timer;

  function note(transaction: number): void {
    const full = judged - (judged % WRAP) + (transaction % WRAP);
    const whole = full < judged - WRAP / 2 ? full + WRAP : full;
    if (whole > judged) known.add(whole);
  }

  function poll(): void {
    let missed = false;
    for (; judged < horizon; judged++) if (!known.delete(judged + 1)) missed = true;
    horizon = lastTransaction();
    if (missed) {
      refresh();
      watchers.changedAnything();
    }
    timer = clock.setTimeout(poll, POLL_MS);
  }

  const bell = openDoorbell(options.directory, ({ transaction, heads }) => {
    note(transaction);
    if (watchers.size === 0) return;
    // A watcher that read an older snapshot would take the change for one it knows.
    refresh();
    if (!heads) watchers.changedAnything();
    else for (const head of heads) watchers.changedBelow(head);
  });
  timer = clock.setTimeout(poll, POLL_MS);

  return {
    publish(transaction, changed) {
      note(transaction);
      if (watchers.size > 0) for (const id of changed) watchers.changed(id);
      if (bell.peers > 0) bell.ring({ transaction, ...headsOf(changed) });
    },
    close() {
      timer.cancel();
      bell.close();
    },
  };
}

/** Two segments tell most watchers apart; where that gives too many prefixes, one must do. */
function headsOf(changed: readonly string[]): { heads?: string[] } {
  for (const segments of [2, 1]) {
    const heads = new Set<string>();
    for (const id of changed) {
      heads.add(toId(keyHead(Buffer.from(id, 'latin1'), segments)));
      if (heads.size > MAX_HEADS) break;
    }
    if (heads.size <= MAX_HEADS) return { heads: [...heads] };
  }
  return {};
}
