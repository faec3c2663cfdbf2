/** Changes to the top level of a request body that a provider needs; applied by splice. */
export interface Quirks {
  /** Members to remove. */
  drop?: readonly string[];
  /** Members to rename, old name to new. */
  rename?: Readonly<Record<string, string>>;
  /** Members to add when absent, as JSON values. */
  default?: Readonly<Record<string, unknown>>;
  /** Members that it cannot serve: a request that has one passes the provider over. */
  refuse?: readonly string[];
}
