import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundleScript } from '../../support/process/bundle-script.ts';

/** Runs a script of this folder in a process of its own; gives how it ended and what it printed. */
export async function runScript(
  name: string,
  args: readonly string[],
  { fileBlocks }: { fileBlocks?: number } = {},
): Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string }> {
  const script = await bundleScript(fileURLToPath(new URL(name, import.meta.url)));
  const node = [script, ...args];
  const child =
    fileBlocks === undefined
      ? spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'inherit'] })
      : spawn(
          'bash',
          ['-c', `ulimit -S -f ${fileBlocks}; exec "$0" "$@"`, process.execPath, ...node],
          { stdio: ['ignore', 'pipe', 'inherit'] },
        );
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout };
}
