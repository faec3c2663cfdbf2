interface Calls {
  readonly latencies: readonly number[];
}

export const APPLY_SECONDS: number;
export const FIRST_START_SECONDS: number;
export function judgeChat(
  idle: Calls,
  busy: Calls & { readonly failures: number },
): { readonly p50Times: number; readonly holds: boolean };
