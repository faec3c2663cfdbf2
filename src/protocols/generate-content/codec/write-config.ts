import type { CanonicalRequest, ReasoningRequest } from '../../canonical.ts';

/** Models that know budgets of thinking tokens and no levels. */
const KNOWS_BUDGETS_ONLY = /\bgemini-[12]\b/;

/** Tokens, as Google's own OpenAI layer sets them for the efforts of chat completions. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 1024, medium: 8192 };
const HIGH_BUDGET = 24_576;
const LEVELS = new Set(['minimal', 'low', 'medium', 'high']);

/** `generationConfig`, or undefined when nothing is asked for. */
export function writeConfig(request: CanonicalRequest, model: string): object | undefined {
  const { reasoning, stop, logprobs, output } = request;
  const thinkingConfig = reasoning && writeThinking(reasoning, model);
  const config = {
    ...given('temperature', request.temperature),
    ...given('topP', request.topP),
    ...given('topK', request.topK),
    ...given('maxOutputTokens', request.maxOutputTokens),
    ...(stop && stop.length > 0 && { stopSequences: stop }),
    ...given('seed', request.seed),
    ...given('presencePenalty', request.presencePenalty),
    ...given('frequencyPenalty', request.frequencyPenalty),
    ...(output && { responseMimeType: 'application/json' }),
    ...(output?.type === 'schema' && { responseJsonSchema: output.schema }),
    ...(logprobs !== undefined && { responseLogprobs: true }),
    ...(logprobs !== undefined && logprobs > 0 && { logprobs }),
    ...(thinkingConfig && Object.keys(thinkingConfig).length > 0 && { thinkingConfig }),
  };
  return Object.keys(config).length > 0 ? config : undefined;
}

function given(name: string, value: number | undefined): object {
  return value === undefined ? {} : { [name]: value };
}

/** A level and a budget exclude each other; 0 is no thinking and -1 as much as the model likes. */
function writeThinking(reasoning: ReasoningRequest, model: string): object {
  const { effort, budgetTokens, enabled, show } = reasoning;
  const shown = show === undefined ? {} : { includeThoughts: show };
  if (enabled === false || effort === 'none') return { thinkingBudget: 0, ...shown };
  if (budgetTokens !== undefined) return { thinkingBudget: budgetTokens, ...shown };
  if (effort === undefined) return { ...(enabled && { thinkingBudget: -1 }), ...shown };
  if (KNOWS_BUDGETS_ONLY.test(model))
    return { thinkingBudget: BUDGETS[effort] ?? HIGH_BUDGET, ...shown };
  const level = LEVELS.has(effort) ? effort : 'high';
  return { thinkingLevel: level.toUpperCase(), ...shown };
}
