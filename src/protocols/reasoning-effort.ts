/** The least tokens of a budget that are as good as an effort. */
const BUDGETS: readonly (readonly [number, string])[] = [
  [16_384, 'high'],
  [4096, 'medium'],
  [0, 'low'],
];

/** The effort that comes nearest to a budget of reasoning tokens; undefined for no budget. */
export function effortOfBudget(tokens = 0): string | undefined {
  return tokens > 0 ? BUDGETS.find(([least]) => tokens >= least)?.[1] : undefined;
}
