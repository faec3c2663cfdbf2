import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { askProvider, wasGivenUp } from '../../inference/ask-provider.ts';
import type { ProviderAnswer } from '../../inference/ask-provider.ts';
import { statusFailure } from '../../inference/failures.ts';
import type { CallDeps } from '../../inference/run-call.ts';
import {
  isRunning,
  isTerminal,
  readInteraction,
  toLean,
} from '../../protocols/interactions/interaction.ts';
import type { Interaction } from '../../protocols/interactions/interaction.ts';
import { withoutMedia } from '../../protocols/interactions/without-media.ts';
import { rewriteModelName } from '../../protocols/model-member.ts';
import { buildUpstreamRequest } from '../../providers/build-request.ts';
import type { Catalog, Route } from '../../routing/catalog.ts';
import { holderOf } from '../../usage/principal.ts';
import { FAMILIES, toFamilyError } from '../../surfaces/family.ts';
import type {
  InteractionEntry,
  InteractionRecord,
  KeptInteraction,
} from './interaction-records.ts';
import { settleInteraction } from './settle-interaction.ts';
import type { SettleDeps } from './settle-interaction.ts';

const TIMEOUT_MS = 60_000;

export interface LookDeps
  extends SettleDeps, Pick<CallDeps, 'clock' | 'transportFor' | 'maxAnswerBytes'> {
  catalog(): Catalog;
}

export interface LookOptions {
  /** Ask for the input, too. Default false. */
  includeInput?: boolean;
  signal?: AbortSignal | undefined;
}

/** An Interaction as its provider has it now; undefined when the provider has forgotten it. */
export type Look = Found | undefined;

export interface Found {
  readonly seen: Interaction;
  /** The provider's bytes. */
  readonly body: Buffer;
}

/**
 * Asks the account that owns an Interaction how it stands, and settles it when it is over.
 *
 * @throws GatewayError `no_route_succeeded`, `provider_rate_limited`, `upstream_rejected`,
 *   `upstream_timeout` or `invalid_upstream_response`; `persistence_failed` and `StoreError` when it is
 *   over and that cannot be noted
 */
export async function lookUpInteraction(
  entry: InteractionEntry,
  deps: LookDeps,
  options: LookOptions = {},
): Promise<Look> {
  const { value: record } = entry;
  const route = ownerOf(record, deps.catalog());
  if (!route) {
    const message = 'the provider that has this interaction is not available';
    throw new GatewayError('no_route_succeeded', { message });
  }
  const { status, headers, body } = await ask(record, route, { deps, options });
  if (status === 404 || status === 410) return undefined;
  if (status < 200 || status > 299) {
    const answer = { status, headers, body: body.toString('utf8', 0, MAX_ERROR_BYTES) };
    const { error } = statusFailure(answer, route, deps.clock.now());
    throw toFamilyError(FAMILIES.interactions, error, [status]);
  }
  const seen = readInteraction(body);
  if (seen?.id !== record.id) throw new GatewayError('invalid_upstream_response');
  const isKept = record.isStored && isTerminal(seen.status);
  const kept = isKept ? keptOf(seen, body, options) : undefined;
  await settleInteraction(entry, { seen, kept }, deps);
  return { seen, body };
}

const MAX_ERROR_BYTES = 64 * 1024;

/** A route to the account that owns the Interaction, its own model's first. */
export function ownerOf(
  { answeredBy, account }: InteractionRecord,
  { models }: Catalog,
): Route | undefined {
  const isOwner = (route: Route): boolean =>
    route.provider.id === account && route.protocols.has('interactions');
  const own = models.get(answeredBy)?.routes.find(isOwner);
  if (own) return own;
  for (const { routes } of models.values()) {
    const found = routes.find(isOwner);
    if (found) return found;
  }
  return undefined;
}

/** What a client gets to see: of a running one nothing partial. Throws `invalid_upstream_response`. */
export function toShown(record: InteractionRecord, { seen, body }: Found): Buffer {
  try {
    return toNamed(record, isRunning(seen.status) ? toLean(body) : body);
  } catch (cause) {
    throw new GatewayError('invalid_upstream_response', { cause });
  }
}

/** Under the model name that its route shows to clients. */
export function toNamed({ showsLogicalModel, model }: InteractionRecord, body: Buffer): Buffer {
  return showsLogicalModel ? rewriteModelName(body, model) : body;
}

/** What is kept of a terminal Interaction. */
export function keptOf(
  seen: Interaction,
  body: Buffer,
  { includeInput = false }: LookOptions = {},
): KeptInteraction {
  const { body: text, whole } = withoutMedia(seen, body);
  return { body: text, form: whole && !includeInput ? 'whole' : 'lossy' };
}

async function ask(
  { id, upstreamModel, payer }: InteractionRecord,
  { provider }: Route,
  { deps, options }: { deps: LookDeps; options: LookOptions },
): Promise<ProviderAnswer> {
  const request = buildUpstreamRequest({
    account: provider,
    protocol: 'interactions',
    upstreamModel,
    method: 'GET',
    below: [id],
    ...(options.includeInput ? { query: 'include_input=true' } : {}),
    body: undefined,
    stream: false,
  });
  try {
    return await askProvider(request, {
      transport: deps.transportFor(provider, holderOf(payer)),
      clock: deps.clock,
      timeoutMs: TIMEOUT_MS,
      maxBytes: deps.maxAnswerBytes,
      signal: options.signal,
    });
  } catch (cause) {
    throw new GatewayError(wasGivenUp(cause) ? 'upstream_timeout' : 'no_route_succeeded', {
      cause,
    });
  }
}
