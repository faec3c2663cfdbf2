import { commandsFor } from './all-commands.ts';
import { findCommand, type CommandSpec } from './command.ts';
import { GLOBAL_FLAGS } from './grammar/global-flags.ts';
import type { CliIo } from './io.ts';
import type { CommandLine } from './run-command.ts';
import { createStyle, wantsColor } from './output/style.ts';

/**
 * Runs one command line and gives its exit code (`gateway help exit-codes`). Never rejects. Plain
 * questions (help, version, completion) are answered without loading anything else.
 */
export async function main(io: CliIo): Promise<number> {
  const commands = await commandsFor(io);
  const argv = expandShortcuts(io.argv, commands);
  const text = await answerOf({ commands, argv }, io);
  if (text === undefined) {
    const { runCommand } = await import('./run-command.ts');
    return runCommand(io, { commands, argv });
  }
  io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  return 0;
}

/** `--help` anywhere, a lone `--version` and no words at all are spellings of commands. */
function expandShortcuts(
  argv: readonly string[],
  commands: readonly CommandSpec[],
): readonly string[] {
  if (argv.length === 0) return ['help'];
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) return ['version'];
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  if (!own.includes('--help') && !own.includes('-h')) return argv;
  const words = own.filter((word, at) => !word.startsWith('-') && !takesValue(own[at - 1]));
  const used = findCommand(commands, words)?.used ?? 0;
  // Words that are no command stay as they are: the parser suggests the nearest one.
  return words.length > 0 && used === 0 ? argv : ['help', ...words.slice(0, used)];
}

/** True for a global flag whose value is the next word. */
function takesValue(word: string | undefined): boolean {
  return GLOBAL_FLAGS.some(
    (flag) =>
      flag.type !== 'boolean' &&
      (word === `--${flag.name}` || ('short' in flag && word === `-${flag.short}`)),
  );
}

/** Undefined: the words carry flags, or are wrong; the parser and the full output judge those. */
async function answerOf({ commands, argv }: CommandLine, io: CliIo): Promise<string | undefined> {
  const found = findCommand(commands, argv);
  if (found?.command.light === undefined || io.env['GATEWAY_OUTPUT'] || io.env['GATEWAY_JSON']) {
    return undefined;
  }
  const words = argv.slice(found.used);
  if (!found.command.hidden && words.some((word) => word.startsWith('-'))) return undefined;
  const { answer } = await found.command.light();
  const text = answer(words, commands)?.text;
  if (typeof text !== 'function') return text;
  const { isTTY = false } = io.stdout;
  return text(createStyle(wantsColor({ isTTY, env: io.env, off: false })));
}
