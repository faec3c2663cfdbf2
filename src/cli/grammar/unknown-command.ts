import { CliError } from '../cli-error.ts';

/** A word that calls no command (exit 64). */
export class UnknownCommand extends CliError {
  readonly word: string;
  /** Words of the group that lacks it; '' at the top. */
  readonly group: string;

  constructor({ word, group }: Pick<UnknownCommand, 'word' | 'group'>, hint: string | undefined) {
    super({ code: 'usage', message: `unknown command '${word}'`, hint, exit: 'usage' });
    this.word = word;
    this.group = group;
  }
}
