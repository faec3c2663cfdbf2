/**
 * Circumstances of a request that its record keeps and by which its usage is summed. Absent members are not
 * known.
 */
export interface RequestOrigin {
  /** Id of the conversation that the request is part of, as its client claims it. */
  readonly conversation?: string | undefined;
  /** Id of the client's user, as the client claims it; hashed where the operator asked for it. */
  readonly endUser?: string | undefined;
  /** Ids of the Agent that asked, and of the Service and the Schedule through which it was made to. */
  readonly agent?: string | undefined;
  readonly service?: string | undefined;
  readonly schedule?: string | undefined;
  /** Labels of the key at that time, and tags of the request; only those that the operator allowed. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}
