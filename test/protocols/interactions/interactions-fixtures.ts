/**
 * Written from the types of @google/genai 3.1 (Interaction, InteractionSSEEvent) and, for the older names
 * of events, 1.52; November 2026.
 */
export const USAGE = {
  total_input_tokens: 20,
  total_cached_tokens: 8,
  total_output_tokens: 5,
  total_thought_tokens: 3,
  total_tool_use_tokens: 2,
  total_tokens: 30,
};

export const COMPLETED = {
  id: 'v1_abc',
  object: 'interaction',
  model: 'gemini-up',
  status: 'completed',
  created: '2026-11-21T10:00:00Z',
  updated: '2026-11-21T10:00:01Z',
  steps: [
    { type: 'thought', signature: 'c2ln', summary: [{ type: 'text', text: 'hm' }] },
    { type: 'model_output', content: [{ type: 'text', text: 'hello' }] },
  ],
  usage: USAGE,
};

export const RUNNING = {
  id: 'v1_abc',
  object: 'interaction',
  model: 'gemini-up',
  status: 'in_progress',
};

type Event = Readonly<Record<string, unknown>> & { event_type: string };

export const EVENTS: readonly Event[] = [
  { event_type: 'interaction.created', interaction: RUNNING, event_id: 'e1' },
  { event_type: 'interaction.status_update', interaction_id: 'v1_abc', status: 'in_progress' },
  { event_type: 'step.start', index: 0, step: { type: 'thought' } },
  {
    event_type: 'step.delta',
    index: 0,
    delta: { type: 'thought_summary', content: { type: 'text', text: 'hmm' } },
  },
  { event_type: 'step.delta', index: 0, delta: { type: 'thought_signature', signature: 'c2ln' } },
  { event_type: 'step.stop', index: 0 },
  { event_type: 'step.start', index: 1, step: { type: 'model_output' } },
  { event_type: 'step.delta', index: 1, delta: { type: 'text', text: 'héllo 世界' } },
  { event_type: 'hologram.delta', index: 1, delta: { type: 'hologram', beam: 1.0 } },
  {
    event_type: 'step.delta',
    index: 1,
    delta: { type: 'image', data: 'aGk=', mime_type: 'image/png' },
  },
  { event_type: 'step.stop', index: 1 },
  { event_type: 'interaction.completed', interaction: COMPLETED },
];

/** As clients up to 1.52 know them. */
export const OLD_EVENTS: readonly Event[] = [
  { event_type: 'interaction.start', interaction: RUNNING },
  { event_type: 'content.start', index: 0, content: { type: 'text', text: '' } },
  { event_type: 'content.delta', index: 0, delta: { type: 'text', text: 'hi' } },
  { event_type: 'content.stop', index: 0 },
  { event_type: 'interaction.complete', interaction: { ...COMPLETED, steps: undefined } },
];

export interface Framing {
  end?: string;
  gap?: string;
}

export function frame(event: Event | string, { end = '\n', gap = ' ' }: Framing = {}): string {
  if (typeof event === 'string') return `event:${gap}done${end}data:${gap}${event}${end}${end}`;
  return `event:${gap}${event.event_type}${end}data:${gap}${JSON.stringify(event)}${end}${end}`;
}

export function frames(events: readonly (Event | string)[], framing: Framing = {}): string {
  return events.map((event) => frame(event, framing)).join('');
}
