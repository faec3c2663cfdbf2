import { StoreError } from './store.ts';

/** Says that nothing is where a store was to be read; a start would make one. */
export class AbsentStore extends StoreError {
  /** `where`: `in /data`, `under this prefix`. */
  constructor(where: string) {
    super('unavailable', `there is no store ${where}`);
  }
}
