import type { Client } from '../../client/create-client.ts';
import type { Candidates, NameKind } from './complete.ts';
import type { CommandContext } from '../context.ts';
import { LOCAL, readContexts } from '../connection/contexts.ts';

/** A shell waits for this; longer than a near gateway takes, shorter than it annoys. */
const PATIENCE_MS = 1500;
const MOST = 100;
/** Matches a plain word of the shell; anything else could be read as a command of its own. */
const PLAIN = /^[A-Za-z0-9_.@+][A-Za-z0-9_./:@+-]*$/;

/** Names that complete a word; none when the gateway does not answer. */
export async function completeNames(
  { names: kind, prefix, given }: Candidates,
  current: string,
  context: CommandContext,
): Promise<string[]> {
  if (kind === undefined) return [];
  const start = current.slice(prefix.length);
  const found = await readNames(kind, given, context).catch((): string[] => []);
  const fitting = found.filter((name) => PLAIN.test(name) && name.startsWith(start));
  return [...new Set(fitting)].sort().map((name) => prefix + name);
}

async function readNames(
  kind: NameKind,
  given: Candidates['given'],
  context: CommandContext,
): Promise<string[]> {
  if (kind === 'contexts') {
    const { list } = await readContexts(context.io.env);
    return [...list.map(({ name }) => name), LOCAL];
  }
  const client = await context.connectTo(await context.connection({ given }));
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(PATIENCE_MS)]);
  if (kind === 'models')
    return (await client.models.list({ type: '' }, signal)).map(({ id }) => id);
  const names: string[] = [];
  for await (const item of itemsOf(kind, client, signal)) {
    const { slug, name } = item as { slug?: unknown; name?: unknown };
    const called = [slug, name].find((text) => typeof text === 'string' && PLAIN.test(text));
    names.push(typeof called === 'string' && kind !== 'sessions' ? called : item.id);
    if (names.length === MOST) break;
  }
  return names;
}

function itemsOf(
  kind: Exclude<NameKind, 'contexts' | 'models'>,
  client: Client,
  signal: AbortSignal,
): AsyncIterable<{ id: string }> {
  const limit = MOST;
  if (kind === 'sessions') return client.sessions.list({ limit }, signal);
  if (kind === 'runs') return client.deploymentRuns.list({ limit }, signal);
  if (kind === 'deployments') return client.deployments.list({ limit }, signal);
  return client.admin(kind).list({}, signal);
}
