import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { vi } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { builtMain, putCommand } from '../../support/process/built-command.ts';
import type { PutCommand } from '../../support/process/built-command.ts';

/** Passes on what the gateway writes on stderr; SIGTERM asks it to stop, and its end is awaited. */
const clientOf = (socket: string): string => `
const connection = require('node:net').connect({ path: ${JSON.stringify(socket)}, allowHalfOpen: true });
const { argv, env } = process;
connection.write(JSON.stringify({ argv: argv.slice(2), env, cwd: process.cwd() }) + '\\n');
process.on('SIGTERM', () => connection.end());
connection.pipe(process.stderr);
`;

/** The command of {@link putCommand} that also serves in this process, one gateway at a time. */
export async function putServingCommand(folder: string): Promise<PutCommand> {
  const [command, main] = [await putCommand(folder), await builtMain()];
  const [socket, client] = [join(folder, 'serving'), join(folder, 'serve.cjs')];

  const serve = async (asked: string, connection: Socket): Promise<void> => {
    const { argv, env, cwd } = JSON.parse(asked);
    const others = process.listeners('SIGTERM');
    const written = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      connection.write(text);
      return true;
    });
    connection.on('end', () => {
      // Only those of this start: what else listens in this process is not to end.
      for (const listener of process.listeners('SIGTERM').filter((one) => !others.includes(one))) {
        process.off('SIGTERM', listener);
        process.off('SIGINT', listener);
        listener('SIGTERM');
      }
    });
    const { stderr } = await runCli(argv, { env, cwd, main });
    written.mockRestore();
    connection.end(stderr);
  };

  const server = createServer({ allowHalfOpen: true }, (connection) => {
    let asked = '';
    const take = (piece: Buffer): void => {
      asked += piece.toString();
      if (!asked.endsWith('\n')) return;
      connection.off('data', take).resume();
      void serve(asked, connection);
    };
    connection.on('data', take);
  });
  server.listen(socket);
  await once(server, 'listening');
  await writeFile(client, clientOf(socket));
  const program = join(folder, 'gateway');
  const lines = (await readFile(program, 'utf8')).split('\n');
  const start = `[ "$1" = start ] && exec "${process.execPath}" "${client}" "$@"`;
  await writeFile(program, lines.toSpliced(1, 0, start).join('\n'));
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      await closed;
      await command.close();
    },
  };
}
