/** True when an answer has the shape that its reader relies on; further members pass. */
export type Guard<T> = (value: unknown) => value is T;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** A guard for records whose named members are strings. */
export function hasStrings<T extends Record<string, unknown>>(
  ...names: (keyof T & string)[]
): Guard<T> {
  return (value): value is T =>
    isRecord(value) && names.every((name) => typeof value[name] === 'string');
}

export interface Page<T> {
  data: T[];
  next_page?: string | null;
}

/** A guard for list answers whose every item passes `isItem`. */
export function isPageOf<T>(isItem: Guard<T>): Guard<Page<T>> {
  return (value): value is Page<T> =>
    isRecord(value) && Array.isArray(value['data']) && value['data'].every((item) => isItem(item));
}
