import type { Usage } from '../../../core/usage.ts';
import type { AnswerContext } from '../../canonical/codec.ts';
import { toResponsesUsage } from '../responses-usage.ts';

export interface ResponseState {
  readonly id: string;
  /** Seconds since epoch. */
  readonly created: number;
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  readonly incomplete_details: object | null;
  readonly output: readonly object[];
  readonly usage: Usage | undefined;
}

/** A Response, which repeats members of its request. */
export function toResponse({ model, peek }: AnswerContext, state: ResponseState): object {
  const { json } = peek;
  return {
    id: state.id,
    object: 'response',
    created_at: state.created,
    status: state.status,
    background: false,
    error: null,
    incomplete_details: state.incomplete_details,
    instructions: json.get('instructions') ?? null,
    max_output_tokens: json.get('max_output_tokens') ?? null,
    model,
    output: [...state.output],
    parallel_tool_calls: json.get('parallel_tool_calls') ?? true,
    previous_response_id: null,
    reasoning: json.get('reasoning') ?? { effort: null, summary: null },
    store: false,
    temperature: json.get('temperature') ?? 1,
    text: json.get('text') ?? { format: { type: 'text' } },
    tool_choice: json.get('tool_choice') ?? 'auto',
    tools: json.get('tools') ?? [],
    top_p: json.get('top_p') ?? 1,
    truncation: 'disabled',
    usage: state.usage ? toResponsesUsage(state.usage) : null,
    metadata: json.get('metadata') ?? {},
  };
}
