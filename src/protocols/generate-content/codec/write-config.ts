import type { FittingRequest } from '../../capabilities/fit-request.ts';

/** `generationConfig`, or undefined when nothing is asked for. */
export function writeConfig(request: FittingRequest): object | undefined {
  const { stop, logprobs, output } = request;
  const thinkingConfig = writeThinking(request);
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
    ...(Object.keys(thinkingConfig).length > 0 && { thinkingConfig }),
  };
  return Object.keys(config).length > 0 ? config : undefined;
}

function given(name: string, value: number | undefined): object {
  return value === undefined ? {} : { [name]: value };
}

/** A level and a budget exclude each other; 0 is no thinking and -1 as much as the model likes. */
function writeThinking({ reasoning }: FittingRequest): object {
  const { state, effort, budget, show } = reasoning;
  const shown = show === undefined ? {} : { includeThoughts: show };
  if (state === 'unsaid') return shown;
  if (state === 'off') return { thinkingBudget: 0, ...shown };
  if (budget !== undefined) return { thinkingBudget: budget, ...shown };
  if (effort !== undefined) return { thinkingLevel: effort.toUpperCase(), ...shown };
  return { thinkingBudget: -1, ...shown };
}
