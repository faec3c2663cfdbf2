import { COMMANDS as TABLE } from '../../../src/cli/commands.ts';
import { GLOBAL_FLAGS } from '../../../src/cli/grammar/global-flags.ts';
import { resolveFlags } from '../../../src/cli/grammar/flags.ts';
import { withFlags } from '../../../src/cli/grammar/load-flags.ts';
import { parseArgv } from '../../../src/cli/grammar/parse-argv.ts';

const COMMANDS = await withFlags(TABLE);

/** Words of a command line as a shell takes them. */
function toWords(line: string): string[] {
  const words = line.match(/(?:[^\s'"]|'[^']*'|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return words.map((word) => word.replace(/["']/g, ''));
}

/** Undefined where a command exists with these flags and takes these values; else what is wrong. */
export function faultOf(line: string): string | undefined {
  const words = toWords(line);
  if (words[0] === 'gateway') words.shift();
  if (words.length === 1 && words[0] === '--help') return undefined;
  try {
    const { command, flags } = parseArgv({ commands: COMMANDS, globals: GLOBAL_FLAGS }, words);
    resolveFlags({ specs: command.flags ?? [], given: flags, env: {}, command });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
