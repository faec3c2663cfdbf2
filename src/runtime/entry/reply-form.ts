export type StreamForm = 'sse' | 'ndjson';
export type ReplyForm = StreamForm | 'json';

/**
 * Chooses the form of an answer to an MCP call (requirements mcp.official-client, mcp.ndjson):
 * JSON, unless the client accepts events and there is progress to send before the end, or accepts
 * nothing else. Newline-delimited JSON is sent only to clients that list it.
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
