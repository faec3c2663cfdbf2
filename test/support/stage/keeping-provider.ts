import type { ServerResponse } from 'node:http';
import { beginEvents, sendJson, startUpstream } from './upstream.ts';
import type { SeenRequest, Upstream } from './upstream.ts';

type Kept = Record<string, unknown>;

export const PRIVATE = 'acct_secret_7';
export const INPUT_TOKENS = 11;
export const USAGE = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };

/** A provider that keeps its Responses, as the vendor's API describes them, with private members. */
export interface KeepingProvider extends Upstream {
  /** Responses by id; a test changes them while work runs. */
  readonly kept: Map<string, Kept>;
  /** Answers a request instead of the provider; false: it does not. */
  play: ((to: ServerResponse, request: SeenRequest) => boolean) | undefined;
  /** Requests of a method to a path, whatever their queries. */
  asked(method: string, path: string): SeenRequest[];
}

export const said = (text: string, id: string): Kept => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  billing: PRIVATE,
});

export async function startKeeping(name: string): Promise<KeepingProvider> {
  const kept = new Map<string, Kept>();
  const own: Pick<KeepingProvider, 'play'> = { play: undefined };
  let count = 0;
  const create = (to: ServerResponse, request: SeenRequest): void => {
    const body = JSON.parse(request.body.toString()) as Kept;
    const id = `resp_${name}_${++count}`;
    const background = body['background'] === true;
    const done = { status: 'completed', output: [said(name, `msg_${id}`)], usage: USAGE };
    const made: Kept = {
      id,
      object: 'response',
      created_at: 1,
      model: 'up-2026-11-01',
      background,
      store: body['store'] !== false,
      account: PRIVATE,
      ...(background ? { status: 'queued', output: [], usage: null } : done),
    };
    if (body['store'] !== false) kept.set(id, made);
    if (body['stream'] !== true) return sendJson(to, 200, made);
    beginEvents(to);
    to.write(eventsOf(made).join(''));
    if (!background) to.end();
  };
  const upstream = await startUpstream((to, request) => {
    if (own.play?.(to, request)) return;
    const url = new URL(request.url, 'http://provider');
    const [, , , id = '', part] = url.pathname.split('/').map(decodeURIComponent);
    const { method } = request;
    if (method === 'POST' && id === '') return create(to, request);
    if (method === 'POST' && id === 'input_tokens')
      return sendJson(to, 200, {
        object: 'response.input_tokens',
        input_tokens: INPUT_TOKENS,
        account: PRIVATE,
      });
    if (method === 'POST' && id === 'compact') return sendJson(to, 200, compacted(name));
    const found = kept.get(id);
    if (!found)
      return sendJson(to, 404, {
        error: {
          message: `Response with id '${id}' not found.`,
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      });
    if (method === 'DELETE') {
      kept.delete(id);
      return sendJson(to, 200, { id, object: 'response', deleted: true, account: PRIVATE });
    }
    if (part === 'cancel') {
      kept.set(id, { ...found, status: 'cancelled' });
      return sendJson(to, 200, kept.get(id));
    }
    if (part === 'input_items') return sendJson(to, 200, itemsOf(url.searchParams));
    if (url.searchParams.get('stream') !== 'true') return sendJson(to, 200, found);
    beginEvents(to);
    to.end(eventsOf(found).join(''));
  });
  return Object.assign(own, {
    url: upstream.url,
    seen: upstream.seen,
    close: () => upstream.close(),
    kept,
    asked: (method: string, path: string) =>
      upstream.seen.filter((one) => one.method === method && one.url.split('?')[0] === path),
  });
}

/** The stream of a Response; of one under way its beginning. A private item comes before the message. */
export function eventsOf(made: Kept): string[] {
  const begun = { ...made, status: 'in_progress', output: [], usage: null };
  const first = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
  ];
  const [item] = made['output'] as Kept[];
  const secret = { id: 'x_1', type: 'private_item', note: PRIVATE };
  const at = { item_id: item?.['id'], output_index: 1, content_index: 0 };
  const rest = item
    ? [
        { type: 'response.output_item.added', output_index: 0, item: secret },
        { type: 'response.output_item.added', output_index: 1, item: { ...item, content: [] } },
        { type: 'response.output_text.delta', ...at, delta: 'one ', logprobs: [] },
        { type: 'response.output_text.delta', ...at, delta: 'two', logprobs: [] },
        { type: 'response.output_item.done', output_index: 1, item },
        { type: `response.${String(made['status'])}`, response: made },
      ]
    : [];
  return [...first, ...rest].map((event, sequence_number) => {
    const data = JSON.stringify({ ...event, sequence_number, account: PRIVATE });
    return `event: ${event.type}\ndata: ${data}\n\n`;
  });
}

function compacted(name: string): Kept {
  const content = [{ type: 'input_text', text: 'hello' }];
  return {
    id: `resp_compact_${name}`,
    object: 'response.compaction',
    created_at: 2,
    output: [
      { id: 'msg_u', type: 'message', status: 'completed', role: 'user', content },
      { id: 'cmp_1', type: 'compaction', encrypted_content: `gAAA${name}` },
    ],
    usage: USAGE,
    account: PRIVATE,
  };
}

function itemsOf(query: URLSearchParams): Kept {
  const all = ['a', 'b', 'c'].map((id) => ({
    id: `msg_${id}`,
    type: 'message',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: id }],
    billing: PRIVATE,
  }));
  const from = all.findIndex(({ id }) => id === query.get('after')) + 1;
  const data = all.slice(from, from + Number(query.get('limit') ?? 20));
  return {
    object: 'list',
    data,
    first_id: data[0]?.id,
    last_id: data.at(-1)?.id,
    has_more: from + data.length < all.length,
    account: PRIVATE,
  };
}
