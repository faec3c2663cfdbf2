import { scopeName } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import { addSpend } from './spend.ts';
import type { Spend, SpendRecord, Windows } from './spend.ts';

interface Pending {
  /** Changes that were added and not removed. */
  changes: number;
  readonly record: SpendRecord;
}

/** Changes of spending that count already but that no commit has stored, by scope. */
export class PendingSpend {
  readonly #scopes = new Map<string, Pending>();

  of(scope: Scope): SpendRecord | undefined {
    return this.#scopes.get(scopeName(scope))?.record;
  }

  add(scope: Scope, windows: Windows, change: Readonly<Spend>): void {
    const name = scopeName(scope);
    let pending = this.#scopes.get(name);
    if (!pending) this.#scopes.set(name, (pending = { changes: 0, record: {} }));
    pending.changes++;
    addSpend(pending.record, windows, change);
  }

  /** Reverts an addition with the same arguments. */
  remove(scope: Scope, windows: Windows, { settled, reserved }: Readonly<Spend>): void {
    const name = scopeName(scope);
    const pending = this.#scopes.get(name);
    if (!pending) return;
    pending.changes--;
    if (pending.changes === 0) this.#scopes.delete(name);
    else addSpend(pending.record, windows, { settled: -settled, reserved: -reserved });
  }
}
