import { isJsonObject } from '../../core/json/value.ts';
import { isPublicAnnotation, isPublicItem, isPublicPart } from './public/item-shapes.ts';
import type { Slots } from './public/keep-public.ts';

type Members = Readonly<Record<string, unknown>>;

/** Bounds what a provider can make the gateway remember of one stream. */
const MAX_PLACES = 4096;

interface Place {
  /** Its index for the client. */
  readonly index: number;
  readonly privateParts: Set<number>;
}

/**
 * Positions of the output items of a stream. Private items and parts are left out with every event
 * that refers to them, and later ones move up, so that indexes are those of the final
 * `output` (requirement responses.stream.no-dangling-items).
 */
export class OutputPlaces {
  readonly #items = new Map<number, Place>();
  readonly #private = new Set<number>();

  /** Takes the items that a lifecycle event lists already. False: there are too many. */
  seed(output: unknown): boolean {
    if (!Array.isArray(output)) return true;
    return output.every(
      (item, index) => this.#isKnown(index) || this.#announce(index, item) !== 'dangling',
    );
  }

  /** The indexes to be written, `private` for an event to be left out, `dangling` for one without its item. */
  find(type: string, event: Members): Slots | 'private' | 'dangling' {
    const index = event['output_index'];
    if (!isIndex(index)) return 'dangling';
    if (type === 'response.output_item.added') return this.#announce(index, event['item']);
    if (this.#private.has(index)) return 'private';
    const place = this.#items.get(index);
    if (!place) return 'dangling';
    if (type === 'response.output_item.done' && !isPublicItem(typeOf(event['item'])))
      return 'dangling';
    const { annotation } = event;
    if (isJsonObject(annotation) && !isPublicAnnotation(annotation['type'])) return 'private';
    const item: Slots = place.index === index ? {} : { output_index: String(place.index) };
    if (event['content_index'] === undefined) return item;
    const content = findPart(place, event);
    return typeof content === 'string' ? content : { ...item, ...content };
  }

  #announce(index: number, item: unknown): Slots | 'private' | 'dangling' {
    if (this.#isKnown(index) || this.#items.size + this.#private.size >= MAX_PLACES)
      return 'dangling';
    if (!isPublicItem(typeOf(item))) {
      this.#private.add(index);
      return 'private';
    }
    const moved = index - countBelow(this.#private, index);
    this.#items.set(index, { index: moved, privateParts: new Set() });
    return moved === index ? {} : { output_index: String(moved) };
  }

  #isKnown(index: number): boolean {
    return this.#items.has(index) || this.#private.has(index);
  }
}

function findPart({ privateParts }: Place, event: Members): Slots | 'private' | 'dangling' {
  const { content_index: index, part } = event;
  if (!isIndex(index)) return 'dangling';
  if (part !== undefined && !isPublicPart(typeOf(part))) {
    if (privateParts.size >= MAX_PLACES) return 'dangling';
    privateParts.add(index);
  }
  if (privateParts.has(index)) return 'private';
  const below = countBelow(privateParts, index);
  return below === 0 ? {} : { content_index: String(index - below) };
}

function typeOf(value: unknown): unknown {
  return isJsonObject(value) ? value['type'] : undefined;
}

function countBelow(indexes: ReadonlySet<number>, index: number): number {
  let count = 0;
  for (const one of indexes) if (one < index) count++;
  return count;
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
