export interface StreamEvent {
  readonly id: string | undefined;
  /** Parsed; undefined for an event that has only an id. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into messages of every shape
  readonly message: any;
}

export interface OpenStream {
  readonly response: Response;
  /** Events so far, without comments. */
  readonly events: StreamEvent[];
  /** Resolves when the server has ended the stream, or it was left. */
  readonly ended: Promise<void>;
  leave(): void;
}

/** Reads server-sent events in the background. */
export async function openStream(url: string, init: RequestInit): Promise<OpenStream> {
  const gone = new AbortController();
  const response = await fetch(url, { ...init, signal: gone.signal });
  const events: StreamEvent[] = [];
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body ?? []) {
      rest += decoder.decode(chunk, { stream: true });
      const frames = rest.split('\n\n');
      rest = frames.pop() ?? '';
      events.push(...frames.flatMap(toEvent));
    }
  };
  const ended = read().catch(() => undefined);
  return { response, events, ended, leave: () => gone.abort() };
}

function toEvent(frame: string): StreamEvent[] {
  const fields = new Map(
    frame.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return [];
  return [{ id: fields.get('id'), message: data === '' ? undefined : JSON.parse(data) }];
}
