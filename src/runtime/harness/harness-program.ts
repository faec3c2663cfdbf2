/** A program that runs turns, as the operator declared it (config: server.harnesses). */
export interface HarnessProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Secrets in it are resolved. */
  readonly env: Readonly<Record<string, string>>;
  /** Values of `env` that the configuration gives as secrets. */
  readonly secrets?: readonly string[] | undefined;
  /** Protocol on stdin and stdout: the Agent Client Protocol, or JSON lines (docs: harness). */
  readonly protocol: 'acp' | 'jsonl';
  /** Milliseconds. */
  readonly timeouts: {
    /** Time until it is ready for its first turn. */
    readonly start: number;
    /** A whole turn, the time in which the client is asked included. */
    readonly turn: number;
    /** Between the request to end and the kill. */
    readonly stop: number;
  };
}
