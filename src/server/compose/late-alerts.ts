import type { JobHandler } from '../../jobs/jobs.ts';
import type { RunRow } from '../../scheduler/run-row.ts';
import type { Op } from '../../store/store.ts';
import type { Budget } from '../../usage/budgets/budget.ts';
import type { RequestStart } from '../../usage/ledger/ledger.ts';
import type { RequestObserver } from '../http/observe-requests.ts';
import type { AlertParts, AlertPartsOptions } from './late/alerts.ts';

/** Alerts of a gateway, made after the parts that report events to them; none without targets. */
export class LateAlerts implements AlertParts {
  #parts: AlertParts | undefined;

  /** Starts what needs the store; called before requests are taken. Rejects with `StoreError`. */
  async open(options: AlertPartsOptions): Promise<void> {
    const { webhooks, chats } = options.config.alerts;
    if (webhooks.length + chats.length + options.mails.length === 0) return;
    const { createAlertParts } = await import('./late/alerts.ts');
    this.#parts = await createAlertParts(options);
  }

  get handlers(): ReadonlyMap<string, JobHandler> {
    return this.#parts?.handlers ?? new Map();
  }

  readonly observe: RequestObserver = (start, outcome) => this.#parts?.observe(start, outcome);

  readonly exceeded = (budget: Budget, start: RequestStart, refusal: unknown): void =>
    this.#parts?.exceeded(budget, start, refusal);

  ofRun(run: RunRow): Op[] {
    return this.#parts?.ofRun(run) ?? [];
  }

  readonly ofSession: AlertParts['ofSession'] = (before, after) =>
    this.#parts?.ofSession(before, after);

  async close(): Promise<void> {
    await this.#parts?.close();
  }
}
