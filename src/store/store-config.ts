/** Which store to open, and where it lies. */
export interface StoreConfig {
  /** Driver of a backend, as `lmdb`, or the name of an unstorage driver (`fs`, `s3`, `mongodb`, …). */
  driver: string;
  /** Where data lies: the directory of `lmdb`, and the `base` of a driver that has none in `options`. */
  path?: string;
  /** What the unstorage driver takes, in its own words. */
  options?: Record<string, unknown>;
}
