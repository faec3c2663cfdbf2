import { createHash } from 'node:crypto';
import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { ReasoningReader } from '../define-protocol.ts';
import { PROTOCOLS } from '../registry.ts';
import type { Protocol } from '../registry.ts';
import type { CanonicalRequest, Part, Signature } from './canonical.ts';
import { unsigned } from './reasoning-token.ts';
import type { AnswerEvent } from './stream.ts';

/** The signature with its only reader, where not every provider of the protocol is one. */
export function bindSignature(signature: Signature, thinker: ReasoningReader): Signature {
  const reader = readerOf(signature.origin, thinker);
  return reader === undefined ? signature : { ...signature, reader };
}

/** Provider that answers. */
export interface Thinker extends ReasoningReader {
  readonly protocol: Protocol;
}

/** An answer's part with its signature bound, or with its origin where it is not signed. */
export function bindPart(part: Part, thinker: Thinker): Part {
  if (part.type !== 'reasoning') return part;
  const { signature } = part;
  return {
    ...part,
    signature: signature ? bindSignature(signature, thinker) : unsigned(thinker.protocol),
  };
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
 * The request without the reasoning of other accounts and vendors, which this one would refuse;
 * undefined when there is none.
 */
export function* withoutOthersReasoning(
  request: CanonicalRequest,
  provider: ReasoningReader,
): Steps<CanonicalRequest | undefined> {
  const isOthers = (part: Part): boolean => {
    if (part.type !== 'reasoning' || part.signature?.reader === undefined) return false;
    return part.signature.reader !== readerOf(part.signature.origin, provider);
  };
  let isSame = true;
  const turns = yield* collectSteps(request.turns, (turn) => {
    if (!turn.parts.some(isOthers)) return [turn];
    isSame = false;
    return [{ ...turn, parts: turn.parts.filter((part) => !isOthers(part)) }];
  });
  return isSame ? undefined : { ...request, turns };
}

/** A digest: it identifies an account or vendor without revealing it. */
function readerOf(origin: Protocol, provider: ReasoningReader): string | undefined {
  const { bindsReasoning: kind } = PROTOCOLS[origin];
  if (!kind) return undefined;
  return createHash('sha256').update(provider[kind]).digest('base64url').slice(0, 12);
}
