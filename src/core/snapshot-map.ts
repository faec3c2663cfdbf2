/** Values by name, as they were at one moment. */
export interface ByName<T> {
  readonly size: number;
  get(name: string): T | undefined;
  has(name: string): boolean;
  keys(): Iterable<string>;
  values(): Iterable<T>;
}

/** Number of parts; a power of two. A change copies the list of parts and the parts it concerns. */
const PARTS = 256;
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** An immutable map whose changed copy costs little however much it holds. Its order says nothing. */
export class SnapshotMap<T> implements ByName<T> {
  readonly size: number;
  readonly #parts: readonly ReadonlyMap<string, T>[];

  private constructor(parts: readonly ReadonlyMap<string, T>[], size: number) {
    this.#parts = parts;
    this.size = size;
  }

  static empty<T>(): SnapshotMap<T> {
    return new SnapshotMap<T>(
      Array.from({ length: PARTS }, () => NOTHING),
      0,
    );
  }

  get(name: string): T | undefined {
    return this.#parts[partOf(name)]?.get(name);
  }

  has(name: string): boolean {
    return this.#parts[partOf(name)]?.has(name) === true;
  }

  *keys(): Generator<string> {
    for (const part of this.#parts) yield* part.keys();
  }

  *values(): Generator<T> {
    for (const part of this.#parts) yield* part.values();
  }

  /** A copy with these values; undefined takes a name out. */
  with(changes: Iterable<readonly [string, T | undefined]>): SnapshotMap<T> {
    const parts = [...this.#parts];
    const copied = new Map<number, Map<string, T>>();
    let { size } = this;
    for (const [name, value] of changes) {
      const at = partOf(name);
      const part = copied.get(at) ?? new Map(parts[at]);
      copied.set(at, part);
      parts[at] = part;
      size -= part.size;
      if (value === undefined) part.delete(name);
      else part.set(name, value);
      size += part.size;
    }
    return new SnapshotMap(parts, size);
  }
}

/** FNV-1a over the units of the text. */
function partOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 16)) & (PARTS - 1);
}
