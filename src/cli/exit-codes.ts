/** Exit codes of commands; `gateway help exit-codes` prints this table. */
export const EXIT = {
  ok: { code: 0, meaning: 'done' },
  failed: { code: 1, meaning: 'failed' },
  changes: { code: 2, meaning: 'there are changes (only with --exit-code)' },
  invalid_config: { code: 3, meaning: 'the configuration is invalid' },
  auth: { code: 4, meaning: 'the API key is missing, refused or lacks a scope' },
  conflict: { code: 5, meaning: 'conflict, or the plan is stale' },
  partial: { code: 6, meaning: 'applied or moved in part' },
  run_failed: {
    code: 7,
    meaning:
      'the awaited run or turn failed or waits for a person, or what is awaited can no longer be',
  },
  unknown_outcome: { code: 8, meaning: 'out of time, or the outcome is unknown' },
  usage: { code: 64, meaning: 'the command line is wrong' },
  interrupted: { code: 130, meaning: 'interrupted (Ctrl-C)' },
  terminated: { code: 143, meaning: 'terminated' },
} as const satisfies Record<string, { code: number; meaning: string }>;

/** Name of an exit code, as `conflict`. */
export type ExitName = keyof typeof EXIT;

const BY_STATUS: Readonly<Record<number, ExitName>> = {
  401: 'auth',
  403: 'auth',
  409: 'conflict',
  412: 'conflict',
  504: 'unknown_outcome',
};

const BY_CODE: Readonly<Record<string, ExitName>> = {
  timeout: 'unknown_outcome',
  connection_lost: 'unknown_outcome',
  aborted: 'interrupted',
  ambiguous: 'conflict',
};

/** The exit of a call that failed with an HTTP status, or without one with the client's own code. */
export function exitOf(failure: {
  status?: number | undefined;
  code: string;
  /** True: nothing has changed, so the outcome is known. */
  isRead?: boolean;
}): ExitName {
  if (failure.status !== undefined) return BY_STATUS[failure.status] ?? 'failed';
  if (failure.code === 'connection_lost' && failure.isRead === true) return 'failed';
  return BY_CODE[failure.code] ?? 'failed';
}
