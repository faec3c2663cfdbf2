/** An answer as a client sees it. */
export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed text; undefined when it is no JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- checks look into bodies of every shape
  body: any;
}

export interface Sending {
  /** Body, sent as JSON; a text as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Carrier of the key; default `bearer`. */
  key?: 'bearer' | 'none';
}

/** One gateway under test. */
export interface Probe {
  /** The key in use, for checks of how it is carried. */
  readonly apiKey: string;
  /** A language model that answers. Throws {@link Skip} when there is none. */
  model(): Promise<string>;
  send(method: string, path: string, sending?: Sending): Promise<Reply>;
}

export interface ProbeOptions {
  server: string;
  apiKey: string;
  /** The model to ask; undefined: one is picked from the catalog. */
  model: string | undefined;
  fetch: typeof globalThis.fetch;
  /** Milliseconds for each call. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** A check that cannot be made here; the message says why. */
export class Skip extends Error {
  override readonly name = 'Skip';
}

/** Characters of an answer; a gateway under test answers much less. */
const MAX_TEXT = 4 * 1024 * 1024;

export function createProbe(options: ProbeOptions): Probe {
  const { server, apiKey, fetch, timeoutMs, signal } = options;
  const send: Probe['send'] = async (method, path, { body, headers, key = 'bearer' } = {}) => {
    const answer = await fetch(server + path, {
      method,
      headers: {
        ...(key === 'bearer' && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const text = await readText(answer);
    return { status: answer.status, headers: answer.headers, text, body: parse(text) };
  };
  let picked: Promise<string> | undefined;
  return { apiKey, send, model: () => (picked ??= pickModel(send, options.model)) };
}

async function pickModel(send: Probe['send'], named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const { status, body } = await send('GET', '/v1/models');
  if (status !== 200 || !Array.isArray(body?.data))
    throw new Skip(`the catalog answers ${status}; name a model with --model`);
  const names: string[] = body.data.map(({ id }: { id: unknown }) => String(id));
  const found = names.find((name) => /(^|\/)echo$/.test(name)) ?? names[0];
  if (found === undefined) throw new Skip('the key may use no language model');
  return found;
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > MAX_TEXT) throw new Error('the answer does not end');
  }
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
