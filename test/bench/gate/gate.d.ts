type Ratios = Readonly<Record<string, number>>;

interface Start {
  readonly gateway: Ratios;
  readonly proxy: Ratios;
}

export function runGate(options: {
  measure(start: number): Promise<Start>;
  starts: number;
  file: string;
  update: boolean;
  say(line: string): void;
}): Promise<0 | 1>;
export function judgeRatios(
  kept: Ratios,
  measured: Ratios,
): { readonly figure: string; readonly verdict: 'same' | 'better' | 'worse' | 'new' }[];
export function faultsOf(kept: Ratios, measured: Ratios): string[];
export function ratiosOf(starts: readonly Start[]): Record<string, number>;
