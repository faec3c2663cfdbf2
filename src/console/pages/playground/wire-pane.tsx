import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useConsole } from '../../frame/state.ts';
import { bytes, duration } from '../../logic/format.ts';
import type { Prompt, WireProtocol } from '../../logic/wire-requests.ts';
import { toApiError } from '../../parts/load.ts';
import { Copy, State } from '../../parts/parts.tsx';

/** A prompt that was sent; the turn distinguishes it from the same one sent before. */
export interface Asked {
  readonly prompt: Prompt;
  readonly turn: number;
}

interface Answer {
  readonly status: number | undefined;
  readonly type: string;
  readonly text: string;
  readonly ms: number;
  readonly requestId: string | null;
  readonly isOver: boolean;
}

/** Request and answer of one protocol as they are on the wire. */
export function WirePane({
  protocol,
  asked,
}: {
  protocol: WireProtocol;
  asked: Asked | undefined;
}) {
  const { api } = useConsole();
  const answer = useSignal<Answer | undefined>(undefined);
  const problem = useSignal('');
  const path = asked && protocol.path(asked.prompt.model, asked.prompt.isStream);
  const body = asked && JSON.stringify(protocol.body(asked.prompt), null, 2);
  useEffect(() => {
    if (!path || !body) return undefined;
    const stop = new AbortController();
    const ask = async (): Promise<void> => {
      const began = performance.now();
      answer.value = undefined;
      problem.value = '';
      const response = await api.answer(path, { method: 'POST', body, signal: stop.signal });
      const head = {
        status: response.status,
        type: response.headers.get('content-type') ?? '',
        requestId: response.headers.get('x-request-id'),
      };
      let text = '';
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        text += decoder.decode(part.value, { stream: true });
        answer.value = { ...head, text, ms: performance.now() - began, isOver: false };
      }
      answer.value = { ...head, text, ms: performance.now() - began, isOver: true };
    };
    ask().catch((thrown: unknown) => {
      if (!stop.signal.aborted) problem.value = toApiError(thrown).message;
    });
    return () => stop.abort();
  }, [asked?.turn]);
  const shown = answer.value;
  return (
    <section class="pane" aria-label={protocol.title}>
      <div class="row pane-head">
        <h2>{protocol.title}</h2>
        <code class="dim cut grow">{path ? `POST ${path}` : ''}</code>
      </div>
      {body ? (
        <>
          <div class="row">
            <h3 class="grow">Request, {bytes(body.length)}</h3>
            <Copy text={body} />
          </div>
          <pre tabIndex={0} class="code wrap">
            {shorten(body)}
          </pre>
          <div class="row">
            <h3 class="grow">
              Answer{shown ? `, ${bytes(shown.text.length)}, ${duration(shown.ms)}` : ''}
            </h3>
            {shown?.requestId && (
              <a href={`/console/requests?last=&open=${shown.requestId}`}>Show the request</a>
            )}
            {shown && <Copy text={() => answer.value?.text ?? ''} />}
            <State tone={toneOf(shown, problem.value)}>
              {problem.value || (shown ? String(shown.status) : 'waiting')}
            </State>
          </div>
          <pre tabIndex={0} class="code wrap answer" aria-live="polite">
            {shown ? pretty(shown) : ''}
          </pre>
        </>
      ) : (
        <p class="dim">The bytes of request and answer appear here.</p>
      )}
    </section>
  );
}

function toneOf(answer: Answer | undefined, problem: string) {
  if (problem) return 'bad';
  if (!answer?.isOver) return 'busy';
  return (answer.status ?? 500) < 400 ? 'good' : 'bad';
}

function pretty({ type, text, isOver }: Answer): string {
  if (!isOver || !type.includes('json')) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Long values, such as pictures, by their beginning. */
function shorten(body: string): string {
  return body.replace(/"([^"]{80})[^"]{400,}"/g, '"$1…"');
}
