import type { IncomingHttpHeaders } from 'node:http';
import type { ScopeName } from '../kinds/key.ts';
import type { Body } from '../fields/parse-body.ts';
import type { ResourceReply, ResourceRequest } from './handlers.ts';
import type { Repository } from './repository.ts';
import type { Stored } from './define-resource.ts';

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

/** A resource and what lies below its path. */
export interface ChildInput {
  repository: Repository;
  stored: Stored;
  request: ResourceRequest;
  /** Segments after the name of the child. */
  segments: readonly string[];
}

/** Members of a view, and what they are in JSON Schema. */
export type Members = Readonly<Record<string, object>>;

/** Shape of a kind's resources in the protocol of a client. */
export interface Dialect {
  /** Shape of its errors. */
  readonly envelope: 'chat' | 'resource';
  /** Members of one resource, of a page beside `data`, and of the answer to a deletion. */
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

/** A kind as its organization's keys reach it (contract: Endpoints). By id alone, never by name. */
export interface OrganizationApi {
  /** Below `/v1`. */
  readonly path: string;
  /** Scope that a restricted key needs. */
  readonly scope: ScopeName;
  /** Members of the view that only administrators see. */
  readonly hidden: readonly string[];
  /** Member of an update that names the version which it was made for. */
  readonly guard?: string;
  /** The only members that an update may have; others answer 400. Default: unknown ones are ignored. */
  readonly updatable?: readonly string[];
  /** False: there is no update. */
  readonly changes?: false;
  /** True: successes are `{code, data, message}` and lists are whole (contract: Credential). */
  readonly coded?: boolean;
  /** True: bodies may be YAML. */
  readonly yaml?: boolean;
  /** Shapes for clients of several protocols. Default: the gateway's own alone. */
  readonly dialects?: Dialects;
  /** `/{id}/{child}` and below. */
  readonly children?: Readonly<Record<string, (input: ChildInput) => Promise<ResourceReply>>>;
  /** The fields that a form stands for. */
  fromForm?: (fields: readonly FormField[]) => Body;
}
