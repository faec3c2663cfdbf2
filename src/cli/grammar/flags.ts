import { parseDuration } from '../../core/time/duration.ts';
import { usageError } from '../cli-error.ts';
import { flagEnvs, type CommandSpec, type FlagSpec } from '../command.ts';

/** A value of any flag; durations are milliseconds, and undefined means that it was not given. */
export type FlagValue = boolean | string | number | readonly string[] | undefined;

/** Value of one flag, as its declaration says. */
type ValueOf<F extends FlagSpec> = string extends F['name']
  ? FlagValue
  : F extends { type: 'boolean' }
    ? boolean
    : F extends { repeatable: true }
      ? readonly TextOf<F>[]
      : SingleOf<F> | (F extends { default: string | number } ? never : undefined);

type SingleOf<F extends FlagSpec> = F extends { type: 'string' } ? TextOf<F> : number;

type TextOf<F extends FlagSpec> = F extends { choices: readonly (infer C extends string)[] }
  ? C
  : string;

/** The values of declared flags by name: command line before environment before default. */
export type FlagValues<F extends readonly FlagSpec[]> = {
  readonly [S in F[number] as S['name']]: ValueOf<S>;
};

/** Flags as parsed: the text of a flag, of every repetition, or true for a switch. */
export type RawFlags = Readonly<Record<string, string | readonly string[] | true>>;

/** Origins of a value, the strongest first. */
export type Layer = 'flag' | 'env' | 'project' | 'user' | 'system' | 'default';

/** A value that a file of settings gives to a global flag. */
export interface Setting {
  text: string;
  layer: Layer;
  /** The file. */
  origin: string;
}

export interface Origin {
  layer: Layer;
  /** `--server`, `GATEWAY_SERVER`, a file, or `default`. */
  text: string;
}

/** Values of flags by name, and where they come from. */
export interface ResolvedFlags<F extends readonly FlagSpec[] = readonly FlagSpec[]> {
  readonly values: FlagValues<F>;
  /** Undefined for a flag without a value. */
  origin(name: F[number]['name']): Origin | undefined;
}

export interface FlagSources<F extends readonly FlagSpec[] = readonly FlagSpec[]> {
  specs: F;
  /** Absent for the global flags. */
  command?: CommandSpec;
  given: RawFlags;
  env: Readonly<Record<string, string | undefined>>;
  /** Settings by the name of a flag. */
  settings?: ReadonlyMap<string, Setting>;
}

type Value = string | number | boolean | readonly string[];

/**
 * Flags win over the environment, it wins over settings, they win over defaults; without any of them a
 * switch is off and a list is empty. A bad value is a usage error (exit 64).
 */
export function resolveFlags<F extends readonly FlagSpec[]>(
  sources: FlagSources<F>,
): ResolvedFlags<F> {
  const { specs } = sources;
  const values: Record<string, FlagValue> = {};
  const origins = new Map<string, Origin>();
  for (const spec of specs) {
    const found = findValue(spec, sources);
    values[spec.name] =
      found === undefined ? absent(spec) : toValue(spec, found.value, found.source);
    if (found !== undefined) origins.set(spec.name, found.origin);
  }
  /** The flag or variable that gives a value. */
  const giverOf = (name: string): string | undefined => {
    const { layer = 'default', text } = origins.get(name) ?? {};
    return layer === 'default' || values[name] === false ? undefined : text;
  };
  for (const { name, excludes = [] } of specs) {
    const [giver, other] = [giverOf(name), excludes.map(giverOf).find(Boolean)];
    if (giver && other) throw usageError(`${giver} and ${other} cannot be combined`);
  }
  // Each is converted as its declaration says.
  return { values: values as FlagValues<F>, origin: (name) => origins.get(name) };
}

/** Value of a flag that was not given. */
function absent({ type, repeatable }: FlagSpec): FlagValue {
  if (type === 'boolean') return false;
  return repeatable ? [] : undefined;
}

interface Found {
  value: Value;
  origin: Origin;
  /** Source of the value, for messages about it. */
  source: string;
}

