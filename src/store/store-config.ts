/** Store to open, and its location. */
export interface StoreConfig {
  /** Driver of a backend, as `lmdb`, or the name of an unstorage driver (`fs`, `s3`, `mongodb`, …). */
  driver: string;
  /** Location of the data: the directory of `lmdb`, and the `base` of a driver that has none in `options`. */
  path?: string;
  /** Options of the unstorage driver, in its own words. */
  options?: Record<string, unknown>;
}
