import { createHash } from 'node:crypto';
import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import { PROTOCOLS } from '../registry.ts';
import type { CanonicalRequest, Part, Signature } from './canonical.ts';

/** The signature with the account that can read it, where only one can. */
export function bindSignature(signature: Signature, account: string): Signature {
  const { bindsReasoning } = PROTOCOLS[signature.origin];
  return bindsReasoning ? { ...signature, account: tagOf(account) } : signature;
}

/** An answer's part with its signature bound. */
export function bindPart(part: Part, account: string): Part {
  if (part.type !== 'reasoning' || !part.signature) return part;
  return { ...part, signature: bindSignature(part.signature, account) };
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

/** Tells accounts apart and nothing about them. */
function tagOf(account: string): string {
  return createHash('sha256').update(account).digest('base64url').slice(0, 12);
}
