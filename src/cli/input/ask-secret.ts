import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError } from '../cli-error.ts';

export interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

/** A line from the terminal that does not show while it is typed. Ctrl-C and Ctrl-D: exit 130. */
export function askSecret(question: string, { input, output, signal }: Terminal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  output.write(question);
  const reader = createInterface({ input, output: silent, terminal: true, historySize: 0 });
  return new Promise<string>((resolve, reject) => {
    const stop = () => reader.close();
    signal.addEventListener('abort', stop, { once: true });
    reader.once('SIGINT', stop);
    reader.once('line', (line) => {
      resolve(line.trim());
      reader.close();
    });
    reader.once('close', () => {
      signal.removeEventListener('abort', stop);
      output.write('\n');
      // Changes nothing after an answer.
      reject(new CliError({ code: 'interrupted', message: 'interrupted', exit: 'interrupted' }));
    });
  });
}
