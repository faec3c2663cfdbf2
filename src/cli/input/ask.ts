import { createInterface } from 'node:readline';
import type { Terminal } from './ask-secret.ts';
import { printable } from '../../core/printable.ts';
import { CliError } from '../cli-error.ts';

/**
 * Asks a question on the terminal and continues after a yes.
 *
 * @throws CliError `declined` (exit 1) for anything else and at the end of the input; `interrupted`
 *   (exit 130) for Ctrl-C
 */
export async function ask(question: string, terminal: Terminal): Promise<void> {
  const answer = await askLine(`${question} [y/N] `, terminal);
  if (answer !== undefined && /^y(es)?$/i.test(answer.trim())) return;
  throw new CliError({ code: 'declined', message: 'nothing was changed' });
}

/**
 * Asks for a line on the terminal; undefined at the end of the input (Ctrl-D).
 *
 * @param left what Ctrl-C leaves as it is, for its error
 * @throws CliError `interrupted` (exit 130) for Ctrl-C
 */
export function askLine(
  question: string,
  { input, output, signal }: Terminal,
  left = 'nothing was changed',
): Promise<string | undefined> {
  const reader = createInterface({ input, output, historySize: 0 });
  return new Promise((resolve, reject) => {
    const stop = () => {
      const message = `interrupted; ${left}`;
      reject(new CliError({ code: 'interrupted', message, exit: 'interrupted' }));
      reader.close();
    };
    // Only an answer ends the line of the question.
    const onClose = () => {
      output.write('\n');
      signal.removeEventListener('abort', stop);
      resolve(undefined);
    };
    signal.addEventListener('abort', stop, { once: true });
    reader.once('SIGINT', stop);
    reader.once('close', onClose);
    reader.question(printable(question), (answer) => {
      resolve(answer);
      signal.removeEventListener('abort', stop);
      reader.off('close', onClose);
      reader.close();
    });
  });
}
