/** Events and answers after the vendor's published types (openai 7.55, November 2026). */
export type Event = { type: string } & Record<string, unknown>;

export const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
};

export function response(extra: object = {}): Record<string, unknown> {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'in_progress',
    model: 'gpt-5-2025-08-07',
    output: [],
    usage: null,
    ...extra,
  };
}

export function message(text: string, id = 'msg_1'): Record<string, unknown> {
  return {
    id,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  };
}

export function reasoning(encrypted = 'gAAAA', id = 'rs_1'): Record<string, unknown> {
  return { id, type: 'reasoning', summary: [], encrypted_content: encrypted };
}

export function call(name: string, id = 'fc_1'): Record<string, unknown> {
  return {
    id,
    type: 'function_call',
    status: 'completed',
    call_id: `call_${id}`,
    name,
    arguments: '{"n":1.0}',
  };
}

export const created: Event = { type: 'response.created', response: response() };

/** The events of one finished item. */
export function itemEvents(item: Record<string, unknown>, output_index: number): Event[] {
  const at = { item_id: item['id'], output_index };
  const added = {
    ...item,
    ...(item['content'] !== undefined && { content: [] }),
    ...(item['arguments'] !== undefined && { arguments: '' }),
  };
  return [
    { type: 'response.output_item.added', output_index, item: added },
    ...deltasOf(item, at),
    { type: 'response.output_item.done', output_index, item },
  ];
}

function deltasOf(item: Record<string, unknown>, at: object): Event[] {
  if (item['type'] === 'function_call')
    return [
      { type: 'response.function_call_arguments.delta', ...at, delta: '{"n":' },
      { type: 'response.function_call_arguments.delta', ...at, delta: '1.0}' },
    ];
  if (item['type'] !== 'message') return [];
  const [part] = item['content'] as { text: string }[];
  const place = { ...at, content_index: 0 };
  const empty = { type: 'output_text', text: '', annotations: [] };
  return [
    { type: 'response.content_part.added', ...place, part: empty },
    ...(part?.text.match(/.{1,4}/gsu) ?? []).map((delta) => ({
      type: 'response.output_text.delta',
      ...place,
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...place, text: part?.text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
  ];
}

/** A whole stream of these items, numbered. */
export function streamOf(items: readonly Record<string, unknown>[], end: object = {}): Event[] {
  const last = { status: 'completed', output: items, usage: USAGE, ...end };
  return numbered([
    created,
    ...items.flatMap((item, index) => itemEvents(item, index)),
    { type: `response.${last.status}`, response: response(last) },
  ]);
}

export function numbered(events: readonly Event[]): Event[] {
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

export function frame(event: { type?: string; [name: string]: unknown }): string {
  return `${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`;
}

export function frames(events: readonly Event[]): string {
  return events.map(frame).join('');
}

/** The events that a text of frames holds; each under its own name. */
export function eventsIn(text: string): Event[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const found = /^event: (\S+)\ndata: (.*)$/s.exec(block);
      const event = JSON.parse(found?.[2] ?? 'null') as Event;
      if (event.type !== found?.[1]) throw new Error(`an event is named otherwise: ${block}`);
      return event;
    });
}
