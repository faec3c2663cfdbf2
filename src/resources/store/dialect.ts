import type { IncomingHttpHeaders } from 'node:http';

/** A part of a form, read whole. */
export interface FormField {
  readonly name: string;
  /** Value of a text field. */
  readonly value?: string | undefined;
  /** Name of a file. */
  readonly filename?: string | undefined;
  readonly contentType?: string | undefined;
  readonly content?: Buffer | undefined;
}

/** Members of a view, and their JSON Schema. */
export type Members = Readonly<Record<string, object>>;

/** Shape of a kind's resources in the protocol of a client. */
export interface Dialect {
  /** Shape of its errors. */
  readonly envelope: 'chat' | 'resource';
  /** Members of one resource, of a page in addition to `data`, and of the answer to a deletion. */
  readonly members: { readonly item: Members; readonly page: Members; readonly removed: Members };
  /** Query of the gateway's own list. Throws `invalid_request` with `param`. */
  toQuery(query: URLSearchParams): URLSearchParams;
  toItem(view: Readonly<Record<string, unknown>>): object;
  /** `next`: cursor of the next page, null on the last. */
  toPage(data: readonly object[], page: { ids: readonly string[]; next: string | null }): object;
  toRemoved(id: string): object;
}

/** Dialects of a kind, told apart by the headers of a request. */
export interface Dialects {
  readonly all: readonly Dialect[];
  of(headers: IncomingHttpHeaders): Dialect;
}
