import type { Job, Jobs, Start } from './jobs.ts';
import type { Op, Version } from '../store/store.ts';

/** The start of a job by the commit that calls for it, which may be tried again. */
export class CommitStart {
  readonly #jobs: Pick<Jobs, 'toStart'>;
  #start: Start | undefined;

  constructor(jobs: Pick<Jobs, 'toStart'>) {
    this.#jobs = jobs;
  }

  /** Operations for the next try of the commit. */
  async opsFor(job: Job): Promise<readonly Op[]> {
    this.settle();
    this.#start = await this.#jobs.toStart(job);
    return this.#start.ops;
  }

  /** Ends the tries of the commit; `version` is that of a commit which was done. */
  settle(version?: Version): void {
    this.#start?.settle(version);
    this.#start = undefined;
  }
}
