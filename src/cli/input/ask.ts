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
export function ask(question: string, { input, output, signal }: Terminal): Promise<void> {
  const reader = createInterface({ input, output, historySize: 0 });
  const decline = () => new CliError({ code: 'declined', message: 'nothing was changed' });
  return new Promise((resolve, reject) => {
    const stop = () => {
      const message = 'interrupted; nothing was changed';
      reject(new CliError({ code: 'interrupted', message, exit: 'interrupted' }));
      reader.close();
    };
    // Only an answer ends the line of the question.
    const onClose = () => {
      output.write('\n');
      signal.removeEventListener('abort', stop);
      reject(decline());
    };
    signal.addEventListener('abort', stop, { once: true });
    reader.once('SIGINT', stop);
    reader.once('close', onClose);
    reader.question(printable(`${question} [y/N] `), (answer) => {
      if (/^y(es)?$/i.test(answer.trim())) resolve();
      else reject(decline());
      signal.removeEventListener('abort', stop);
      reader.off('close', onClose);
      reader.close();
    });
  });
}
