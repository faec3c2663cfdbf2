/** Efforts of reasoning, least first. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Effort = (typeof EFFORTS)[number];

/**
 * Tokens of reasoning for each effort. Low, medium and high are those of Google's OpenAI
 * compatibility layer (ai.google.dev/gemini-api/docs/openai, "Thinking").
 */
const BUDGETS: readonly (readonly [Exclude<Effort, 'none'>, number])[] = [
  ['max', 65_536],
  ['xhigh', 32_768],
  ['high', 24_576],
  ['medium', 8192],
  ['low', 1024],
  ['minimal', 512],
];

/** Least tokens of a budget that count as an effort; below the last it is the least effort. */
const LEAST: Readonly<Partial<Record<Effort, number>>> = { high: 16_384, medium: 4096 };

export function isEffort(word: string): word is Effort {
  return (EFFORTS as readonly string[]).includes(word);
}

/** The budget for an effort; 0 for none. */
export function budgetOfEffort(effort: Effort): number {
  return BUDGETS.find(([word]) => word === effort)?.[1] ?? 0;
}

/** The effort that comes nearest to a budget; `none` for a budget of 0. */
export function effortOfBudget(tokens: number): Effort {
  if (tokens <= 0) return 'none';
  return BUDGETS.find(([word, usual]) => tokens >= (LEAST[word] ?? usual))?.[0] ?? 'minimal';
}

/** The effort of `taken` that comes nearest, the lesser of two; undefined where none is taken. */
export function nearestEffort(effort: Effort, taken: readonly Effort[]): Effort | undefined {
  const wanted = EFFORTS.indexOf(effort);
  const distance = (one: Effort): number => Math.abs(EFFORTS.indexOf(one) - wanted);
  return taken.reduce<Effort | undefined>(
    (best, one) => (best === undefined || distance(one) < distance(best) ? one : best),
    undefined,
  );
}
