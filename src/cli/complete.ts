import { findCommand, parentOf, type CommandSpec } from './command.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';

/** What may stand in place of the last word, which is being written and may be empty. */
export function completeWords(
  commands: readonly CommandSpec[],
  words: readonly string[],
): string[] {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1).filter((word) => !word.startsWith('-'));
  const command = findCommand(commands, before)?.command;
  const flags = [...(command?.flags ?? []), ...GLOBAL_FLAGS];
  const previous = words.at(-2) ?? '';
  const asked = flags.find(
    ({ name, short }) => previous === `--${name}` || previous === `-${short}`,
  );
  if (asked !== undefined && asked.type !== 'boolean') {
    return (asked.choices ?? []).filter((choice) => choice.startsWith(current));
  }
  const candidates = current.startsWith('-')
    ? [...flags.map(({ name }) => `--${name}`), '--help']
    : subcommands(commands, command?.name ?? '');
  return candidates.filter((candidate) => candidate.startsWith(current));
}

function subcommands(commands: readonly CommandSpec[], path: string): string[] {
  return commands
    .filter(({ name, hidden }) => !hidden && name !== path && parentOf(name) === path)
    .map(({ name }) => name.slice(path.length).trim());
}
