import { Buffer } from 'node:buffer';
import type { Clock } from '../../core/time/clock.ts';
import type {
  Transport,
  UpstreamCall,
  UpstreamRequest,
  UpstreamSink,
} from '../../upstream/transport.ts';
import type { MockEngine } from './engine.ts';
import { GatheringCall } from './gathering-call.ts';
import type { MockHttpRequest } from './mock-request.ts';
import { Playback } from './tape/playback.ts';

/**
 * Plays the engine's scripts in process, with the call order of HTTP: the sink is never called from within
 * `send`, `abort` or `resume`; a cut is an `onError` of kind `reset`. A content coding of the cassette shows no
 * effect here, since a transport delivers decoded bodies. `close` aborts open calls.
 */
export function createMockTransport(engine: MockEngine, clock: Clock): Transport {
  const open = new Set<UpstreamCall>();
  const play = (request: MockHttpRequest, sink: UpstreamSink): UpstreamCall => {
    const script = engine.handle(request);
    const playback = new Playback({ script, sink, clock, onClose: () => open.delete(playback) });
    open.add(playback);
    playback.resume();
    queueMicrotask(() => sink.onSent?.());
    return playback;
  };
  return {
    send(request, sink) {
      const { body } = request;
      if (!body || Buffer.isBuffer(body)) return play(toHttpRequest(request, body), sink);
      const call = new GatheringCall(body, {
        sink,
        play: (bytes) => play(toHttpRequest(request, bytes), sink),
        onClose: () => open.delete(call),
      });
      open.add(call);
      return call;
    },
    close() {
      for (const call of open) call.abort();
      return Promise.resolve();
    },
  };
}

function toHttpRequest(
  { url, method, headers }: UpstreamRequest,
  body: Buffer | undefined,
): MockHttpRequest {
  const named: Record<string, string> = {};
  for (let i = 0; i + 1 < headers.length; i += 2) named[headers[i] ?? ''] = headers[i + 1] ?? '';
  return { method, path: url.pathname + url.search, headers: named, body };
}
