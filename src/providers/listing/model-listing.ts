import type { Protocol } from '../../protocols/registry.ts';

/** The endpoint at which a provider lists its models, as data. */
export interface ModelListing {
  /** Path below the base URL. */
  readonly path: string;
  /** Query of the first page, without `?`. Default none. */
  readonly query?: string;
  /** Member of the answer that holds the entries; an answer that is a list needs none. Default `data`. */
  readonly entries?: string;
  /** Member of an entry that holds its name. Default `id`. */
  readonly name?: string;
  /** Text before every name that is no part of it. Default none. */
  readonly prefix?: string;
  /** Protocol whose own headers the request carries. Default none. */
  readonly headersOf?: Protocol;
  /** Default: the first page is all. */
  readonly next?: NextPage;
}

export interface NextPage {
  /** Member of the answer that says where the next page begins; empty or absent on the last. */
  readonly member: string;
  /** Parameter of the query that takes it. */
  readonly parameter: string;
  /** Member that is false on the last page. Default none. */
  readonly more?: string;
}

/** The list of servers that are compatible with OpenAI's, below a base URL that ends in the version. */
export const OPENAI_LISTING: ModelListing = { path: '/models' };
