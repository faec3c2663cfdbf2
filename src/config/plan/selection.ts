import type { ActualState, View } from '../actual/actual.ts';
import { findDeclared, identityOf } from '../actual/actual.ts';
import type { DesiredObject, DesiredState, Selection } from '../objects/desired.ts';
import { CONFIG_KINDS, kindNamed, kindOf, type KindName } from '../objects/kinds.ts';
import { labelsOf } from '../actual/ownership.ts';

/** Words of --only, --exclude and -l. */
export interface SelectionWords {
  /** `KIND`, or `KIND/NAME` where `*` matches any text. */
  readonly only: readonly string[];
  readonly exclude: readonly string[];
  /** `label=value`; all of them must hold. */
  readonly labels: readonly string[];
}

/** A word of a selection that cannot be read. */
export class SelectionError extends Error {
  override readonly name = 'SelectionError';
}

/**
 * The desired state without the objects that are not selected. Those are neither compared nor
 * removed; the others may still refer to them.
 *
 * @throws SelectionError for a word that is no pattern of this grammar
 */
export function select(desired: DesiredState, words: SelectionWords): DesiredState {
  if (Object.values(words).every((list: readonly string[]) => list.length === 0)) return desired;
  const only = words.only.map((word) => toPattern(word));
  const exclude = words.exclude.map((word) => toPattern(word));
  const labels = words.labels.map((word) => toLabel(word));
  const matches = (candidate: Candidate) =>
    (only.length === 0 || only.some((pattern) => isMatch(pattern, candidate))) &&
    !exclude.some((pattern) => isMatch(pattern, candidate)) &&
    labels.every(([name, value]) => candidate.labels[name] === value);
  const objects = desired.objects.filter((object) => matches(object));
  const chosen = new Set(objects);
  const leftOut = desired.objects.filter((object) => !chosen.has(object));
  const unused = words.only.filter(
    (_word, index) => !desired.objects.some((object) => isMatch(only[index]!, object)),
  );
  return { ...desired, objects, selection: { matches, leftOut, unused } };
}

/** True when a plan with this selection may remove or report an object. */
export function maySelect(
  selection: Selection | undefined,
  kind: KindName,
  { view, actual }: { view: View; actual: ActualState },
): boolean {
  if (selection === undefined) return true;
  const { matches, leftOut } = selection;
  const identity = identityOf(kind, view, actual);
  const candidate = { kind, identity, name: String(view['name']), labels: labelsOf(view) };
  if (!matches(candidate)) return false;
  return !leftOut
    .filter((object) => object.kind === kind)
    .some((object) => findDeclared(object, actual).includes(view));
}

type Candidate = Pick<DesiredObject, 'kind' | 'identity' | 'name' | 'labels'>;

/** A word of a selection that was read. */
export interface Pattern {
  readonly word: string;
  readonly kind: KindName;
  /** True where it names one object, as far as names tell objects apart. */
  readonly isExact: boolean;
  /** Undefined: every object of the kind. */
  readonly name: RegExp | undefined;
}

/** @throws SelectionError for a word that is no pattern */
export function toPattern(word: string): Pattern {
  const slash = word.indexOf('/');
  const head = slash < 0 ? word : word.slice(0, slash);
  const kind = kindNamed(head);
  if (kind === undefined) {
    const known = CONFIG_KINDS.map((one) => one.kind).join(', ');
    throw new SelectionError(`${word}: no kind is named ${head}; there are ${known}`);
  }
  if (slash < 0) return { word, kind, isExact: false, name: undefined };
  const parts = word.slice(slash + 1).split('*');
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return { word, kind, isExact: parts.length === 1, name: new RegExp(`^${escaped.join('.*')}$`) };
}

/** True when a pattern matches an object. */
export function isMatch(
  { kind, name }: Pattern,
  candidate: Pick<Candidate, 'kind' | 'identity' | 'name'>,
): boolean {
  if (kind !== candidate.kind) return false;
  if (name === undefined || name.test(candidate.identity)) return true;
  // An object of an organization may be named without it.
  return kindOf(kind).isOwned && name.test(candidate.name);
}

function toLabel(word: string): readonly [string, string] {
  const at = word.indexOf('=');
  if (at < 1) throw new SelectionError(`${word}: expected label=value`);
  return [word.slice(0, at), word.slice(at + 1)];
}
