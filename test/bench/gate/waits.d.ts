interface Wait {
  readonly longest: number;
  readonly p99: number;
  readonly holds: boolean;
}

export function judgeWaits(probes: {
  readonly failures: number;
  readonly latencies: readonly number[];
}): Wait;
export function faultsOfWaits(waits: Readonly<Record<string, Wait>>): string[];
