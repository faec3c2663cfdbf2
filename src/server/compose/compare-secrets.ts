import type { AskedSecret, ComparedSecret } from '../../config/actual/resource-client.ts';
import { kindOf } from '../../config/objects/kinds.ts';
import type { KeyHasher } from '../../core/seal.ts';
import { hashesOf, readValues } from '../../resources/keys/key-values.ts';
import type { Repository } from '../../resources/store/repository.ts';
import { keyHashKey } from '../../resources/store/storage-keys.ts';

export interface CompareDeps {
  readonly repository: Pick<Repository, 'definitionOf' | 'find' | 'reveal' | 'store'>;
  readonly hasher: KeyHasher;
}

/** Characters of a fingerprint: enough to tell two values of one object apart. */
const LENGTH = 8;

/**
 * Compares a declared value with the stored one. Fingerprints are the begin of an HMAC under the master
 * key: without that key they describe no value. A rotation replaces the value that the files declare,
 * and the files need not follow, so an ended value counts as the same.
 */
export async function compareSecret(
  { kind, id, field, value }: AskedSecret,
  { repository, hasher }: CompareDeps,
): Promise<ComparedSecret> {
  const definition = repository.definitionOf(kindOf(kind).definition.kind);
  const stored =
    id === null ? undefined : await repository.find(definition, id, { organization: null });
  const hashes = hasher.hashes(value);
  const given = fingerprint(hashes[0]);
  if (kind === 'key') {
    const values = stored && readValues(stored.state);
    const had = new Set(values ? hashesOf(values) : []);
    // Of interest only for a key that is to be created.
    const holders = await Promise.all(
      id === null ? hashes.map((hash) => repository.store.get<string>(keyHashKey(hash))) : [],
    );
    return {
      same: hashes.some((hash) => had.has(hash)),
      stored: values ? fingerprint(values.hash) : null,
      given,
      holder: holders.find((found) => found !== undefined)?.value ?? null,
    };
  }
  const kept = stored && repository.reveal(stored, field);
  return {
    same: kept !== undefined && kept === value,
    stored: kept === undefined ? null : fingerprint(hasher.hashes(kept)[0]),
    given,
    holder: null,
  };
}

function fingerprint(hash = ''): string {
  return hash.slice(0, LENGTH);
}
