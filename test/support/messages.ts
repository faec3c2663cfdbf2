export interface MessagesEvent {
  type: string;
  index?: number;
  message?: { id?: string; model?: string; usage?: Record<string, unknown> };
  content_block?: Record<string, unknown>;
  delta?: Record<string, unknown>;
  usage?: Record<string, unknown>;
  error?: { type?: string; message?: string };
}

/** The events of a Messages stream; one whose name is not its type is an error. */
export function messagesEvents(text: string): MessagesEvent[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
    .map((frame) => {
      const [, name, data = ''] = /^event: (\S+)\ndata: (.*)$/s.exec(frame) ?? [];
      const event = JSON.parse(data || '{}') as MessagesEvent;
      if (name === undefined || event.type !== name)
        throw new Error(`no event of its name: ${frame}`);
      return event;
    });
}

/** The text that the deltas of a Messages stream add up to. */
export function messagesText(text: string): string {
  return messagesEvents(text)
    .map(({ delta }) => (typeof delta?.['text'] === 'string' ? delta['text'] : ''))
    .join('');
}

/** The bytes of events as a provider sends them. */
export function messagesFrames(events: readonly object[]): string {
  return events
    .map((event) => `event: ${(event as MessagesEvent).type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

export const MESSAGE_START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  },
};

export const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [{ type: 'text', text: 'fine' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 2 },
};

/** The events of one block of text, and of the end behind it. */
export function textEvents(index: number, ...pieces: readonly string[]): object[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    ...pieces.map((text) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index },
  ];
}

export function endEvents(
  stop_reason = 'end_turn',
  usage: object = { output_tokens: 7 },
): object[] {
  return [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}
