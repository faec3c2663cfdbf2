import { parseDuration } from '../core/duration.ts';
import { usageError } from './cli-error.ts';
import { flagEnv, type CommandSpec, type Flags, type FlagSpec } from './command.ts';

/** What the parser found: the text of a flag, of every repetition, or true for a switch. */
export type RawFlags = Readonly<Record<string, string | readonly string[] | true>>;

export interface FlagSources {
  specs: readonly FlagSpec[];
  /** Absent for the global flags. */
  command?: CommandSpec;
  given: RawFlags;
  env: Readonly<Record<string, string | undefined>>;
}

type Value = string | number | boolean | readonly string[];

/** Flags win over the environment, it wins over defaults. A bad value is a usage error (exit 64). */
export function resolveFlags({ specs, command, given, env }: FlagSources): Flags {
  const values = new Map<string, Value>();
  for (const spec of specs) {
    const variable = flagEnv(spec, command);
    const found = given[spec.name] ?? fromEnv(spec, variable, env[variable]) ?? spec.default;
    if (found === undefined) continue;
    const source = given[spec.name] === undefined ? variable : `--${spec.name}`;
    values.set(spec.name, toValue(spec, found, source));
  }
  const get = (name: string) => {
    if (!specs.some((spec) => spec.name === name)) throw new Error(`no flag is called ${name}`);
    return values.get(name);
  };
  return {
    on: (name) => get(name) === true,
    text: (name) => (get(name) === undefined ? undefined : String(get(name))),
    number: (name) => (get(name) === undefined ? undefined : Number(get(name))),
    list(name) {
      const value = get(name);
      if (value === undefined) return [];
      return typeof value === 'object' ? value : [String(value)];
    },
  };
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

/** An empty variable counts as unset, as shells and CI systems leave them behind. */
function fromEnv(spec: FlagSpec, variable: string, text: string | undefined) {
  if (text === undefined || text === '') return undefined;
  if (spec.type !== 'boolean')
    return spec.repeatable ? text.split(',').map((item) => item.trim()) : text;
  const value = SWITCH[text.toLowerCase()];
  if (value === undefined) throw usageError(`${variable} must be true or false, not "${text}"`);
  return value;
}

function toValue(spec: FlagSpec, found: Value, source: string): Value {
  if (typeof found === 'boolean' || typeof found === 'number') return found;
  const items = typeof found === 'string' ? [found] : found;
  const values = items.map((item) => toItem(spec, item, source));
  return spec.repeatable ? values.map(String) : (values[0] ?? '');
}

function toItem(spec: FlagSpec, text: string, source: string): string | number {
  if (spec.choices !== undefined && !spec.choices.includes(text)) {
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
