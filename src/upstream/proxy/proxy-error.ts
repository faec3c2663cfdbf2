/** A proxy that gave no tunnel. Neither text nor members hold its credentials. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code: string;
  /** Names the proxy and its answer; only for operators. */
  readonly proxy: string;

  constructor(code: string, proxy: string, options?: { cause?: unknown }) {
    super('the proxy refused the connection', options);
    this.code = code;
    this.proxy = proxy;
  }
}

/** Text about the proxy that an error is about, if there is one. */
export function proxyIn(error: unknown): string | undefined {
  return error instanceof ProxyError ? error.proxy : undefined;
}