function findValue(
  spec: FlagSpec,
  { command, given, env, settings }: FlagSources,
): Found | undefined {
  const raw = given[spec.name];
  if (raw !== undefined) return toFound(separated(spec, raw), 'flag', `--${spec.name}`);
  const variable = variableOf(spec, command, env);
  const fromVariable = fromText(spec, variable, env[variable]);
  if (fromVariable !== undefined) return toFound(fromVariable, 'env', variable);
  const setting = settings?.get(spec.name);
  if (setting !== undefined) {
    const { layer, origin } = setting;
    const source = `${spec.name} in ${origin}`;
    const value = fromText(spec, source, setting.text);
    if (value !== undefined) return { ...toFound(value, layer, origin), source };
  }
  return spec.default === undefined ? undefined : toFound(spec.default, 'default', 'default');
}

/** The variable that is set; two of different values are a usage error. */
function variableOf(
  spec: FlagSpec,
  command: CommandSpec | undefined,
  env: FlagSources['env'],
): string {
  const names = flagEnvs(spec, command);
  const [first, other] = names.filter((name) => env[name]);
  if (first !== undefined && other !== undefined && env[first] !== env[other])
    throw usageError(`${first} and ${other} are two names of one setting`, `unset ${other}`);
  return first ?? names[0] ?? '';
}

const WORDS = /^[\w.:-]+(\s*,\s*[\w.:-]+)+$/;

/** Values of a known vocabulary may share one flag, separated by commas as in the environment. */
function separated({ choices, offers, repeatable }: FlagSpec, raw: Value): Value {
  if (!repeatable || (choices ?? offers) === undefined || typeof raw !== 'object') return raw;
  return raw.flatMap((item) =>
    WORDS.test(item) ? item.split(',').map((word) => word.trim()) : [item],
  );
}

function toFound(value: Value, layer: Layer, text: string): Found {
  return { value, origin: { layer, text }, source: text };
}

const SWITCH: Readonly<Record<string, boolean>> = {
  '1': true,
  true: true,
  yes: true,
  on: true,
  '0': false,
  false: false,
  no: false,
  off: false,
};

/** An empty variable counts as unset, since shells and CI systems often leave one. */
function fromText(spec: FlagSpec, source: string, text: string | undefined) {
  if (text === undefined || text === '') return undefined;
  if (spec.type !== 'boolean')
    return spec.repeatable ? text.split(',').map((item) => item.trim()) : text;
  const value = SWITCH[text.toLowerCase()];
  if (value === undefined) throw usageError(`${source} must be true or false, not "${text}"`);
  return value;
}

function toValue(spec: FlagSpec, found: Value, source: string): Value {
  if (typeof found === 'boolean' || typeof found === 'number') return found;
  const items = typeof found === 'string' ? [found] : found;
  const values = items.map((item) => toItem(spec, item, source));
  return spec.repeatable ? values.map(String) : (values[0] ?? '');
}

function toItem(spec: FlagSpec, text: string, source: string): string | number {
  if (spec.choices?.some((choice) => isChoice(choice, text)) === false) {
    throw usageError(`${source} must be one of ${spec.choices.join(', ')}, not "${text}"`);
  }
  if (spec.type === 'string' || spec.type === 'boolean') return text;
  const number = spec.type === 'duration' ? parseMilliseconds(text) : parseInteger(text);
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = spec;
  if (number === undefined || number < min || number > max) {
    throw usageError(`${source} must be ${expectation(spec, min, max)}, not "${text}"`);
  }
  return number;
}

/** A choice `name=EXPR` matches every text that begins with `name=`. */
function isChoice(choice: string, text: string): boolean {
  return choice === text || (choice.endsWith('=EXPR') && text.startsWith(choice.slice(0, -4)));
}

function expectation({ type }: FlagSpec, min: number, max: number): string {
  if (type === 'duration') return 'a duration such as 30s, 5m or 1h';
  return max === Number.MAX_SAFE_INTEGER
    ? `a whole number from ${min}`
    : `a whole number from ${min} to ${max}`;
}

function parseInteger(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function parseMilliseconds(text: string): number | undefined {
  try {
    return parseDuration(text);
  } catch {
    return undefined;
  }
}
