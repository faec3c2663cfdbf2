export type StreamForm = 'sse' | 'ndjson';
export type ReplyForm = StreamForm | 'json';

/**
 * How a call of MCP is answered (requirements mcp.official-client, mcp.ndjson): as JSON, unless the client
 * takes events and there is something to tell before the end, or it takes nothing else. Newline-delimited
 * JSON goes to those alone who list it.
 */
export function replyForm(accept: string | undefined, hasProgress: boolean): ReplyForm {
  const types = typesOf(accept);
  const takes = (...accepted: string[]): boolean => accepted.some((type) => types.includes(type));
  if (takes('application/x-ndjson')) return 'ndjson';
  if (!takes('text/event-stream', 'text/*')) return 'json';
  return hasProgress || !takes('application/json', 'application/*', '*/*') ? 'sse' : 'json';
}

/** True for a client to which a stream of events may be sent. */
export function takesEvents(accept: string | undefined): boolean {
  return typesOf(accept).some((type) => ['text/event-stream', 'text/*', '*/*'].includes(type));
}

function typesOf(accept = '*/*'): string[] {
  return accept.split(',').flatMap((entry) => {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [type];
  });
}
