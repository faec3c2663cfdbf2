import { SealError } from '../../core/seal.ts';
import type { Sealer } from '../../core/seal.ts';
import type { Stored } from '../store/stored.ts';
import type { CheckContext, ResourceDefinition } from '../store/define-resource.ts';

/** The write-only fields of resources: sealed at rest, each for its own field. */
export class SealedSecrets {
  private readonly sealer: Sealer;

  constructor(sealer: Sealer) {
    this.sealer = sealer;
  }

  /**
   * Puts secrets into a resource and the state that follows from them; null removes one. An unchanged
   * secret keeps its sealed form, so that writing it again changes nothing.
   */
  put(
    definition: ResourceDefinition,
    stored: Stored,
    secrets: Readonly<Record<string, unknown>>,
  ): void {
    const replaced: Record<string, string> = {};
    for (const [field, value] of Object.entries(secrets)) {
      if (value === null) delete stored.sealed[field];
      else if (typeof value === 'string' && !this.isSealed(stored, field, value)) {
        stored.sealed[field] = this.sealer.seal(value, place(stored, field));
        replaced[field] = value;
      }
    }
    if (Object.keys(replaced).length > 0) {
      stored.state = { ...stored.state, ...definition.fromSecrets?.(replaced) };
    }
  }

  /** The plain value. */
  reveal(stored: Stored, field: string): string | undefined {
    const sealed = stored.sealed[field];
    return sealed === undefined ? undefined : this.sealer.open(sealed, place(stored, field));
  }

  /** Circumstances of a change to a resource, for its checks; `now` in RFC 3339. */
  look(before: Stored, now: string): CheckContext & { before: Stored } {
    return { now, before, reveal: (field) => this.tryToReveal(before, field) };
  }

  /** The plain value; undefined, too, for one that no master key opens any more: it can be replaced. */
  private tryToReveal(stored: Stored, field: string): string | undefined {
    try {
      return this.reveal(stored, field);
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  private isSealed(stored: Stored, field: string, value: string): boolean {
    return this.tryToReveal(stored, field) === value;
  }
}

function place({ kind, id }: Stored, field: string): string {
  return `${kind}/${id}/${field}`;
}
