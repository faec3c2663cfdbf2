import { CliError } from '../cli-error.ts';

/** A word that calls no command, or a command with words that it does not take (exit 64). */
export class UnknownCommand extends CliError {
  readonly word: string;
  /** Words of the group that lacks it; '' at the top. */
  readonly group: string;
  readonly isExcess: boolean;

  constructor(
    { word, group, isExcess = false }: { word: string; group: string; isExcess?: boolean },
    { message, hint }: { message: string; hint: string | undefined },
  ) {
    super({ code: 'usage', message, hint, exit: 'usage' });
    this.isExcess = isExcess;
    this.word = word;
    this.group = group;
  }
}
