import * as fc from 'fast-check';

/** Text in which `@` stands for a marker that no other member has; see {@link marked}. */
export type Template = string;

export const TEXT = fc.constant<Template>('say @');
export const flag = fc.boolean();
export const one = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

type Shape = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Object with all of `needed` and some of `optional`; sometimes with a member that nobody knows. */
export function made(needed: Shape, optional: Shape = {}): fc.Arbitrary<object> {
  return fc
    .tuple(
      fc.record(needed),
      fc.record(optional, { requiredKeys: [] }),
      fc.nat(20).map((chance) => (chance === 20 ? { x_new: 'new @' } : {})),
    )
    .map(([all, some, extra]) => ({ ...all, ...some, ...extra }));
}

/** Object of those members alone. */
export function exactly(members: Shape): fc.Arbitrary<object> {
  return fc.record(members);
}

export const some = <T>(each: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<T[]> =>
  fc.array(each, { minLength: 1, maxLength });

/** JSON Schema with texts of its own in it. */
export const SCHEMA = fc.constant({
  type: 'object',
  properties: { city: { type: 'string', description: 'schema @' } },
  required: ['city'],
});

/** The value with each `@` of its texts replaced by a marker of its own; `~` by one in base64. */
export function marked(value: unknown, counter = { next: 0 }): unknown {
  const marker = (): string => `m${String(counter.next++).padStart(4, '0')}k`;
  if (typeof value === 'string')
    return value
      .replaceAll('@', marker)
      .replaceAll('~', () => Buffer.from(marker()).toString('base64'));
  if (Array.isArray(value)) return value.map((item) => marked(item, counter));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, marked(item, counter)]),
  );
}

/** Markers in a text, also those in base64. */
export function markersIn(text: string): string[] {
  const plain = text.match(/m\d{4}k/g) ?? [];
  const encoded = (text.match(/[A-Za-z0-9+/]{8,}/g) ?? []).flatMap(
    (word) =>
      Buffer.from(word, 'base64')
        .toString('latin1')
        .match(/m\d{4}k/g) ?? [],
  );
  return [...plain, ...encoded];
}
