import { readdirSync, readFileSync } from 'node:fs';
import { UNKNOWN } from '../../../src/protocols/capabilities/capabilities-of.ts';
import { PROVIDERS } from '../../../src/providers/registry.ts';
import { CLIENTS } from '../translating.ts';
import type { Spoken } from '../translating.ts';
import { leavesOf, send } from '../whole-requests/silent-losses.ts';

/** Models of vendors with rules of their own, in the protocol in which each is asked. */
export const ASKED: readonly { model: string; provider: Spoken; type?: string }[] = [
  { model: 'gpt-4.1', provider: 'chat' },
  { model: 'gpt-5.2', provider: 'chat' },
  { model: 'mistral-large-2512', provider: 'chat', type: 'mistral' },
  { model: 'deepseek-v4-pro', provider: 'chat' },
  { model: 'qwen3.5-35b', provider: 'chat' },
  { model: 'gpt-5.2', provider: 'responses' },
  { model: 'claude-haiku-4-5', provider: 'messages' },
  { model: 'claude-opus-4-8', provider: 'messages' },
  { model: 'gemini-2.5-pro', provider: 'generate-content' },
  { model: 'gemini-3-pro-preview', provider: 'generate-content' },
];

const FIXTURES = new URL('../../fixtures/', import.meta.url);

/** Number of the requests in which each member is concerned. */
type Members = Readonly<Record<string, number>>;

/** What becomes of the recorded requests of a client at a model. */
export interface Counts {
  readonly client: Spoken;
  readonly provider: Spoken;
  readonly model: string;
  readonly requests: number;
  /** Requests that the gateway refuses. */
  readonly refused: number;
  /** Members of the provider's request that are sent otherwise than to a model without bounds. */
  readonly fitted: Members;
  /** Members of the client's request that are left out and named. */
  readonly lost: Members;
}

export function countAll(): Counts[] {
  return CLIENTS.flatMap((client) => {
    const requests = requestsOf(client);
    const free = new Map(
      CLIENTS.map((provider) => [
        provider,
        requests.map((body) => sendFreely(client, provider, body)),
      ]),
    );
    return ASKED.filter(({ provider }) => provider !== client).map((asked) =>
      count({ client, ...asked }, { requests, free: free.get(asked.provider) ?? [] }),
    );
  });
}

/** First requests of official clients, and those drawn at the bounds of the client's protocol. */
export function requestsOf(client: Spoken): object[] {
  const folders = CLIENTS.map((provider) => new URL(`pairs/${client}-${provider}/`, FIXTURES));
  const texts = folders.flatMap((folder) =>
    readdirSync(folder).map((file) => {
      const { whole } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as {
        whole: { request?: object }[];
      };
      return JSON.stringify({ ...whole[0]?.request, model: 'acme/m' });
    }),
  );
  const drawn = JSON.parse(readFileSync(new URL('vendors/requests.json', FIXTURES), 'utf8')) as {
    requests: Record<Spoken, object[]>;
  };
  const own = [...new Set(texts)].map((text) => JSON.parse(text) as object);
  return [...own, ...drawn.requests[client]];
}

/** What a model without bounds gets. */
function sendFreely(client: Spoken, provider: Spoken, body: object): string | undefined {
  if (client === provider) return undefined;
  return send({ client, provider, model: 'up' }, body, { capabilities: UNKNOWN })?.text;
}

function count(
  { type = '', ...asked }: (typeof ASKED)[number] & { client: Spoken },
  { requests, free }: { requests: readonly object[]; free: readonly (string | undefined)[] },
): Counts {
  const fitted: Record<string, number> = {};
  const lost: Record<string, number> = {};
  let refused = 0;
  for (const [index, body] of requests.entries()) {
    const sent = send(asked, body, { capabilities: PROVIDERS.get(type)?.capabilities });
    if (!sent) refused++;
    const paths = sent ? fittedIn(sent.text, free[index] ?? '{}') : [];
    for (const path of paths) fitted[path] = (fitted[path] ?? 0) + 1;
    const names = sent?.losses.map((name) => name.replace(/\[\d+\]/g, '[]'));
    for (const name of new Set(names)) lost[name] = (lost[name] ?? 0) + 1;
  }
  return {
    ...asked,
    requests: requests.length,
    refused,
    fitted: sorted(fitted),
    lost: sorted(lost),
  };
}

/** Paths at which the vendor gets another value, or one that others do not. */
function fittedIn(sent: string, free: string): Set<string> {
  const others = valuesIn(free);
  const found = [...valuesIn(sent)].filter(
    ([path, value]) => path !== 'model' && others.get(path) !== value,
  );
  return new Set(found.map(([path]) => path));
}

/** All values at a path, of whatever elements of lists. */
function valuesIn(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { path, value } of leavesOf(JSON.parse(text))) {
    const name = path.map((step) => (typeof step === 'number' ? '[]' : `.${step}`)).join('');
    found.set(name.slice(1), `${found.get(name.slice(1)) ?? ''}${JSON.stringify(value)}\n`);
  }
  return found;
}

function sorted(members: Members): Members {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}
