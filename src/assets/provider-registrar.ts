import { Buffer } from 'node:buffer';
import type { Clock } from '../core/time/clock.ts';
import { GatewayError } from '../core/errors.ts';
import { parseJsonPath, valueAt } from '../core/json/path.ts';
import { parseJsonObject } from '../core/json/value.ts';
import { fromBytes } from '../core/memory/spooled-body.ts';
import { askProvider } from '../inference/ask-provider.ts';
import type { CallDeps } from '../inference/run-call.ts';
import type { ProviderAccount } from '../providers/account.ts';
import type { AssetEndpoints } from '../providers/define-provider.ts';
import { prepareAddress } from '../providers/prepare-endpoint.ts';
import { guardedFetch } from '../upstream/guard/guarded-fetch.ts';
import { UrlGuardError } from '../upstream/guard/url-guard-error.ts';
import type { UrlGuard } from '../upstream/guard/url-guard.ts';
import { fromAssetUrl, isExternalId } from './asset-reference.ts';
import type { Registrar, Registration } from './registrar.ts';
import { sniffMedia } from './sniff-media.ts';

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

export interface ProviderRegistrarDeps extends Pick<CallDeps, 'transportFor'> {
  readonly clock: Clock;
  readonly guard: UrlGuard;
  /** The account with this id or name, as it is at the moment; undefined when it cannot be used. */
  account(idOrName: string): ProviderAccount | undefined;
  /** Most bytes of one asset. */
  readonly maxBytes: number;
  /** Time to fetch one, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Media that a provider keeps: it fetches the given URL, and returns the reference.
 *
 * @param chosen name of the provider that registers; the one that registered an asset is asked about it
 */
export function createProviderRegistrar(chosen: string, deps: ProviderRegistrarDeps): Registrar {
  return {
    async register(asked) {
      await deps.guard.check(asked.url).catch(toRefusal);
      const keeper = keeperOf(chosen, deps);
      if (!keeper) throw new GatewayError('no_credential');
      const { account, assets } = keeper;
      const { organization } = asked;
      const question = { account, path: assets.create, organization, asked, assets };
      await asked.before?.();
      const answer = await ask(question, deps);
      const told = read(answer, assets.response?.id ?? '$.id');
      const externalId = typeof told === 'string' ? (fromAssetUrl(told) ?? told) : '';
      if (!isExternalId(externalId)) throw failed('the provider gave no reference');
      return { externalId, holder: { by: 'provider', account: account.id } };
    },
    forget: async () => undefined,
    async look({ externalId, holder, organization }) {
      const keeper = holder.by === 'provider' ? keeperOf(holder.account, deps) : undefined;
      if (!keeper) throw failed('the provider that keeps this media is not available');
      const { account, assets } = keeper;
      const path = assets.get.replace('{id}', () => encodeURIComponent(externalId));
      const answer = await ask({ account, path, organization }, deps);
      const status = read(answer, assets.response?.status ?? '$.status');
      const link = read(answer, assets.response?.download_url ?? '$.download_url');
      if (typeof status !== 'string') throw failed('the provider told no status');
      return { status, downloadUrl: typeof link === 'string' ? link : '' };
    },
    async open(asset) {
      const { downloadUrl } = await this.look(asset, '');
      if (downloadUrl === '') return undefined;
      const { guard, maxBytes, timeoutMs } = deps;
      const { status, headers, body } = await guardedFetch(guard, downloadUrl, {
        maxBytes,
        timeoutMs,
      }).catch((cause: unknown) => {
        throw failed('the media could not be fetched from its provider', cause);
      });
      if (status < 200 || status > 299) throw failed(`the host of the media answered ${status}`);
      const mediaType = sniffMedia(body, asset.type) ?? headers['content-type'];
      return { mediaType: mediaType ?? 'application/octet-stream', content: fromBytes(body) };
    },
  };
}

function keeperOf(
  named: string,
  { account: find }: ProviderRegistrarDeps,
): { account: ProviderAccount; assets: AssetEndpoints } | undefined {
  const account = find(named);
  return account?.assets && { account, assets: account.assets };
}

interface Question {
  account: ProviderAccount;
  path: string;
  /** Organization of the asset. */
  organization: string;
  /** Absent: a look. */
  asked?: Registration;
  assets?: AssetEndpoints;
}

async function ask(
  { account, path, organization, asked, assets }: Question,
  { transportFor, clock }: ProviderRegistrarDeps,
): Promise<Record<string, unknown>> {
  const { address, search, headers } = prepareAddress(account, { path });
  const { url = 'url', type = 'asset_type', name = 'name' } = assets?.request ?? {};
  const body = asked && {
    [url]: asked.url,
    [type]: asked.type,
    ...(asked.name !== null && { [name]: asked.name }),
  };
  const common = ['accept', 'application/json'];
  const answer = await askProvider(
    {
      url: new URL(address + search),
      method: body ? 'POST' : 'GET',
      headers: [...headers, ...common, ...(body ? ['content-type', 'application/json'] : [])],
      body: body && Buffer.from(JSON.stringify(body)),
    },
    {
      transport: transportFor(account, organization),
      clock,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal: asked?.signal,
    },
  ).catch((cause: unknown) => {
    throw failed('the provider that keeps media did not answer', cause);
  });
  const told = parseJsonObject(answer.body.toString('utf8'));
  if (answer.status >= 200 && answer.status < 300 && told) return told;
  throw failed(`the provider that keeps media answered ${answer.status}`);
}

function read(answer: Record<string, unknown>, path: string): unknown {
  const steps = parseJsonPath(path);
  return steps && valueAt(answer, steps);
}

function toRefusal(error: unknown): never {
  if (!(error instanceof UrlGuardError)) throw error;
  throw new GatewayError('invalid_request', { message: `url: ${error.message}`, param: 'url' });
}

function failed(message: string, cause?: unknown): GatewayError {
  return new GatewayError('media_failed', { message, cause });
}
