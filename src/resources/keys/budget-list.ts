import type { Budget } from '../../usage/budgets/budget.ts';
import { isBudgetOf, toBudget } from '../kinds/budget.ts';
import type { Stored } from '../store/stored.ts';

interface Listed {
  readonly stored: Stored;
  readonly budget: Budget;
}

/** Enabled budgets by organization; a list is rebuilt when one of its budgets changes. */
export class BudgetList {
  readonly #byId = new Map<string, Stored>();
  readonly #byOwner = new Map<string, readonly Listed[]>();

  /** Undefined: there is none. */
  of(organization: string): readonly Listed[] | undefined {
    return this.#byOwner.get(organization);
  }

  /** Undefined for one that is gone. Returns the organizations whose list is another one now. */
  put(id: string, stored: Stored | undefined): string[] {
    const before = this.#byId.get(id);
    const owner = stored?.organization ?? before?.organization;
    if (owner === undefined || owner === null) return [];
    if (stored) this.#byId.set(id, stored);
    else this.#byId.delete(id);
    const others = (this.#byOwner.get(owner) ?? []).filter((one) => one.stored.id !== id);
    const added = stored?.spec['enabled'] === true ? [{ stored, budget: toBudget(stored) }] : [];
    const all = [...others, ...added];
    if (all.length > 0) this.#byOwner.set(owner, all);
    else this.#byOwner.delete(owner);
    return [owner];
  }

  clear(): void {
    this.#byId.clear();
    this.#byOwner.clear();
  }
}

/** Budgets that calls of a key can count in; `key` undefined: calls that no key asked for. */
export function budgetsOf(
  listed: readonly Listed[] | undefined,
  key: Stored | undefined,
): readonly Budget[] | undefined {
  const found = listed?.filter(({ stored }) => isBudgetOf(stored, key));
  return found && found.length > 0 ? found.map(({ budget }) => budget) : undefined;
}
