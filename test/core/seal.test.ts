import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeyHasher, createSealer, SealError } from '../../src/core/seal.ts';
import { verifies } from '../requirements.ts';

const OLD = Buffer.from('old-master-key-of-32-characters!');
const NEW = Buffer.from('new-master-key-of-32-characters!');

describe('createSealer', () => {
  it('opens what it sealed, at the place it was sealed for', () => {
    const sealer = createSealer([NEW]);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (secret, place) => {
        expect(sealer.open(sealer.seal(secret, place), place)).toBe(secret);
      }),
    );
  });

  it('never seals the same secret twice alike', () => {
    const sealer = createSealer([NEW]);
    expect(sealer.seal('secret', 'place')).not.toBe(sealer.seal('secret', 'place'));
  });

  it('opens nothing at another place, so that rows cannot be swapped', () => {
    const sealer = createSealer([NEW]);
    const sealed = sealer.seal('secret', 'provider/prov_1/api_key');
    expect(() => sealer.open(sealed, 'provider/prov_2/api_key')).toThrow(SealError);
  });

  it('opens nothing of which one bit was changed', () => {
    const sealer = createSealer([NEW]);
    const [format, id, payload = ''] = sealer.seal('secret', 'place').split('.');
    const bytes = Buffer.from(payload, 'base64');
    for (let index = 0; index < bytes.length; index++) {
      const damaged = Buffer.from(bytes);
      damaged[index]! ^= 1;
      const sealed = [format, id, damaged.toString('base64')].join('.');
      expect(() => sealer.open(sealed, 'place'), `byte ${index}`).toThrow(SealError);
    }
    for (const broken of [
      '',
      'v1',

      `v1.${id}.`,
      `v1.${id}.AAAA`,
      `v2.${id}.${payload}`,
    ]) {
      expect(() => sealer.open(broken, 'place'), broken).toThrow(SealError);
    }
  });

  it('opens nothing with an appendix, which a lenient decoder would skip', () => {
    const sealer = createSealer([NEW]);
    const sealed = sealer.seal('secret', 'place');
    for (const appendix of ['-x', '.x', '=', ' ', 'A'])
      expect(() => sealer.open(sealed + appendix, 'place')).toThrow(SealError);
  });

  it('opens nothing whose tag was shortened, which would be easy to guess', () => {
    const sealer = createSealer([NEW]);
    const [format, id, payload = ''] = sealer.seal('', 'place').split('.');
    for (const size of [4, 8, 12, 15]) {
      const short = Buffer.from(payload, 'base64').subarray(0, 12 + size);
      const sealed = [format, id, short.toString('base64')].join('.');
      expect(() => sealer.open(sealed, 'place'), `${size} bytes`).toThrow(SealError);
    }
  });

  it(
    verifies(
      'store.secrets.key-rotation',
      'opens with every key, seals with the first, and says that another key is wrong',
    ),
    () => {
      const before = createSealer([OLD]).seal('secret', 'place');
      const rotated = createSealer([NEW, OLD]);
      expect(rotated.open(before, 'place')).toBe('secret');
      const after = rotated.seal('secret', 'place');
      expect(createSealer([NEW]).open(after, 'place')).toBe('secret');
      expect(() => createSealer([OLD]).open(after, 'place')).toThrow(/another master key/);
      expect(() => createSealer([])).toThrow(SealError);
    },
  );
});

describe('createKeyHasher', () => {
  it(
    verifies(
      'store.keys.hashed',
      'gives a hash that depends on the master key and holds nothing of the API key',
    ),
    () => {
      const value = 'sk-sb-canary-canary';
      const [hash = ''] = createKeyHasher([NEW]).hashes(value);
      expect(hash).toMatch(/^[\w-]{43}$/);
      expect(createKeyHasher([OLD]).hashes(value)).not.toContain(hash);
      expect(createKeyHasher([NEW]).hashes(`${value}x`)).not.toContain(hash);
      expect(createKeyHasher([NEW, OLD]).hashes(value)).toEqual([
        hash,
        ...createKeyHasher([OLD]).hashes(value),
      ]);
    },
  );
});
