import type { Clock } from '../../core/time/clock.ts';
import type { Stored } from '../store/stored.ts';
import { key as keyDefinition } from '../kinds/key.ts';
import type { Repository } from '../store/repository.ts';
import { correctFormer, readValues } from './key-values.ts';
import type { FormerValue } from './key-values.ts';

export interface FormerDeadlineDeps {
  readonly repository: Pick<Repository, 'note'>;
  readonly clock: Clock;
  /** Receives the key as it is kept with its corrected deadline. */
  readonly onCorrected: (kept: Stored) => void;
}

/**
 * Judges whether the former value of a key still works. A deadline that was written by a clock ahead is
 * corrected, and kept so: it would stay ahead as long as the clock was.
 */
export function createFormerDeadline({ repository, clock, onCorrected }: FormerDeadlineDeps) {
  /** Keys that are being corrected. */
  const correcting = new Set<string>();

  const keep = async ({ id }: Stored, seen: FormerValue): Promise<void> => {
    if (correcting.has(id)) return;
    correcting.add(id);
    const target = { definition: keyDefinition, idOrName: id, organization: null };
    const correct = async ({ state }: Stored) => {
      const { former } = readValues(state);
      if (former?.hash !== seen.hash || former.until !== seen.until) return undefined;
      return { state: { former: correctFormer(former, clock.now()) } };
    };
    // The next use of the value tries again after a failure.
    const kept = await repository.note(target, correct).catch(() => undefined);
    correcting.delete(id);
    if (kept) onCorrected(kept);
  };

  return {
    hasPassed(key: Stored, former: FormerValue): boolean {
      const now = clock.now();
      const corrected = correctFormer(former, now);
      if (corrected !== former) void keep(key, former);
      return corrected.until <= now;
    },
  };
}
