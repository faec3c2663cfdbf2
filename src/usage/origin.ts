/** Circumstances of a request that its record keeps. Absent members are not known. */
export interface RequestOrigin {
  /** Id of the conversation that the request is part of, as its client claims it. */
  readonly conversation?: string | undefined;
}
