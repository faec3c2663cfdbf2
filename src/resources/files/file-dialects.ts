import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../core/errors.ts';
import type { Dialect, Dialects, Members } from '../store/dialect.ts';

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
const FLAG = { type: 'boolean' };
const orNull = (schema: object): object => ({ anyOf: [schema, { type: 'null' }] });
const PAGE_IDS: Members = { has_more: FLAG, first_id: orNull(TEXT), last_id: orNull(TEXT) };

const pageIds = (ids: readonly string[], next: string | null): object => ({
  has_more: next !== null,
  first_id: ids[0] ?? null,
  last_id: ids.at(-1) ?? null,
});

/** Files of the Messages protocol: the gateway's own view, without what only OpenAI's clients name. */
const MESSAGES: Dialect = {
  envelope: 'resource',
  members: {
    item: {
      id: TEXT,
      type: { const: 'file' },
      filename: TEXT,
      mime_type: TEXT,
      size_bytes: COUNT,
      created_at: { type: 'string', format: 'date-time' },
    },
    page: { ...PAGE_IDS, next_page: orNull(TEXT) },
    removed: { id: TEXT, type: { const: 'file_deleted' } },
  },
  toQuery(query) {
    if (!query.has('before_id')) return query;
    throw invalid('before_id', 'not supported; `after_id` pages forwards');
  },
  toItem: ({ purpose: _purpose, ...view }) => view,
  toPage: (data, { ids, next }) => ({ data, next_page: next, ...pageIds(ids, next) }),
  toRemoved: (id) => ({ id, type: 'file_deleted', deleted: true }),
};

const OPENAI: Dialect = {
  envelope: 'chat',
  members: {
    item: {
      id: TEXT,
      object: { const: 'file' },
      bytes: COUNT,
      created_at: COUNT,
      filename: TEXT,
      purpose: TEXT,
    },
    page: { object: { const: 'list' }, ...PAGE_IDS },
    removed: { id: TEXT, object: { const: 'file' }, deleted: { const: true } },
  },
  toQuery(query) {
    const own = new URLSearchParams(query);
    const after = query.get('after');
    if (after !== null) own.set('after_id', after);
    // Newest first, as the vendor lists them.
    if (!query.get('order')) own.set('order', 'desc');
    return own;
  },
  toItem: ({ id, size_bytes: bytes, created_at: at, filename, purpose }) => ({
    id,
    object: 'file',
    bytes,
    created_at: Math.floor(Date.parse(String(at)) / 1000),
    filename,
    purpose,
    status: 'processed',
  }),
  toPage: (data, { ids, next }) => ({ object: 'list', data, ...pageIds(ids, next) }),
  toRemoved: (id) => ({ id, object: 'file', deleted: true }),
};

/** Messages where `anthropic-version` or `anthropic-beta` was sent, else OpenAI's. */
export const FILE_DIALECTS: Dialects = {
  all: [OPENAI, MESSAGES],
  of: (headers: IncomingHttpHeaders) =>
    'anthropic-version' in headers || 'anthropic-beta' in headers ? MESSAGES : OPENAI,
};

function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param}: ${what}`, param });
}
