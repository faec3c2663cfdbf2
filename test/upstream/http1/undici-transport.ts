import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import { UpstreamError } from '../../../src/upstream/transport.ts';
import type {
  Transport,
  UpstreamHeaders,
  UpstreamRequest,
  UpstreamSink,
} from '../../../src/upstream/transport.ts';

/** The transport that undici's dispatch makes, for the suite that both have to pass. */
export function createUndiciTransport({ connections }: { connections?: number } = {}): Transport {
  const agent = new Agent({ connections: connections ?? null, pipelining: 1 });
  return {
    send(request, sink) {
      const handler = new SinkHandler(sink);
      // The sink is not called before `send` returned.
      queueMicrotask(() => handler.dispatch(agent, request));
      return handler;
    },
    close: () => agent.destroy(),
  };
}

class SinkHandler implements Dispatcher.DispatchHandler {
  readonly #sink: UpstreamSink;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;

  constructor(sink: UpstreamSink) {
    this.#sink = sink;
  }

  dispatch(agent: Agent, { url, method, headers, body }: UpstreamRequest): void {
    if (this.#isOver) return;
    const { origin, pathname, search } = url;
    if (body && !Buffer.isBuffer(body)) throw new TypeError('only bytes');
    try {
      agent.dispatch({ origin, path: pathname + search, method, headers, body }, this);
    } catch (error) {
      this.onResponseError(undefined, error as Error);
    }
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller?.abort(new Error('aborted'));
    this.#sink.onError(new UpstreamError('aborted', 'the request was aborted'));
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('aborted'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: UpstreamHeaders,
  ): void {
    if (status >= 200 && !this.#isOver) this.#sink.onHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver) this.#sink.onData(Buffer.from(chunk));
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.onEnd();
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { code = '' } = error as NodeJS.ErrnoException;
    const kind = /^(ECONNREFUSED|ENOTFOUND|UND_ERR_CONNECT)/.test(code)
      ? 'connect'
      : /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT)/.test(code)
        ? 'protocol'
        : 'reset';
    this.#sink.onError(new UpstreamError(kind, error.message, { cause: error }));
  }
}
