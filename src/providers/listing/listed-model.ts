/** One model as the list of its provider has it. */
export interface ListedModel {
  /** The provider's own name. */
  readonly name: string;
  /** Seconds since epoch; absent where the list has none. */
  readonly created?: number | undefined;
}
