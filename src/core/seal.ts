import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const FORMAT = 'v1';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Seals secrets at rest with AES-256-GCM; a secret sealed for one field does not open in another. */
export interface Sealer {
  /** `place` names the field of the secret, for example `provider/prov_1/api_key`. */
  seal(secret: string, place: string): string;
  /** Throws SealError when no key opens it or it belongs elsewhere. */
  open(sealed: string, place: string): string;
}

export class SealError extends Error {
  override readonly name = 'SealError';
  /** True when one of the keys sealed it, and it was changed since or moved elsewhere. */
  readonly isChanged: boolean;

  constructor(message: string, options: { cause?: unknown; isChanged?: boolean } = {}) {
    super(message, options);
    this.isChanged = options.isChanged ?? false;
  }
}

interface SubKey {
  id: string;
  key: Buffer;
}

/** @param masterKeys the first seals, all of them open, so that a key can be replaced while in use */
export function createSealer(masterKeys: readonly Uint8Array[]): Sealer {
  const keys = masterKeys.map((master): SubKey => ({
    id: keyId(master),
    key: subKey(master, 'seal'),
  }));
  const [current] = keys;
  if (!current) throw new SealError('no master key is configured');
  return {
    seal(secret, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.key, iv);
      cipher.setAAD(Buffer.from(place));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return [
        FORMAT,
        current.id,
        Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64'),
      ].join('.');
    },
    open(sealed, place) {
      const [format, id, payload] = sealed.split('.');
      const found = keys.find((key) => key.id === id);
      if (format !== FORMAT || !found || !payload) {
        throw new SealError('a stored secret was sealed with another master key');
      }
      const bytes = Buffer.from(payload, 'base64');
      // Text after the padding would be skipped.
      if ([format, id, bytes.toString('base64')].join('.') !== sealed)
        throw new SealError(CHANGED, { isChanged: true });
      return decrypt(found.key, bytes, place);
    },
  };
}

const CHANGED =
  'the store is damaged: a sealed value does not open; restore a backup: `gateway store restore BACKUP --replace`';

function decrypt(key: Buffer, bytes: Buffer, place: string): string {
  try {
    // A fixed length, or a shortened tag would be accepted and could be guessed.
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), options);
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const text = [decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()];
    return Buffer.concat(text).toString('utf8');
  } catch (cause) {
    throw new SealError(CHANGED, { cause, isChanged: true });
  }
}

/** Turns API keys into the digest that may be stored. */
export interface KeyHasher {
  /** HMAC-SHA-256 under a key derived from the newest master key, then the older ones. */
  hashes(apiKey: string): readonly string[];
}

/** Hashes keys. A lookup costs one HMAC, and one more for each previous master key. */
export function createKeyHasher(masterKeys: readonly Uint8Array[]): KeyHasher {
  const keys = masterKeys.map((master) => subKey(master, 'api-key'));
  return {
    hashes: (apiKey) =>
      keys.map((key) => createHmac('sha256', key).update(apiKey).digest('base64url')),
  };
}

/** Signs values that are handed out and come back, as links do; only a holder of the master key can make one. */
export interface Signer {
  sign(text: string): string;
  /** Takes what any of the master keys signed. */
  verify(text: string, signature: string): boolean;
}

/** @param purpose a signature for one purpose is invalid for another */
export function createSigner(masterKeys: readonly Uint8Array[], purpose: string): Signer {
  const keys = masterKeys.map((master) => subKey(master, `sign ${purpose}`));
  const [current] = keys;
  if (!current) throw new SealError('no master key is configured');
  const signWith = (key: Buffer, text: string): string =>
    createHmac('sha256', key).update(text).digest('base64url');
  return {
    sign: (text) => signWith(current, text),
    verify: (text, signature) => keys.some((key) => isSame(signWith(key, text), signature)),
  };
}

function isSame(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function subKey(master: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, 'agent-gateway', purpose, 32));
}

function keyId(master: Uint8Array): string {
  return createHmac('sha256', subKey(master, 'id')).update('id').digest('hex').slice(0, 8);
}
