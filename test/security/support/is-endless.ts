/** True for what follows a Session or requests, or listens to a Service over MCP, until its client goes. */
export function isEndless({ method, path }: { method: string; path: string }): boolean {
  return (
    method === 'GET' &&
    /\/(events\/stream|executions\/events|requests\/events|mcp)(\?|$)/.test(path)
  );
}
