import { createHash } from 'node:crypto';
import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import { PROTOCOLS } from '../registry.ts';
import type { Protocol } from '../registry.ts';
import type { CanonicalRequest, Part, Signature } from './canonical.ts';
import { unsigned } from './reasoning-token.ts';
import type { AnswerEvent } from './stream.ts';

/** The signature with the account that can read it, where only one can. */
export function bindSignature(signature: Signature, account: string): Signature {
  const { bindsReasoning } = PROTOCOLS[signature.origin];
  return bindsReasoning ? { ...signature, account: tagOf(account) } : signature;
}

/** Provider that answers: its protocol, and its account. */
export interface Thinker {
  readonly protocol: Protocol;
  readonly account: string;
}

/** An answer's part with its signature bound, or with its origin where it is not signed. */
export function bindPart(part: Part, { protocol, account }: Thinker): Part {
  if (part.type !== 'reasoning') return part;
  const signature = part.signature ? bindSignature(part.signature, account) : unsigned(protocol);
  return { ...part, signature };
}

/** Adds its origin to reasoning that the provider did not sign, in a stream that is in order. */
export class UnsignedReasoning {
  readonly #protocol: Protocol;
  /** Part that grows and is not signed so far. */
  #part: number | undefined;

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
  }

  /** The event that is to be written before this one. */
  before(event: AnswerEvent): AnswerEvent | undefined {
    const part = this.#part;
    if (event.type === 'open') {
      const { opening } = event;
      const grows = opening.type === 'reasoning' && opening.ofNext !== true;
      this.#part = grows ? event.part : undefined;
    } else if (event.type === 'signature') this.#part = undefined;
    else if (event.type === 'close' && part !== undefined) {
      this.#part = undefined;
      return { type: 'signature', part, signature: unsigned(this.#protocol) };
    }
    return undefined;
  }
}

/**
 * The request without the reasoning of other accounts, which this one would refuse; undefined when
 * there is none.
 */
export function* withoutOtherAccounts(
  request: CanonicalRequest,
  account: string,
): Steps<CanonicalRequest | undefined> {
  const isOthers = (part: Part): boolean => {
    const bound = part.type === 'reasoning' ? part.signature?.account : undefined;
    return bound !== undefined && bound !== tagOf(account);
  };
  let isSame = true;
  const turns = yield* collectSteps(request.turns, (turn) => {
    if (!turn.parts.some(isOthers)) return [turn];
    isSame = false;
    return [{ ...turn, parts: turn.parts.filter((part) => !isOthers(part)) }];
  });
  return isSame ? undefined : { ...request, turns };
}

/** A digest: it identifies an account without revealing it. */
function tagOf(account: string): string {
  return createHash('sha256').update(account).digest('base64url').slice(0, 12);
}
