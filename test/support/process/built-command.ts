import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { main } from '../../../src/cli/main.ts';
import { runCli } from '../../cli/run-cli.ts';
import { BINARY } from '../gateway.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { load }: { load: (address: string) => Promise<{ main: typeof main }> } = createRequire(
  import.meta.url,
)('./native-import.cjs');

/** Command line of a built package, in this process: plugins that it loads share its modules. */
export async function builtMain(root = ROOT): Promise<typeof main> {
  return (await load(pathToFileURL(join(root, 'dist/lib/main.js')).href)).main;
}

export interface PutCommand {
  close(): Promise<void>;
}

/**
 * Writes a program `gateway` into a folder, for scripts that call it by name. What serves, over HTTP or
 * on stdio, is the binary; other commands run in this process on the build, for most of the time of a
 * short process goes into loading it. They get no stdin.
 */
export async function putCommand(folder: string): Promise<PutCommand> {
  const built = await builtMain();
  const socket = join(folder, 'socket');
  const answer = async (asked: string, connection: Socket): Promise<void> => {
    const { argv, env, cwd } = JSON.parse(asked);
    const { code, stdout, stderr } = await runCli(argv, { env, cwd, main: built });
    connection.end(JSON.stringify({ code, stdout, stderr }));
  };
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    let asked = '';
    connection.setEncoding('utf8').on('data', (piece: string) => (asked += piece));
    connection.on('end', () => void answer(asked, connection));
  });
  server.listen(socket);
  await once(server, 'listening');
  const client = join(folder, 'client.cjs');
  await writeFile(
    client,
    `const connection = require('node:net').connect(${JSON.stringify(socket)});
const { argv, env } = process;
connection.end(JSON.stringify({ argv: argv.slice(2), env, cwd: process.cwd() }));
let said = '';
connection.setEncoding('utf8').on('data', (piece) => (said += piece));
connection.on('end', () => {
  const { code, stdout, stderr } = JSON.parse(said);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
});
`,
  );
  const program = join(folder, 'gateway');
  const lines = [
    '#!/bin/sh',
    `case "$1" in start|acp|mcp) exec "${process.execPath}" "${BINARY}" "$@";; esac`,
    `exec "${process.execPath}" "${client}" "$@"`,
  ];
  await writeFile(program, `${lines.join('\n')}\n`);
  await chmod(program, 0o755);
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
