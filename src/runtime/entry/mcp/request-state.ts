import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../../../core/json/canonical-json.ts';
import { parseJson } from '../../../core/json/value.ts';
import { SealError } from '../../../core/seal.ts';
import type { Sealer } from '../../../core/seal.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { EntryCall } from '../entry-call.ts';
import { RPC, RpcError } from '../json-rpc.ts';

/** Milliseconds in which a client may come back with the answers. */
const VALID_MS = 24 * 60 * 60_000;

const payload = z.object({ sessionId: z.string(), messageId: z.string(), until: z.number() });

/** The message that a call sent before it asked. */
export type CalledFor = Record<'sessionId' | 'messageId', string>;

/** State that a client carries from a question to its answer; it opens for the same call, key and Service only. */
export interface RequestState {
  seal(at: CalledFor): string;
  /** @throws RpcError `invalidParams` */
  open(state: string): CalledFor;
}

export function createRequestState(
  { service, payer }: Pick<EntryCall, 'service' | 'payer'>,
  params: { name: string; arguments: object },
  { sealer, clock }: { sealer: Sealer; clock: Clock },
): RequestState {
  const digest = createHash('sha256').update(canonicalJson(params)).digest('base64url');
  const place = ['mcp', service.organization, service.id, payer.keyId, digest].join('/');
  return {
    seal: (at) => sealer.seal(JSON.stringify({ ...at, until: clock.now() + VALID_MS }), place),
    open(state) {
      const { until, ...at } = payload.parse(parseJson(unseal(state, place, sealer)));
      if (until > clock.now()) return at;
      throw new RpcError(
        RPC.invalidParams,
        'requestState: it is over a day old; call the tool again',
      );
    },
  };
}

function unseal(state: string, place: string, sealer: Sealer): string {
  try {
    return sealer.open(state, place);
  } catch (thrown) {
    if (!(thrown instanceof SealError)) throw thrown;
    const message = 'requestState: it was made for another call, key or Service, or was changed';
    throw new RpcError(RPC.invalidParams, message);
  }
}
