import type { Protocol } from '../registry.ts';
import type { Effort } from './efforts.ts';
import type { NameBounds } from './name-bounds.ts';

/**
 * Forms in which a model takes a request for reasoning: an amount of tokens (`budget`), its own
 * measure and an effort (`adaptive`), only an effort (`effort`), each as the client said it
 * (`any`), or not at all.
 */
export const THINKING_FORMS = ['any', 'adaptive', 'budget', 'effort', 'none'] as const;

/** Members of requests, and of their messages, that some vendors refuse, as their features. */
export const OPTIONAL_MEMBERS = [
  'logprobs',
  'parallel_tool_calls',
  'participant_names',
  'reasoning_text',
  'refusals',
  'service_tier',
  'user',
  'verbosity',
] as const;

/** Capabilities of an upstream model; members are spelled as in gateway.yaml. */
export interface Capabilities extends NameBounds {
  readonly thinking: (typeof THINKING_FORMS)[number];
  /** Efforts, least first; null: all. */
  readonly efforts: readonly Effort[] | null;
  /** Reasoning can be switched off. */
  readonly thinking_off: boolean;
  /** It reasons where a request does not say whether. */
  readonly thinking_unasked: boolean;
  /** Bounds of a budget of reasoning tokens; null: no most. */
  readonly min_budget: number;
  readonly max_budget: number | null;
  /** `temperature`, `top_p`, `top_k`, penalties and log probabilities are taken. */
  readonly sampling: boolean;
  /** The same while it reasons; false: only temperature 1 and a high enough `top_p` are. */
  readonly sampling_with_thinking: boolean;
  /** Least `top_p` with reasoning where sampling is not taken with it. */
  readonly top_p_with_thinking: number;
  readonly temperature_with_top_p: boolean;
  /** A tool can be forced while it reasons. */
  readonly forced_tool_with_thinking: boolean;
  /** The only protocol of its provider in which it reasons with function tools; null: any. */
  readonly tools_with_reasoning: Protocol | null;
  /** Most characters of a tool call's id; null: no bound. */
  readonly tool_id_length: number | null;
  /** Letters and digits of ASCII that an id of a tool call consists of; null: {@link tool_id_length}. */
  readonly exact_tool_id_length: number | null;
  /** Most tools of a request, stop sequences, and seed without its sign; null: no bound. */
  readonly max_tools: number | null;
  readonly max_stops: number | null;
  readonly max_seed: number | null;
  /** Least output tokens that can be asked for. */
  readonly min_output_tokens: number;
  /** Media types of documents that are taken as bytes, others only as text; null: all. */
  readonly document_types: readonly string[] | null;
  /** A turn of the assistant may follow another one. */
  readonly consecutive_assistant_turns: boolean;
  /** A turn of the user may follow another one. */
  readonly consecutive_user_turns: boolean;
  /** A turn of the user may follow the results of tools; false: one of the assistant is between. */
  readonly user_after_tool: boolean;
  /** A conversation may begin with a turn of the assistant. */
  readonly assistant_first: boolean;
  /** A conversation may end with a turn of the assistant, which the model continues. */
  readonly assistant_last: boolean;
  /** System texts may be several and follow turns of the user; false: one is in front. */
  readonly system_turns: boolean;
  /** There are system texts; false: the user's first turn begins with them. */
  readonly system_texts: boolean;
  /** Tools of free text are taken as such. */
  readonly custom_tools: boolean;
  /** `frequency_penalty` and `presence_penalty` other than 0 are taken. */
  readonly penalties: boolean;
  readonly forced_tool: boolean;
  /** Function tools and a form of the answer can be asked for together. */
  readonly tools_with_output: boolean;
  /** Placeholder signature of unsigned calls that are sent back; null: none is needed. */
  readonly unsigned_call: string | null;
  /** Reasoning of calls that are sent back without their own; null: none is needed. */
  readonly unreasoned_call: string | null;
  /** It reasons within a budget also after calls that were sent back without their reasoning. */
  readonly budget_after_calls: boolean;
  /** Results of tools can hold images and documents. */
  readonly tool_result_media: boolean;
  /** Schemas of answers can bound values and leave objects open. */
  readonly any_schema: boolean;
  /** Texts and stop sequences of only white space are taken. */
  readonly blank_texts: boolean;
  /** Most temperature; null: no bound. */
  readonly max_temperature: number | null;
  /** Least seed that can be asked for; null: any. */
  readonly min_seed: number | null;
  /** Members that it refuses; `reasoning_text` is that of unknown origin. */
  readonly unknown_members: readonly (typeof OPTIONAL_MEMBERS)[number][];
  /** Most characters of the end user's id; null: no bound. */
  readonly user_length: number | null;
  /** The end user's id can be an e-mail address or a telephone number. */
  readonly personal_user: boolean;
}

/** Row of the table; later ones win over earlier ones. */
export interface Rule {
  readonly vendor: string;
  /** Upstream protocols to which it applies; absent: all. */
  readonly protocols?: readonly Protocol[];
  /**
   * Types of provider to which it applies, over all of their protocols: other servers of the model
   * have other rules. Absent: all.
   */
  readonly providers?: readonly string[];
  /**
   * Names of models, found anywhere in the provider's own name: `#` is a version such as 4, 4.5 or
   * 4-5, `*` a word of letters. Absent: every model.
   */
  readonly models?: readonly string[];
  /** First version. Default: the first of all. */
  readonly from?: string;
  /** First version to which it no longer applies. Default: none. */
  readonly below?: string;
  readonly takes: Partial<Capabilities>;
  /** Address of the vendor's page, or of its refusal on record. */
  readonly source: string;
}
