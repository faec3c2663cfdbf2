import { createSseFramer } from '../../../src/core/sse/sse.ts';
import { eventually } from '../../support/gateway.ts';

export interface StreamEvent {
  readonly event: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into rows of every shape
  readonly data: any;
}

/** Client of a stream of requests, as a browser's EventSource is one. */
export interface OpenedStream {
  readonly status: number;
  readonly events: readonly StreamEvent[];
  /** Rows in the order in which they came. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into rows of every shape
  readonly rows: readonly any[];
  /** The newest id. */
  readonly lastId: string;
  readonly ended: boolean;
  /** Waits for a row of this request with this result. */
  until(id: string, result?: string): Promise<void>;
  close(): void;
}

export async function openStream(
  url: string,
  { headers, after }: { headers: Record<string, string>; after?: string },
): Promise<OpenedStream> {
  const gone = new AbortController();
  const response = await fetch(url, {
    headers: { ...headers, ...(after !== undefined && { 'last-event-id': after }) },
    signal: gone.signal,
  });
  const events: StreamEvent[] = [];
  let lastId = after ?? '';
  let ended = false;
  const read = async (): Promise<void> => {
    const framer = createSseFramer();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      for (const frame of framer.push(Buffer.from(chunk))) {
        const [, id] = /^id: (.*)$/m.exec(frame.raw.toString()) ?? [];
        lastId = id ?? lastId;
        if (frame.data !== undefined)
          events.push({ event: frame.event, data: JSON.parse(frame.data) });
      }
  };
  void read()
    .catch(() => undefined)
    .finally(() => (ended = true));
  const stream: OpenedStream = {
    status: response.status,
    events,
    get rows() {
      return events.flatMap(({ event, data }) => (event === 'requests' ? data : []));
    },
    get lastId() {
      return lastId;
    },
    get ended() {
      return ended;
    },
    async until(id, result) {
      await eventually(() =>
        stream.rows.some((row) => row.id === id && (result ?? row.result) === row.result),
      );
    },
    close: () => gone.abort(),
  };
  return stream;
}
