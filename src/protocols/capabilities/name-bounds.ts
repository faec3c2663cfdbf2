import { createHash } from 'node:crypto';

/** Names of tools and of answer schemas that a model takes. */
export interface NameBounds {
  /** Most characters; null: no bound. */
  readonly name_length: number | null;
  /** Characters besides letters and digits of ASCII; null: all. */
  readonly name_marks: string | null;
  /** They may begin with other characters than a letter and `_`. */
  readonly name_any_start: boolean;
}

/** The client's own names by those that are sent in their place. */
export type OwnNames = ReadonlyMap<string, string>;

/** Characters of the digest that sets a name apart from another. */
const DIGEST = 12;
const PREFIX = 'tool';
const MARKS = '_-';

export function isFitting(name: string, bounds: NameBounds): boolean {
  const { name_length: most, name_marks: marks, name_any_start } = bounds;
  if (name === '') return true;
  const isShort = most === null || name.length <= most;
  const isStart = name_any_start || /^[a-z_]/i.test(name);
  return (
    isShort && isStart && (marks === null || Array.from(name).every((one) => isTaken(one, marks)))
  );
}

function isTaken(character: string, marks: string): boolean {
  return /^[a-z0-9]$/i.test(character) || marks.includes(character);
}

/**
 * A name that does not fit becomes its beginning and a digest, which is the same in every later request.
 *
 * @param isOther true for a name that something else has
 */
export function fitName(
  name: string,
  bounds: NameBounds,
  isOther: (name: string) => boolean = () => false,
): string {
  if (isFitting(name, bounds)) return name;
  const marks = bounds.name_marks ?? MARKS;
  const [mark = ''] = marks;
  const plain = Array.from(name, (one) => (isTaken(one, marks) ? one : mark)).join('');
  const start = bounds.name_any_start || /^[a-z_]/i.test(plain) ? '' : `${PREFIX}${mark}`;
  const room = (bounds.name_length ?? Infinity) - DIGEST - mark.length;
  const front = `${start}${plain}`.slice(0, room);
  for (let count = 0; ; count++) {
    const text = count === 0 ? name : `${name}\n${count}`;
    const digest = createHash('sha256').update(text).digest('hex').slice(0, DIGEST);
    const own = `${front}${mark}${digest}`;
    if (!isOther(own)) return own;
  }
}

/** A call by the client's own name of its tool. */
export function withOwnName<T extends { readonly name: string }>(
  call: T,
  names: OwnNames | undefined,
): T {
  const name = names?.get(call.name);
  return name === undefined ? call : { ...call, name };
}
