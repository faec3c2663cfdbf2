/** Head of an answer, and its body that is yet to be read in one of two ways; a `Response` is one. */
export interface Reply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
  text(): Promise<string>;
}

export interface Sending {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Form in place of `body`. */
  readonly form?: FormData | undefined;
  readonly signal: AbortSignal;
}

/** Sends one call. Follows no redirect; rejects when no answer arrives or the signal is aborted. */
export type Transport = (url: string, sending: Sending) => Promise<Reply>;
