import type { ResourceView } from '../../../client/admin.ts';

/** The namespace whose files own an object; undefined for one that was made by hand. */
export function ownerOf({ labels }: ResourceView): string | undefined {
  return labels['gateway/owner']?.replace(/^file:/, 'namespace ');
}
