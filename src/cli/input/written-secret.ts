import { type ActualState, findDeclared } from '../../config/actual/actual.ts';
import type { DesiredState } from '../../config/objects/desired.ts';
import { kindOf } from '../../config/objects/kinds.ts';
import { toShellArguments } from '../../core/shell-word.ts';
import { secretAt } from '../../resources/fields/secret-path.ts';
import { CliError, usageError } from '../cli-error.ts';

interface Compared {
  readonly desired: DesiredState;
  readonly actual: ActualState;
}

/**
 * Reads a value of --write-secret as `kind/identity#field` of a declared secret; one of an
 * organization may be named without it.
 *
 * @throws CliError `unwritable_secret` (exit 3) for one that is not declared or cannot change, since a
 *   secret that is silently not written would be trusted; `usage` (exit 64) for a name of several
 */
export function secretOf(named: string, compared: Compared): string {
  const secrets = compared.desired.objects.flatMap((object) =>
    kindOf(object.kind)
      .secrets.filter((field) => secretAt(object.body, field) !== undefined)
      .map((field) => ({ object, field, full: `${object.kind}/${object.identity}#${field}` })),
  );
  const found = secrets.filter(
    ({ full, object, field }) =>
      named === full || named === `${object.kind}/${object.name}#${field}`,
  );
  const [first] = found;
  if (first === undefined) {
    const known = secrets.map(({ full }) => full).join(', ');
    throw unwritable(
      `--write-secret ${named}: no such secret is declared`,
      known === '' ? 'the files declare no secret' : `known: ${known}`,
    );
  }
  if (found.length > 1) {
    const all = found.map(({ full }) => full).join(', ');
    throw usageError(
      `--write-secret ${named}: several organizations have one; name it in full`,
      `known: ${all}`,
    );
  }
  const { kind } = first.object;
  const { isFixed } = kindOf(kind);
  if (findDeclared(first.object, compared.actual).some((view) => isFixed(first.field, view))) {
    throw unwritable(
      `--write-secret ${named}: the ${first.field} of a ${kind} never changes`,
      kind === 'key'
        ? `\`gateway keys rotate ${toShellArguments(first.object.name)}\` gives it a new one; both are one key`
        : `declare a ${kind} of another name with the new ${first.field}; --prune ends the old one`,
    );
  }
  return first.full;
}

function unwritable(message: string, hint: string): CliError {
  return new CliError({ code: 'unwritable_secret', message, hint, exit: 'invalid_config' });
}
