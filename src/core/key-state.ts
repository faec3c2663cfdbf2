/** State of an API key for people: what its holder meets at a time. */
export type KeyState = 'active' | 'expired' | 'revoked' | 'disabled';

/** The state of a key's view at a time in milliseconds since epoch; `disabled` where its organization is. */
export function keyState(
  key: { readonly [member: string]: unknown },
  now: number,
  isOwnerEnabled = true,
): KeyState {
  const { revoked_at: revoked, expires_at: expires, enabled } = key;
  if (typeof revoked === 'string') return 'revoked';
  if (typeof expires === 'string' && Date.parse(expires) <= now) return 'expired';
  return enabled === false || !isOwnerEnabled ? 'disabled' : 'active';
}
