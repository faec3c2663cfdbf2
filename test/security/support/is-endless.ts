/** Answer to a request, as far as it tells whether it ends. */
export interface Begun {
  readonly method: string;
  readonly status: number;
  readonly type: string | null | undefined;
}

/** True for what follows a Session or requests, or listens to a Service over MCP, until its client goes. */
export function isEndless({ method, status, type }: Begun): boolean {
  return method === 'GET' && status === 200 && type?.startsWith('text/event-stream') === true;
}
