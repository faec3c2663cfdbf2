import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { KeyHasher } from '../../core/seal.ts';
import type { OriginRules } from '../../inference/request-origin.ts';

/** Characters of a hash: 128 bits of it tell end users apart. */
const HASH_LENGTH = 22;

/** Rules of `server.usage`. Hashes depend on the master key, so nobody else can guess who is behind one. */
export function originRules(
  { labels, tags, endUsers }: ServerConfig['usage'],
  hasher: KeyHasher,
): OriginRules {
  const hash = (id: string): string => {
    const [digest = ''] = hasher.hashes(`end-user\0${id}`);
    return `user_${digest.slice(0, HASH_LENGTH)}`;
  };
  const told = { plain: (id: string) => id, hashed: hash, off: () => undefined };
  return { labels, tags, endUser: told[endUsers] };
}
