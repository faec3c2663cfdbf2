import { reasonOf } from '../../core/errors.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Job, JobHandler } from '../../jobs/jobs.ts';
import type { ProviderAccount } from '../../providers/account.ts';
import type { Transport } from '../../upstream/transport.ts';
import { fetchModels } from './fetch-models.ts';
import type { ModelLists } from './model-lists.ts';

export const LIST_JOB = 'provider-models';
/** A list is asked for again so often, a tenth more or less. */
const REFRESH_MS = 600_000;
const SPREAD = 0.2;
/** Pause after a failure, doubled with each further one up to the usual time. */
const FIRST_RETRY_MS = 15_000;
/** Another process knows a change first. */
const CATCH_UP_MS = 1_000;

/** A provider whose models are listed. */
export interface ListedAccount {
  readonly account: ProviderAccount;
  /** Version of its declaration. */
  readonly version: number;
}

export interface ListJobDeps {
  readonly clock: Clock;
  readonly lists: Pick<ModelLists, 'keep' | 'fail' | 'forget'>;
  /** Uniform in [0, 1). */
  random(): number;
  /** Undefined for one that only serves declared models, or is gone. */
  find(provider: string): ListedAccount | undefined;
  transportFor(account: ProviderAccount, holder: string): Transport;
  onFailure(provider: string, error: unknown): void;
}

interface Payload {
  readonly provider: string;
  readonly version: number;
  readonly failures: number;
}

/** The job of one version of a provider: a change of it is a new job, and the former one ends. */
export function toListJob({ account, version }: ListedAccount): Job {
  const payload: Payload = { provider: account.id, version, failures: 0 };
  return { kind: LIST_JOB, id: `${account.id}:${version}`, payload: { ...payload } };
}

/**
 * Asks a provider for its list and keeps it; a list that fails changes nothing. One process at a time
 * does it for each provider.
 */
export function createListJob(deps: ListJobDeps): JobHandler {
  const { clock, lists, random, find, transportFor, onFailure } = deps;
  return async ({ job, signal }) => {
    const { provider, version, failures } = job.payload as Payload;
    const found = find(provider);
    if (!found) {
      await lists.forget(provider);
      return 'done';
    }
    if (found.version > version) return 'done';
    if (found.version < version) return { againInMs: CATCH_UP_MS };
    const { account } = found;
    const listing = account.definition.models;
    if (!listing) return 'done';
    try {
      const transport = transportFor(account, LIST_JOB);
      await lists.keep(provider, await fetchModels(account, listing, { clock, transport, signal }));
      const againInMs = REFRESH_MS * (1 - SPREAD / 2 + SPREAD * random());
      return { againInMs: Math.round(againInMs), payload: { provider, version, failures: 0 } };
    } catch (error) {
      // The next owner continues.
      if (signal.aborted) throw error;
      if (failures === 0) {
        onFailure(account.name, error);
        await lists.fail(provider, reasonOf(error));
      }
      const againInMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 10), REFRESH_MS);
      return { againInMs, payload: { provider, version, failures: failures + 1 } };
    }
  };
}
