import { reasonOf } from '../../core/errors.ts';
import { parse } from 'yaml';
import { usageError } from '../cli-error.ts';
import { isScalar, type Form } from './member-schema.ts';

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * The value that a text of the command line is where one of these forms is wanted: text where texts are
 * taken, else a number, a boolean, or YAML. What fits no form stays a text, for the schema to judge.
 *
 * @throws CliError `usage` (exit 64) for YAML that cannot be read; `flag` names it
 */
export function readText(text: string, forms: readonly Form[], flag: string): unknown {
  const types = new Set(forms.map(({ type }) => type));
  const isNested = forms.some((form) => !isScalar(form));
  if (isNested && /^\s*[[{]/.test(text)) return readYaml(text, flag);
  if (types.has('string')) return text;
  if (isNested || forms.length === 0) return readYaml(text, flag);
  if (types.has('boolean') && /^(true|false)$/.test(text)) return text === 'true';
  return !types.has('boolean') && NUMBER.test(text) ? Number(text) : text;
}

function readYaml(text: string, flag: string): unknown {
  try {
    const value: unknown = parse(text);
    return value;
  } catch (cause) {
    const [first = ''] = reasonOf(cause).split('\n');
    throw usageError(`${flag} cannot be read as YAML: ${first.replace(/:$/, '')}`);
  }
}

/** `env:NAME` and `file:PATH` as the reference in a declaration; errors never quote the text. */
export function readSecretName(text: string, flag: string): string {
  if (/^\$\{secret:(env|file):[^{}]+\}$/.test(text)) return text;
  if (/^(env|file):[^{}]+$/.test(text)) return `\${secret:${text}}`;
  throw usageError(
    `${flag} takes the name of a secret, never its value`,
    `${flag} env:NAME, or ${flag} file:PATH`,
  );
}
