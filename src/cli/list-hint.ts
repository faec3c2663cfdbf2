import type { CommandSpec } from './command.ts';
import type { Failure } from './output.ts';

/** Kinds that the commands call otherwise. */
const OTHERWISE: Readonly<Record<string, string>> = { api_key: 'key', endpoint: 'service' };

/** A failure for want of something tells which command shows what there is of its kind. */
export function withListHint(failure: Failure, commands: readonly CommandSpec[]): Failure {
  if (failure.status !== 404 || failure.hint !== undefined) return failure;
  const [, before, after] = /^no (\w+) |^(\w+) not found/.exec(failure.message) ?? [];
  const kind = before ?? after ?? '';
  const list = `${OTHERWISE[kind] ?? kind}s list`;
  const isThere = commands.some(({ name }) => name === list);
  return isThere ? { ...failure, hint: `\`gateway ${list}\` shows what there is` } : failure;
}
