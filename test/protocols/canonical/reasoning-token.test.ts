import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_IDS } from '../../../src/protocols/registry.ts';
import {
  fromSignatureText,
  toSignatureText,
} from '../../../src/protocols/canonical/reasoning-token.ts';
import { anyCharacter } from '../../support/text/any-character.ts';

const protocol = fc.constantFrom(...PROTOCOL_IDS);
const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.base64String());

describe('reasoning tokens', () => {
  it('give back every signature with its origin, byte for byte, in every protocol', () => {
    fc.assert(
      fc.property(protocol, protocol, text, (origin, own, value) => {
        const token = toSignatureText({ origin, value }, own);
        expect(fromSignatureText(token, own)).toEqual({ origin, value });
        const twice = toSignatureText({ origin: own, value: token }, own);
        expect(fromSignatureText(twice, own)).toEqual({ origin: own, value: token });
      }),
    );
  });

  it("leave the protocol's own signature as it is", () => {
    expect(toSignatureText({ origin: 'messages', value: 'EqQBCg==' }, 'messages')).toBe('EqQBCg==');
    expect(fromSignatureText('EqQBCg==', 'messages')).toEqual({
      origin: 'messages',
      value: 'EqQBCg==',
    });
  });

  it('take what only looks like a token for a signature of the protocol', () => {
    const forged = ['GWR1["nobody","x"]', 'GWR1["chat",1]', 'GWR1["chat"', 'GWR1["'];
    for (const one of forged) {
      const token = Buffer.from(one).toString('base64');
      expect(fromSignatureText(token, 'messages')).toEqual({ origin: 'messages', value: token });
    }
  });
});
