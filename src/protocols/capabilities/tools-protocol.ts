/** Request with function tools, as far as it decides about the protocol of its provider. */
export interface ToolsRequest {
  /** Effort of reasoning that it states. */
  readonly effort: string | undefined;
}

/** Facts of a model's tools and reasoning. */
interface ReasoningModel<Protocol> {
  readonly tools_with_reasoning: Protocol | null;
  readonly thinking: string;
  readonly thinking_off: boolean;
  readonly thinking_unasked: boolean;
}

/**
 * Returns the protocol of the provider that takes function tools at the effort of a request where
 * `protocol` refuses them; undefined where it takes them. A request without an effort has that of the
 * model.
 */
export function protocolForTools<Protocol extends string>(
  { effort }: ToolsRequest,
  takes: ReasoningModel<Protocol>,
  protocol: Protocol,
): Protocol | undefined {
  const { tools_with_reasoning: only, thinking, thinking_off, thinking_unasked } = takes;
  if (only === null || only === protocol || thinking === 'none') return undefined;
  const reasons = effort === undefined ? thinking_unasked : effort !== 'none';
  return reasons || !thinking_off ? only : undefined;
}
