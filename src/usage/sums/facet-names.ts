import type { Op } from '../../store/store.ts';
import { digestOf, facetsKey } from './facets.ts';
import type { Facets } from './facets.ts';
import type { CallFacts } from './totals.ts';

/** Value for tags of which there are too many. */
export const OTHER = 'other';

/** Combinations of facets with tags that an organization may have on a day; values of tags are the client's. */
const MAX_TAGGED = 1_000;
/** Texts and days that are remembered. */
const MAX_KNOWN = 10_000;

/** Digests of one commit; nothing is remembered until `keep`. */
export interface FacetDraft {
  /** Last part but one of the key of the sums of a call; undefined for a call without facets. */
  digestOf(call: CallFacts): string | undefined;
  /** One put for each digest that the store may not know. */
  ops(): Op[];
  keep(): void;
}

/** Names facets by digests, and stores the facets of each. */
export class FacetNames {
  readonly #digests = new Map<string, string>();
  readonly #stored = new Set<string>();
  readonly #tagged = new Map<string, Set<string>>();

  draft(): FacetDraft {
    const used = new Map<string, Facets>();
    return {
      digestOf: (call) => {
        const { facets } = call;
        if (!facets) return undefined;
        const told = this.#bounded(facets, call);
        const text = told === facets ? call.facetsText : JSON.stringify(told);
        const digest = this.#digestOf(text);
        if (!this.#stored.has(digest)) used.set(digest, told);
        return digest;
      },
      ops: () =>
        Array.from(used, ([digest, value]): Op => {
          return { type: 'put', key: facetsKey(digest), value: { ...value } };
        }),
      keep: () => {
        if (this.#stored.size > MAX_KNOWN) this.#stored.clear();
        for (const digest of used.keys()) this.#stored.add(digest);
      },
    };
  }

  /** Stores each digest again. */
  startOver(): void {
    this.#stored.clear();
  }

  #digestOf(text: string): string {
    const known = this.#digests.get(text);
    if (known !== undefined) return known;
    if (this.#digests.size > MAX_KNOWN) this.#digests.clear();
    const digest = digestOf(text);
    this.#digests.set(text, digest);
    return digest;
  }

  /** Beyond {@link MAX_TAGGED} combinations every value of a tag is `other`. */
  #bounded(facets: Facets, { organization, day, facetsText: text }: CallFacts): Facets {
    const { tags } = facets;
    if (!tags) return facets;
    const place = `${organization}\0${day}`;
    if (this.#tagged.size > MAX_KNOWN) this.#tagged.clear();
    let seen = this.#tagged.get(place);
    if (!seen) this.#tagged.set(place, (seen = new Set()));
    if (seen.has(text)) return facets;
    if (seen.size < MAX_TAGGED) {
      seen.add(text);
      return facets;
    }
    return { ...facets, tags: Object.fromEntries(Object.keys(tags).map((name) => [name, OTHER])) };
  }
}
