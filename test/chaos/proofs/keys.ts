import { isOk } from '../journal.ts';
import type { Stage } from '../stage.ts';
import { toProof } from './pages.ts';
import type { Proof } from './pages.ts';

const WITHIN_MS = 1_000;

/**
 * A key is refused everywhere a second after its revocation was acknowledged; by a gateway that slept
 * then, a second after it woke. The second is one of the machine.
 */
export function proveRevocations({ journal }: Stage): Proof {
  const faults: string[] = [];
  let checked = 0;
  for (const { key, reply } of journal.probes) {
    const { node, sentAt, doneAt, what } = reply;
    const woke = node.troubles
      .filter(
        ({ kind, from, to }) => kind === 'paused' && from <= doneAt && to > (key.revokedAt ?? 0),
      )
      .map(({ to }) => to);
    const since = Math.max(key.revokedAt ?? 0, ...woke);
    if (sentAt < since + WITHIN_MS) continue;
    checked++;
    if (isOk(reply))
      faults.push(
        `${node.name} took ${key.id} for ${what} ${sentAt - since} ms after it was revoked`,
      );
  }
  return toProof('no revoked key is taken later than a second after', checked, faults);
}
