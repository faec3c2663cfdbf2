import { ClientError } from '../../client/http/client-error.ts';
import type { Client } from '../../client/create-client.ts';
import { sleep } from '../../client/http/sleep.ts';
import type { ApplyReport } from '../../config/apply/apply-options.ts';
import type { DesiredState } from '../../config/objects/desired.ts';
import type { CommandContext } from '../context.ts';
import { readOwnKey } from '../connection/own-key.ts';

const ROUND_MS = 250;

interface Applied {
  readonly kind: string;
  readonly identity: string;
  readonly id: string | null;
}

export interface WaitOptions {
  readonly client: Client;
  readonly desired: DesiredState;
  readonly report: ApplyReport;
  readonly context: Pick<CommandContext, 'clock' | 'signal' | 'timeoutMs'>;
  /** Receives the names that are not served yet, at first and whenever fewer are left. */
  readonly onWaiting?: ((missing: readonly string[]) => void) | undefined;
}

/**
 * Waits until the applied objects are served: models are in the catalog, and Services of the key's
 * own organization answer; switched-off ones are skipped. Returns the names not served when
 * the time (`--timeout`) is up or a stop is asked for.
 */
export async function waitUntilServed(options: WaitOptions): Promise<string[]> {
  const { client, context } = options;
  const { clock, signal, timeoutMs } = context;
  const end = clock.monotonic() + timeoutMs;
  let waiting = await awaited(options);
  options.onWaiting?.(namesOf(waiting));
  while (waiting.length > 0) {
    const left = await notServed(client, waiting);
    if (left.length < waiting.length) options.onWaiting?.(namesOf(left));
    waiting = left;
    if (waiting.length === 0 || signal.aborted || clock.monotonic() >= end) break;
    await sleep(clock, ROUND_MS, signal).catch(() => undefined);
  }
  return namesOf(waiting);
}

function namesOf(applied: readonly Applied[]): string[] {
  return applied.map(({ kind, identity }) => `${kind} ${identity}`);
}

async function awaited({ client, desired, report, context }: WaitOptions): Promise<Applied[]> {
  const { organization } = await readOwnKey(client, context.signal);
  const own = `${organization.name}/`;
  const off = new Set(
    desired.objects
      .filter(({ body }) => body['enabled'] === false || body['status'] === 'disabled')
      .map(({ kind, identity }) => `${kind} ${identity}`),
  );
  return report.applied.filter(({ kind, identity, action }) => {
    const isMade = action === 'create' || action === 'update' || action === 'replace';
    const isOurs = kind === 'model' || (kind === 'service' && identity.startsWith(own));
    return isMade && isOurs && !off.has(`${kind} ${identity}`);
  });
}

async function notServed(client: Client, waiting: readonly Applied[]): Promise<Applied[]> {
  const models = waiting.some(({ kind }) => kind === 'model')
    ? await client.models.list({ type: '' })
    : [];
  const served = new Set(models.map(({ id }) => id));
  const left: Applied[] = [];
  for (const one of waiting) {
    const isServed = one.kind === 'model' ? served.has(one.identity) : await answers(client, one);
    if (!isServed) left.push(one);
  }
  return left;
}

async function answers(client: Client, { id }: Applied): Promise<boolean> {
  try {
    await client.raw({ method: 'GET', path: `/v1/endpoints/${id}` });
    return true;
  } catch (thrown) {
    if (thrown instanceof ClientError && thrown.status === 404) return false;
    throw thrown;
  }
}
