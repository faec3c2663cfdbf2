import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { parseCassette } from '../../../providers/mock/tape/cassette.ts';
import { startMockServer } from '../../../providers/mock/mock-server.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../context.ts';
import { watchSignals } from '../../signals.ts';
import type { RunOf } from '../../commands.ts';

/** Serves until a signal; stopping it so is its regular end, exit 0. */
export const run: RunOf<'mock'> = async ({ flags, context }) => {
  const path = flags.cassette;
  const cassette = path === undefined ? undefined : await readCassette(path, context);
  const signals = watchSignals(context.io);
  try {
    const server = await startMockServer({
      host: flags.host,
      port: flags.port,
      cassette: { ...cassette, ...(flags.strict !== undefined && { strict: flags.strict }) },
    });
    const writer = await context.output.events();
    context.output.note(`mock provider listening on ${server.url}`);
    await writer.write({ text: '', event: { type: 'listening', url: server.url } });
    await new Promise<void>((stop) => {
      if (signals.signal.aborted) stop();
      signals.signal.addEventListener('abort', () => stop());
    });
    await server.close();
    await writer.end('stopped');
    return { streamed: true, data: null };
  } finally {
    signals.dispose();
  }
};

async function readCassette(path: string, context: CommandContext) {
  try {
    const value: unknown = parse(await readFile(resolve(context.io.cwd, path), 'utf8'));
    return parseCassette(value);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unreadable';
    const message = `${path}: ${reason}`;
    throw new CliError({ code: 'invalid_cassette', message, exit: 'invalid_config', cause });
  }
}
